//! The changes between two moments.

use crate::access::Caller;
use crate::inventory::history::log::position::Place;
use crate::inventory::history::mark::CurrentMark;
use crate::inventory::{ChangeQuery, Error, Inventory, Moment};
use crate::model::Change;

impl Inventory {
    /// Returns the place of the last entry that is not later than a moment whose state is asked for.
    ///
    /// # Errors
    /// Those of [`position_at`](Self::position_at).
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
        let to = match to {
            Some(to) => to,
            // Fixed here: others may write faster than this reads.
            None => from.max(self.newest_place_of(&mark, caller).await?),
        };
        let sealed = |place| Some(mark.mark.key.seal(caller.organization_id(), place));
        let until = sealed(to).map(Moment::Position);
        let query = ChangeQuery { after: sealed(from), until, ..query };
        let is_finished = to <= from;
        Ok(ChangesBetween { inventory: self, caller, mark, query, to, is_finished })
    }

    async fn newest_place_of(&self, mark: &CurrentMark, caller: &Caller) -> Result<Place, Error> {
        let newest = ChangeQuery { limit: Some(0), ..ChangeQuery::default() };
        let newest = self.changes(caller, &newest).await?.next;
        Ok(mark.mark.key.open(caller.organization_id(), &newest).unwrap_or(Place::BEGINNING))
    }
}

/// The changes between two places, which are read page by page.
#[derive(Debug)]
pub(in crate::inventory::history) struct ChangesBetween<'a> {
    inventory: &'a Inventory,
    caller: &'a Caller,
    mark: CurrentMark,
    query: ChangeQuery,
    /// The last place.
    pub(in crate::inventory::history) to: Place,
    is_finished: bool,
}

impl ChangesBetween<'_> {
    /// Returns the next changes, which may be none. `None`: all have been returned.
    pub(in crate::inventory::history) async fn next(&mut self) -> Result<Option<Vec<Change>>, Error> {
        if self.is_finished {
            return Ok(None);
        }
        let page = self.inventory.changes(self.caller, &self.query).await?;
        let reached = self.mark.mark.key.open(self.caller.organization_id(), &page.next);
        self.is_finished = !page.has_more || reached.is_some_and(|reached| reached >= self.to);
        self.query.after = Some(page.next);
        // The reader of a long part of the history leaves the thread to others now and then.
        tokio::task::yield_now().await;
        Ok(Some(page.changes))
    }
}
