//! Rules about forwarding databases that name bridges.
//!
//! The port of a bridge *towards* another one is where it learned the other's own addresses, or where shared entries
//! show that the other is: if the other learned two addresses on different ports, and this one learned both on one
//! port, the other is behind that port (Lowekamp, O'Hallaron and Gross, SIGCOMM 2001). Two bridges are adjacent if no
//! known bridge is between their ports towards each other.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::phones;
use crate::model::{HostId, MacAddress};
use crate::topology::links::contest::candidate::{Claimed, DeviceKey, LinkCandidate, Spot};
use crate::topology::links::device::{Device, LearnedAddress};
use crate::topology::links::devices::Devices;
use crate::topology::links::key::IdentityKey;
use crate::topology::links::key::PortKey;
use crate::topology::links::{Evidence, Method, Rule};

/// Maximum number of bridges that learned an address. Addresses of more are not compared, to bound the work.
pub(in crate::topology::links) const MAX_LEARNERS: usize = 16;

/// The ports of a bridge as its forwarding database shows them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::topology::links) struct FdbView {
    /// The port towards each other bridge, by the other's id.
    towards: Box<[(HostId, Towards)]>,
    /// The places in `towards` of the other bridges behind each port.
    behind: BTreeMap<u32, Box<[u32]>>,
    /// The ports without a bridge behind them.
    pub(in crate::topology::links) access: BTreeMap<u32, AccessPort>,
    /// The ports with evidence of another device that is not an end station, sorted.
    uplinks: Box<[u32]>,
    /// The only host behind the telephone on a port, with its address.
    pub(in crate::topology::links) behind_telephones: BTreeMap<u32, (MacAddress, HostId)>,
}

/// The port of a bridge towards another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::topology::links) struct Towards {
    pub(in crate::topology::links) port: u32,
    /// Whether shared entries show it, and not the other's own address.
    pub(in crate::topology::links) is_inferred: bool,
}

/// A port of a bridge without evidence of another bridge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::topology::links) struct AccessPort {
    /// The number of devices that were learned.
    pub(in crate::topology::links) devices: usize,
    /// The addresses of known hosts.
    pub(in crate::topology::links) owned: Vec<(MacAddress, HostId)>,
    /// The addresses of known hosts that the port no longer has learned.
    pub(in crate::topology::links) lost: Vec<(MacAddress, HostId)>,
}

impl AccessPort {
    /// Returns the number of devices on the port, including those that it no longer has learned.
    pub(in crate::topology::links) fn all_devices(&self) -> usize {
        let lost: BTreeSet<HostId> = self.lost.iter().map(|(_, host)| *host).collect();
        let owners: BTreeSet<HostId> = self.owned.iter().map(|(_, host)| *host).collect();
        self.devices.saturating_add(lost.difference(&owners).count())
    }
}

/// All forwarding databases, by host.
pub(in crate::topology::links) type FdbViews = HashMap<HostId, FdbView>;

impl FdbView {
    pub(in crate::topology::links) fn new(device: &Device, devices: &Devices) -> Self {
        let mut view = Self::default();
        if device.learned.is_empty() && device.lost.is_empty() && device.ambiguous.is_empty() {
            return view;
        }
        let learned = LearnedBridges::of(device, devices);
        let uplinks = uplinks(device, &learned.ports);
        view.behind_telephones = phones::behind(device, devices, &phones::telephones(device, &learned.ports));
        view.towards = towards(device, devices, learned);
        view.behind = behind(&view.towards);
        let mut hosts: BTreeMap<u32, BTreeSet<HostId>> = BTreeMap::new();
        for learned in device.learned.iter().filter(|learned| !uplinks.contains(&learned.place)) {
            let access = view.access.entry(learned.place).or_default();
            match owner(learned.address, device, devices) {
                Some(owner) => {
                    access.owned.push((learned.address, owner));
                    access.devices += usize::from(hosts.entry(learned.place).or_default().insert(owner));
                }
                None => access.devices += 1,
            }
        }
        for lost in device.lost.iter().filter(|lost| !uplinks.contains(&lost.place)) {
            let owner = owner(lost.address, device, devices).and_then(|owner| devices.get(owner));
            if let Some(owner) = owner.filter(|owner| lost.missing.counts(Some(owner))) {
                view.access.entry(lost.place).or_default().lost.push((lost.address, owner.id));
            }
        }
        view.uplinks = uplinks.into_iter().collect();
        view
    }

    /// Returns the number of devices that were learned on a port; `None` if it leads to another bridge.
    pub(in crate::topology::links) fn device_count(&self, port: u32) -> Option<usize> {
        let is_uplink = self.uplinks.binary_search(&port).is_ok();
        (!is_uplink).then(|| self.access.get(&port).map_or(0, |access| access.devices))
    }

    /// Returns the port towards another bridge.
    pub(in crate::topology::links) fn towards(&self, other: HostId) -> Option<Towards> {
        let place = self.towards.binary_search_by_key(&other, |(other, _)| *other).ok()?;
        self.towards.get(place).map(|(_, towards)| *towards)
    }

