use serde_json::json;
use toposcope::model::{
    AdminStatus, Binding, BindingTarget, CredentialAssignment, Host, HostVirtualization, IfEntry, Interface,
    LldpChassisId, LldpChassisIdSubtype, LldpPortId, LldpPortIdSubtype, MacAddress, Neighbor, OperStatus,
    Port, Protocol, Service, ServiceVirtualization, Source,
};
use uuid::Uuid;

use super::{MANUAL, NOW, time};

pub(crate) const fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

/// A host without any contents.
pub(crate) fn bare_host(id: Uuid, network_id: Uuid) -> Host {
    Host {
        id,
        network_id,
        name: String::new(),
        hostname: None,
        description: None,
        hidden: false,
        created_at: time(NOW),
        updated_at: time(NOW),
        tags: vec![],
        source: MANUAL,
        virtualization: None,
        credential_assignments: vec![],
        interfaces: vec![],
        ports: vec![],
        services: vec![],
        if_entries: vec![],
    }
}

pub(crate) fn interface(host: &Host, id: Uuid, address: &str, position: i64) -> Interface {
    Interface {
        id,
        host_id: host.id,
        network_id: host.network_id,
        subnet_id: None,
        name: Some("eth\u{0}0".to_owned()),
        ip_address: address.parse().unwrap(),
        mac_address: Some(MacAddress::new([0, 0x1b, 0x21, 0x3c, 0x4d, 0x5e])),
        position,
        created_at: host.created_at,
        updated_at: host.updated_at,
    }
}

pub(crate) fn port(host: &Host, id: Uuid, number: u16, protocol: Protocol) -> Port {
    Port {
        id,
        host_id: host.id,
        network_id: host.network_id,
        number: number.try_into().unwrap(),
        protocol,
        created_at: host.created_at,
        updated_at: host.updated_at,
    }
}

pub(crate) fn service(host: &Host, id: Uuid, name: &str, position: i64) -> Service {
    Service {
        id,
        host_id: host.id,
        network_id: host.network_id,
        name: name.to_owned(),
        position,
        service_definition: "Proxmox VE".to_owned().try_into().unwrap(),
        source: MANUAL,
        tags: vec![],
        virtualization: None,
        bindings: vec![],
        created_at: host.created_at,
        updated_at: host.updated_at,
    }
}

pub(crate) fn service_named(host: &Host, id: Uuid, name: &str) -> Service {
    service(host, id, name, 0)
}

pub(crate) fn binding(service: &Service, id: Uuid, target: BindingTarget) -> Binding {
    Binding {
        id,
        service_id: service.id,
        network_id: service.network_id,
        target,
        created_at: service.created_at,
        updated_at: service.updated_at,
    }
}

/// Makes a host the guest of a service.
pub(crate) fn guest_of(host: &mut Host, service: Uuid) {
    let virtualization = json!({
        "type": "Proxmox",
        "details": {"vm_name": "guest", "vm_id": null, "service_id": service},
    });
    host.virtualization = Some(serde_json::from_value::<HostVirtualization>(virtualization).unwrap());
}

pub(crate) fn entry(host: &Host, id: Uuid, if_index: i64) -> IfEntry {
    IfEntry {
        id,
        host_id: host.id,
        network_id: host.network_id,
        interface_id: host.interfaces.first().map(|interface| interface.id),
        if_index,
        if_name: Some("Gi0/1".to_owned()),
        if_descr: "GigabitEthernet0/1\u{0}\r\n".to_owned(),
        if_alias: Some("Aufschaltung Süd 🦀".to_owned()),
        if_type: Some(1_767_992_425),
        speed_bps: Some(4_294_967_295_000_000),
        mac_address: Some(MacAddress::new([1, 2, 3, 4, 5, 6])),
        admin_status: Some(AdminStatus::Up),
        oper_status: Some(OperStatus::LowerLayerDown),
        neighbor: Some(Neighbor::IfEntry(self::id(0xeeee))),
        cdp_address: Some("10.0.0.1".to_owned()),
        cdp_device_id: Some("core".to_owned()),
        cdp_platform: Some("cisco".to_owned()),
        cdp_port_id: Some("Gi0/2".to_owned()),
        lldp_chassis_id: Some(LldpChassisId {
            subtype: LldpChassisIdSubtype::ChassisComponent,
            value: "chassis".to_owned(),
        }),
        lldp_mgmt_addr: Some("not an address".to_owned()),
        lldp_port_desc: Some(String::new()),
        lldp_port_id: Some(LldpPortId {
            subtype: LldpPortIdSubtype::AgentCircuitId,
            value: "circuit".to_owned(),
        }),
        lldp_sys_desc: None,
        lldp_sys_name: Some("core".to_owned()),
        created_at: host.created_at,
        updated_at: host.updated_at,
    }
}

/// A host with every kind of content, its lists in the order in which they are shown.
pub(crate) fn rich_host(number: u128, network: Uuid, tags: &[Uuid]) -> Host {
    let base = number << 32;
    let part = |place: u128| id(base + place);
    let mut host = bare_host(id(number), network);
    host.name = "core \u{1}switch".to_owned();
    host.hostname = Some("core.example.net".to_owned());
    host.description = Some("a\u{0}b\u{1b}[0m ß 🦀".to_owned());
    host.hidden = true;
    host.tags = tags.to_vec();
    let found =
        json!({"type": "DiscoveryWithMatch", "metadata": [{"a": [1, 2.5, null]}, {}], "details": {"b": "c"}});
    host.source = serde_json::from_value::<Source>(found).unwrap();
    guest_of(&mut host, part(0xffff));
    host.interfaces =
        vec![interface(&host, part(1), "192.0.2.7", 0), interface(&host, part(2), "2001:db8::7", 1)];
    host.ports = vec![
        port(&host, part(11), 53, Protocol::Tcp),
        port(&host, part(12), 53, Protocol::Udp),
        port(&host, part(13), 65_535, Protocol::Tcp),
    ];
    host.credential_assignments = vec![
        CredentialAssignment { credential_id: part(91), interface_ids: None },
        CredentialAssignment { credential_id: part(92), interface_ids: Some(vec![part(1), part(2)]) },
    ];
    let mut dns = service(&host, part(21), "dns", 0);
    dns.tags = tags.to_vec();
    dns.bindings = vec![
        binding(&dns, part(31), BindingTarget::Port { port_id: part(11), interface_id: Some(part(1)) }),
        binding(&dns, part(32), BindingTarget::Port { port_id: part(12), interface_id: None }),
    ];
    let mut agent = service(&host, part(22), "agent", 1);
    agent.virtualization = Some(
        serde_json::from_value::<ServiceVirtualization>(json!({
            "type": "Docker",
            "details": {"container_name": null, "container_id": "c0ffee", "service_id": part(21)},
        }))
        .unwrap(),
    );
    agent.bindings = vec![binding(&agent, part(33), BindingTarget::Interface { interface_id: part(2) })];
    host.services = vec![dns, agent];
    host.if_entries = vec![entry(&host, part(41), 0), entry(&host, part(42), 1_001_000_003_000)];
    host
}
