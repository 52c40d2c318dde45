//! The changes between two moments.

use std::collections::BTreeMap;

use uuid::Uuid;

use crate::access::Caller;
use crate::inventory::history::log::audience::Audience;
use crate::inventory::history::log::position::Place;
use crate::inventory::history::log::reader::{LogFilter, LogReader, Span};
use crate::inventory::history::log::record::{ChangeEntry, CommitChanges};
use crate::inventory::history::mark::CurrentMark;
use crate::inventory::{ChangeQuery, Error, Inventory, Moment};
use crate::model::{ChangeAction, ChangedEntity, FieldChange, NetworkId, Timestamp};
use crate::store::Direction;

impl Inventory {
    /// Returns the place of the last entry that is not later than a moment whose state is asked for.
    ///
    /// # Errors
    /// The errors of [`position_at`](Self::position_at).
    pub(in crate::inventory::history) async fn place_of_state(
        &self,
        caller: &Caller,
        field: &str,
        moment: &Moment,
    ) -> Result<Place, Error> {
        let position = self.position_at(caller, field, moment).await?;
        let key = &self.history_mark().await?.mark.key;
        Ok(key.open(caller.organization_id(), &position).unwrap_or(Place::BEGINNING))
    }

    /// Returns the changes after one place up to another one, of those that a query finds otherwise. `None`: up to the newest.
    pub(in crate::inventory::history) async fn changes_between<'a>(
        &'a self,
        caller: &'a Caller,
        (from, to): (Place, Option<Place>),
        query: ChangeQuery,
    ) -> Result<ChangesBetween<'a>, Error> {
        let mark = self.history_mark().await?;
        let seen = self.seen_in_log(caller).await?;
        let to = match to {
            Some(to) => to,
            // Fixed here: others may write faster than this reads.
            None => from.max(self.newest_place(&seen, &mark).await?.unwrap_or(Place::BEGINNING)),
        };
        let span = Span { after: Some(from).max(mark.mark.beginning()), until: Some(to) };
        // Everyone sees tags, so that readers of small networks need not read the entries of others.
        let audiences = match query.entity {
            Some(ChangedEntity::Tag) => Some(Audience::Everyone.only()),
            _ => seen.audiences.clone(),
        };
        let filter = LogFilter { id: query.id, network: query.network_id, audiences, ..seen };
        let log = LogReader::new(self, filter, span, Direction::Ascending);
        let is_finished = to <= from || !self.recording.is_on();
        Ok(ChangesBetween { inventory: self, caller, mark, log, query, from, to, is_finished })
    }
}

/// The changes between two places, which are read some at a time.
#[derive(Debug)]
pub(in crate::inventory::history) struct ChangesBetween<'a> {
    inventory: &'a Inventory,
    caller: &'a Caller,
    mark: CurrentMark,
    log: LogReader<'a>,
    query: ChangeQuery,
    from: Place,
    /// The last place.
    pub(in crate::inventory::history) to: Place,
    is_finished: bool,
}

/// A change between two places.
#[derive(Debug)]
pub(in crate::inventory::history) struct ChangeBetween {
    /// The time of its commit.
    #[cfg_attr(not(feature = "topology"), allow(dead_code, reason = "only pictures show it"))]
    pub(in crate::inventory::history) at: Timestamp,
    pub(in crate::inventory::history) action: ChangeAction,
    pub(in crate::inventory::history) entity: ChangedEntity,
    pub(in crate::inventory::history) id: Uuid,
    pub(in crate::inventory::history) network_id: Option<NetworkId>,
    pub(in crate::inventory::history) name: String,
    /// The fields of an update, or of a new or deleted link; empty otherwise.
    pub(in crate::inventory::history) fields: BTreeMap<String, FieldChange>,
    pub(in crate::inventory::history) is_erased: bool,
}

impl ChangesBetween<'_> {
    /// Returns the next changes, which may be none. `None`: all have been returned.
    ///
    /// # Errors
    /// `PositionGone` if the entry of the first place has been deleted meanwhile: others may be missing, too.
    pub(in crate::inventory::history) async fn next(&mut self) -> Result<Option<Vec<ChangeBetween>>, Error> {
        if self.is_finished {
            return Ok(None);
        }
        let commits = self.log.next().await?;
        if commits.is_empty() {
            self.is_finished = true;
            let from = self.mark.mark.key.seal(self.caller.organization_id(), self.from);
            self.inventory.position_at(self.caller, "from", &Moment::Position(from)).await?;
            return Ok(None);
        }
        let mut found = Vec::new();
        for commit in commits {
            for entry in &commit.entries {
                if self.query.matches(&commit, entry) {
                    found.push((commit.place(entry.number), ChangeBetween::of(&commit, entry)?));
                }
            }
        }
        // The runs of a slab are in the order of their audiences, not of time.
        found.sort_by_key(|(place, _)| *place);
        // The reader of a long part of the history leaves the thread to others now and then.
        tokio::task::yield_now().await;
        Ok(Some(found.into_iter().map(|(_, change)| change).collect()))
    }
}

impl ChangeBetween {
    fn of(commit: &CommitChanges, entry: &ChangeEntry) -> Result<Self, Error> {
        let ChangeEntry { action, entity, id, ref name, is_erased, .. } = *entry;
        let fields = match (entity, action) {
            (ChangedEntity::Link, ChangeAction::Created | ChangeAction::Deleted) => entry.fields()?,
            (entity, ChangeAction::Updated) if entity != ChangedEntity::Link => entry.fields()?,
            _ => BTreeMap::new(),
        };
        let network_id = commit.audience.network();
        Ok(Self { at: commit.at, action, entity, id, network_id, name: name.clone(), fields, is_erased })
    }
}
