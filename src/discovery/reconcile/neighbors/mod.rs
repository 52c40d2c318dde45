//! The neighbors of a host's ports.
//!
//! They are found among the hosts that its LLDP and CDP tables name. Also sets the values that follow from other records:
//! the neighbors of ports and the subnets of addresses.

pub(super) mod named;
pub(super) mod ports;
pub(super) mod remotes;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;

use self::named::Named;
use self::remotes::{Candidate, Remotes};
use super::PortNames;
use super::identity::Identity;
use crate::discovery::reconcile::state::HostState;
use crate::discovery::report::{CdpRow, LldpRow};
use crate::model::{Host, IfEntryId, InterfaceId, Neighbor, SubnetId, Timestamp};

/// Returns the identities of the devices that the rows name, each once.
///
/// An index of the tables by [`Identity::term`] finds those that name a host which is added later.
#[must_use]
pub fn named_by(lldp: &[LldpRow], cdp: &[CdpRow]) -> Vec<Identity> {
    let rows = lldp.iter().map(Named::by_lldp).chain(cdp.iter().map(Named::by_cdp));
    let mut identities = BTreeSet::new();
    rows.for_each(|named| identities.extend(named.identities().cloned()));
    identities.into_iter().collect()
}

/// Returns the neighbor of each interface entry of a host.
///
/// `candidates` are all hosts of the network that have an identity which the rows name. A neighbor is a port if host
/// and port are unique, and a host if only the host is. `port_names` match the names of ports. Ports with several neighbors get none, and neither do ports
/// whose only neighbor is the host itself.
#[must_use]
pub fn resolve(
    host: &Host,
    lldp: &[LldpRow],
    cdp: &[CdpRow],
    candidates: &[Candidate<'_>],
    port_names: &PortNames,
) -> BTreeMap<IfEntryId, Option<Neighbor>> {
    let remotes = Remotes::new(Candidate { host, lldp }, candidates, port_names);
    let mut sightings: BTreeMap<Option<IfEntryId>, Sightings> = BTreeMap::new();
    for row in lldp {
        let local = remotes.own_port(row.if_index, row.if_name.as_deref());
        let remote = remotes.find(&Named::by_lldp(row));
        let port = remote.and_then(|remote| remotes.lldp_port(remote, row));
        let key = format!("{} {:?}", row.chassis_id.value, row.sys_name);
        sightings.entry(local).or_default().lldp.add(remote, port, key);
    }
    for row in cdp {
        let local = remotes.own_port(row.if_index, row.if_name.as_deref());
        let remote = remotes.find(&Named::by_cdp(row));
        let port = remote.and_then(|remote| remotes.cdp_port(remote, row));
        sightings.entry(local).or_default().cdp.add(remote, port, row.device_id.clone());
    }
    // The number of ports on which each host was seen.
    let mut links: BTreeMap<usize, usize> = BTreeMap::new();
    for remote in sightings.values().flat_map(Sightings::hosts) {
        *links.entry(remote).or_default() += 1;
    }
    let neighbor = |local: IfEntryId| {
        let (remote, port) = sightings.get(&Some(local))?.only()?;
        let port = port.or_else(|| {
            let is_only_link = links.get(&remote) == Some(&1);
            if is_only_link { remotes.port_towards_own(remote) } else { None }
        });
        Some(port.map_or_else(|| Neighbor::Host(remotes.id(remote)), Neighbor::IfEntry))
    };
    host.if_entries.iter().map(|entry| (entry.id, neighbor(entry.id))).collect()
}

/// The neighbors that were seen on one port.
#[derive(Default)]
struct Sightings {
    lldp: Sighting,
    cdp: Sighting,
}

/// The neighbors that were seen on one port by one protocol.
#[derive(Default)]
struct Sighting {
    /// The known hosts, by their position among the candidates, with their known ports.
    hosts: BTreeMap<usize, BTreeSet<IfEntryId>>,
    unknown: BTreeSet<String>,
}

impl Sighting {
    fn add(&mut self, remote: Option<usize>, port: Option<IfEntryId>, key: String) {
        match remote {
            // A link to the host itself is a loop or a mistake.
            Some(Remotes::OWN) => {}
            Some(remote) => self.hosts.entry(remote).or_default().extend(port),
            None => {
                self.unknown.insert(key);
            }
        }
    }

    /// Returns the only host, and its port if only one is known.
    fn only(&self) -> Option<(usize, Option<IfEntryId>)> {
        let (remote, ports) = self.hosts.first_key_value()?;
        Some((*remote, ports.first().copied().filter(|_| ports.len() == 1)))
    }

    fn len(&self) -> usize {
        self.hosts.len() + self.unknown.len()
    }
}

impl Sightings {
    /// Returns the only neighbor. If both protocols name a port, LLDP takes precedence.
    fn only(&self) -> Option<(usize, Option<IfEntryId>)> {
        if self.lldp.len() > 1 || self.cdp.len() > 1 {
            return None;
        }
        match (self.lldp.only(), self.cdp.only()) {
            (Some((by_lldp, _)), Some((by_cdp, _))) if by_lldp != by_cdp => None,
            (Some((remote, port)), other) => Some((remote, port.or_else(|| other?.1))),
            // One protocol may know a name by which the other does not announce the device.
            (None, other) => other,
        }
    }

    /// Returns the known hosts, each once.
    fn hosts(&self) -> BTreeSet<usize> {
        self.lldp.hosts.keys().chain(self.cdp.hosts.keys()).copied().collect()
    }
}

/// Sets the neighbors of a host's ports, except those that a user has set. Returns the paths of the changed fields.
///
/// `state` is the state of the host. The neighbors are also written to its baseline, so that they do not count as edits.
pub fn set_neighbors(
    host: &mut Host,
    state: &mut HostState,
    neighbors: &BTreeMap<IfEntryId, Option<Neighbor>>,
    now: Timestamp,
) -> Vec<String> {
    let HostState { baseline, edited, .. } = state;
    let mut baseline: HashMap<IfEntryId, &mut Option<Neighbor>> =
        baseline.if_entries.iter_mut().map(|entry| (entry.id, &mut entry.neighbor)).collect();
    let mut changes = Vec::new();
    for entry in &mut host.if_entries {
        let Some(neighbor) = neighbors.get(&entry.id) else { continue };
        let path = || format!("if_entries.{}.neighbor", entry.id);
        if !edited.is_empty() && edited.contains(&path()) {
            continue;
        }
        if settle(&mut entry.neighbor, baseline.remove(&entry.id), *neighbor) {
            changes.push(path());
            entry.updated_at = now;
        }
    }
    if !changes.is_empty() {
        host.updated_at = now;
    }
    changes
}

/// Sets the subnets of a host's addresses, except those that a user has set. Returns the paths of the changed fields.
///
/// `subnet_of` returns the smallest subnet of the network that contains an address. `state` is the state of the host,
/// as for [`set_neighbors`].
pub fn set_subnets(
    host: &mut Host,
    state: &mut HostState,
    subnet_of: impl Fn(IpAddr) -> Option<SubnetId>,
    now: Timestamp,
) -> Vec<String> {
    let HostState { baseline, edited, .. } = state;
    let mut baseline: HashMap<InterfaceId, &mut Option<SubnetId>> =
        baseline.interfaces.iter_mut().map(|interface| (interface.id, &mut interface.subnet_id)).collect();
    let mut changes = Vec::new();
    for interface in &mut host.interfaces {
        let path = || format!("interfaces.{}.subnet_id", interface.id);
        if !edited.is_empty() && edited.contains(&path()) {
            continue;
        }
        let subnet_id = subnet_of(interface.ip_address);
        if settle(&mut interface.subnet_id, baseline.remove(&interface.id), subnet_id) {
            changes.push(path());
            interface.updated_at = now;
        }
    }
    if !changes.is_empty() {
        host.updated_at = now;
    }
    changes
}

/// Sets a value in the host and the baseline unless a user has set another. Returns whether the host changes.
fn settle<V: Copy + PartialEq>(
    value: &mut Option<V>,
    baseline: Option<&mut Option<V>>,
    derived: Option<V>,
) -> bool {
    if value.is_some() && baseline.as_deref().is_none_or(|before| *before != *value) {
        return false;
    }
    if let Some(before) = baseline {
        *before = derived;
    }
    std::mem::replace(value, derived) != derived
}
