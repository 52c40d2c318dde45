//! The claims of devices to addresses: interfaces of hosts, entries of neighbor caches, next routers of routing tables, and what neighbors
//! announce.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};

use crate::discovery::reconcile::is_own_mac;
use crate::discovery::report::ArpRow;
use crate::discovery::{Claim, ClaimRows};
use crate::model::{Cidr, Host, HostId, IfEntryId, Interface, InterfaceId, MacAddress, Timestamp};
use crate::wire::AddressState;

/// An address as a number: that of an IPv4 address is the number of its IPv4-mapped IPv6 address.
pub(super) type AddressNumber = u128;

/// Returns the number of an address.
pub(super) fn number_of(address: IpAddr) -> AddressNumber {
    match address {
        IpAddr::V4(ipv4) => ipv4.to_ipv6_mapped().to_bits(),
        IpAddr::V6(ipv6) => ipv6.to_bits(),
    }
}

/// Returns the address with a number, in the form of a subnet's addresses.
pub(super) fn address_in(cidr: Cidr, number: AddressNumber) -> IpAddr {
    let ipv6 = Ipv6Addr::from_bits(number);
    match cidr.first_address() {
        IpAddr::V4(_) => ipv6.to_canonical(),
        IpAddr::V6(_) => ipv6.into(),
    }
}

/// The claim of a device to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DeviceClaim {
    pub(super) kind: DeviceClaimKind,
    /// `None` when unknown.
    pub(super) mac: Option<MacAddress>,
    /// `None`: no report has shown it.
    pub(super) last_seen: Option<Timestamp>,
}

/// The kind of a claim to an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeviceClaimKind {
    /// An interface of the host has the address. The interface entry is that of the interface, if it is known.
    Interface(Option<IfEntryId>),
    /// The neighbor cache of the host has or had an entry for the address. `is_answer`: another device has answered.
    Neighbor { is_answer: bool },
    /// The routing table of the host has the address as a next router, or a neighbor of the host announces it.
    Named,
}

/// All that a host and its claims state about addresses.
#[derive(Debug)]
pub(super) struct HostClaims {
    pub(super) host: HostId,
    /// By address, the interfaces of the host before the entries of its neighbor cache and the named addresses.
    pub(super) claims: Vec<(AddressNumber, DeviceClaim)>,
    /// The MAC addresses of the host, in order.
    pub(super) macs: Box<[MacAddress]>,
}

impl HostClaims {
    pub(super) fn of(host: &Host, tables: &[Claim]) -> Self {
        let mut claims = interface_claims(host);
        for (row, last_seen) in tables.iter().flat_map(neighbor_rows) {
            let kind = DeviceClaimKind::Neighbor { is_answer: row.has_answered() };
            let mac = Some(row.mac_address).filter(|mac| !mac.is_zero());
            let claim = DeviceClaim { kind, mac, last_seen: Some(last_seen) };
            claims.push((number_of(row.ip_address), claim));
        }
        let mut named: BTreeMap<IpAddr, Timestamp> = BTreeMap::new();
        for (table, address) in
            tables.iter().flat_map(|table| named_addresses(table).map(move |ip| (table, ip)))
        {
            let last_seen = named.entry(address).or_insert(table.observed_at);
            *last_seen = table.observed_at.max(*last_seen);
        }
        claims.extend(named.into_iter().map(|(address, last_seen)| {
            let last_seen = Some(last_seen);
            (number_of(address), DeviceClaim { kind: DeviceClaimKind::Named, mac: None, last_seen })
        }));
        let rank = |(address, claim): &(AddressNumber, DeviceClaim)| match claim.kind {
            DeviceClaimKind::Interface(_) => (*address, 0, claim.mac, None),
            // The latest of equal entries comes first.
            DeviceClaimKind::Neighbor { is_answer } => {
                (*address, 1 + u8::from(!is_answer), claim.mac, Some(std::cmp::Reverse(claim.last_seen)))
            }
            DeviceClaimKind::Named => (*address, 3, None, None),
        };
        claims.sort_by_key(rank);
        claims.dedup_by(|later, first| {
            later.0 == first.0 && later.1.kind == first.1.kind && later.1.mac == first.1.mac
        });
        let of_interfaces = host.interfaces.iter().filter_map(|interface| interface.mac_address);
        let of_entries = host.if_entries.iter().filter_map(|entry| entry.mac_address);
        let mut macs: Vec<MacAddress> =
            of_interfaces.chain(of_entries).filter(|mac| is_own_mac(*mac)).collect();
        macs.sort_unstable();
        macs.dedup();
        Self { host: host.id, claims, macs: macs.into() }
    }
}

