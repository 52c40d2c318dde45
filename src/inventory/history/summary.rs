//! The numbers of changes.

use std::collections::HashMap;

use super::between::ChangesBetween;
use super::feed::MAX_PAGE;
use super::position::Place;
use crate::access::Caller;
use crate::inventory::{ChangeQuery, Error, Inventory, Moment};
use crate::model::{Change, ChangeAction, ChangeActor, ChangeCount, ChangeSummary, ChangedEntity, Timestamp};
use crate::wire::SummaryQuery;

/// The number of changes after which a summary ends.
const MAX_COUNTED: usize = 200_000;

/// The number of counts after which a summary ends.
const MAX_COUNTS: usize = 10_000;

/// What is counted together.
type Counted = (String, ChangedEntity, ChangeAction, ChangeActor);

impl Inventory {
    /// Counts the changes that the caller may see, by day, kind of record, action and actor.
    ///
    /// After 200,000 changes or 10,000 counts, it ends with the position from which another summary goes on.
    ///
    /// # Errors
    /// `Invalid` for a position that is not one of this organization.
    pub async fn change_summary(
        &self,
        caller: &Caller,
        query: &SummaryQuery,
    ) -> Result<ChangeSummary, Error> {
        let from = self.bound(caller, "since", query.since.as_ref()).await?.unwrap_or(Place::BEGINNING);
        let to = self.bound(caller, "until", query.until.as_ref()).await?;
        let changes =
            ChangeQuery { network_id: query.network_id, limit: Some(MAX_PAGE), ..ChangeQuery::default() };
        counted(&mut self.changes_between(caller, (from, to), (changes, false)).await?).await
    }

    /// Returns the place of the last entry that is not later than a moment, if there is one.
    async fn bound(
        &self,
        caller: &Caller,
        field: &str,
        moment: Option<&Moment>,
    ) -> Result<Option<Place>, Error> {
        let Some(moment) = moment else { return Ok(None) };
        let mark = self.history_mark().await?;
        let place = self.place_of_moment(&mark, caller, field, moment).await?;
        Ok(Some(place.unwrap_or(Place::BEGINNING)))
    }
}

async fn counted(changes: &mut ChangesBetween<'_>) -> Result<ChangeSummary, Error> {
    let mut counts: HashMap<Counted, u64> = HashMap::new();
    let mut left = MAX_COUNTED;
    // A page adds at most as many counts as it has changes.
    while left > 0 && counts.len() <= MAX_COUNTS - MAX_PAGE {
        let Some(page) = changes.next().await? else { break };
        left = left.saturating_sub(page.len());
        for change in page {
            *counts.entry(counted_as(change)).or_default() += 1;
        }
    }
    Ok(ChangeSummary { counts: in_order(counts), next: changes.position() })
}

/// Returns what a change is counted as.
fn counted_as(change: Change) -> Counted {
    let actor = match change.actor {
        ChangeActor::User { id, email, .. } => ChangeActor::User { id, email, key_id: None },
        other => other,
    };
    (day(change.at), change.entity, change.action, actor)
}

/// Returns the day of a time in UTC.
fn day(time: Timestamp) -> String {
    time.to_string().chars().take_while(|letter| *letter != 'T').collect()
}

fn in_order(counts: HashMap<Counted, u64>) -> Vec<ChangeCount> {
    let counts = counts.into_iter();
    let mut counts: Vec<ChangeCount> = counts
        .map(|((day, entity, action, actor), count)| ChangeCount { day, entity, action, actor, count })
        .collect();
    counts.sort_by_cached_key(|count| {
        let ChangeCount { day, entity, action, actor, .. } = count;
        (day.clone(), entity.as_str(), action.as_str(), format!("{actor:?}"))
    });
    counts
}
