//! The subnets of a network, by which interfaces find theirs.

mod assign;
mod learn;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;

use serde::Deserialize;
use uuid::Uuid;

use crate::inventory::schema::{SUBNET, on_network};
use crate::inventory::{Error, Inventory};
use crate::model::Cidr;

/// The subnets of a network, the longest prefix first.
#[derive(Clone, Debug, Default)]
pub(super) struct Subnets {
    by_length: BTreeMap<Reverse<u8>, HashMap<Cidr, Uuid>>,
}

/// The part of a subnet that discovery needs.
#[derive(Debug, Deserialize)]
struct SubnetAddresses {
    id: Uuid,
    cidr: Cidr,
}

impl Inventory {
    pub(super) async fn subnets_of(&self, organization: Uuid, network: Uuid) -> Result<Subnets, Error> {
        let mut subnets = Subnets::default();
        for subnet in self.read_all::<SubnetAddresses>(&on_network(SUBNET, organization, network)).await? {
            subnets.insert(subnet.cidr, subnet.id);
        }
        Ok(subnets)
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
