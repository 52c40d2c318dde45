//! Parts whose ids other hosts have.

use uuid::Uuid;

use super::change::HostChange;
use super::document::EncodedHost;
use super::parts::Embedded;
use crate::inventory::schema::part_unique_key;
use crate::inventory::{Entity, Error, ErrorKind};
use crate::model::for_each_part_type;
use crate::store::UniqueKey;

/// A part whose id belongs to a part of another host.
#[derive(Debug)]
pub(in crate::inventory) struct TakenPart {
    pub(in crate::inventory) entity: Entity,
    pub(in crate::inventory) id: Uuid,
    pub(super) unique_key: UniqueKey,
}

impl From<TakenPart> for Error {
    fn from(taken: TakenPart) -> Self {
        ErrorKind::AlreadyExists { entity: taken.entity, name: taken.id.to_string() }.into()
    }
}

/// Returns the part of the changed hosts that has a unique key of another host.
///
/// `None` when the change only reads this unique key.
pub(super) fn taken_part(change: &HostChange<'_>, taken: &UniqueKey) -> Option<TakenPart> {
    let mut found = None;
    for_each_part_type!(P => found = found.or_else(|| find_taken::<P>(change, taken)));
    found
}

fn find_taken<P: Embedded>(change: &HostChange<'_>, taken: &UniqueKey) -> Option<TakenPart> {
    if taken.name != P::UNIQUE_KEY {
        return None;
    }
    let mut ids = change.puts.iter().flat_map(EncodedHost::part_ids::<P>);
    let id = ids.find(|id| part_unique_key(taken.name, change.organization, *id) == *taken)?;
    Some(TakenPart { entity: P::ENTITY, id, unique_key: taken.clone() })
}
