use std::net::IpAddr;

use toposcope::model::{
    Host, HostVirtualization, Interface, ProxmoxVirtualization, Service, ServiceDefinition, Source, Timestamp,
};
use uuid::Uuid;

/// Returns the time this many seconds after the start of a world; negative values are before it.
pub(crate) fn at(seconds: i64) -> Timestamp {
    "2026-08-14T12:00:00Z".parse::<Timestamp>().unwrap().plus_micros(seconds * 1_000_000)
}

/// A minimal host. All of them are equal in every order, so a test states only what differs: `Host { name:
/// "x".to_owned(), ..host(1, network) }`.
pub(crate) fn host(id: u128, network: Uuid) -> Host {
    Host {
        id: Uuid::from_u128(id),
        network_id: network,
        name: "host".to_owned(),
        hostname: None,
        description: None,
        hidden: false,
        created_at: at(0),
        updated_at: at(0),
        tags: vec![],
        source: Source::Manual,
        virtualization: None,
        credential_assignments: vec![],
        interfaces: vec![],
        ports: vec![],
        services: vec![],
        if_entries: vec![],
    }
}

/// A host with these addresses at these positions.
pub(crate) fn address(id: u128, network: Uuid, addresses: &[(&str, i64)]) -> Host {
    let mut host = host(id, network);
    for (place, (address, position)) in addresses.iter().enumerate() {
        let id = (id << 64) + u128::try_from(place).unwrap();
        host.interfaces.push(interface(id, &host, address.parse().unwrap(), *position));
    }
    host
}

pub(crate) fn interface(id: u128, host: &Host, ip_address: IpAddr, position: i64) -> Interface {
    Interface {
        id: Uuid::from_u128(id),
        host_id: host.id,
        network_id: host.network_id,
        subnet_id: None,
        name: None,
        ip_address,
        mac_address: None,
        position,
        created_at: at(0),
        updated_at: at(0),
    }
}

pub(crate) fn service(id: u128, host: &Host, name: &str) -> Service {
    Service {
        id: Uuid::from_u128(id),
        host_id: host.id,
        network_id: host.network_id,
        name: name.to_owned(),
        position: 0,
        service_definition: ServiceDefinition::new("Proxmox VE").unwrap(),
        source: Source::Manual,
        tags: vec![],
        virtualization: None,
        bindings: vec![],
        created_at: at(0),
        updated_at: at(0),
    }
}

/// A host that runs on this service.
pub(crate) fn guest(id: u128, network: Uuid, service: u128) -> Host {
    let service_id = Uuid::from_u128(service);
    let proxmox = ProxmoxVirtualization { vm_name: None, vm_id: None, service_id };
    Host { virtualization: Some(HostVirtualization::Proxmox(proxmox)), ..host(id, network) }
}
