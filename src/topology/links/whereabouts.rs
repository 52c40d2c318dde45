//! Where the tables of devices have an address, and which VLANs their ports have.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::num::NonZeroU16;
use std::sync::Arc;

use super::device::Device;
use super::key::{IdentityKey, PortKey};
use super::network::Links;
use super::vlans;
use super::{LinkState, PortRef, RoutingTable, VirtualRouter, VlanRange};
use crate::discovery::reconcile::Identity;
use crate::model::{HostId, IfEntryId, MacAddress, Timestamp};

/// The greatest number of a VLAN (IEEE 802.1Q).
const MAX_VLAN: u16 = 4_094;

/// A port that learned an address, or once did.
#[derive(Clone, Debug)]
pub(in crate::topology) struct LearnedPort {
    pub(in crate::topology) host: HostId,
    pub(in crate::topology) port: PortRef,
    pub(in crate::topology) state: LinkState,
    /// The VLAN in which the port learned the address, or else the only one of the port; `None` when unknown, or for several VLANs.
    pub(in crate::topology) vlan: Option<u16>,
    /// The number of devices on the port; `None` if it leads to another bridge.
    pub(in crate::topology) devices: Option<usize>,
    /// Whether other ports of the host learned the address, too, and one of these ports or this one leads to no other bridge.
    pub(in crate::topology) is_ambiguous: bool,
    pub(in crate::topology) last_seen: Option<Timestamp>,
    pub(in crate::topology) missing_since: Option<Timestamp>,
}

/// A MAC address that a neighbor cache states, or once stated, for an IP address.
#[derive(Clone, Copy, Debug)]
pub(in crate::topology) struct StatedMac {
    pub(in crate::topology) mac_address: MacAddress,
    pub(in crate::topology) reporter: HostId,
    pub(in crate::topology) last_seen: Option<Timestamp>,
    pub(in crate::topology) missing_since: Option<Timestamp>,
}

/// The VLANs of a port.
#[derive(Clone, Copy, Debug)]
pub(in crate::topology) struct PortVlans<'l> {
    pub(in crate::topology) host: HostId,
    pub(in crate::topology) port: IfEntryId,
    pub(in crate::topology) vlans: &'l [VlanRange],
    pub(in crate::topology) untagged_vlan: Option<u16>,
}

/// Returns the VLAN of an entry at a port. Some devices have the number of a forwarding database in place of it, which the port lacks.
fn vlan_of(entry: Option<u16>, of_port: Option<&[VlanRange]>) -> Option<u16> {
    let entry = entry.filter(|vlan| *vlan <= MAX_VLAN);
    let Some(known) = of_port else { return entry };
    let only = match known {
        [range] if range.first == range.last => Some(range.first),
        _ => None,
    };
    entry.filter(|vlan| vlans::find(known, *vlan).is_some()).or(only)
}

impl Links {
    /// Returns the ports that learned a MAC address, by host.
    pub(in crate::topology) fn learned_ports(&self, address: MacAddress) -> Vec<LearnedPort> {
        let only = self.devices().learners(address).filter_map(|host| {
            let device = self.devices().get(host)?;
            let row = device.learned.binary_search_by_key(&address, |learned| learned.address).ok()?;
            device.learned.get(row).map(|learned| self.learned_port(device, learned.place, learned.vlan))
        });
        let learners = self.devices().ambiguous_learners(address);
        let several = learners.filter_map(|host| self.devices().get(host));
        only.chain(several.flat_map(|device| self.ambiguous_ports(device, address))).collect()
    }

    /// Returns the ports that learned a MAC address last, of hosts that no longer have it learned.
    pub(in crate::topology) fn former_ports(&self, address: MacAddress) -> Vec<LearnedPort> {
        let ports = self.devices().losers(address).filter_map(|host| {
            let device = self.devices().get(host)?;
            let row = device.lost.binary_search_by_key(&address, |lost| lost.address).ok()?;
            let lost = device.lost.get(row)?;
            let port = self.learned_port(device, lost.place, None);
            Some(LearnedPort {
                devices: port.devices.map(|others| others.saturating_add(1)),
                last_seen: Some(lost.missing.last_seen),
                missing_since: Some(lost.missing.since),
                ..port
            })
        });
        ports.collect()
    }

    fn learned_port(&self, device: &Device, place: u32, vlan: Option<NonZeroU16>) -> LearnedPort {
        let key = PortKey::Known(place);
        let port = device.port(&key);
        LearnedPort {
            host: device.id,
            port: device.port_ref(&key),
            state: port.map_or(LinkState::Unknown, |port| port.state),
            vlan: vlan_of(vlan.map(NonZeroU16::get), port.and_then(|port| port.vlans.as_deref())),
            devices: self.bridge_views().get(&device.id).map_or(Some(0), |view| view.device_count(place)),
            is_ambiguous: false,
            last_seen: device.learned_at,
            missing_since: None,
        }
    }