    /// Returns the other bridges with the ports towards them, in order.
    pub(in crate::topology::links) fn all_towards(&self) -> &[(HostId, Towards)] {
        &self.towards
    }

    /// Returns the ports with other bridges behind them, in order.
    pub(in crate::topology::links) fn bridge_ports(&self) -> impl ExactSizeIterator<Item = u32> {
        self.behind.keys().copied()
    }

    /// Returns the other bridges behind a port, in order.
    pub(in crate::topology::links) fn behind(&self, port: u32) -> impl ExactSizeIterator<Item = HostId> {
        let places = self.behind.get(&port).map_or(&[][..], |places| places);
        places.iter().map(|place| {
            let found = usize::try_from(*place).ok().and_then(|place| self.towards.get(place));
            found.map_or(HostId::nil(), |(other, _)| *other)
        })
    }
}

/// Returns the places of the other bridges behind each port.
fn behind(towards: &[(HostId, Towards)]) -> BTreeMap<u32, Box<[u32]>> {
    let mut behind: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for ((_, towards), place) in towards.iter().zip(0..) {
        behind.entry(towards.port).or_default().push(place);
    }
    behind.into_iter().map(|(port, places)| (port, places.into_boxed_slice())).collect()
}

/// The bridges of which a device learned own addresses.
struct LearnedBridges {
    /// The bridges in order, each with its port. `None` for a bridge that was learned on several ports.
    bridges: Vec<(HostId, Option<u32>)>,
    /// All ports with an address of a bridge.
    ports: BTreeSet<u32>,
}

impl LearnedBridges {
    fn of(device: &Device, devices: &Devices) -> Self {
        let mut found: Vec<(HostId, u32)> = Vec::new();
        let mut ports = BTreeSet::new();
        let mut last = None;
        for LearnedAddress { address, place: port, .. } in &device.learned {
            let Some(bridge) = devices.bridge_with(*address) else { continue };
            found.push((bridge, *port));
            if last.replace(*port) != Some(*port) {
                ports.insert(*port);
            }
        }
        found.sort_unstable();
        found.dedup();
        let mut bridges: Vec<(HostId, Option<u32>)> = Vec::with_capacity(found.len());
        for (bridge, port) in found {
            match bridges.last_mut() {
                Some((last, several)) if *last == bridge => *several = None,
                _ => bridges.push((bridge, Some(port))),
            }
        }
        Self { bridges, ports }
    }
}

/// Returns the only other host that has an address, or to which a neighbor cache gives it.
pub(super) fn owner(address: MacAddress, device: &Device, devices: &Devices) -> Option<HostId> {
    let joined = || devices.joined(address).map(|joined| joined.host);
    devices.owner(address).or_else(joined).filter(|owner| *owner != device.id)
}

/// Returns the ports with evidence of another device that is not an end station. The evidence is a neighbor, or a bridge
/// behind the port.
fn uplinks(device: &Device, bridges: &BTreeSet<u32>) -> BTreeSet<u32> {
    let neighbors = device.neighbors().filter_map(|sighting| match sighting.port {
        Some(PortKey::Known(place)) => Some(place),
        _ => None,
    });
    let neighbors: BTreeSet<u32> = neighbors.collect();
    // A neighbor that a member of an aggregate sees is behind the aggregate.
    let aggregates = neighbors.iter().filter_map(|place| device.aggregate(&PortKey::Known(*place)));
    let aggregates = aggregates.filter_map(|aggregate| match aggregate {
        PortKey::Known(place) => Some(place),
        PortKey::Named(_) => None,
    });
    let aggregates: Vec<u32> = aggregates.chain(aggregates_without_members(device)).collect();
    bridges.iter().copied().chain(neighbors).chain(aggregates).collect()
}

/// Returns the aggregates with learned addresses and unreported members, if parallel links to neighbors explain each of
/// them.
fn aggregates_without_members(device: &Device) -> BTreeSet<u32> {
    if !device.ports.iter().any(|port| port.is_aggregate) {
        return BTreeSet::new();
    }
    let port = |place: u32| device.port(&PortKey::Known(place));
    let has_members: BTreeSet<u32> = device.ports.iter().filter_map(|port| port.lag).collect();
    let learning: BTreeSet<u32> = device.learned.iter().map(|learned| learned.place).collect();
    let is_unexplained =
        |place: &u32| port(*place).is_some_and(|port| port.is_aggregate) && !has_members.contains(place);
    let unexplained: BTreeSet<u32> = learning.into_iter().filter(is_unexplained).collect();
    if unexplained.is_empty() {
        return unexplained;
    }
    let mut ports: BTreeMap<IdentityKey, BTreeSet<u32>> = BTreeMap::new();
    for sighting in device.neighbors() {
        let place = match sighting.port {
            Some(PortKey::Known(place)) => {
                Some(place).filter(|place| port(*place).is_some_and(|port| port.lag.is_none()))
            }
            _ => None,
        };
        if let Some((key, place)) = sighting.names.keys().next().zip(place) {
            ports.entry(key).or_default().insert(place);
        }
    }
    let parallel = ports.values().filter(|ports| ports.len() > 1).count();
    if unexplained.len() <= parallel { unexplained } else { BTreeSet::new() }
}

