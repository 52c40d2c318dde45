use std::fmt;
use std::str::FromStr;

use base64ct::{Base64UrlUnpadded, Encoding};

/// The position in a list at which the next page begins.
///
/// Records that do not change are neither repeated nor missed while others are added, changed or deleted. A cursor
/// belongs to one list: the same organization, filters and order. The limit may differ.
///
/// Its text is opaque to clients, has at most 2,048 characters, and contains the sort keys of the record before the
/// position.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PageCursor(pub(crate) Vec<u8>);

impl PageCursor {
    /// Maximum number of bytes, so that the text has at most 2,048 characters.
    pub(crate) const MAX_BYTES: usize = 2_048 / 4 * 3;

    /// Creates the cursor at the start of a list.
    #[must_use]
    pub const fn start() -> Self {
        Self(Vec::new())
    }
}

/// The error for text that is not a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a cursor")]
#[non_exhaustive]
pub struct PageCursorError;

impl FromStr for PageCursor {
    type Err = PageCursorError;

    fn from_str(text: &str) -> Result<Self, PageCursorError> {
        if text.len() > Self::MAX_BYTES / 3 * 4 {
            return Err(PageCursorError);
        }
        Base64UrlUnpadded::decode_vec(text).map(Self).map_err(|_| PageCursorError)
    }
}

impl fmt::Display for PageCursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&Base64UrlUnpadded::encode_string(&self.0))
    }
}
