use std::net::IpAddr;

use uuid::Uuid;

use crate::inventory::schema::{
    NAME, PORT_UNIQUE_KEY, SERVICE_TAG_LINK, SERVICE_UNIQUE_KEY, TAG_LINK, VIRTUALIZED_BY_LINK, links,
    part_unique_key, time_key,
};
use crate::model::{Host, HostOrderField};
use crate::store::{Facets, Link, Name, SortKey};

/// Returns the sort key name of an order field.
pub(super) const fn sort_name(field: HostOrderField) -> Name {
    match field {
        HostOrderField::CreatedAt => crate::inventory::schema::CREATED_AT,
        HostOrderField::UpdatedAt => Name::new("updated_at"),
        HostOrderField::Name => NAME,
        HostOrderField::Hostname => Name::new("hostname"),
        HostOrderField::NetworkId => Name::new("network_id"),
        HostOrderField::VirtualizedBy => Name::new("virtualized_by"),
        HostOrderField::InterfaceIp => Name::new("interface_ip"),
    }
}

/// Computes the facets of a host with sorted lists, as if no service virtualized it.
pub(super) fn host_facets(organization: Uuid, host: &Host) -> Facets {
    let service_tags = host.services.iter().flat_map(|service| links(SERVICE_TAG_LINK, &service.tags));
    let virtualization =
        host.virtualization.as_ref().map(|by| Link::new(VIRTUALIZED_BY_LINK, by.service_id()));
    let ports = host.ports.iter().map(|port| part_unique_key(PORT_UNIQUE_KEY, organization, port.id));
    let services =
        host.services.iter().map(|service| part_unique_key(SERVICE_UNIQUE_KEY, organization, service.id));
    Facets {
        organization: Some(organization),
        network: Some(host.network_id),
        expires_at: None,
        links: links(TAG_LINK, &host.tags).chain(service_tags).chain(virtualization).collect(),
        sort_keys: HostOrderField::ALL.iter().map(|field| sort_key(host, *field)).collect(),
        unique_keys: ports.chain(services).collect(),
    }
}

/// Sets the sort key for the name of the virtualizing service.
pub(super) fn set_virtualized_by(facets: &mut Facets, service: &str) {
    let name = sort_name(HostOrderField::VirtualizedBy);
    if let Some(key) = facets.sort_keys.iter_mut().find(|key| key.name == name) {
        key.value = service.as_bytes().to_vec();
    }
}

fn sort_key(host: &Host, field: HostOrderField) -> SortKey {
    let name = sort_name(field);
    match field {
        HostOrderField::CreatedAt => time_key(name, host.created_at),
        HostOrderField::UpdatedAt => time_key(name, host.updated_at),
        // The byte order of UTF-8 is code point order.
        HostOrderField::Name => SortKey::new(name, host.name.as_bytes()),
        HostOrderField::Hostname => {
            SortKey::new(name, host.hostname.as_deref().unwrap_or_default().as_bytes())
        }
        HostOrderField::NetworkId => SortKey::new(name, host.network_id.as_bytes()),
        HostOrderField::VirtualizedBy => SortKey::new(name, []),
        HostOrderField::InterfaceIp => SortKey::new(name, address_key(host)),
    }
}

/// Sorts IPv4 before IPv6, and hosts without an address last.
fn address_key(host: &Host) -> Vec<u8> {
    let mut key = Vec::with_capacity(17);
    match host.interfaces.first().map(|interface| interface.ip_address) {
        Some(IpAddr::V4(address)) => {
            key.push(4);
            key.extend_from_slice(&address.octets());
        }
        Some(IpAddr::V6(address)) => {
            key.push(6);
            key.extend_from_slice(&address.octets());
        }
        None => key.push(u8::MAX),
    }
    key
}
