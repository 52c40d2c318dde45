//! The changes between two moments.

use super::feed::ChangeQuery;
use super::mark::CurrentMark;
use super::position::Place;
use crate::access::Caller;
use crate::inventory::{Error, Inventory};
use crate::model::{Change, ChangePosition, Moment};

impl Inventory {
    /// Returns the place of the last entry that is not later than a moment whose state is asked for.
    ///
    /// # Errors
    /// `PositionGone` for a time before the history began.
    pub(super) async fn place_of_state(
        &self,
        caller: &Caller,
        field: &str,
        moment: &Moment,
    ) -> Result<Place, Error> {
        let mark = self.history_mark().await?;
        match moment {
            Moment::Time(time) if *time < mark.mark.began_at => {
                Err(self.position_gone(&mark, caller).await?)
            }
            _ => self.place_of_moment(caller, field, moment).await,
        }
    }

    /// Returns the place of the last entry that is not later than a moment, which a request names in a field.
    pub(super) async fn place_of_moment(
        &self,
        caller: &Caller,
        field: &str,
        moment: &Moment,
    ) -> Result<Place, Error> {
        match moment {
            Moment::Time(time) => Ok(self.place_at(caller, *time).await?.unwrap_or(Place::BEGINNING)),
            Moment::Position(position) => {
                self.place_of(&self.history_mark().await?, caller, field, position).await
            }
        }
    }

    /// Returns the changes after one place up to another one, of those that a query finds otherwise. `None`: up to the newest.
    pub(super) async fn changes_between<'a>(
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
        let query = ChangeQuery { after: sealed(from), until_position: sealed(to), ..query };
        Ok(ChangesBetween { inventory: self, caller, mark, query, to, is_finished: to <= from })
    }

    async fn newest_place_of(&self, mark: &CurrentMark, caller: &Caller) -> Result<Place, Error> {
        let newest = ChangeQuery { limit: Some(0), ..ChangeQuery::default() };
        let newest = self.changes(caller, &newest).await?.next;
        Ok(mark.mark.key.open(caller.organization_id(), &newest).unwrap_or(Place::BEGINNING))
    }
}

/// The changes between two places, which are read page by page.
#[derive(Debug)]
pub(super) struct ChangesBetween<'a> {
    inventory: &'a Inventory,
    caller: &'a Caller,
    mark: CurrentMark,
    query: ChangeQuery,
    /// The last place.
    pub(super) to: Place,
    is_finished: bool,
}

impl ChangesBetween<'_> {
    /// Returns the next changes, which may be none. `None`: all have been returned.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<Change>>, Error> {
        if self.is_finished {
            return Ok(None);
        }
        let page = self.inventory.changes(self.caller, &self.query).await?;
        let reached = self.mark.mark.key.open(self.caller.organization_id(), &page.next);
        let is_at_end = page.changes.is_empty() && self.query.after.as_ref() == Some(&page.next);
        self.is_finished = is_at_end || reached.is_some_and(|reached| reached >= self.to);
        self.query.after = Some(page.next);
        // The reader of a long part of the history leaves the thread to others now and then.
        tokio::task::yield_now().await;
        Ok(Some(page.changes))
    }

    /// Returns the position up to which changes have been returned. `None`: no more follow.
    pub(super) fn position(&self) -> Option<ChangePosition> {
        self.query.after.clone().filter(|_| !self.is_finished)
    }
}
