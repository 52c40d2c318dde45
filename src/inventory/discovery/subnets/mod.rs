//! The subnets of a network, by which interfaces find theirs.

mod assign;
mod learn;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;
use uuid::Uuid;

use crate::inventory::schema::{SUBNET, on_network};
use crate::inventory::{Error, Inventory};
use crate::model::Cidr;
use crate::store::Revision;

/// The subnets of a network, the longest prefix first.
#[derive(Clone, Debug, Default)]
pub(in crate::inventory) struct Subnets {
    by_length: BTreeMap<Reverse<u8>, HashMap<Cidr, Uuid>>,
}

/// The part of a subnet that discovery needs.
#[derive(Debug, Deserialize)]
struct SubnetAddresses {
    id: Uuid,
    cidr: Cidr,
}

impl Inventory {
    /// Returns the subnets of a network.
    pub(super) async fn subnets_of(&self, organization: Uuid, network: Uuid) -> Result<Arc<Subnets>, Error> {
        // Read before the list: a revision newer than the list would hide changes.
        let revision = self.store.revision(SUBNET, organization).await?;
        if let Some(known) = revision.and_then(|revision| self.state.subnets.get(network, revision)) {
            return Ok(known);
        }
        let mut subnets = Subnets::default();
        for subnet in self.read_all::<SubnetAddresses>(&on_network(SUBNET, organization, network)).await? {
            subnets.insert(subnet.cidr, subnet.id);
        }
        let subnets = Arc::new(subnets);
        if let Some(revision) = revision {
            self.state.subnets.insert(network, revision, &subnets);
        }
        Ok(subnets)
    }
}

/// Maximum number of networks whose subnets are kept.
const MAX_NETWORKS: usize = 64;

/// The subnets of the networks that were read last, each with the revision of the organization's subnets before.
#[derive(Debug, Default)]
pub(in crate::inventory) struct SubnetCache(Mutex<HashMap<Uuid, (Revision, Arc<Subnets>)>>);

impl SubnetCache {
    fn get(&self, network: Uuid, revision: Revision) -> Option<Arc<Subnets>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(&network).filter(|(of, _)| *of == revision).map(|(_, subnets)| Arc::clone(subnets))
    }

    fn insert(&self, network: Uuid, revision: Revision, subnets: &Arc<Subnets>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Clearing everything avoids tracking use; networks in use return with their next report.
        if known.len() >= MAX_NETWORKS {
            known.clear();
        }
        known.insert(network, (revision, Arc::clone(subnets)));
    }
}

impl Subnets {
    fn insert(&mut self, cidr: Cidr, id: Uuid) {
        self.by_length.entry(Reverse(cidr.prefix_length())).or_default().insert(cidr, id);
    }

    fn contains(&self, cidr: Cidr) -> bool {
        let of_length = self.by_length.get(&Reverse(cidr.prefix_length()));
        of_length.is_some_and(|subnets| subnets.contains_key(&cidr))
    }

    fn count(&self) -> usize {
        self.by_length.values().map(HashMap::len).sum()
    }

    /// Returns the smallest subnet that contains an address.
    pub(super) fn find(&self, address: IpAddr) -> Option<Uuid> {
        self.by_length.iter().find_map(|(Reverse(length), subnets)| {
            subnets.get(&Cidr::containing(address, *length).ok()?).copied()
        })
    }
}
