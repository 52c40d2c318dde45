//! The subnets of a network, by which interfaces find theirs.
//!
//! They are looked up by the prefixes of the addresses in question, so that the work does not grow with the number of
//! subnets of the network.

mod assign;
mod learn;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::net::IpAddr;

use serde::Deserialize;

pub(in crate::inventory) use self::learn::put_deleted_subnet;
use crate::inventory::schema::{SUBNET, decode, on_network};
use crate::inventory::subnets::cidr_filter;
use crate::inventory::{Error, Inventory};
use crate::model::{Cidr, NetworkId, OrganizationId, SubnetId};
use crate::store::Query;

/// Maximum number of prefixes of a filter.
const MAX_PREFIXES: usize = 512;

/// The smallest subnets that contain addresses. Addresses without a subnet are missing.
pub(super) type SubnetsOfAddresses = HashMap<IpAddr, SubnetId>;

/// The subnets of a network that have been looked up, the longest prefix first.
#[derive(Debug, Default)]
pub(super) struct Subnets {
    by_length: BTreeMap<Reverse<u8>, HashMap<Cidr, SubnetId>>,
    /// The prefixes of which it is known whether they are subnets.
    known: HashSet<Cidr>,
}

/// The part of a subnet that discovery needs.
#[derive(Debug, Deserialize)]
struct SubnetAddresses {
    id: SubnetId,
    cidr: Cidr,
}

impl Inventory {
    /// Returns the smallest subnets of a network that contain these addresses.
    pub(super) async fn subnets_of(
        &self,
        place: (OrganizationId, NetworkId),
        addresses: &[IpAddr],
        subnets: &mut Subnets,
    ) -> Result<SubnetsOfAddresses, Error> {
        self.look_up_subnets(place, addresses.iter().flat_map(|address| address_prefixes(*address)), subnets)
            .await?;
        Ok(addresses.iter().filter_map(|address| Some((*address, subnets.find(*address)?))).collect())
    }

    /// Looks up which of these prefixes are subnets of a network, unless this is known.
    async fn look_up_subnets(
        &self,
        (organization, network): (OrganizationId, NetworkId),
        prefixes: impl Iterator<Item = Cidr>,
        subnets: &mut Subnets,
    ) -> Result<(), Error> {
        let unknown: BTreeSet<Cidr> = prefixes.filter(|prefix| !subnets.known.contains(prefix)).collect();
        let unknown: Vec<Cidr> = unknown.into_iter().collect();
        for prefixes in unknown.chunks(MAX_PREFIXES) {
            let terms = vec![cidr_filter(prefixes.iter().copied())];
            let query = Query { terms, ..on_network(SUBNET, organization, network) };
            for record in self.store.list(&query).await?.records {
                let SubnetAddresses { id, cidr } = decode(&record)?;
                subnets.insert(cidr, id);
            }
            subnets.known.extend(prefixes);
        }
        Ok(())
    }
}

/// Returns all prefixes that contain an address, the shortest first.
fn address_prefixes(address: IpAddr) -> impl Iterator<Item = Cidr> {
    let lengths = 0..=if address.is_ipv4() { 32 } else { 128 };
    lengths.filter_map(move |length| Cidr::containing(address, length).ok())
}

impl Subnets {
    fn insert(&mut self, cidr: Cidr, id: SubnetId) {
        self.known.insert(cidr);
        self.by_length.entry(Reverse(cidr.prefix_length())).or_default().insert(cidr, id);
    }

    fn contains(&self, cidr: Cidr) -> bool {
        let of_length = self.by_length.get(&Reverse(cidr.prefix_length()));
        of_length.is_some_and(|subnets| subnets.contains_key(&cidr))
    }

    /// Returns the smallest subnet that contains an address, all prefixes of which have been looked up.
    fn find(&self, address: IpAddr) -> Option<SubnetId> {
        self.by_length.iter().find_map(|(Reverse(length), subnets)| {
            subnets.get(&Cidr::containing(address, *length).ok()?).copied()
        })
    }
}
