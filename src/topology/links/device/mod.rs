//! The data of a host and its claims that the rules need.

pub(super) mod ports;
pub(super) mod routes;
pub(super) mod sighting;
pub(super) mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::Arc;

use uuid::Uuid;

use self::ports::{Aggregate, SwitchPort, aggregates, ports};
use self::routes::{RoutingTable, VirtualMac, virtual_macs};
use self::sighting::{Names, Sighting, sightings};
pub(in crate::topology::links) use self::tables::LearnedAddress;
use self::tables::Tables;
use self::tables::{LearnedRows, Learning, Lost, bridge_ports};
use self::tables::{Resolved, formerly_resolved, resolved};
use super::key::IdentityKey;
use super::key::{PortKey, place_of};
use super::missing::Missing;
use super::{Method, PortRef};
use crate::discovery::Claim;
use crate::discovery::reconcile::{IdentityKind, PortNames, SwitchPorts, Traits, is_own_mac};
use crate::discovery::report::{FdbStatus, TableKind};
use crate::model::{Host, HostId, LldpChassisId, MacAddress, NetworkId, Timestamp};

/// A host and its claims, reduced to the data from which links are derived.
#[derive(Clone, Debug)]
pub struct Device {
    pub(super) id: HostId,
    pub(super) network_id: NetworkId,
    /// Identities other than MAC addresses, sorted.
    pub(super) keys: Box<[IdentityKey]>,
    /// All MAC addresses of the device itself, sorted.
    pub(super) macs: Box<[MacAddress]>,
    pub(super) chassis_mac: Option<MacAddress>,
    pub(super) chassis_id: Option<LldpChassisId>,
    pub(super) chassis_key: Option<IdentityKey>,
    pub(super) ports: Box<[SwitchPort]>,
    pub(super) ports_by_value: SwitchPorts,
    /// Pairs of a MAC address and the place of an aggregate that has it, sorted.
    aggregates: Box<[(MacAddress, u32)]>,
    /// Pairs of a bridge port's number and the place of the port, sorted.
    pub(super) bridge_ports: Box<[(i64, u32)]>,
    pub(super) sightings: Box<[Sighting]>,
    /// The neighbors behind tunnels, which no cable leads to: port and name, sorted.
    pub(super) tunneled: Box<[(PortKey, Arc<str>)]>,
    /// The ports with neighbors, and the protocol of each neighbor that the device now names, sorted.
    neighbor_ports: Box<[(u32, Method)]>,
    /// The ports that are down or disabled and had neighbors, sorted, with the time at which the device last named one.
    last_named: Box<[(u32, Timestamp)]>,
    /// Pairs of a learned address and the place of its port, sorted. The port is the only one that learned the address.
    pub(super) learned: Box<[LearnedAddress]>,
    /// The ports of addresses that several ports learned, sorted. Links do not follow from them.
    pub(super) ambiguous: Box<[LearnedAddress]>,
    pub(super) learned_at: Option<Timestamp>,
    /// Addresses that the device no longer has learned, sorted.
    pub(super) lost: Box<[Lost]>,
    /// The MAC addresses that the device states for the IP addresses of others, sorted.
    pub(super) resolved: Box<[Resolved]>,
    pub(super) resolved_at: Option<Timestamp>,
    /// Rows that the device's neighbor cache no longer has, sorted.
    pub(super) formerly_resolved: Box<[(Resolved, Missing)]>,
    /// When a report described the device last; `None` for a host that no report described.
    pub(super) seen_at: Option<Timestamp>,
    /// Whether the device has a forwarding database or a spanning tree.
    pub(super) is_bridge: bool,
    /// The routing table, if the device reports it.
    pub(super) routes: Option<Arc<RoutingTable>>,
    /// The addresses of virtual routers that the device states, and those of its own ports, sorted.
    pub(super) virtual_macs: Box<[VirtualMac]>,
    /// The tables that may lack rows.
    pub(super) truncated: Vec<TableKind>,
}

impl Device {
    /// Collects the data that the rules need from a host and its claims.
    ///
    /// Neighbors that are stored with interface entries count where the host has no claims about them.
    #[must_use]
    pub fn of(host: &Host, claims: &[Claim]) -> Self {
        Self::with_port_names(host, claims, &PortNames::new())
    }

