use serde::{Deserialize, Serialize};

use super::graph::Edge;
use super::links::RejectedClaim;

/// An edge with everything that supports and contradicts it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct EdgeDetails {
    /// The edge, without a line.
    #[serde(flatten)]
    pub edge: Edge,
    /// Weaker claims that the edge overrides.
    pub rejected: Vec<RejectedClaim>,
}
