//! The times at which links were added and removed.

use std::collections::BTreeMap;

use super::past_records::PastMoment;
use crate::access::Caller;
use crate::inventory::{ChangeQuery, Error, Inventory};
use crate::model::{ChangeAction, ChangedEntity, LinkId, NetworkId, Timestamp};

/// The number of links whose times are kept. Further ones are without.
const MAX_KNOWN: usize = 50_000;

/// The last times at which a link was added and removed, between two moments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinkTimes {
    pub(crate) since: Option<Timestamp>,
    pub(crate) until: Option<Timestamp>,
}

impl Inventory {
    /// Returns the times of the links of a network that were added or removed between two moments. Access to the network must have been
    /// checked.
    ///
    /// # Errors
    /// `PositionGone` if the entry of the first moment is no longer there.
    pub(crate) async fn link_times(
        &self,
        caller: &Caller,
        network: NetworkId,
        (from, to): (&PastMoment, &PastMoment),
    ) -> Result<BTreeMap<LinkId, LinkTimes>, Error> {
        let query = ChangeQuery {
            entity: Some(ChangedEntity::Link),
            network_id: Some(network),
            ..ChangeQuery::default()
        };
        let mut changes = self.changes_between(caller, (from.place, Some(to.place)), query).await?;
        let mut times: BTreeMap<LinkId, LinkTimes> = BTreeMap::new();
        while let Some(some) = changes.next().await? {
            for change in some {
                let id = LinkId::new(change.id);
                if times.len() >= MAX_KNOWN && !times.contains_key(&id) {
                    continue;
                }
                match change.action {
                    ChangeAction::Created => times.entry(id).or_default().since = Some(change.at),
                    ChangeAction::Deleted => times.entry(id).or_default().until = Some(change.at),
                    _ => {}
                }
            }
        }
        Ok(times)
    }
}
