//! What users tell about topologies, and what topologies are made from.

mod layouts;
mod read;

pub(crate) use self::read::{KnownNetwork, NetworkChanges, TopologyRevision};
