//! Where the tables of devices have an address, and which VLANs their ports have.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::Arc;

use super::device::Device;
use super::key::{IdentityKey, PortKey};
use super::network::Links;
use super::{PortRef, RoutingTable, VirtualRouter, VlanRange};
use crate::discovery::reconcile::Identity;
use crate::model::{HostId, IfEntryId, MacAddress, Timestamp};

/// A port that learned an address.
#[derive(Clone, Debug)]
pub(in crate::topology) struct LearnedPort {
    pub(in crate::topology) host: HostId,
    pub(in crate::topology) port: PortRef,
    pub(in crate::topology) untagged_vlan: Option<u16>,
    /// The number of devices that were learned on the port; `None` if it leads to another bridge.
    pub(in crate::topology) devices: Option<usize>,
    pub(in crate::topology) last_seen: Option<Timestamp>,
}

/// A MAC address that a neighbor cache states for an IP address.
#[derive(Clone, Copy, Debug)]
pub(in crate::topology) struct StatedMac {
    pub(in crate::topology) mac_address: MacAddress,
    pub(in crate::topology) reporter: HostId,
    pub(in crate::topology) last_seen: Option<Timestamp>,
}

/// The VLANs of a port.
#[derive(Clone, Copy, Debug)]
pub(in crate::topology) struct PortVlans<'l> {
    pub(in crate::topology) host: HostId,
    pub(in crate::topology) port: IfEntryId,
    pub(in crate::topology) vlans: &'l [VlanRange],
    pub(in crate::topology) untagged_vlan: Option<u16>,
}

impl Links {
    /// Returns the ports that learned a MAC address, by host. Of a host that learned it on several ports, there is none.
    pub(in crate::topology) fn learned_ports(&self, address: MacAddress) -> Vec<LearnedPort> {
        let ports = self.devices().learners(address).filter_map(|host| {
            let device = self.devices().get(host)?;
            let place = device.learned.binary_search_by_key(&address, |(learned, _)| *learned).ok()?;
            let place = device.learned.get(place)?.1;
            let key = PortKey::Known(place);
            let view = self.bridge_views().get(&host);
            Some(LearnedPort {
                host,
                port: device.port_ref(&key),
                untagged_vlan: device.port(&key).and_then(|port| port.untagged_vlan),
                devices: view.and_then(|view| view.access.get(&place)).map(|port| port.devices),
                last_seen: device.learned_at,
            })
        });
        ports.collect()
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
            })
            .collect()
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
    #[cfg(feature = "service")]
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
