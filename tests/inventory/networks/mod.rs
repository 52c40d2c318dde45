//! Networks that are deleted.

mod deleting;
mod deleting_races;
