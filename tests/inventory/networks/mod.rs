//! Deletion of networks.

mod deleting;
mod deleting_races;
