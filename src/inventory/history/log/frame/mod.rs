//! The bodies of records of changes: entries that are read without decoding others.
//!
//! | Part | Contents |
//! |---|---|
//! | heading | the format, the organization, the audience of the entries, their class, and of a run the place of its last entry |
//! | tables | each actor once, as JSON, and each pair of an action and an entity once, as texts |
//! | directory | for each commit its place, time, actor and request, and for each of its entries the number, the id, the name and the length of its content |
//! | contents | the JSON of the entries, one after the other |
//!
//! Numbers are of variable length (LEB128), and the numbers of a commit or an entry are differences from the one before it. A reader passes
//! over the directory, and takes the content of an entry as a part of the body, without copying or decoding it. The JSON itself is
//! decoded only when a caller asks for the fields.

mod decode;
mod encode;
#[cfg(test)]
mod tests;

use uuid::Uuid;

pub(super) use self::decode::decode;
pub(super) use self::encode::encode;
use super::audience::Audience;
use super::class::Class;
use super::position::Place;
use super::reader::Span;
use super::record::CommitChanges;
use crate::inventory::Error;
use crate::model::OrganizationId;
use crate::store::Key;

/// The first byte of a body. Another format would have another one.
const FORMAT: u8 = 1;

/// Flags of a commit in the directory: which optional values follow.
const HAS_VERSION: u8 = 1;
const HAS_REQUEST: u8 = 2;

/// Flags of an entry in the directory, below the bits of its kind, and their number.
const IS_ERASED: u8 = 1;
const HAS_CAUSE: u8 = 2;
const ENTRY_BITS: u32 = 2;

/// The values of the previous commit, from which those of the next one are differences.
#[derive(Clone, Copy, Debug, Default)]
struct Former {
    era: u32,
    version: u64,
    at: i64,
}

/// The content of a body.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(in crate::inventory::history::log) organization_id: OrganizationId,
    pub(in crate::inventory::history::log) audience: Audience,
    pub(in crate::inventory::history::log) class: Class,
    /// The place of the last entry of the slab, if the body is that of a run.
    pub(in crate::inventory::history::log) end: Option<Place>,
    pub(in crate::inventory::history::log) commits: Vec<CommitChanges>,
}

impl Frame {
    /// Creates the error for a record whose body cannot be decoded.
    pub(in crate::inventory::history::log) fn damaged(key: Key) -> Error {
        Error::internal(format!("the {key} cannot be decoded"))
    }
}

/// Which entries of a body are read.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::inventory::history) struct Selection {
    /// Only entries of this record.
    pub(in crate::inventory::history) id: Option<Uuid>,
    /// Only entries in this part of the log.
    pub(in crate::inventory::history) span: Span,
}

impl Selection {
    /// All entries.
    pub(in crate::inventory::history) const ALL: Self =
        Self { id: None, span: Span { after: None, until: None } };

    fn has(&self, id: Uuid, place: Place) -> bool {
        self.id.is_none_or(|selected| selected == id) && self.span.contains(place)
    }
}