fn interface_claims(host: &Host) -> Vec<(AddressNumber, DeviceClaim)> {
    let mut entries: BTreeMap<InterfaceId, IfEntryId> = BTreeMap::new();
    for entry in &host.if_entries {
        if let Some(interface) = entry.interface_id {
            entries.entry(interface).or_insert(entry.id);
        }
    }
    let claim = |interface: &Interface| {
        let kind = DeviceClaimKind::Interface(entries.get(&interface.id).copied());
        let mac = interface.mac_address.filter(|mac| !mac.is_zero());
        (number_of(interface.ip_address), DeviceClaim { kind, mac, last_seen: interface.last_seen_at })
    };
    host.interfaces.iter().map(claim).collect()
}

/// Returns the next routers of a routing table, or the addresses that neighbors announce.
fn named_addresses(table: &Claim) -> impl Iterator<Item = IpAddr> {
    let (routes, lldp, cdp) = match &table.rows {
        ClaimRows::Routes(rows) => (rows.as_slice(), &[][..], &[][..]),
        ClaimRows::Lldp(rows) => (&[][..], rows.as_slice(), &[][..]),
        ClaimRows::Cdp(rows) => (&[][..], &[][..], rows.as_slice()),
        _ => (&[][..], &[][..], &[][..]),
    };
    let next_hops = routes.iter().filter_map(|row| row.next_hop);
    let announced =
        lldp.iter().flat_map(|row| &row.mgmt_addrs).chain(cdp.iter().filter_map(|row| row.address.as_ref()));
    next_hops.chain(announced.filter_map(|address| address.parse().ok()))
}

/// Returns the rows of a neighbor cache, also those that it no longer has, and when each was last seen.
fn neighbor_rows(table: &Claim) -> impl Iterator<Item = (&ArpRow, Timestamp)> {
    let missing = table.missing.iter().map(|missing| (&missing.rows, missing.last_seen_at));
    let all = std::iter::once((&table.rows, table.observed_at)).chain(missing);
    all.flat_map(|(rows, last_seen)| {
        let rows = match rows {
            ClaimRows::Arp(rows) => rows.as_slice(),
            _ => &[],
        };
        rows.iter().map(move |row| (row, last_seen))
    })
}

/// The devices of the claims to one address, as far as they tell whether there is more than one.
#[derive(Debug, Default)]
pub(super) struct ClaimingDevices<'m> {
    /// The host that has the address, with its MAC addresses.
    host: Option<(HostId, &'m [MacAddress])>,
    /// The MAC address of the device, if the host is not known or has no MAC address.
    mac: Option<MacAddress>,
    has_claims: bool,
    are_several: bool,
    /// Whether the MAC address of a group of routers is stated for the address. Its members share the address.
    is_shared: bool,
}

impl<'m> ClaimingDevices<'m> {
    /// Adds a claim. Those of interfaces must come first. `macs` are the MAC addresses of its host.
    pub(super) fn add(&mut self, host: HostId, claim: &DeviceClaim, macs: &'m [MacAddress]) {
        self.has_claims = true;
        let own = claim.mac.filter(|mac| is_own_mac(*mac));
        self.is_shared |= own.is_none() && claim.mac.is_some();
        match claim.kind {
            DeviceClaimKind::Interface(_) => match self.host {
                None => (self.host, self.mac) = (Some((host, macs)), own),
                // Gateways that share an address also share its MAC address.
                Some((first, _)) if first == host || own.is_some_and(|mac| self.has(mac)) => {}
                Some(_) => self.are_several = true,
            },
            DeviceClaimKind::Neighbor { is_answer: true } => match own {
                Some(mac) if self.mac.is_none() && self.host.is_none_or(|(_, macs)| macs.is_empty()) => {
                    self.mac = Some(mac);
                }
                Some(mac) => self.are_several |= !self.has(mac),
                None => {}
            },
            DeviceClaimKind::Neighbor { is_answer: false } | DeviceClaimKind::Named => {}
        }
    }

    fn has(&self, mac: MacAddress) -> bool {
        self.mac == Some(mac) || self.host.is_some_and(|(_, macs)| macs.binary_search(&mac).is_ok())
    }

    /// Returns the state of the address; `None` without claims.
    pub(super) fn state(&self) -> Option<AddressState> {
        match self {
            Self { has_claims: false, .. } => None,
            Self { are_several: true, is_shared: false, .. } => Some(AddressState::Conflict),
            Self { host: Some(_), .. } => Some(AddressState::Used),
            Self { host: None, .. } => Some(AddressState::Seen),
        }
    }
}
