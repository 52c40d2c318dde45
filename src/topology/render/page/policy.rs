use std::str::FromStr;

use base64ct::{Base64, Encoding};

use super::script::Script;
use crate::sha256::sha256;
use crate::topology::render::{ColorScheme, Theme};

/// The sites that may show the page in a frame. They are the sources of the directive `frame-ancestors`.
///
/// The default is `'none'`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameAncestors(String);

impl Default for FrameAncestors {
    fn default() -> Self {
        Self("'none'".to_owned())
    }
}

impl FrameAncestors {
    /// Returns the sources that allow pages of the same origin.
    pub(super) fn own_site() -> Self {
        Self("'self'".to_owned())
    }
}

impl FromStr for FrameAncestors {
    type Err = InvalidFrameAncestors;

    /// Reads sources separated by single spaces, for example `'self' https://intranet.example`.
    fn from_str(sources: &str) -> Result<Self, Self::Err> {
        // A semicolon or a comma would end the directive, and a line break the header.
        let is_allowed = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b';' | b',' | b'"');
        let is_source = |source: &str| !source.is_empty() && source.bytes().all(is_allowed);
        if sources.split(' ').all(is_source) {
            Ok(Self(sources.to_owned()))
        } else {
            Err(InvalidFrameAncestors)
        }
    }
}

/// Sources of `frame-ancestors` that are empty or contain a character that none has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`frame-ancestors` must be sources separated by single spaces, without quotation marks, commas and semicolons."
)]
#[non_exhaustive]
pub struct InvalidFrameAncestors;

/// Returns the policy of a page with the script. The script may send requests to its own server only.
pub(super) fn with_script(script: &Script, ancestors: &FrameAncestors, theme: &Theme) -> String {
    format!(
        "default-src 'none'; script-src {}; style-src {} {}; img-src data: blob:; connect-src 'self'; base-uri 'none'; \
         form-action 'self'; frame-ancestors {}",
        script.source(),
        theme.page_style_source(),
        theme.style_source(ColorScheme::Auto),
        ancestors.0,
    )
}

/// Returns the policy of a page without a script.
pub(super) fn without_script(ancestors: &FrameAncestors, theme: &Theme) -> String {
    format!(
        "default-src 'none'; style-src {}; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors {}",
        theme.page_style_source(),
        ancestors.0,
    )
}

/// Returns the source that allows exactly this text.
pub(super) fn source_of(text: &str) -> String {
    format!("'sha256-{}'", Base64::encode_string(&sha256(text.as_bytes())))
}
