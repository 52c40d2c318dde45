use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::error::Fault;
use super::pool::Pool;
use super::single_flight::SingleFlight;
use crate::store::index::{Index, PageRows};
use crate::store::lock::StateLock;
use crate::store::log::replica::{FoundRecords, Replica};
use crate::store::materializer::Indexed;

/// The data that the parts of an open store share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) replica: StateLock<Replica>,
    pub(crate) pool: Pool,
    pub(crate) counts: Counts,
    /// Loads the replica again.
    pub(super) reloads: SingleFlight<Result<(), Arc<Fault>>>,
}

/// Figures for [`PostgresStatus`](super::PostgresStatus).
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) rounds: AtomicU64,
    pub(crate) lag: AtomicU64,
    pub(crate) log_entries: AtomicU64,
    pub(crate) conflicts: AtomicU64,
    pub(crate) loads: AtomicU64,
    /// When the database last confirmed a commit of this instance.
    pub(crate) last_commit: Mutex<Option<Instant>>,
}

impl Counts {
    /// Notes a confirmed commit.
    pub(crate) fn note_commit(&self) {
        *self.last_commit.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }
}

impl Indexed for Shared {
    type State = Replica;
    type Page = FoundRecords;

    fn state(&self) -> &StateLock<Replica> {
        &self.replica
    }

    fn index(replica: &Replica) -> &Index {
        &replica.index
    }

    fn page(replica: &Replica, PageRows { rows, total, next }: PageRows) -> FoundRecords {
        let records = rows.into_iter().map(|row| replica.locate(row)).collect();
        FoundRecords { position: replica.position, records, total, next }
    }
}
