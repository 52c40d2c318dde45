use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::str::FromStr;

use base64ct::{Base64UrlUnpadded, Encoding};
use uuid::Uuid;

use crate::inventory::{Error, Problem};
use crate::store::Cursor;

/// The position in a list at which the next page begins.
///
/// Records that do not change are neither repeated nor missed while others are added, changed or deleted. A cursor
/// belongs to one list: the same organization, filters and order. The limit may differ.
///
/// Its text is opaque to clients, has at most 2,048 characters, and contains the sort keys of the record before the
/// position.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct PageCursor(Vec<u8>);

/// Maximum number of bytes, so that the text has at most 2,048 characters.
const MAX_BYTES: usize = 2_048 / 4 * 3;

/// A decoded cursor.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::inventory) enum Position {
    /// The start of the list.
    Start,
    After(Cursor),
    /// After this record, whose sort keys have this digest. They did not fit.
    AfterRecord(Uuid, u64),
}

/// Marks a cursor that names its record.
const NAMES_RECORD: u8 = 1;
/// Marks a cursor that contains the sort keys.
const HAS_KEYS: u8 = 2;

impl PageCursor {
    /// Creates the cursor at the start of a list.
    #[must_use]
    pub const fn start() -> Self {
        Self(Vec::new())
    }

    /// Creates the cursor at a position in the list with this fingerprint.
    pub(in crate::inventory) fn new(list: u64, cursor: &Cursor) -> Self {
        let mut bytes = vec![HAS_KEYS];
        bytes.extend(list.to_be_bytes());
        bytes.extend(cursor.id().as_bytes());
        for key in cursor.keys() {
            bytes.extend((key.len() as u64).to_be_bytes());
            bytes.extend(key);
            if bytes.len() > MAX_BYTES {
                return Self::naming_record(list, cursor);
            }
        }
        Self(bytes)
    }

    fn naming_record(list: u64, cursor: &Cursor) -> Self {
        let mut bytes = vec![NAMES_RECORD];
        bytes.extend(list.to_be_bytes());
        bytes.extend(cursor.id().as_bytes());
        bytes.extend(fingerprint(&cursor.keys()).to_be_bytes());
        Self(bytes)
    }

    /// Returns the position in the list with this fingerprint.
    ///
    /// # Errors
    /// `Invalid` for a cursor of another list.
    pub(in crate::inventory) fn position(&self, list: u64) -> Result<Position, Error> {
        if self.0.is_empty() {
            return Ok(Position::Start);
        }
        self.parse(list).ok_or_else(invalid_cursor)
    }

    fn parse(&self, list: u64) -> Option<Position> {
        let (form, rest) = self.0.split_first()?;
        let (own_list, rest) = rest.split_first_chunk::<8>()?;
        let (id, mut rest) = rest.split_first_chunk::<16>()?;
        if u64::from_be_bytes(*own_list) != list {
            return None;
        }
        let id = Uuid::from_bytes(*id);
        if *form == NAMES_RECORD {
            let (digest, []) = rest.split_first_chunk::<8>()? else { return None };
            return Some(Position::AfterRecord(id, u64::from_be_bytes(*digest)));
        }
        let mut keys = Vec::new();
        while let Some((length, tail)) = rest.split_first_chunk::<8>() {
            let length = usize::try_from(u64::from_be_bytes(*length)).ok()?;
            let (key, tail) = tail.split_at_checked(length)?;
            keys.push(key.to_vec());
            rest = tail;
        }
        (*form == HAS_KEYS && rest.is_empty()).then(|| Position::After(Cursor::new(keys, id)))
    }
}

/// Returns the error for a cursor that is not one of the list.
pub(in crate::inventory) fn invalid_cursor() -> Error {
    Error::invalid("cursor", Problem::InvalidFormat)
}

/// Computes a number that differs for different values. It is stable within one build only.
pub(in crate::inventory) fn fingerprint(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The error for text that is not a cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a cursor")]
#[non_exhaustive]
pub struct PageCursorError;

impl FromStr for PageCursor {
    type Err = PageCursorError;

    fn from_str(text: &str) -> Result<Self, PageCursorError> {
        if text.len() > MAX_BYTES / 3 * 4 {
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