    /// Collects like [`of`](Self::of), and matches names of ports by other rules than the usual ones.
    #[must_use]
    pub fn with_port_names(host: &Host, claims: &[Claim], port_names: &PortNames) -> Self {
        let traits = Traits::of_host(host);
        let tables = Tables::of(claims);
        let ports_by_value = SwitchPorts::new(host, tables.lldp, port_names);
        let bridge_ports = bridge_ports(&ports_by_value, &tables);
        let ports = ports(host, &ports_by_value, &tables, port_names);
        let identities = traits.identities.iter().filter(|identity| identity.kind() != IdentityKind::Mac);
        let mut keys: Vec<IdentityKey> = identities.map(IdentityKey::of_identity).collect();
        let chassis = traits.identities.iter().find(|identity| identity.kind() == IdentityKind::ChassisId);
        keys.sort_unstable();
        keys.dedup();
        let self_addresses = tables.fdb.iter().filter(|row| row.status == Some(FdbStatus::SelfAddress));
        let macs = traits.macs.iter().copied().chain(self_addresses.map(|row| row.mac_address));
        let macs: BTreeSet<MacAddress> = macs.filter(|address| is_own_mac(*address)).collect();
        let formerly_resolved = formerly_resolved(claims, &ports_by_value);
        let resolved = resolved(tables.arp, &ports_by_value).into_boxed_slice();
        let learning =
            Learning { by_value: &ports_by_value, bridge_ports: &bridge_ports, ports: &ports, own: &macs };
        let LearnedRows { on_one_port: learned, on_several_ports: ambiguous } = learning.learned(tables.fdb);
        let lost = learning.lost(claims, &learned);
        let (tunneled, sightings) = sightings(host, claims, &ports_by_value, &bridge_ports)
            .into_iter()
            .partition::<Vec<_>, _>(|sighting| is_tunneled(sighting, &ports));
        let sightings = sightings.into_boxed_slice();
        Self {
            id: host.id,
            network_id: host.network_id,
            keys: keys.into_boxed_slice(),
            macs: macs.into_iter().collect(),
            chassis_mac: traits.chassis_mac,
            chassis_id: host.chassis_id.clone(),
            chassis_key: chassis.map(IdentityKey::of_identity),
            neighbor_ports: neighbor_ports(&sightings),
            last_named: last_named(&sightings, &ports),
            tunneled: tunneled_neighbors(&tunneled),
            sightings,
            aggregates: aggregates(&ports),
            ports,
            ports_by_value,
            bridge_ports,
            is_bridge: !learned.is_empty() || !lost.is_empty() || !tables.stp.is_empty(),
            learned,
            ambiguous,
            lost,
            learned_at: tables.learned_at,
            resolved,
            resolved_at: tables.resolved_at,
            formerly_resolved,
            seen_at: claims.iter().map(|claim| claim.observed_at).max(),
            routes: tables.routes.map(Arc::new),
            virtual_macs: virtual_macs(host, tables.arp),
            truncated: tables.truncated,
        }
    }

    /// Returns the id of the host.
    #[must_use]
    pub const fn host_id(&self) -> HostId {
        self.id
    }

    /// Returns the ids of the host and its ports.
    pub(super) fn records(&self) -> impl Iterator<Item = Uuid> {
        [self.id.uuid()].into_iter().chain(self.ports.iter().map(|port| port.id.uuid()))
    }

    /// Returns whether a neighbor is stored by its id.
    pub(super) fn names_records(&self) -> bool {
        self.sightings.iter().any(|sighting| matches!(sighting.names, Names::Record(_)))
    }

    pub(super) fn port(&self, key: &PortKey) -> Option<&SwitchPort> {
        match key {
            PortKey::Known(place) => self.ports.get(usize::try_from(*place).ok()?),
            PortKey::Named(_) => None,
        }
    }

    pub(super) fn port_ref(&self, key: &PortKey) -> PortRef {
        match (key, self.port(key)) {
            (_, Some(port)) => PortRef { if_entry_id: Some(port.id), name: port.name.to_string() },
            (PortKey::Named(name), None) => PortRef { if_entry_id: None, name: name.to_string() },
            (PortKey::Known(place), None) => PortRef { if_entry_id: None, name: place.to_string() },
        }
    }

    /// Returns whether a port is down or disabled.
    pub(super) fn is_out(&self, key: &PortKey) -> bool {
        self.port(key).is_some_and(|port| port.state.is_out())
    }

    /// Returns when the device named a neighbor last on a port that is down or disabled.
    pub(super) fn named_at(&self, key: &PortKey) -> Option<Timestamp> {
        let PortKey::Known(place) = key else { return None };
        let found = self.last_named.binary_search_by_key(place, |(port, _)| *port).ok()?;
        self.last_named.get(found).map(|(_, named)| *named)
    }

    /// Returns the aggregate of which a port is a member.
    pub(super) fn aggregate(&self, key: &PortKey) -> Option<PortKey> {
        self.port(key)?.lag.map(PortKey::Known)
    }

