//! Joins the oldest entries of an organization into runs, a step at a time.
//!
//! A step takes whole commits from the beginning of the ones that are not joined yet, and moves their entries in one commit, on the
//! condition that none of their records has changed. So each entry is in one place at any moment, and those in runs are older
//! than all others.

use serde::{Deserialize, Serialize};

use crate::inventory::history::log::class::Class;
use crate::inventory::history::log::reader::{LogFilter, ordered};
use crate::inventory::history::log::record::CommitChanges;
use crate::inventory::history::log::run::{ChangeRun, Joining};
use crate::inventory::history::mark::CurrentMark;
use crate::inventory::schema::{CHANGE_TOTALS, ORGANIZATION, decode, encode};
use crate::inventory::{Error, Inventory, unchanged};
use crate::model::OrganizationId;
use crate::store::{Batch, Direction, Facets, Key, Precondition, Query, Record, StoreErrorKind, TermRange};

/// The number of records of commits from which on the oldest are joined: even the shortest entries then fill a slab.
const JOINED_FROM: u64 = 512;

/// The numbers of records and of bytes that one step joins at most, but for one large commit.
const JOINED_TOGETHER: usize = 2_000;
const BYTES_TOGETHER: usize = 4 * 1024 * 1024;

/// The number of records after which an organization is looked at, on average.
const LOOKED_AT_EVERY: u64 = 128;

/// The number of steps in a row that may find that another task was faster.
const MAX_ATTEMPTS: usize = 16;

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Some entries are joined.
    Joined,
    /// Another task has joined or deleted entries meanwhile.
    Overtaken,
    /// Few entries are not joined.
    Done,
}

/// The number and the size of entries in runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::inventory::history) struct Total {
    pub(in crate::inventory::history) entries: u64,
    pub(in crate::inventory::history) bytes: u64,
}

/// The entries of an organization in runs, by their class.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(in crate::inventory::history) struct Totals {
    organization_id: OrganizationId,
    records: Total,
    security: Total,
}

impl Totals {
    pub(in crate::inventory::history) const fn of(&mut self, class: Class) -> &mut Total {
        match class {
            Class::Records => &mut self.records,
            Class::Security => &mut self.security,
        }
    }

    pub(in crate::inventory::history) fn put(
        &self,
        known: Option<&Record>,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let facets = Facets::default().with_organization(self.organization_id.uuid());
        batch.put(totals_key(self.organization_id), unchanged(known), facets, encode(self)?);
        Ok(())
    }
}

impl ChangeRun {
    pub(in crate::inventory::history) fn total(&self) -> Total {
        self.entries().fold(Total::default(), |Total { entries, bytes }, entry| Total {
            entries: entries + 1,
            bytes: bytes + entry.size() as u64,
        })
    }
}

const fn totals_key(organization: OrganizationId) -> Key {
    Key::new(CHANGE_TOTALS, organization.uuid())
}

impl Inventory {
    /// Joins the oldest entries of an organization in the background, now and then.
    ///
    /// The more records a commit has, the likelier it is.
    pub(in crate::inventory::history) fn pack_now_and_then(
        &self,
        organization: OrganizationId,
        recorded: EntriesAdded,
    ) {
        let EntriesAdded { records, random } = recorded;
        if random < (u64::MAX / LOOKED_AT_EVERY).saturating_mul(records) {
            let inventory = self.with_own_state();
            if let Some(tasks) = self.state.history.tasks() {
                tasks.spawn(|| true, async move { inventory.pack_history(organization).await });
            }
        }
    }

    /// Joins entries of an organization as long as many are not joined. Failures are logged.
    async fn pack_history(&self, organization: OrganizationId) {
        let mut attempts = 0;
        while attempts < MAX_ATTEMPTS {
            match self.pack_step(organization).await {
                Ok(Step::Joined) => attempts = 0,
                Ok(Step::Overtaken) => attempts += 1,
                Ok(Step::Done) => break,
                Err(error) if error.is_of_missing_organization() => return,
                Err(error) => {
                    return tracing::warn!(error = error.with_causes(), "older changes were not joined");
                }
            }
            tokio::task::yield_now().await;
        }
        self.forget_changes_beyond_limits(organization).await;
    }

