//! The numbers of joined entries, kept so that a summary need not read the entries.
//!
//! Each record counts the entries of one stretch of the log, exactly: from one place to another. Where there is none, entries are read.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::audience::Audience;
use super::position::Place;
use super::reader::{LogFilter, ordered};
use super::run::ChangeRun;
use crate::inventory::schema::{CHANGE_COUNTS, WRITTEN, decode, encode};
use crate::inventory::{Error, Inventory, unchanged};
use crate::model::{ChangeAction, ChangeActor, ChangedEntity, OrganizationId, Timestamp};
use crate::store::{Batch, Direction, Facets, Key, Precondition, Query, Record, SortKey, TermRange};

/// The numbers of entries and of counts from which on a record is not continued.
const MAX_ENTRIES: u64 = 10_000;
const MAX_COUNTS: usize = 2_000;

const DAY: i64 = 24 * 3_600 * 1_000_000;

/// The key under which entries are counted. The day is the number of days since 1970-01-01 in UTC.
pub(in crate::inventory::history) type Counted = (i64, ChangedEntity, ChangeAction);

/// The numbers of entries, by who may see them and who has made them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(in crate::inventory::history) struct EntryCounts(Vec<ActorCounts>);

/// The numbers of entries that the same users may see and that one actor has made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::inventory::history) struct ActorCounts {
    pub(in crate::inventory::history) audience: Audience,
    /// Without an e-mail address, so that there is none to erase.
    pub(in crate::inventory::history) actor: ChangeActor,
    pub(in crate::inventory::history) counts: Vec<(Counted, u64)>,
}

/// The numbers of the entries after one place up to another one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::inventory::history) struct CountedStretch {
    organization_id: OrganizationId,
    pub(in crate::inventory::history) after: Place,
    pub(in crate::inventory::history) end: Place,
    entries: u64,
    pub(in crate::inventory::history) counts: EntryCounts,
}

impl CountedStretch {
    pub(in crate::inventory::history) fn read(record: &Record) -> Result<Self, Error> {
        decode(record)
    }

    pub(in crate::inventory::history) fn put(
        &self,
        key: Key,
        precondition: Precondition,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let facets = Facets::default()
            .with_organization(self.organization_id.uuid())
            .with_sort_keys([SortKey::new(WRITTEN, self.end.entry_key())]);
        batch.put(key, precondition, facets, encode(self)?);
        Ok(())
    }

    /// Returns the query of the stretches of an organization.
    pub(in crate::inventory::history) fn query(organization: OrganizationId) -> Query {
        Query { organization: Some(organization.uuid()), ..Query::new(CHANGE_COUNTS) }
    }

    fn is_full(&self) -> bool {
        self.entries >= MAX_ENTRIES || self.counts.len() >= MAX_COUNTS
    }
}

/// Returns the key under which an entry is counted.
pub(in crate::inventory::history) fn counted(
    at: Timestamp,
    entity: ChangedEntity,
    action: ChangeAction,
) -> Counted {
    (at.unix_micros().div_euclid(DAY), entity, action)
}

/// Returns a day as text, such as `2026-11-27`.
pub(in crate::inventory::history) fn day_text(day: i64) -> String {
    let start = Timestamp::UNIX_EPOCH.plus_micros(day.saturating_mul(DAY));
    start.to_string().chars().take_while(|letter| *letter != 'T').collect()
}

/// Returns an actor as changes are counted by it: all API keys of a user count as the user.
pub(in crate::inventory::history) fn counted_actor(actor: &ChangeActor) -> ChangeActor {
    match actor {
        ChangeActor::User { id, .. } => ChangeActor::User { id: *id, email: None, key_id: None },
        other => other.clone(),
    }
}

impl EntryCounts {
    /// Returns the counts of these entries, together with former ones.
    fn with(self, runs: &[ChangeRun]) -> Self {
        let mut all: HashMap<(Audience, ChangeActor), HashMap<Counted, u64>> = HashMap::new();
        for ActorCounts { audience, actor, counts } in self.0 {
            all.entry((audience, actor)).or_default().extend(counts);
        }
        for run in runs {
            for commit in &run.commits {
                let of = all.entry((run.audience, counted_actor(&commit.actor))).or_default();
                for entry in &commit.entries {
                    *of.entry(counted(commit.at, entry.entity, entry.action)).or_default() += 1;
                }
            }
        }
        let of = |((audience, actor), counts): (_, HashMap<Counted, u64>)| ActorCounts {
            audience,
            actor,
            counts: counts.into_iter().collect(),
        };
        Self(all.into_iter().map(of).collect())
    }

    fn len(&self) -> usize {
        self.0.iter().map(|actor| actor.counts.len()).sum()
    }

    pub(in crate::inventory::history) fn iter(&self) -> impl Iterator<Item = &ActorCounts> {
        self.0.iter()
    }
}

impl Inventory {
    /// Adds the counts of the entries of runs, which are later than all other runs, to the batch that puts the runs.
    pub(in crate::inventory::history) async fn count_runs(
        &self,
        organization_id: OrganizationId,
        runs: &[ChangeRun],
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let Some(end) = runs.iter().map(|run| run.end).max() else { return Ok(()) };
        let newest = |query| Query { limit: Some(1), ..ordered(&query, Direction::Descending) };
        let all = TermRange::new([], None);
        let former = newest(LogFilter::all(organization_id).runs());
        let (former, _) = self.records_within(&former, all.clone()).await?;
        let former = former.first().map(ChangeRun::read).transpose()?;
        let after = former.map_or(Place::BEGINNING, |run| run.end);
        let (last, _) = self.records_within(&newest(CountedStretch::query(organization_id)), all).await?;
        let stretch = last.first().map(CountedStretch::read).transpose()?;
        let stretch = stretch.filter(|stretch| stretch.end == after && !stretch.is_full());
        let known = last.first().filter(|_| stretch.is_some());
        let key = match known {
            Some(record) => record.key,
            None => Key::new(CHANGE_COUNTS, self.new_id()?),
        };
        let new =
            || CountedStretch { organization_id, after, end, entries: 0, counts: EntryCounts::default() };
        let stretch = stretch.unwrap_or_else(new);
        let added: u64 = runs.iter().map(|run| run.total().entries).sum();
        let entries = stretch.entries.saturating_add(added);
        let counts = stretch.counts.with(runs);
        CountedStretch { end, entries, counts, ..stretch }.put(key, unchanged(known), batch)
    }

    /// Adds the deletion of the stretches that have entries of slabs to the batch that deletes these slabs, which end at these places.
    pub(in crate::inventory::history) async fn forget_counts(
        &self,
        organization: OrganizationId,
        (first, last): (Place, Place),
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let query = ordered(&CountedStretch::query(organization), Direction::Ascending);
        let mut from = first.entry_key();
        loop {
            let (records, is_cut) = self.records_within(&query, TermRange::new(from, None)).await?;
            let mut end = None;
            for record in &records {
                let stretch = CountedStretch::read(record)?;
                if stretch.after >= last {
                    return Ok(());
                }
                batch.delete(record.key, Precondition::Version(record.version));
                end = Some(stretch.end);
            }
            let Some(end) = end.filter(|_| is_cut) else { return Ok(()) };
            from = [end.entry_key().as_slice(), &[0]].concat();
        }
    }
}
