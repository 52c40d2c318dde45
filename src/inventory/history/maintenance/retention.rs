//! Deletes the oldest entries beyond the limits of the history.

use std::collections::{BTreeMap, BTreeSet};

use super::packing::Total;
use crate::inventory::history::limits::HistoryLimits;
use crate::inventory::history::log::class::Class;
use crate::inventory::history::log::reader::{LogFilter, ordered};
use crate::inventory::history::log::record::CommitChanges;
use crate::inventory::history::log::run::ChangeRun;
use crate::inventory::schema::{CHANGE, CHANGE_RUN, CREATED_AT, time_sort_key};
use crate::inventory::{Error, Inventory};
use crate::model::{OrganizationId, Timestamp};
use crate::store::{Batch, Direction, KeyFilter, Precondition, Query, Record, TermRange};

/// The number of records that one commit deletes at most.
const DELETED_TOGETHER: usize = 200;

/// The number of records with too old entries that are looked for at a time.
const FOUND_TOGETHER: usize = 500;

impl HistoryLimits {
    /// Returns the time before which entries are too old.
    fn beginning(&self, now: Timestamp) -> Timestamp {
        let age = i64::try_from(self.max_age.as_micros()).unwrap_or(i64::MAX);
        now.plus_micros(age.saturating_neg())
    }
}

impl Inventory {
    /// Deletes entries of all organizations that are too old. Failures are logged.
    pub(in crate::inventory) async fn forget_old_changes(&self) {
        if let Err(error) = self.try_forget_old_changes().await {
            tracing::warn!(error = error.with_causes(), "old changes were not deleted");
        }
    }

    async fn try_forget_old_changes(&self) -> Result<(), Error> {
        let end = time_sort_key(CREATED_AT, self.history_limits.beginning(self.now())).value;
        let mut done = BTreeSet::new();
        for kind in [CHANGE_RUN, CHANGE] {
            loop {
                let old = Query {
                    keys: vec![KeyFilter::new(CREATED_AT, TermRange::new([0], Some(end.clone())))],
                    limit: Some(FOUND_TOGETHER),
                    ..Query::new(kind)
                };
                let found = self.store.list(&old).await?.records;
                let mut organizations = BTreeSet::new();
                for record in &found {
                    let organization = match kind {
                        CHANGE => CommitChanges::read(record).map(|changes| changes.organization_id),
                        _ => ChangeRun::read(record).map(|run| run.organization_id),
                    };
                    // One damaged record must not keep the old entries of all other organizations.
                    match organization {
                        Ok(organization) => {
                            organizations.insert(organization);
                        }
                        Err(error) => {
                            tracing::warn!(error = error.with_causes(), "an old change cannot be read");
                        }
                    }
                }
                organizations.retain(|organization| done.insert(*organization));
                if organizations.is_empty() {
                    break;
                }
                for organization in organizations {
                    self.forget_changes_beyond_limits(organization).await;
                }
            }
        }
        Ok(())
    }

    /// Deletes the oldest entries of an organization beyond its limits. Failures are logged.
    pub(in crate::inventory::history) async fn forget_changes_beyond_limits(
        &self,
        organization: OrganizationId,
    ) {
        for class in Class::ALL {
            let filter = LogFilter { class: Some(class), ..LogFilter::all(organization) };
            match self.try_forget_changes(&filter, class).await {
                // It is being restored or deleted.
                Err(error) if error.is_of_missing_organization() => return,
                Err(error) => {
                    tracing::warn!(error = error.with_causes(), "changes beyond the limits were not deleted");
                }
                Ok(()) => {}
            }
        }
    }

    async fn try_forget_changes(&self, filter: &LogFilter, class: Class) -> Result<(), Error> {
        while self.forget_some_runs(filter, class).await? {
            tokio::task::yield_now().await;
        }
        // Entries outside of runs are later than all runs.
        while self.forget_some_commits(filter).await? {
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    /// Deletes the oldest runs beyond the limits. Returns whether there may be more of them.
    async fn forget_some_runs(&self, filter: &LogFilter, class: Class) -> Result<bool, Error> {
        let limits = self.history_limits;
        let beginning = limits.beginning(self.now());
        let (known, mut totals) = self.totals_of_history(filter.organization).await?;
        let total = totals.of(class);
        let oldest = Query { limit: Some(DELETED_TOGETHER), ..ordered(&filter.runs(), Direction::Ascending) };
        let (records, is_cut) = self.records_within(&oldest, TermRange::new([], None)).await?;
        let slabs = self.whole_slabs(filter, records).await?;
        let (mut batch, mut deleted, count) = (Batch::new(), 0, slabs.len());
        let mut ends = Vec::new();
        for runs in slabs {
            let is_too_much = total.entries > limits.max_entries || total.bytes > limits.max_bytes;
            if !is_too_much && runs.iter().any(|(_, run)| run.last_time() >= Some(beginning)) {
                break;
            }
            // A part of a slab would leave a gap.
            ends.extend(runs.first().map(|(_, run)| run.end));
            for (record, run) in runs {
                let Total { entries, bytes } = run.total();
                total.entries = total.entries.saturating_sub(entries);
                total.bytes = total.bytes.saturating_sub(bytes);
                batch.delete(record.key, Precondition::Version(record.version));
            }
            deleted += 1;
        }
        if deleted == 0 {
            return Ok(false);
        }
        totals.put(known.as_ref(), &mut batch)?;
        if let (Some(first), Some(last)) = (ends.first(), ends.last()) {
            self.forget_counts(filter.organization, (*first, *last), &mut batch).await?;
        }
        // Another task may have deleted some of them. Entries in runs must be deleted before any later commit.
        let is_current = self.commit_if_current(batch).await?;
        Ok(!is_current || (is_cut && deleted == count))
    }

    /// Returns the runs of these records, slab by slab. Runs of the last slab that are not among them are read.
    async fn whole_slabs(
        &self,
        filter: &LogFilter,
        records: Vec<Record>,
    ) -> Result<Vec<Vec<(Record, ChangeRun)>>, Error> {
        let read = |record: Record| ChangeRun::read(&record).map(|run| (record, run));
        let mut slabs: BTreeMap<Vec<u8>, Vec<(Record, ChangeRun)>> = BTreeMap::new();
        for record in records {
            let (record, run) = read(record)?;
            slabs.entry(run.end.entry_key()).or_default().push((record, run));
        }
        if let Some(mut last) = slabs.last_entry() {
            let exact = TermRange::exact(last.key().clone());
            let (records, _) = self.records_within(&filter.runs(), exact).await?;
            last.insert(records.into_iter().map(read).collect::<Result<_, Error>>()?);
        }
        Ok(slabs.into_values().collect())
    }

    /// Deletes the oldest records of commits that are too old. Returns whether there may be more of them.
    async fn forget_some_commits(&self, filter: &LogFilter) -> Result<bool, Error> {
        let beginning = self.history_limits.beginning(self.now());
        let oldest =
            Query { limit: Some(DELETED_TOGETHER), ..ordered(&filter.commits(), Direction::Ascending) };
        let (records, is_cut) = self.records_within(&oldest, TermRange::new([], None)).await?;
        let mut batch = Batch::new();
        for record in &records {
            if CommitChanges::read(record)?.at >= beginning {
                break;
            }
            batch.delete(record.key, Precondition::Version(record.version));
        }
        let deleted = batch.writes().len();
        if deleted == 0 {
            return Ok(false);
        }
        let is_current = self.commit_if_current(batch).await?;
        Ok(!is_current || (is_cut && deleted == records.len()))
    }
}
