//! What users tell about topologies, and what topologies are made from.

mod layouts;
mod read;
mod references;

pub(crate) use self::read::{KnownNetwork, NetworkChanges, TopologyRevision};
pub(in crate::inventory) use self::references::subnet_nodes;