/// Returns the port towards each other bridge, in the order of their ids.
fn towards(device: &Device, devices: &Devices, learned: LearnedBridges) -> Box<[(HostId, Towards)]> {
    let is_learned =
        |other: &HostId| learned.bridges.binary_search_by_key(other, |(bridge, _)| *bridge).is_ok();
    let mut inferred = Vec::new();
    for (other, ports) in shared_ports(device, devices) {
        if !is_learned(&other)
            && let Some(port) = port_of_shared(&ports)
        {
            inferred.push((other, Towards { port, is_inferred: true }));
        }
    }
    let own = learned.bridges.into_iter();
    let own = own.filter_map(|(other, port)| Some((other, Towards { port: port?, is_inferred: false })));
    let mut towards: Vec<(HostId, Towards)> = own.collect();
    if !inferred.is_empty() {
        towards.extend(inferred);
        towards.sort_unstable_by_key(|(other, _)| *other);
    }
    towards.into_boxed_slice()
}

/// Returns the ports of the addresses that a device and each other one learned: first its own port, and then the other's.
fn shared_ports(device: &Device, devices: &Devices) -> BTreeMap<HostId, Vec<(u32, u32)>> {
    let mut shared: BTreeMap<HostId, Vec<(u32, u32)>> = BTreeMap::new();
    for LearnedAddress { address, place: port, .. } in &device.learned {
        if devices.learner_count(*address) > MAX_LEARNERS {
            continue;
        }
        for other in devices.learners(*address).filter(|other| *other != device.id) {
            let learned = devices.get(other).map(|other| &other.learned);
            let place = learned.and_then(|learned| {
                let found = learned.binary_search_by_key(address, |learned| learned.address).ok()?;
                learned.get(found)
            });
            shared.entry(other).or_default().extend(place.map(|other| (*port, other.place)));
        }
    }
    shared
}

/// Returns the only port with two addresses that the other bridge learned on different ports.
fn port_of_shared(ports: &[(u32, u32)]) -> Option<u32> {
    let mut others: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for (port, other) in ports {
        others.entry(*port).or_default().insert(*other);
    }
    let mut towards = others.into_iter().filter(|(_, others)| others.len() > 1).map(|(port, _)| port);
    towards.next().filter(|_| towards.next().is_none())
}

/// Proposes a link between two bridges that learned each other's own addresses.
///
/// Each learned the other's own address on exactly one port, and no known bridge is between them.
pub(in crate::topology::links) fn mutual_fdb(
    one: &Device,
    other: &Device,
    views: &FdbViews,
) -> Option<LinkCandidate> {
    let (ours, theirs) = facing(one, other, views)?;
    let is_own = !ours.is_inferred && !theirs.is_inferred;
    is_own.then(|| candidate(one, ours, other, theirs, Rule::MutualFdb))
}

/// Proposes a link between two bridges whose shared entries show their ports towards each other.
///
/// No known bridge is between them.
pub(in crate::topology::links) fn shared_fdb(
    one: &Device,
    other: &Device,
    views: &FdbViews,
) -> Option<LinkCandidate> {
    let (ours, theirs) = facing(one, other, views)?;
    let is_shared = ours.is_inferred || theirs.is_inferred;
    is_shared.then(|| candidate(one, ours, other, theirs, Rule::SharedFdb))
}

/// Returns the ports of two adjacent bridges towards each other.
fn facing(one: &Device, other: &Device, views: &FdbViews) -> Option<(Towards, Towards)> {
    let ours = views.get(&one.id)?.towards(other.id)?;
    let theirs = views.get(&other.id)?.towards(one.id)?;
    Some((ours, theirs))
}

fn candidate(one: &Device, ours: Towards, other: &Device, theirs: Towards, rule: Rule) -> LinkCandidate {
    let spot = |device: &Device, towards: Towards| {
        Spot::new(DeviceKey::Host(device.id), Some(PortKey::Known(towards.port)))
    };
    let claims = vec![claim(one, ours.port, "", rule), claim(other, theirs.port, "", rule)];
    LinkCandidate::new(spot(one, ours), spot(other, theirs), rule, claims)
}

/// Returns the claim of a bridge that it learned an address on a port.
pub(super) fn claim(device: &Device, place: u32, names: &str, rule: Rule) -> Claimed {
    let port = PortKey::Known(place);
    let evidence = Evidence {
        method: Method::Fdb,
        rule,
        reporter_host_id: Some(device.id),
        if_entry_id: device.port(&port).map(|port| port.id),
        first_seen: None,
        last_seen: device.learned_at,
        missing_since: None,
    };
    Claimed { evidence, at: Some((device.id, port)), names: names.into() }
}