    /// Joins the oldest entries, if there are many.
    async fn pack_step(&self, organization: OrganizationId) -> Result<Step, Error> {
        let commits = LogFilter::all(organization).commits();
        let oldest = Query {
            limit: Some(JOINED_TOGETHER),
            max_bytes: Some(BYTES_TOGETHER),
            ..ordered(&commits, Direction::Ascending)
        };
        let count = self.store.list(&Query { limit: Some(0), ..commits }).await?.total;
        if count < JOINED_FROM {
            return Ok(Step::Done);
        }
        let found = self.whole_commits(&oldest, TermRange::new([], None)).await?;
        let mark = self.history_mark().await?;
        let (records, changes): (Vec<Record>, Vec<CommitChanges>) = found.into_iter().unzip();
        let bytes = records.iter().map(|record| record.body.len()).sum();
        let runs = self.offload(organization, bytes, move || joined(organization, changes)).await?;
        let is_first = self.commit_runs(&mark, organization, &records, &runs).await?;
        Ok(if is_first { Step::Joined } else { Step::Overtaken })
    }

    /// Puts runs in place of records of commits. Returns `false` if any has changed meanwhile.
    async fn commit_runs(
        &self,
        mark: &CurrentMark,
        organization: OrganizationId,
        records: &[Record],
        runs: &[ChangeRun],
    ) -> Result<bool, Error> {
        let mut batch = Batch::new();
        batch.guard(mark.guard());
        for record in records {
            batch.delete(record.key, Precondition::Version(record.version));
        }
        let (known, mut totals) = self.totals_of_history(organization).await?;
        for run in runs {
            let added = run.total();
            let total = totals.of(run.class);
            total.entries = total.entries.saturating_add(added.entries);
            total.bytes = total.bytes.saturating_add(added.bytes);
            run.put(ChangeRun::key(self.new_id()?), Precondition::Absent, &mut batch)?;
        }
        totals.put(known.as_ref(), &mut batch)?;
        self.count_runs(organization, runs, &mut batch).await?;
        self.commit_if_current(batch).await
    }

    /// Returns the totals of an organization, and their record.
    pub(in crate::inventory::history) async fn totals_of_history(
        &self,
        organization_id: OrganizationId,
    ) -> Result<(Option<Record>, Totals), Error> {
        let record = self.get(totals_key(organization_id)).await?;
        let totals = record.as_ref().map(decode::<Totals>).transpose()?;
        let none = Totals { organization_id, records: Total::default(), security: Total::default() };
        Ok((record, totals.unwrap_or(none)))
    }

    /// Commits a step of the work on older entries. Returns `false` if another one was first.
    ///
    /// # Errors
    /// `NotFound` when the organization does not exist: no other one was first, and there would be no end of it.
    pub(in crate::inventory::history) async fn commit_if_current(&self, batch: Batch) -> Result<bool, Error> {
        match self.store.commit(batch).await {
            Ok(()) => Ok(true),
            Err(error) if matches!(error.kind(), StoreErrorKind::Conflict(key) if key.kind != ORGANIZATION) =>
            {
                self.state.history.note_failure(&error);
                Ok(false)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// The entries that a commit has added to the history.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::inventory::history) struct EntriesAdded {
    pub(in crate::inventory::history) records: u64,
    /// A random number.
    pub(in crate::inventory::history) random: u64,
}

/// Joins the records of commits that are in the order of the log.
fn joined(organization: OrganizationId, changes: Vec<CommitChanges>) -> Vec<ChangeRun> {
    let mut joining = Joining::new(organization);
    let mut commit: Vec<CommitChanges> = Vec::new();
    for changes in changes {
        if commit.last().is_some_and(|last| last.place(0) != changes.place(0)) {
            joining.add(std::mem::take(&mut commit));
        }
        commit.push(changes);
    }
    joining.add(commit);
    joining.finish()
}
