//! The workload: many writers, each with its own records and a part in one record that all of them share.
//! Everything that a writer does follows from a seed, so the number of its batches determines what the store
//! must hold.

mod drive;
mod ledger;
mod plan;
mod progress;
mod settle;
mod writer;

pub(crate) use drive::commit;
pub(crate) use ledger::Ledger;
pub(crate) use progress::Progress;
pub(crate) use settle::settle;
pub(crate) use writer::{Writer, truth_of};

/// Number of writers.
pub(crate) const WRITERS: u64 = 16;
