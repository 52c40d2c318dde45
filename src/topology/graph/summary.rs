use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::arrange::size::cut_text;
use super::role::{self, RoleReason, RoleSource};
use crate::discovery::{Claim, ClaimRows};
use crate::model::{
    Host, HostId, HostPart, HostRole, InterfaceId, Record, Redaction, ServiceId, ServiceRoles,
    ServiceVirtualization, SubnetId, TagId, Timestamp, for_each_part_type,
};
use crate::topology::layout::AddressScope;

/// The summary of a host that the views show. It is much smaller than the host.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostSummary {
    /// The host's id.
    pub id: HostId,
    /// The first name that is not blank. The order is the display name, `sysName`, the DNS name, and the name as a
    /// guest.
    pub name: Option<String>,
    /// All names of the host, the serial number excluded; each occurs once.
    pub names: Vec<String>,
    /// The texts of the host and its parts that shares conceal, each once.
    pub(super) concealed: Vec<(Redaction, Box<str>)>,
    /// The role, as set by a user or as the host itself reveals it.
    pub role: HostRole,
    /// The evidence that the role is derived from; `None` for an unknown role.
    pub role_reason: Option<RoleReason>,
    /// The role of a switch or a router, by whether most ports bridge or route. `None` if that is unclear.
    pub role_by_ports: Option<HostRole>,
    /// The ids of the host's tags.
    pub tags: Vec<TagId>,
    /// The addresses, in display order.
    pub interfaces: Vec<InterfaceSummary>,
    /// The services that run other things, or run in containers, and all others by id.
    pub services: Vec<ServiceSummary>,
    /// The service, of another host, that runs this host.
    pub virtualized_by: Option<ServiceId>,
    /// The number of ports with a neighbor by LLDP or CDP.
    pub neighbor_ports: u32,
    /// The number of Ethernet ports that are up.
    pub active_ports: u32,
    /// The location that the device reports.
    pub location: Option<String>,
    /// The manufacturer.
    pub vendor: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// When a report showed the host last; `None` for a host that no report described.
    pub last_seen_at: Option<Timestamp>,
}

/// The summary of an address that the views show.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InterfaceSummary {
    /// The interface's id.
    pub id: InterfaceId,
    /// The address.
    pub ip_address: IpAddr,
    /// The subnet that contains the address; `None` when unknown.
    pub subnet_id: Option<SubnetId>,
    /// The length of the subnet's prefix, as the device reports it; `None` when unknown.
    pub prefix_length: Option<u8>,
}

/// The summary of a service that the views show.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServiceSummary {
    /// The service's id.
    pub id: ServiceId,
    /// The display name; kept only for a service in a container.
    pub name: String,
    /// The service that runs the container; `None` when the service is not containerized.
    pub virtualized_by: Option<ServiceId>,
}

impl HostSummary {
    /// Summarizes a host and its claims, which show when the host was last seen.
    #[must_use]
    pub fn of(host: &Host, claims: &[Claim]) -> Self {
        let role_by_ports = role::by_ports(host, claims);
        let (role, role_reason) = role::of_host(host, role_by_ports);
        let names = names(host);
        Self {
            id: host.id,
            name: names.first().cloned(),
            names,
            concealed: concealed(host),
            role,
            role_reason,
            role_by_ports,
            tags: host.tags.clone(),
            interfaces: interfaces(host, claims),
            services: services(host),
            virtualized_by: host.virtualization.as_ref().map(|virtualization| virtualization.service_id()),
            neighbor_ports: role::neighbor_ports(host),
            active_ports: role::active_ports(host),
            location: shown(host.sys_location.as_deref()),
            vendor: shown(host.manufacturer.as_deref()),
            model: shown(host.model.as_deref()),
            last_seen_at: claims.iter().filter(|claim| claim.host_id == host.id).map(last_seen).max(),
        }
    }

    /// Gives the host the role of its services, unless a user has set its role.
    #[must_use]
    pub fn with_service_roles(self, host: &Host, roles: &ServiceRoles) -> Self {
        let is_set = self.role_reason.as_ref().is_some_and(|reason| reason.source == RoleSource::Manual);
        let Some((definition, role)) = roles.of_host(host).filter(|_| !is_set) else { return self };
        let value = Cow::Owned(definition.as_str().to_owned());
        Self { role, role_reason: Some(RoleReason { source: RoleSource::ServiceDefinition, value }), ..self }
    }

    /// Returns the address to show beside the name: the first that other hosts can reach.
    #[must_use]
    pub fn address(&self) -> Option<IpAddr> {
        self.interfaces.iter().map(|interface| interface.ip_address).find(|address| is_reachable(*address))
    }

    /// Returns what the addresses say about the side of the network that the host is on.
    pub(super) fn address_scope(&self) -> AddressScope {
        match self.address() {
            None => AddressScope::Missing,
            Some(_) if self.interfaces.iter().any(|interface| is_public(interface.ip_address)) => {
                AddressScope::Public
            }
            Some(_) => AddressScope::Unknown,
        }
    }
}

/// Returns whether hosts elsewhere on the Internet can reach an address. Addresses for documentation count as such, because
/// examples use them for the Internet; those for benchmarks do not, because laboratories use them inside.
fn is_public(address: IpAddr) -> bool {
    is_reachable(address)
        && match address {
            IpAddr::V4(v4) => {
                let [first, second, ..] = v4.octets();
                let is_shared = first == 100 && second & 0xC0 == 0x40;
                let is_benchmark = first == 198 && second & 0xFE == 18;
                // From 224 on, addresses are those of groups, or reserved.
                !(v4.is_private() || first == 0 || first >= 224 || is_shared || is_benchmark)
            }
            IpAddr::V6(v6) => !(v6.is_unique_local() || v6.is_multicast()),
        }
}

