//! A durable store in a folder.
//!
//! A commit passes through three stages:
//!
//! 1. The [`commit`] thread appends it to the write-ahead log ([`wal`]), together with others that wait at the same
//!    time (group commit), and syncs the log.
//! 2. The same thread applies it to the in-memory [`state`], where readers see it: the index of all facets, and the
//!    cache of record bodies. Then it acknowledges the commit.
//! 3. A [`checkpoint`] later applies many commits at once to the [`trees`]: two sled databases with the same
//!    contents, the *primary* and its *mirror*. Then the log file that held these commits is free to be reused.
//!
//! Two threads write: the committer writes the log, the checkpointer writes the trees. No other thread changes
//! anything.
//!
//! A record is stored as a *header* (version, facets, and a reference to its body) and a *body*. Opening the folder
//! reads all headers and builds the index from them; bodies are read when they are needed.
//!
//! # Locks
//!
//! They are taken in this order, and no path takes one twice:
//!
//! 1. `Shared::scrub_turn`, by a scrub, or `Handle::backup_turn`, by a backup, for its whole duration. No other path
//!    takes them.
//! 2. `Shared::trees_lock`, by everything that needs the trees to stay unchanged: a checkpoint, for its whole
//!    duration; closing both copies; each slice of a scrub. The lock is fair, so a checkpoint or a close waits for at
//!    most one slice.
//! 3. One of the following. No two of them are held together, and no lock is taken while one is held:
//!    * `Shared::state`, by readers and the two threads;
//!    * the database of one copy: shared by every call to sled, exclusive to open and close the copy;
//!    * the mutex of the commit queue.
//!
//! The code keeps this order as follows. The [`trees`] pass data to a callback only after they have released the
//! database lock, so a callback may call either copy. Reads of all records are split into batches, and each locks the
//! database anew. A thread that another waits for while holding a lock takes no lock itself; this concerns sled's
//! flush. Readers that wait for the mirror to be opened hold no lock, and the first checkpoint opens it. The
//! committer waits for a checkpoint without holding a lock.

mod backup;
mod blocking;
mod checkpoint;
mod commit;
mod compact;
mod files;
mod folder;
mod handle;
mod open;
mod read;
mod repair;
mod scrub;
mod snapshot;
mod state;
mod store;
mod trees;
mod wal;

pub use backup::Backup;
pub use compact::Compaction;
pub use open::{Durability, SledStoreBuilder};
pub use repair::Repair;
pub use scrub::Verification;
pub use store::SledStore;
