//! The records that users enter for topologies, and the records that topologies are made from.

mod layouts;
mod read;
mod references;

pub(crate) use self::layouts::MAX_POSITIONS;
pub(crate) use self::read::{KnownNetwork, NetworkChanges, TopologyRevision};
pub(in crate::inventory) use self::references::subnet_nodes;
