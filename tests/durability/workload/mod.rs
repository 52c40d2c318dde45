//! What is written: many writers, each with records of its own and a part in one that all of them share. Everything that a
//! writer does follows from a seed, so that whoever knows how far it has come knows what the store must hold.

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

/// How many writers there are.
pub(crate) const WRITERS: u64 = 16;
