use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The origin of a host or service record.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
#[non_exhaustive]
pub enum Source {
    /// Entered by a user.
    Manual,
    /// Created by the system.
    System,
    /// Discovered by a daemon.
    Discovery {
        /// The daemon's metadata, one object per discovery.
        metadata: Vec<Map<String, Value>>,
    },
    /// Discovered by a daemon and matched to a service definition.
    DiscoveryWithMatch {
        /// The daemon's metadata, one object per discovery.
        metadata: Vec<Map<String, Value>>,
        /// What the match is based on, and its confidence.
        details: Map<String, Value>,
    },
    /// Unknown. The value of records sent without a source.
    #[default]
    Unknown,
}
