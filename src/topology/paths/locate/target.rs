//! The hosts and the addresses that the question for a device means.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::{AddressConflict, GatewayGroup, LocateTarget};
use crate::model::{HostId, MacAddress};
use crate::topology::links::{Evidence, Links, Method, Rule, StatedMac};
use crate::topology::paths::index::PathIndex;
use crate::topology::paths::routing::SharedGateway;
use crate::topology::paths::{DEFAULT_LIMIT, LookupError};

/// The hosts and the addresses that a question means.
#[derive(Default)]
pub(super) struct Sought {
    pub(super) hosts: Vec<HostId>,
    pub(super) macs: BTreeSet<MacAddress>,
    /// The evidence that joins an IP address with a MAC address.
    pub(super) arp: Vec<Evidence>,
    /// The MAC addresses that neighbor caches state for an IP address, as many as an answer has.
    pub(super) mac_addresses: Vec<MacAddress>,
    /// Whether a neighbor cache states, or once stated, the address.
    is_stated: bool,
    /// Whether neighbor caches no longer state the MAC address of an IP address.
    pub(super) is_former: bool,
    pub(super) conflicts: Vec<AddressConflict>,
    pub(super) gateways: Vec<GatewayGroup>,
}

impl Sought {
    /// Returns whether the network has the device, wherever it is.
    pub(super) fn is_known(&self) -> bool {
        self.is_stated || !self.hosts.is_empty() || !self.gateways.is_empty()
    }
}

impl PathIndex {
    /// Returns the hosts and the addresses that a question means.
    pub(super) fn target(&self, links: &Links, target: &LocateTarget) -> Result<Sought, LookupError> {
        match target {
            LocateTarget::Mac(mac) => Ok(self.with_mac(links, *mac)),
            LocateTarget::Ip(ip) => Ok(self.with_stated_mac(links, *ip)),
            LocateTarget::Name(name) => {
                let id = self.find(name)?;
                let host = self.number(id).and_then(|node| self.node(node).host_id());
                let macs = host.iter().flat_map(|host| links.macs_of(*host)).copied().collect();
                Ok(Sought { hosts: host.into_iter().collect(), macs, ..Sought::default() })
            }
        }
    }

    fn with_mac(&self, links: &Links, mac: MacAddress) -> Sought {
        let shared = self.routers.shared.iter().filter(|shared| shared.mac_addresses.contains(&mac));
        let shared: Vec<&SharedGateway> = shared.collect();
        let routers = shared.iter().flat_map(|shared| self.routers_of(shared));
        let hosts: BTreeSet<HostId> = routers.chain(links.hosts_with(mac)).collect();
        let gateways = shared.iter().take(DEFAULT_LIMIT).map(|shared| self.gateway_group(shared));
        Sought {
            hosts: hosts.into_iter().collect(),
            macs: [mac].into(),
            is_stated: links.is_stated(mac),
            gateways: gateways.collect(),
            ..Sought::default()
        }
    }

    /// Returns the hosts with an IP address, and the MAC addresses that neighbor caches state for it.
    ///
    /// The MAC addresses that they stated before count only if neither they nor the hosts have any.
    fn with_stated_mac(&self, links: &Links, ip: IpAddr) -> Sought {
        let shared = self.shared_gateway(ip);
        let hosts: Vec<HostId> = match shared {
            Some(shared) => self.routers_of(shared),
            None => self.hosts_of(&self.with_ip(ip)),
        };
        let current = links.stated_macs(ip);
        let stated_macs: BTreeSet<MacAddress> = current.iter().map(|stated| stated.mac_address).collect();
        let conflict = self.conflict(links, (ip, shared), &hosts, &stated_macs);
        let own = hosts.iter().flat_map(|host| links.macs_of(*host)).copied();
        let own: BTreeSet<MacAddress> = own.filter(|_| current.is_empty()).collect();
        let former = if current.is_empty() { links.formerly_stated_macs(ip) } else { Vec::new() };
        let is_former = own.is_empty() && !former.is_empty();
        let stated = if current.is_empty() { &former } else { &current };
        let mac_addresses: BTreeSet<MacAddress> = stated.iter().map(|stated| stated.mac_address).collect();
        Sought {
            macs: if own.is_empty() { mac_addresses.clone() } else { own },
            arp: stated
                .first()
                .filter(|_| is_former || !current.is_empty())
                .map(evidence)
                .into_iter()
                .collect(),
            mac_addresses: mac_addresses.into_iter().take(DEFAULT_LIMIT).collect(),
            is_stated: !stated.is_empty(),
            is_former,
            conflicts: conflict.into_iter().collect(),
            gateways: shared.map(|shared| self.gateway_group(shared)).into_iter().collect(),
            hosts,
        }
    }

