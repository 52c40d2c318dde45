//! Looks up nodes by ids, addresses and names.

use std::cmp::Ordering;
use std::net::IpAddr;

use uuid::Uuid;

use super::index::PathIndex;
use crate::model::NodeId;

/// Maximum number of candidates that an error names.
const MAX_CANDIDATES: usize = 20;

/// The error for a text that names no node, or several.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// No node has this id, address or name.
    #[error("the network has no such node")]
    NotFound,
    /// Several hosts have this address or name.
    #[error("several hosts have this address or name")]
    Ambiguous {
        /// The first of these hosts, by id; at most 20.
        candidates: Vec<NodeId>,
    },
}

impl PathIndex {
    /// Returns the node that a text names: by its id, or else an address, or else a name, in the case of the text or else in any.
    ///
    /// # Errors
    /// Returns an error if the text names no node, or several hosts.
    pub fn find(&self, text: &str) -> Result<NodeId, LookupError> {
        let by_id = text.parse::<Uuid>().ok().map(NodeId::from).filter(|id| self.number(*id).is_some());
        if let Some(id) = by_id {
            return Ok(id);
        }
        let with_address = text.parse().map(|ip| self.with_ip(ip)).unwrap_or_default();
        let found = if with_address.is_empty() { self.with_name(text) } else { with_address };
        match found.as_slice() {
            [] => Err(LookupError::NotFound),
            [only] => Ok(self.node(*only).id),
            several => {
                let candidates = several.iter().take(MAX_CANDIDATES).map(|node| self.node(*node).id);
                Err(LookupError::Ambiguous { candidates: candidates.collect() })
            }
        }
    }

    pub(super) fn with_ip(&self, ip: IpAddr) -> Vec<u32> {
        self.addresses.nodes_with(ip)
    }

    /// Returns the nodes with a name, or else those with it in another case, as names in DNS are.
    fn with_name(&self, name: &str) -> Vec<u32> {
        let start = self.names.partition_point(|(known, _)| folded(known).lt(folded(name)));
        let found = self.names[start..].iter().take_while(|(known, _)| folded(known).eq(folded(name)));
        let (mut exact, mut others) = (Vec::new(), Vec::new());
        for (known, node) in found {
            if **known == *name { exact.push(*node) } else { others.push(*node) }
        }
        let mut nodes = if exact.is_empty() { others } else { exact };
        // A node may have several names that differ in case.
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }
}

fn folded(name: &str) -> impl Iterator<Item = char> {
    name.chars().flat_map(char::to_lowercase)
}

/// A name, and the number of its node.
pub(super) type NodeName = (Box<str>, u32);

/// Compares names as nodes are looked up by them: in any case, and those that differ in case alone by their letters.
pub(super) fn by_name(one: &NodeName, other: &NodeName) -> Ordering {
    folded(&one.0).cmp(folded(&other.0)).then_with(|| one.cmp(other))
}