    /// Returns the ports of a device that all learned an address.
    fn ambiguous_ports(&self, device: &Device, address: MacAddress) -> Vec<LearnedPort> {
        let start = device.ambiguous.partition_point(|port| port.address < address);
        let rows = device.ambiguous.iter().skip(start).take_while(|port| port.address == address);
        let mut ports: Vec<LearnedPort> = rows
            .map(|row| {
                let port = self.learned_port(device, row.place, row.vlan);
                LearnedPort { devices: port.devices.map(|others| others.saturating_add(1)), ..port }
            })
            .collect();
        let has_edge = ports.iter().any(|port| port.devices.is_some());
        ports.iter_mut().for_each(|port| port.is_ambiguous = has_edge);
        ports
    }

    /// Returns the MAC addresses that neighbor caches state for an IP address, in order.
    pub(in crate::topology) fn stated_macs(&self, ip: IpAddr) -> Vec<StatedMac> {
        let Some(identity) = Identity::of_ip(ip) else { return Vec::new() };
        let stated = self.devices().stated_macs(IdentityKey::of_identity(&identity));
        stated
            .map(|(mac_address, reporter)| StatedMac {
                mac_address,
                reporter,
                last_seen: self.devices().get(reporter).and_then(|device| device.resolved_at),
                missing_since: None,
            })
            .collect()
    }

    /// Returns the MAC addresses that neighbor caches stated for an IP address until the latest time at which one did, in order.
    pub(in crate::topology) fn formerly_stated_macs(&self, ip: IpAddr) -> Vec<StatedMac> {
        let Some(identity) = Identity::of_ip(ip) else { return Vec::new() };
        let ip = IdentityKey::of_identity(&identity);
        let stated = self.devices().formerly_stated_macs(ip).filter_map(|(mac_address, reporter)| {
            let rows = &self.devices().get(reporter)?.formerly_resolved;
            let row = rows.binary_search_by_key(&(ip, mac_address), |(row, _)| (row.ip, row.mac_address));
            let (_, missing) = rows.get(row.ok()?)?;
            let (last_seen, missing_since) = (Some(missing.last_seen), Some(missing.since));
            Some(StatedMac { mac_address, reporter, last_seen, missing_since })
        });
        let mut stated: Vec<StatedMac> = stated.collect();
        let latest = stated.iter().map(|stated| stated.last_seen).max();
        stated.retain(|stated| Some(stated.last_seen) == latest);
        stated
    }

    /// Returns whether a neighbor cache states, or once stated, a MAC address.
    pub(in crate::topology) fn is_stated(&self, address: MacAddress) -> bool {
        self.devices().is_stated(address)
    }

    /// Returns the MAC addresses of a host itself, in order.
    pub(in crate::topology) fn macs_of(&self, host: HostId) -> &[MacAddress] {
        self.devices().get(host).map_or(&[], |device| &device.macs)
    }

    /// Returns the hosts that have a MAC address, in order.
    pub(in crate::topology) fn hosts_with(&self, address: MacAddress) -> Vec<HostId> {
        self.devices().owners(address).collect()
    }

    /// Returns the routing tables of hosts, by host.
    #[must_use]
    pub fn routes(&self) -> BTreeMap<HostId, Arc<RoutingTable>> {
        let table = |device: &Device| Some((device.id, Arc::clone(device.routes.as_ref()?)));
        self.devices().iter().filter_map(table).collect()
    }

    /// Returns the routing table of a host.
    #[cfg(feature = "service")]
    pub(in crate::topology) fn routes_of(&self, host: HostId) -> Option<Arc<RoutingTable>> {
        self.devices().get(host)?.routes.clone()
    }

    /// Returns whether a host has a forwarding database or a spanning tree.
    pub(in crate::topology) fn is_bridge(&self, host: HostId) -> bool {
        self.devices().is_bridge(host)
    }

    /// Returns the addresses that several routers share, by IP address.
    #[must_use]
    pub fn virtual_routers(&self) -> Vec<VirtualRouter> {
        let mut owners: BTreeMap<MacAddress, BTreeSet<HostId>> = BTreeMap::new();
        let mut stated: BTreeMap<IpAddr, BTreeSet<MacAddress>> = BTreeMap::new();
        for device in self.devices().iter() {
            for known in &device.virtual_macs {
                if known.is_own {
                    owners.entry(known.address).or_default().insert(device.id);
                }
                if let Some(ip) = known.ip {
                    stated.entry(ip).or_default().insert(known.address);
                }
            }
        }
        let router = |(ip, mac_addresses): (IpAddr, BTreeSet<MacAddress>)| {
            let hosts = mac_addresses.iter().filter_map(|address| owners.get(address)).flatten().copied();
            VirtualRouter { ip, hosts: hosts.collect(), mac_addresses }
        };
        stated.into_iter().map(router).collect()
    }

    /// Returns the ports whose VLANs are known, by host.
    pub(in crate::topology) fn vlan_ports(&self) -> impl Iterator<Item = PortVlans<'_>> {
        self.devices().iter().flat_map(|device| {
            let host = device.id;
            device.ports.iter().filter_map(move |port| {
                let (id, vlans) = (port.id, port.vlans.as_deref()?);
                Some(PortVlans { host, port: id, vlans, untagged_vlan: port.untagged_vlan })
            })
        })
    }
}
