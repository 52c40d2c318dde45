//! A store in a folder: an acknowledged commit is on the disk.
//!
//! A batch goes through three places. It is written to the [`journal`], which is on the disk before the caller is told. Then
//! it is shown to readers, in [`state`]: the index of all facets, and the bodies that are worth keeping in memory. Later,
//! many batches at once, a checkpoint applies it to the [`records`], of which sled keeps two [`copies`], and the journal
//! continues from its beginning.
//!
//! One thread writes the journal ([`committer`]), another the records ([`checkpoint`]); no other thread changes anything.
//!
//! # Locks
//!
//! They are taken in this order, and none is taken twice on one path:
//!
//! 1. `Shared::verifying`, by a verification, from its beginning to its end. No other path takes it.
//! 2. `Shared::records`, by whatever needs the records to stay as they are: a checkpoint, from its beginning to its end; the
//!    closing of both copies; a slice of a verification. It is granted in turn, so a checkpoint or a closing waits for at
//!    most one slice.
//! 3. One of these, never two together, and no lock is taken under them:
//!    * `Shared::state`, by readers and the two threads;
//!    * the database of one copy, for reading by every call to sled, for writing to open and close the copy;
//!    * the line of the `Queue`.
//!
//! The code keeps to it as follows. [`records`] hands to a callback only what it has read before, after it released the
//! database, so a callback may call any copy. What reads all records does so in pieces, each with the database locked anew. A
//! thread that is waited for under a lock takes none itself: that is sled's flush. Readers wait for `was_tried` in
//! [`copies`] with nothing locked, and the first checkpoint sets it. The thread of [`committer`] waits for a checkpoint with
//! nothing locked.

mod blocking;
mod body_cache;
mod builder;
mod checkpoint;
mod codec;
mod commit;
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

pub use builder::{Durability, SledStoreBuilder};
pub use repair::Repair;
pub use scrub::Verification;
pub use store::SledStore;
