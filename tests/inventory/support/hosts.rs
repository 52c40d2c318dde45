use serde_json::{Value, json};
use toposcope::access::Caller;
use toposcope::inventory::{HostQuery, ImportReport, Inventory, Refusal};
use toposcope::model::{
    AdminStatus, Binding, BindingId, BindingTarget, CredentialAssignment, Host, HostId, HostOrderField,
    HostVirtualization, IfEntry, IfEntryId, Interface, InterfaceId, LldpChassisId, LldpChassisIdSubtype,
    LldpPortId, LldpPortIdSubtype, MacAddress, Neighbor, NetworkId, OperStatus, OrganizationId, Port, PortId,
    Protocol, Service, ServiceId, ServiceVirtualization, Source, TagId,
};
use uuid::Uuid;

use super::{NOW, owner_of, time};

pub(crate) fn id<I: From<Uuid>>(number: u128) -> I {
    uuid(number).into()
}

pub(crate) const fn uuid(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

/// A host without any contents.
pub(crate) fn bare_host(id: HostId, network_id: NetworkId) -> Host {
    Host { created_at: time(NOW), updated_at: time(NOW), ..Host::with_id(id, network_id, "") }
}

pub(crate) fn interface(host: &Host, id: InterfaceId, address: &str, position: i64) -> Interface {
    Interface {
        id,
        name: Some("eth\u{0}0".to_owned()),
        mac_address: Some(MacAddress::new([0, 0x1b, 0x21, 0x3c, 0x4d, 0x5e])),
        position,
        ..Interface::new(host, address.parse().unwrap())
    }
}

pub(crate) fn port(host: &Host, id: PortId, number: u16, protocol: Protocol) -> Port {
    Port { id, ..Port::new(host, number.try_into().unwrap(), protocol) }
}

pub(crate) fn service(host: &Host, id: ServiceId, name: &str, position: i64) -> Service {
    let definition = "Proxmox VE".to_owned().try_into().unwrap();
    Service { id, position, ..Service::new(host, name, definition) }
}

pub(crate) fn binding(service: &Service, id: BindingId, target: BindingTarget) -> Binding {
    Binding { id, ..Binding::new(service, target) }
}

/// Makes a host the guest of a service.
pub(crate) fn guest_of(host: &mut Host, service: ServiceId) {
    let virtualization = json!({
        "type": "Proxmox",
        "details": {"vm_name": "guest", "vm_id": null, "service_id": service},
    });
    host.virtualization = Some(serde_json::from_value::<HostVirtualization>(virtualization).unwrap());
}

pub(crate) fn entry(host: &Host, id: IfEntryId, if_index: i64) -> IfEntry {
    IfEntry {
        id,
        interface_id: host.interfaces.first().map(|interface| interface.id),
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
        lldp_sys_name: Some("core".to_owned()),
        ..IfEntry::new(host, if_index)
    }
}

/// Returns a host with every kind of content. Its lists are in the order in which they are shown.
pub(crate) fn rich_host(number: u128, network: NetworkId, tags: &[TagId]) -> Host {
    let base = number << 32;
    let part = |place: u128| uuid(base + place);
    let mut host = bare_host(id(number), network);
    host.name = "core \u{1}switch".to_owned();
    host.hostname = Some("core.example.net".to_owned());
    host.description = Some("a\u{0}b\u{1b}[0m ß 🦀".to_owned());
    host.hidden = true;
    host.tags = tags.to_vec();
    let found =
        json!({"type": "DiscoveryWithMatch", "metadata": [{"a": [1, 2.5, null]}, {}], "details": {"b": "c"}});
    host.source = serde_json::from_value::<Source>(found).unwrap();
    guest_of(&mut host, part(0xffff).into());
    host.interfaces = vec![
        interface(&host, part(1).into(), "192.0.2.7", 0),
        interface(&host, part(2).into(), "2001:db8::7", 1),
    ];
    host.ports = vec![
        port(&host, part(11).into(), 53, Protocol::Tcp),
        port(&host, part(12).into(), 53, Protocol::Udp),
        port(&host, part(13).into(), 65_535, Protocol::Tcp),
    ];
    host.credential_assignments = vec![
        CredentialAssignment { credential_id: part(91).into(), interface_ids: None },
        CredentialAssignment {
            credential_id: part(92).into(),
            interface_ids: Some(vec![part(1).into(), part(2).into()]),
        },
    ];
    let mut dns = service(&host, part(21).into(), "dns", 0);
    dns.tags = tags.to_vec();
    dns.bindings = vec![
        binding(
            &dns,
            part(31).into(),
            BindingTarget::Port { port_id: part(11).into(), interface_id: Some(part(1).into()) },
        ),
        binding(&dns, part(32).into(), BindingTarget::Port { port_id: part(12).into(), interface_id: None }),
    ];
    let mut agent = service(&host, part(22).into(), "agent", 1);
    agent.virtualization = Some(
        serde_json::from_value::<ServiceVirtualization>(json!({
            "type": "Docker",
            "details": {"container_name": null, "container_id": "c0ffee", "service_id": part(21)},
        }))
        .unwrap(),
    );
    agent.bindings =
        vec![binding(&agent, part(33).into(), BindingTarget::Interface { interface_id: part(2).into() })];
    host.services = vec![dns, agent];
    host.if_entries =
        vec![entry(&host, part(41).into(), 0), entry(&host, part(42).into(), 1_001_000_003_000)];
    host
}
/// Asserts that hosts are ordered by exactly this name of the guest's service.
///
/// Two control hosts are run by services with that name. One has an id before the guest's, the other an id after it.
/// Equal names are ordered by id, so the guest is between them if and only if its position uses the same name.
pub(crate) async fn assert_virtualized_by(
    inventory: &Inventory,
    organization: OrganizationId,
    guest: HostId,
    name: &str,
) {
    let network = inventory.hosts().get(&Caller::system(organization), guest).await.unwrap().network_id;
    let (low, high) = (HostId::nil(), HostId::new(Uuid::max()));
    assert!(low < guest && guest < high);
    let mut node = bare_host(id(0xc0_0000), network);
    node.services.push(service(&node, id(0xc0_0001), name, 0));
    let mut controls = vec![bare_host(low, network), bare_host(high, network)];
    if !name.is_empty() {
        for control in &mut controls {
            guest_of(control, id(0xc0_0001));
        }
        controls.push(node);
    }
    for control in &controls {
        inventory.hosts().put(&Caller::system(organization), control.clone()).await.unwrap();
    }
    let order = ids_by_virtualization(inventory, organization).await;
    let place = |wanted: HostId| order.iter().position(|id| *id == wanted).expect("it is in the list");
    assert!(
        place(low) < place(guest) && place(guest) < place(high),
        "{guest} has not the place of the name {name:?}: {} is not between {} and {}",
        place(guest),
        place(low),
        place(high)
    );
    for control in controls {
        inventory.hosts().delete(&Caller::system(organization), control.id).await.unwrap();
    }
}

async fn ids_by_virtualization(inventory: &Inventory, organization: OrganizationId) -> Vec<HostId> {
    let mut query = HostQuery::default();
    query.order_by = Some(HostOrderField::VirtualizedBy);
    let page = inventory.hosts().list(&owner_of(organization), &query).await.unwrap();
    page.documents.iter().map(|body| serde_json::from_slice::<Host>(body).unwrap().id).collect()
}

/// The JSON of a host, to be made invalid.
pub(crate) struct Document(pub(crate) Value);

impl Document {
    pub(crate) fn of(host: &Host) -> Self {
        Self(serde_json::to_value(host).unwrap())
    }

    /// Replaces the value at a dotted path.
    pub(crate) fn with(mut self, path: &str, value: impl Into<Value>) -> Self {
        let pointer = format!("/{}", path.replace('.', "/"));
        *self.0.pointer_mut(&pointer).expect("there is such a value") = value.into();
        self
    }

    pub(crate) fn without(mut self, parent: &str, field: &str) -> Self {
        self.0.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object").remove(field);
        self
    }

    pub(crate) fn line(&self) -> String {
        self.0.to_string()
    }
}

/// Returns hosts as the lines of an import.
pub(crate) fn jsonl<'h>(hosts: impl IntoIterator<Item = &'h Host>) -> Vec<u8> {
    let mut lines = Vec::new();
    for host in hosts {
        serde_json::to_writer(&mut lines, host).unwrap();
        lines.push(b'\n');
    }
    lines
}

/// Returns `count` hosts with ids from 1.
pub(crate) fn numbered_hosts(network: NetworkId, count: u128) -> Vec<Host> {
    (1..=count).map(|number| bare_host(id(number), network)).collect()
}

/// Returns the refusal of the second line of an import. No other line must be refused.
#[track_caller]
pub(crate) fn refusal_of_second(report: &ImportReport, what: &str) -> Refusal {
    assert_eq!((report.lines, report.imported, report.refused), (3, 2, 1), "{what}: {report}");
    assert_eq!((report.refusals.len(), report.refusals[0].line), (1, 2), "{what}: {report}");
    report.refusals[0].clone()
}
