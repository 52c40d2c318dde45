use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Where the record of a host or a service comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
#[non_exhaustive]
pub enum Source {
    /// Somebody entered it.
    Manual,
    /// The system made it.
    System,
    /// A daemon found it.
    Discovery {
        /// What the daemon noted, once for each finding.
        metadata: Vec<Map<String, Value>>,
    },
    /// A daemon found it and recognized it by the definition of a service.
    DiscoveryWithMatch {
        /// What the daemon noted, once for each finding.
        metadata: Vec<Map<String, Value>>,
        /// By what it was recognized, and how surely.
        details: Map<String, Value>,
    },
    /// Nobody knows; also what a record counts as that was sent without a source.
    #[default]
    Unknown,
}
