//! A store in a folder: what it has acknowledged is on the disk.
//!
//! A batch goes through three places. It is written to the [`journal`], which is on the disk before anybody is told. Then it
//! is shown to readers, in [`state`]: the index of all facets, and the bodies that are worth keeping in memory. Later, many
//! batches at once, it is put into the [`records`], of which there are two [`copies`] that sled keeps, and the journal goes on
//! from its beginning.
//!
//! One thread writes the journal ([`committer`]), another the records ([`checkpoint`]); no other thread changes anything.

mod blocking;
mod bodies;
mod builder;
mod checkpoint;
mod checkpoints;
mod codec;
mod committer;
mod copies;
mod folder;
mod gather;
mod group;
mod journal;
mod load;
mod open;
mod queue;
mod read;
mod records;
mod repair;
mod room;
mod shared;
mod snapshot;
mod state;
mod store;
mod verify;
mod witness;
mod writer;

pub use builder::{Durability, SledStoreBuilder};
pub use repair::Repair;
pub use store::SledStore;
pub use verify::Verification;
