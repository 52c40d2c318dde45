//! The addresses of a network that are not free.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;
use std::ops::RangeInclusive;

use super::claims::{
    AddressNumber, ClaimingDevices, DeviceClaim, DeviceClaimKind, HostClaims, address_in, number_of,
};
use super::following::{NetworkRevision, ReservationChanges};
use super::ranked_set::RankedSet;
use crate::fair_threads::yield_turn;
use crate::inventory::{KnownNetwork, NetworkChanges};
use crate::model::{AddressReservationId, Cidr, HostId, IfEntryId, MacAddress, Subnet};
use crate::store::Version;
use crate::wire::{AddressClaim, AddressDoubt, AddressList, AddressQuery, AddressState, SubnetAddress};

/// Maximum number of claims that the answer about one address lists.
const MAX_CLAIMS: usize = 16;

/// The states of addresses that are not free.
const STATES: [AddressState; 4] =
    [AddressState::Used, AddressState::Seen, AddressState::Conflict, AddressState::Reserved];

/// The place of a claim: by address, and for each address by whether the host has it itself, host, and number.
type ClaimPlace = (AddressNumber, bool, HostId, u32);

/// The addresses of a network that are not free, and what is known of each.
#[derive(Debug, Default)]
pub(in crate::inventory) struct NetworkAddresses {
    pub(super) known: KnownNetwork,
    pub(super) revision: Option<NetworkRevision>,
    /// The number of bytes of the hosts and claims.
    pub(super) bytes: usize,
    hosts: HashMap<HostId, HostAddresses>,
    claims: BTreeMap<ClaimPlace, DeviceClaim>,
    reservations: HashMap<AddressNumber, Reserved>,
    /// The addresses of the reservations.
    reserved: HashMap<AddressReservationId, AddressNumber>,
    /// The greatest version of a reservation.
    newest: Option<Version>,
    /// The network and broadcast addresses of all subnets.
    boundaries: BTreeSet<AddressNumber>,
    /// All addresses that are not free, with the boundaries.
    taken: RankedSet,
    by_state: [RankedSet; STATES.len()],
    /// The addresses of which a neighbor cache has or had an entry.
    neighbors: RankedSet,
}

/// The addresses that a host states, and its MAC addresses.
#[derive(Debug)]
struct HostAddresses {
    places: Box<[ClaimPlace]>,
    macs: Box<[MacAddress]>,
}

/// A reservation, without its address.
#[derive(Clone, Debug)]
pub(super) struct Reserved {
    pub(super) id: AddressReservationId,
    pub(super) version: Version,
    pub(super) name: Box<str>,
}

impl NetworkAddresses {
    /// Returns the greatest version of a reservation that was ever known.
    pub(super) const fn newest_reservation(&self) -> Option<Version> {
        self.newest
    }

    /// Returns the version of a known reservation.
    pub(super) fn reservation(&self, id: AddressReservationId) -> Option<Version> {
        let address = self.reserved.get(&id)?;
        self.reservations.get(address).map(|reserved| reserved.version)
    }

