use std::hash::{DefaultHasher, Hash, Hasher};

use uuid::Uuid;

use crate::inventory::{Error, Problem};
use crate::store::Cursor;
use crate::wire::PageCursor;

/// A decoded cursor.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::inventory) enum CursorPosition {
    /// The start of the list.
    Start,
    After(Cursor),
    /// After this record, whose sort keys have this digest. The keys themselves did not fit
    /// into the cursor.
    AfterRecord(Uuid, u64),
}

/// Marks a cursor that names its record.
const NAMES_RECORD: u8 = 1;
/// Marks a cursor that contains the sort keys.
const HAS_KEYS: u8 = 2;

impl PageCursor {
    /// Creates the cursor at a position in the list with this fingerprint.
    pub(in crate::inventory) fn new(list: u64, cursor: &Cursor) -> Self {
        let mut bytes = vec![HAS_KEYS];
        bytes.extend(list.to_be_bytes());
        bytes.extend(cursor.id().as_bytes());
        for key in cursor.keys() {
            bytes.extend((key.len() as u64).to_be_bytes());
            bytes.extend(key);
            if bytes.len() > Self::MAX_BYTES {
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
    /// `Invalid` for a malformed cursor, and for one of another list.
    pub(in crate::inventory) fn position(&self, list: u64) -> Result<CursorPosition, Error> {
        if self.0.is_empty() {
            return Ok(CursorPosition::Start);
        }
        self.parse(list).ok_or_else(invalid_cursor)
    }

    fn parse(&self, list: u64) -> Option<CursorPosition> {
        let (form, rest) = self.0.split_first()?;
        let (own_list, rest) = rest.split_first_chunk::<8>()?;
        let (id, mut rest) = rest.split_first_chunk::<16>()?;
        if u64::from_be_bytes(*own_list) != list {
            return None;
        }
        let id = Uuid::from_bytes(*id);
        if *form == NAMES_RECORD {
            let (digest, []) = rest.split_first_chunk::<8>()? else { return None };
            return Some(CursorPosition::AfterRecord(id, u64::from_be_bytes(*digest)));
        }
        let mut keys = Vec::new();
        while let Some((length, tail)) = rest.split_first_chunk::<8>() {
            let length = usize::try_from(u64::from_be_bytes(*length)).ok()?;
            let (key, tail) = tail.split_at_checked(length)?;
            keys.push(key.to_vec());
            rest = tail;
        }
        (*form == HAS_KEYS && rest.is_empty()).then(|| CursorPosition::After(Cursor::new(keys, id)))
    }
}

/// Returns the error for a cursor that does not belong to the list.
pub(in crate::inventory) fn invalid_cursor() -> Error {
    Error::invalid("cursor", Problem::OfOtherList)
}

/// Computes a hash of a value, which is stable within one build only.
pub(in crate::inventory) fn fingerprint(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
