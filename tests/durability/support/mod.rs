//! Shared helpers: expected contents, comparisons, and processes that can be killed.

mod child;
mod compare;
mod folder;
mod random;
mod truth;

use tokio::runtime::Runtime;

pub(crate) use child::{Child, Ended, PATIENCE, say, scene};
pub(crate) use compare::{Fault, RANK, chain, compare, compare_entries, everything, faults};
pub(crate) use folder::{copy, files};
pub(crate) use random::{SplitMix64, numbered, rounds, seed};
pub(crate) use truth::{Content, Kept, Truth};

pub(crate) fn start_runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}
