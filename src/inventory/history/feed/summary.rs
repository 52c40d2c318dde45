//! The numbers of changes.

use std::collections::HashMap;

use crate::access::Caller;
use crate::inventory::history::log::audience::Audience;
use crate::inventory::history::log::counts::{Counted, CountedStretch, counted, counted_actor, day_text};
use crate::inventory::history::log::position::Place;
use crate::inventory::history::log::reader::{LogFilter, LogReader, Span, ordered};
use crate::inventory::history::log::record::CommitChanges;
use crate::inventory::{Error, Inventory, Moment};
use crate::model::{ChangeActor, ChangeCount, ChangePosition, ChangeSummary};
use crate::store::{Direction, TermRange};
use crate::wire::SummaryQuery;

/// The number of changes that are read one by one after which a summary ends. Changes that are counted already do not count.
const MAX_READ: usize = 200_000;

/// The number of counts after which a summary ends.
const MAX_COUNTS: usize = 10_000;

impl Inventory {
    /// Counts the changes that the caller may see, by day, kind of record, action and actor.
    ///
    /// Actors are named without their e-mail addresses. Older changes have been counted when they were joined; after 200,000 others,
    /// or 10,000 counts, the summary ends with the position from which another one goes on.
    ///
    /// # Errors
    /// `Invalid` for a position that is not one of this organization.
    pub async fn change_summary(
        &self,
        caller: &Caller,
        query: &SummaryQuery,
    ) -> Result<ChangeSummary, Error> {
        let mark = self.history_mark().await?;
        let since = self.bound(caller, "since", query.since.as_ref()).await?;
        let until = self.bound(caller, "until", query.until.as_ref()).await?;
        if !self.recording.is_on() {
            return Ok(ChangeSummary::default());
        }
        let seen = self.seen_in_log(caller).await?;
        let beginning = mark.mark.beginning().unwrap_or(Place::BEGINNING);
        let reached = since.unwrap_or(Place::BEGINNING).max(beginning);
        let end = match until {
            Some(until) => until,
            // Fixed here: others may write faster than this counts.
            None => self.newest_place(&seen, &mark).await?.unwrap_or(Place::BEGINNING),
        };
        let filter = LogFilter { network: query.network_id, ..seen };
        let mut counting = Counting {
            inventory: self,
            filter,
            reached,
            end,
            read: 0,
            seen: HashMap::new(),
            counts: HashMap::new(),
        };
        counting.count().await?;
        let next =
            (counting.reached < end).then(|| mark.mark.key.seal(caller.organization_id(), counting.reached));
        Ok(in_order(counting.counts, next))
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

/// The numbers of changes while they are counted.
#[derive(Debug)]
struct Counting<'i> {
    inventory: &'i Inventory,
    filter: LogFilter,
    /// The place up to which changes are counted.
    reached: Place,
    /// The last place.
    end: Place,
    /// The number of changes that were read one by one.
    read: usize,
    /// Whether the entries of an audience are counted.
    seen: HashMap<Audience, bool>,
    counts: HashMap<ChangeActor, HashMap<Counted, u64>>,
}

impl Counting<'_> {
    /// Counts up to the end, or until there is too much.
    async fn count(&mut self) -> Result<(), Error> {
        let stretches = ordered(&CountedStretch::query(self.filter.organization), Direction::Ascending);
        while !self.is_done() {
            let later = [self.reached.entry_key().as_slice(), &[0]].concat();
            let range = TermRange::new(later, TermRange::exact(self.end.entry_key()).to);
            let (records, _) = self.inventory.records_within(&stretches, range).await?;
            if records.is_empty() {
                return self.read_up_to(self.end).await;
            }
            for record in &records {
                let stretch = CountedStretch::read(record)?;
                if stretch.after < self.reached {
                    self.read_up_to(stretch.end).await?;
                } else {
                    self.read_up_to(stretch.after).await?;
                    self.add_stretch(&stretch);
                }
                if self.is_done() {
                    break;
                }
            }
            // Counting a long part of the history leaves the thread to others now and then.
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    fn is_done(&self) -> bool {
        let counts: usize = self.counts.values().map(HashMap::len).sum();
        self.reached >= self.end || self.read >= MAX_READ || counts >= MAX_COUNTS
    }

    /// Adds the earlier counts, unless the entries before it were not all read.
    fn add_stretch(&mut self, stretch: &CountedStretch) {
        if self.reached != stretch.after {
            return;
        }
        self.reached = stretch.end;
        for of in stretch.counts.iter() {
            let filter = &self.filter;
            if *self.seen.entry(of.audience).or_insert_with(|| filter.has(of.audience)) {
                let counts = self.counts.entry(of.actor.clone()).or_default();
                for (counted, count) in &of.counts {
                    *counts.entry(*counted).or_default() += count;
                }
            }
        }
    }

    /// Counts the entries up to a place by reading them, or until there is too much.
    async fn read_up_to(&mut self, place: Place) -> Result<(), Error> {
        if place <= self.reached {
            return Ok(());
        }
        let span = Span { after: Some(self.reached), until: Some(place) };
        let mut log = LogReader::new(self.inventory, self.filter.clone(), span, Direction::Ascending);
        while !self.is_done() {
            let commits = log.next().await?;
            if commits.is_empty() {
                self.reached = place;
                return Ok(());
            }
            for commit in &commits {
                self.add_commit(commit, span);
            }
            let last = commits.iter().map(CommitChanges::end).max();
            self.reached = self.reached.max(last.unwrap_or(place).min(place));
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    fn add_commit(&mut self, commit: &CommitChanges, span: Span) {
        let counts = self.counts.entry(counted_actor(&commit.actor)).or_default();
        let entries = commit.entries.iter().filter(|entry| span.contains(commit.place(entry.number)));
        for entry in entries {
            self.read += 1;
            *counts.entry(counted(commit.at, entry.entity, entry.action)).or_default() += 1;
        }
    }
}

fn in_order(
    counts: HashMap<ChangeActor, HashMap<Counted, u64>>,
    next: Option<ChangePosition>,
) -> ChangeSummary {
    let counts = counts.into_iter().flat_map(|(actor, counts)| {
        counts.into_iter().map(move |((day, entity, action), count)| {
            (day, ChangeCount { day: day_text(day), entity, action, actor: actor.clone(), count })
        })
    });
    let mut counts: Vec<(i64, ChangeCount)> = counts.collect();
    counts.sort_by_cached_key(|(day, ChangeCount { entity, action, actor, .. })| {
        (*day, entity.as_str(), action.as_str(), format!("{actor:?}"))
    });
    ChangeSummary { counts: counts.into_iter().map(|(_, count)| count).collect(), next }
}