    /// Returns the hosts and the MAC addresses that claim an IP address, if they contradict each other.
    fn conflict(
        &self,
        links: &Links,
        (ip, shared): (IpAddr, Option<&SharedGateway>),
        hosts: &[HostId],
        macs: &BTreeSet<MacAddress>,
    ) -> Option<AddressConflict> {
        let is_foreign = |mac: &MacAddress, shared: &SharedGateway| {
            !self.hosts_of(&shared.members).iter().any(|host| links.macs_of(*host).contains(mac))
        };
        let is_conflict = match shared {
            Some(shared) => macs.iter().any(|mac| is_foreign(mac, shared)),
            None => {
                let are_several = macs.len() > 1 || hosts.len() > 1;
                are_several && !are_one_gateway(links, hosts, macs) && !self.addresses.is_local(ip)
            }
        };
        is_conflict.then(|| AddressConflict {
            ip,
            mac_addresses: macs.iter().copied().take(DEFAULT_LIMIT).collect(),
            host_ids: hosts.iter().copied().take(DEFAULT_LIMIT).collect(),
        })
    }

    fn hosts_of(&self, nodes: &[u32]) -> Vec<HostId> {
        nodes.iter().filter_map(|node| self.node(*node).host_id()).collect()
    }

    /// Returns the router that uses a shared address, or else all that may.
    fn routers_of(&self, shared: &SharedGateway) -> Vec<HostId> {
        match shared.active {
            Some(active) => self.hosts_of(&[active]),
            None => self.hosts_of(&shared.members),
        }
    }

    fn gateway_group(&self, shared: &SharedGateway) -> GatewayGroup {
        GatewayGroup {
            ip: shared.ip,
            mac_addresses: shared.mac_addresses.iter().copied().take(DEFAULT_LIMIT).collect(),
            host_ids: self.hosts_of(&shared.members).into_iter().take(DEFAULT_LIMIT).collect(),
            active_host_id: shared.active.and_then(|active| self.node(active).host_id()),
        }
    }
}

/// Returns whether hosts share an address with its MAC address, as all leaves of a fabric are the gateway of the same subnet.
fn are_one_gateway(links: &Links, hosts: &[HostId], stated: &BTreeSet<MacAddress>) -> bool {
    let [first, others @ ..] = hosts else { return false };
    let has = |host: &HostId, mac: &MacAddress| links.macs_of(*host).binary_search(mac).is_ok();
    let is_stated = |mac: &&MacAddress| stated.iter().all(|stated| stated == *mac);
    let mut macs = links.macs_of(*first).iter().filter(is_stated);
    !others.is_empty() && macs.any(|mac| others.iter().all(|host| has(host, mac)))
}

/// Returns the evidence of a neighbor cache.
fn evidence(stated: &StatedMac) -> Evidence {
    Evidence {
        method: Method::Arp,
        rule: Rule::ArpFdb,
        reporter_host_id: Some(stated.reporter),
        if_entry_id: None,
        first_seen: None,
        last_seen: stated.last_seen,
        missing_since: stated.missing_since,
    }
}
