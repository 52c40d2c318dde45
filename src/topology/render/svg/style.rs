//! The styles of pictures.

use base64ct::{Base64, Encoding};
use sha2::{Digest, Sha256};

use crate::topology::render::Theme;

/// What does not depend on the theme.
///
/// The parts of symbols are matched without `.topology`: in browsers, no selector reaches from the picture into a `<use>` element.
const COMMON: &str = "\
.topology text{font-family:'Helvetica Neue',Helvetica,Arial,'Liberation Sans',sans-serif;font-size:13px;unicode-bidi:isolate}\
.topology .title{font-size:20px;font-weight:600}\
.topology .subtitle,.topology .detail,.topology .legend text,.topology .segment text{font-size:11px}\
.topology .port,.topology .speed{font-size:11px;stroke-width:3px;stroke-linejoin:round;paint-order:stroke}\
.topology .speed{font-weight:600;text-anchor:middle}\
.topology .heading{font-weight:600}\
.topology .line,.topology .core{fill:none;stroke-linejoin:round}\
.topology .reported .line{stroke-dasharray:9 4}\
.topology .inferred .line{stroke-dasharray:2 4}\
.topology .conflicting .line{stroke-dasharray:9 3 2 3}\
.topology .card,.topology .frame{stroke-width:1.25px}\
.topology .stub .card,.topology .legend .unscanned{stroke-dasharray:4 3}\
.topology .stub .label{font-style:italic}\
.topology .stub,.topology .stale{opacity:.62}\
.pictogram{fill:none;stroke-width:1.5px;stroke-linecap:round;stroke-linejoin:round}\
.router .badge{fill:#0072b2}\
.switch .badge{fill:#009e73}\
.firewall .badge{fill:#d55e00}\
.access-point .badge{fill:#56b4e9}\
.server .badge{fill:#cc79a7}\
.hypervisor .badge{fill:#e69f00}\
.storage .badge{fill:#f0e442}\
.printer .badge,.phone .badge,.camera .badge,.workstation .badge,\
.unknown .badge{fill:#6b7785}\
.pictogram{stroke:#fff}\
.access-point .pictogram,.server .pictogram,.hypervisor .pictogram,\
.storage .pictogram{stroke:#16202b}";

const LIGHT: &str = "\
.topology .ground{fill:#fff}\
.topology text{fill:#16202b}\
.topology .subtitle,.topology .detail,.topology .port,.topology .speed{fill:#46535f}\
.topology .port,.topology .speed{stroke:#fff}\
.topology .line{stroke:#5a6774}\
.topology .member .line{stroke:#84909b}\
.topology .conflicting .line{stroke:#d55e00}\
.topology .core{stroke:#fff}\
.topology .card{fill:#fff;stroke:#8a96a3}\
.topology .frame{fill:#f3f6f9;stroke:#aab4bf}\
.topology .frame .frame{fill:#fff}\
.topology .segment .card{fill:#e3e8ed}";

const DARK: &str = "\
.topology .ground{fill:#12171d}\
.topology text{fill:#e6ebf0}\
.topology .subtitle,.topology .detail,.topology .port,.topology .speed{fill:#b3bec9}\
.topology .port,.topology .speed{stroke:#12171d}\
.topology .line{stroke:#93a0ad}\
.topology .member .line{stroke:#74818e}\
.topology .conflicting .line{stroke:#ff8a3d}\
.topology .core{stroke:#12171d}\
.topology .card{fill:#1d252d;stroke:#6b7885}\
.topology .frame{fill:#171e25;stroke:#4d5965}\
.topology .segment .card{fill:#2a343e}";

/// Returns the text of the `<style>` element of a picture, for a page that contains the picture.
#[must_use]
pub(super) fn css(theme: Theme) -> String {
    match theme {
        Theme::Light => format!("{COMMON}{LIGHT}"),
        Theme::Dark => format!("{COMMON}{DARK}"),
        // Programs that ignore media queries show the light colors.
        Theme::Auto => format!("{COMMON}{LIGHT}@media(prefers-color-scheme:dark){{{DARK}}}"),
    }
}

/// Returns the source expression that allows the styles of a picture in a Content-Security-Policy.
///
/// ```
/// use toposcope::topology::render::{Theme, style_source};
///
/// let policy = format!("default-src 'none'; style-src {}; sandbox", style_source(Theme::Auto));
/// assert!(policy.contains("style-src 'sha256-"));
/// ```
#[must_use]
pub fn style_source(theme: Theme) -> String {
    format!("'sha256-{}'", Base64::encode_string(&Sha256::digest(css(theme))))
}