    /// Returns the aggregate of a port that a neighbor announces.
    ///
    /// The number is an `ifIndex` on most devices, and a number of another kind on some. A port with this index counts
    /// only if it is an aggregate, or shares an address with its member that other ports do not have.
    pub(super) fn announced_aggregate(
        &self,
        number: NonZeroU32,
        port: Option<&PortKey>,
    ) -> Option<Aggregate> {
        let place = self.ports_by_value.local(Some(i64::from(number.get())), None);
        let Some(key) = place.and_then(|place| u32::try_from(place).ok()).map(PortKey::Known) else {
            return Some(Aggregate::Number(number));
        };
        if Some(&key) == port {
            return None;
        }
        let member = port.and_then(|port| self.port(port)).and_then(|port| port.mac_address);
        let is_other = |port: &SwitchPort| port.mac_address.is_some() && port.mac_address != member;
        let is_meant = self.port(&key).is_some_and(|port| {
            let shares_address = member.is_some() && port.mac_address == member;
            port.is_aggregate || (shares_address && self.ports.iter().any(is_other))
        });
        Some(if is_meant { Aggregate::Port(key) } else { Aggregate::Number(number) })
    }

    /// Returns the first port that has a MAC address, and on which the device itself sees a neighbor.
    ///
    /// VLANs and aggregates have the address of a physical port.
    pub(super) fn neighbor_port(&self, address: MacAddress) -> Option<PortKey> {
        let has_address =
            |port: &PortKey| self.port(port).is_some_and(|port| port.mac_address == Some(address));
        let ports = self.neighbors().filter_map(|sighting| sighting.port.as_ref());
        ports.filter(|port| has_address(port)).min().cloned()
    }

    /// Returns the neighbors that the device now names by other means than the spanning tree.
    pub(super) fn neighbors(&self) -> impl Iterator<Item = &Sighting> {
        let is_neighbor = |sighting: &&Sighting| sighting.method != Method::Stp && sighting.missing.is_none();
        self.sightings.iter().filter(is_neighbor)
    }

    /// Returns the number of neighbors that the device now names on a port, by a protocol.
    pub(super) fn neighbor_count(&self, key: &PortKey, method: Method) -> usize {
        let PortKey::Known(place) = key else { return 0 };
        let before = self.neighbor_ports.partition_point(|seen| *seen < (*place, method));
        self.neighbor_ports.partition_point(|seen| *seen <= (*place, method)).saturating_sub(before)
    }

    /// Returns the port with a number in the spanning tree.
    pub(super) fn bridge_port(&self, number: i64) -> Option<PortKey> {
        place_of(&self.bridge_ports, number).map(PortKey::Known)
    }
}

fn last_named(sightings: &[Sighting], ports: &[SwitchPort]) -> Box<[(u32, Timestamp)]> {
    let mut latest: BTreeMap<u32, Timestamp> = BTreeMap::new();
    let named = sightings.iter().filter(|sighting| matches!(sighting.method, Method::Lldp | Method::Cdp));
    for sighting in named {
        let (Some(PortKey::Known(place)), Some(seen)) = (&sighting.port, sighting.last_seen) else {
            continue;
        };
        let port = usize::try_from(*place).ok().and_then(|place| ports.get(place));
        if port.is_some_and(|port| port.state.is_out()) {
            let latest = latest.entry(*place).or_insert(seen);
            *latest = seen.max(*latest);
        }
    }
    latest.into_iter().collect()
}

impl Device {
    /// Returns the place of the only aggregate with a MAC address, which its members and the VLANs above share.
    pub(super) fn aggregate_with(&self, address: MacAddress) -> Option<u32> {
        let start = self.aggregates.partition_point(|(other, _)| *other < address);
        let mut found = self.aggregates.iter().skip(start).take_while(|(other, _)| *other == address);
        let (_, place) = found.next()?;
        found.next().is_none().then_some(*place)
    }
}

/// Returns whether a neighbor is behind a tunnel. One that a user has entered there stays.
fn is_tunneled(sighting: &Sighting, ports: &[SwitchPort]) -> bool {
    if sighting.method == Method::Stored {
        return false;
    }
    let Some(PortKey::Known(place)) = sighting.port else { return false };
    usize::try_from(place).ok().and_then(|place| ports.get(place)).is_some_and(|port| port.is_tunnel)
}

/// Returns the neighbors that a device now names behind tunnels, each once.
fn tunneled_neighbors(sightings: &[Sighting]) -> Box<[(PortKey, Arc<str>)]> {
    let named = sightings.iter().filter(|sighting| {
        sighting.missing.is_none() && matches!(sighting.method, Method::Lldp | Method::Cdp)
    });
    let mut named: Vec<_> =
        named.filter_map(|sighting| Some((sighting.port.clone()?, sighting.about.label.clone()))).collect();
    named.sort_unstable();
    named.dedup();
    named.into_boxed_slice()
}

fn neighbor_ports(sightings: &[Sighting]) -> Box<[(u32, Method)]> {
    let current = sightings.iter().filter(|sighting| sighting.missing.is_none());
    let mut ports: Vec<(u32, Method)> = current
        .filter_map(|sighting| match sighting.port {
            Some(PortKey::Known(place)) => Some((place, sighting.method)),
            Some(PortKey::Named(_)) | None => None,
        })
        .collect();
    ports.sort_unstable();
    ports.into_boxed_slice()
}