    /// Returns the ids of the known reservations.
    pub(super) fn reservations(&self) -> impl Iterator<Item = AddressReservationId> + '_ {
        self.reserved.keys().copied()
    }

    /// Returns the number of reservations.
    pub(super) fn reservations_len(&self) -> usize {
        self.reserved.len()
    }

    /// Applies what has changed since the state was made. The time is in proportion to the changes.
    pub(super) fn apply(
        &mut self,
        revision: Option<NetworkRevision>,
        records: Option<NetworkChanges<HostClaims>>,
        reservations: ReservationChanges,
    ) {
        let mut touched = BTreeSet::new();
        if let Some(records) = records {
            let former = records.removed.iter().copied();
            for host in former.chain(records.changed.iter().map(|changed| changed.host)) {
                self.forget_host(host, &mut touched);
            }
            for host in records.changed {
                yield_turn();
                self.add_host(host, &mut touched);
            }
            let boundaries: BTreeSet<AddressNumber> = records.subnets.iter().flat_map(boundaries).collect();
            touched.extend(boundaries.symmetric_difference(&self.boundaries));
            (self.boundaries, self.known, self.bytes) = (boundaries, records.known, records.bytes);
        }
        for id in reservations.removed {
            if let Some(address) = self.reserved.remove(&id) {
                self.reservations.remove(&address);
                touched.insert(address);
            }
        }
        for (address, reserved) in reservations.put {
            let address = number_of(address);
            self.newest = self.newest.max(Some(reserved.version));
            self.reserved.insert(reserved.id, address);
            self.reservations.insert(address, reserved);
            touched.insert(address);
        }
        for address in touched {
            yield_turn();
            self.refresh(address);
        }
        self.revision = revision;
    }

    fn forget_host(&mut self, host: HostId, touched: &mut BTreeSet<AddressNumber>) {
        let Some(former) = self.hosts.remove(&host) else { return };
        for place in &former.places {
            self.claims.remove(place);
            touched.insert(place.0);
        }
    }

    fn add_host(&mut self, host: HostClaims, touched: &mut BTreeSet<AddressNumber>) {
        let HostClaims { host, claims, macs } = host;
        let mut places = Vec::with_capacity(claims.len());
        for ((address, claim), number) in claims.into_iter().zip(0..) {
            let is_of_others = !matches!(claim.kind, DeviceClaimKind::Interface(_));
            let place = (address, is_of_others, host, number);
            self.claims.insert(place, claim);
            places.push(place);
            touched.insert(address);
        }
        self.hosts.insert(host, HostAddresses { places: places.into(), macs });
    }

    /// Decides the state of an address again.
    fn refresh(&mut self, address: AddressNumber) {
        let state = self.state_of(address);
        for (of_state, set) in STATES.into_iter().zip(&mut self.by_state) {
            if Some(of_state) == state {
                set.insert(address);
            } else {
                set.remove(address);
            }
        }
        let is_neighbor = |claim: &DeviceClaim| matches!(claim.kind, DeviceClaimKind::Neighbor { .. });
        if self.claims_of(address).any(|(_, claim)| is_neighbor(claim)) {
            self.neighbors.insert(address);
        } else {
            self.neighbors.remove(address);
        }
        if state.is_some() || self.boundaries.contains(&address) {
            self.taken.insert(address);
        } else {
            self.taken.remove(address);
        }
    }

    /// Returns the state of an address; `None`: nothing has it.
    fn state_of(&self, address: AddressNumber) -> Option<AddressState> {
        let mut devices = ClaimingDevices::default();
        for ((_, _, host, _), claim) in self.claims_of(address) {
            let macs = self.hosts.get(host).map_or(&[][..], |known| &known.macs);
            devices.add(*host, claim, macs);
        }
        let reserved = self.reservations.contains_key(&address).then_some(AddressState::Reserved);
        devices.state().or(reserved)
    }

    /// Returns the claims to an address, those of interfaces first.
    fn claims_of(&self, address: AddressNumber) -> impl Iterator<Item = (&ClaimPlace, &DeviceClaim)> {
        let first = (address, false, HostId::nil(), 0);
        let last = (address, true, HostId::from_u128(u128::MAX), u32::MAX);
        self.claims.range(first..=last)
    }

    /// Returns the addresses of a subnet that a query asks for.
    pub(super) fn list(&self, cidr: Cidr, query: &AddressQuery) -> AddressList {
        let (range, limit) = (range_of(cidr), query.limit);
        let describe = |address| self.describe(cidr, address);
        let (addresses, total) = match query.state {
            Some(AddressState::Free) => {
                let free = self.taken.gaps(range.clone()).take(limit).map(describe);
                (free.collect(), self.count_free(&range))
            }
            Some(state) => {
                let sets = STATES.into_iter().zip(&self.by_state);
                let found = sets.filter(|(of_state, _)| *of_state == state).map(|(_, set)| set);
                let listed = found.clone().flat_map(|set| set.range(range.clone())).take(limit);
                (listed.map(describe).collect(), found.map(|set| set.count(&range)).sum())
            }
            None => {
                let described = self.taken.range(range.clone()).map(describe);
                let known = described.filter(|address| address.state != AddressState::Free);
                let total = self.by_state.iter().map(|set| set.count(&range)).sum();
                (known.take(limit).collect(), total)
            }
        };
        self.answer(cidr, addresses, total)
    }

    /// Returns a list with what is not known about the subnet.
    pub(super) fn answer(&self, cidr: Cidr, addresses: Vec<SubnetAddress>, total: u64) -> AddressList {
        let has_neighbors = self.neighbors.count(&range_of(cidr)) > 0;
        AddressList {
            addresses,
            addresses_total: total,
            complete: has_neighbors,
            unknown: if has_neighbors { Vec::new() } else { vec![AddressDoubt::Neighbors] },
        }
    }

    /// Returns the lowest free addresses of a subnet, without the first `skipped` of them.
    pub(super) fn free(&self, cidr: Cidr, skipped: usize, count: usize) -> Vec<IpAddr> {
        let free = self.taken.gaps(range_of(cidr));
        free.skip(skipped).take(count).map(|address| address_in(cidr, address)).collect()
    }

    fn count_free(&self, range: &RangeInclusive<AddressNumber>) -> u64 {
        let all = (range.end() - range.start()).saturating_add(1);
        u64::try_from(all.saturating_sub(self.taken.count(range).into())).unwrap_or(u64::MAX)
    }

    /// Returns what is known of an address.
    fn describe(&self, cidr: Cidr, address: AddressNumber) -> SubnetAddress {
        let state = self.state_of(address).unwrap_or(AddressState::Free);
        let mut first: Option<(Option<HostId>, Option<IfEntryId>)> = None;
        let (mut mac, mut last_seen) = (None, None);
        for ((_, _, host, _), claim) in self.claims_of(address) {
            first.get_or_insert(match claim.kind {
                DeviceClaimKind::Interface(entry) => (Some(*host), entry),
                DeviceClaimKind::Neighbor { .. } | DeviceClaimKind::Named => (None, None),
            });
            mac = mac.or(claim.mac);
            last_seen = last_seen.max(claim.last_seen);
        }
        let (host_id, if_entry_id) = first.unwrap_or_default();
        SubnetAddress {
            ip: address_in(cidr, address),
            state,
            host_id,
            if_entry_id,
            mac,
            last_seen,
            reserved_by: self.reservations.get(&address).map(|reserved| reserved.name.to_string()),
            claims: if state == AddressState::Conflict { self.list_claims(address) } else { Vec::new() },
        }
    }

    /// Returns what is known of some addresses.
    pub(super) fn describe_all(&self, cidr: Cidr, addresses: &[IpAddr]) -> Vec<SubnetAddress> {
        addresses.iter().map(|address| self.describe(cidr, number_of(*address))).collect()
    }

    /// Returns the claims to an address: interfaces, and the MAC addresses that only neighbor caches state.
    fn list_claims(&self, address: AddressNumber) -> Vec<AddressClaim> {
        let mut listed = Vec::new();
        let mut of_caches: BTreeMap<MacAddress, AddressClaim> = BTreeMap::new();
        let mut of_hosts = BTreeSet::new();
        for ((_, _, host, _), claim) in self.claims_of(address) {
            let mut shown =
                AddressClaim { host_id: None, if_entry_id: None, mac: claim.mac, last_seen: claim.last_seen };
            match (claim.kind, claim.mac) {
                (DeviceClaimKind::Interface(entry), _) => {
                    let macs = self.hosts.get(host).map_or(&[][..], |known| &known.macs);
                    of_hosts.extend(macs.iter().chain(&claim.mac).copied());
                    (shown.host_id, shown.if_entry_id) = (Some(*host), entry);
                    listed.push(shown);
                }
                (DeviceClaimKind::Neighbor { is_answer: true }, Some(mac)) if !of_hosts.contains(&mac) => {
                    let known = of_caches.entry(mac).or_insert_with(|| shown.clone());
                    known.last_seen = known.last_seen.max(shown.last_seen);
                }
                (DeviceClaimKind::Neighbor { .. } | DeviceClaimKind::Named, _) => {}
            }
        }
        listed.extend(of_caches.into_values());
        listed.truncate(MAX_CLAIMS);
        listed
    }
}

fn range_of(cidr: Cidr) -> RangeInclusive<AddressNumber> {
    number_of(cidr.first_address())..=number_of(cidr.last_address())
}

/// Returns the addresses of a subnet that no device has: the network address, which IPv6 uses for any router, and the broadcast address
/// of IPv4. Subnets of one or two addresses have none (RFC 3021, RFC 6164).
fn boundaries(subnet: &Subnet) -> impl Iterator<Item = AddressNumber> + use<> {
    let (first, last) = (subnet.cidr.first_address(), subnet.cidr.last_address());
    let has_some = number_of(last) - number_of(first) > 1;
    let broadcast = Some(last).filter(|last| last.is_ipv4());
    std::iter::once(first).chain(broadcast).filter(move |_| has_some).map(number_of)
}