/// Returns whether an address means the same device to all hosts of a network.
pub(in crate::topology) fn is_reachable(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => !(v4.is_loopback() || v4.is_link_local() || v4.is_unspecified()),
        IpAddr::V6(v6) => !(v6.is_loopback() || v6.is_unicast_link_local() || v6.is_unspecified()),
    }
}

/// Returns a text as pictures show it; `None` if it is blank.
fn shown(text: Option<&str>) -> Option<String> {
    text.map(str::trim).filter(|text| !text.is_empty()).map(cut_text)
}

fn names(host: &Host) -> Vec<String> {
    let guest = match &host.virtualization {
        Some(crate::model::HostVirtualization::Proxmox(guest)) => guest.vm_name.as_deref(),
        None => None,
    };
    let all = [Some(host.name.as_str()), host.sys_name.as_deref(), host.hostname.as_deref(), guest];
    let mut names: Vec<String> = Vec::new();
    for name in all.into_iter().flatten() {
        if !name.trim().is_empty() && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

fn concealed(host: &Host) -> Vec<(Redaction, Box<str>)> {
    let mut texts: BTreeSet<(Redaction, &str)> = host.concealed_texts().collect();
    for_each_part_type!(P => texts.extend(P::list(host).iter().flat_map(Record::concealed_texts)));
    texts.into_iter().map(|(kind, text)| (kind, text.into())).collect()
}

fn interfaces(host: &Host, claims: &[Claim]) -> Vec<InterfaceSummary> {
    let rows = claims.iter().filter(|claim| claim.host_id == host.id).flat_map(|claim| match &claim.rows {
        ClaimRows::Addresses(rows) => rows.as_slice(),
        _ => &[],
    });
    let prefixes: BTreeMap<IpAddr, u8> =
        rows.filter_map(|row| Some((row.ip_address, row.prefix_length?))).collect();
    let mut sorted: Vec<_> = host.interfaces.iter().collect();
    sorted.sort_by_key(|interface| (interface.position, interface.id));
    sorted
        .into_iter()
        .map(|interface| InterfaceSummary {
            id: interface.id,
            ip_address: interface.ip_address,
            subnet_id: interface.subnet_id,
            prefix_length: prefixes.get(&interface.ip_address).copied(),
        })
        .collect()
}

fn services(host: &Host) -> Vec<ServiceSummary> {
    host.services
        .iter()
        .map(|service| {
            let virtualized_by = service.virtualization.as_ref().map(ServiceVirtualization::service_id);
            let name = if virtualized_by.is_some() { container_name(service) } else { String::new() };
            ServiceSummary { id: service.id, name, virtualized_by }
        })
        .collect()
}

fn container_name(service: &crate::model::Service) -> String {
    if !service.name.trim().is_empty() {
        return service.name.clone();
    }
    match &service.virtualization {
        Some(ServiceVirtualization::Docker(container)) => {
            container.container_name.clone().unwrap_or_else(|| service.service_definition.to_string())
        }
        None => service.service_definition.to_string(),
    }
}

fn last_seen(claim: &Claim) -> Timestamp {
    claim.parts.iter().map(|part| part.last_seen_at).fold(claim.observed_at, Timestamp::max)
}

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use serde::de::DeserializeOwned;

    use super::*;
    use crate::model::{Form, Interface, NetworkId, Service, ServiceDefinition, Setter};

    /// Returns a record of which each text is marked, and the marks.
    fn marked<R: Record + Serialize + DeserializeOwned>(record: &R, kind: &str) -> (R, Vec<String>) {
        let mut document = serde_json::to_value(record).unwrap();
        let mut marks = Vec::new();
        for field in R::FIELDS {
            if field.setter != Setter::Server && matches!(field.form, Form::Text { min: 0 | 1, .. }) {
                let mark = format!("<{kind} {}>", field.name);
                document[field.name] = mark.clone().into();
                marks.push(mark);
            }
        }
        (serde_json::from_value(document).unwrap(), marks)
    }

    #[test]
    fn shares_conceal_every_text_of_a_host_that_pictures_show() {
        let (mut host, mut marks) = marked(&Host::new(NetworkId::nil(), ""), "host");
        let definition = ServiceDefinition::new("Web").unwrap();
        let mut web = Service::new(&host, "", definition);
        let container = serde_json::json!({
            "type": "Docker",
            "details": {"container_name": null, "container_id": null, "service_id": ServiceId::nil()},
        });
        web.virtualization = Some(serde_json::from_value(container).unwrap());
        let (web, of_service) = marked(&web, "service");
        let address = Interface::new(&host, [192, 0, 2, 7].into());
        let (interface, of_interface) = marked(&address, "interface");
        host.services.push(web);
        host.interfaces.push(interface);
        marks.extend(of_service.into_iter().chain(of_interface));
        let mut summary = HostSummary::of(&host, &[]);
        let concealed = std::mem::take(&mut summary.concealed);
        let shown = format!("{summary:?}");
        let shown: Vec<String> = marks.into_iter().filter(|mark| shown.contains(mark)).collect();
        let plain = ["<host sys_location>", "<host manufacturer>", "<host model>"];
        let names = ["<host name>", "<host hostname>", "<host sys_name>"];
        assert_eq!(shown, [&names[..], &plain, &["<service name>"]].concat());
        // Where a share conceals anything, it leaves location, vendor and model out.
        for mark in shown.into_iter().filter(|mark| !plain.contains(&mark.as_str())) {
            assert!(concealed.iter().any(|(_, text)| **text == *mark), "{mark} is not concealed");
        }
    }
}
