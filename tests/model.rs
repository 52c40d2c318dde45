//! The records of the API on the wire.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "clippy.toml allows them in tests, but does not count what the tests of this file share as such"
)]

use std::env;
use std::io::Write;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::Command;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toposcope::model::{
    AdminStatus, Binding, BindingTarget, CredentialAssignment, DaemonApiKey, DockerVirtualization, Host,
    HostOrderField, HostVirtualization, IfEntry, Interface, LldpChassisIdSubtype, LldpPortIdSubtype,
    MacAddress, Neighbor, Network, OperStatus, OrderDirection, Organization, Permission, Port, PortNumber,
    Protocol, ProxmoxVirtualization, Referral, Service, ServiceDefinition, ServiceVirtualization, Session,
    Share, ShareMetadata, Source, Tag, Timestamp, User, UserApiKey, referral_source,
};
use uuid::Uuid;

const ID: &str = "133e671d-8ee1-51bd-903c-32657d3d8ef1";
const TIME: &str = "2026-08-14T12:00:14Z";

/// Reads a text that is already in the order and the spelling of the wire, and finds it written the same again.
fn round_trip<T: Serialize + DeserializeOwned>(text: &str) -> T {
    let value: T = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(serde_json::to_string(&value).unwrap(), text);
    value
}

fn refusal<T: DeserializeOwned>(value: &Value) -> String {
    match serde_json::from_value::<T>(value.clone()) {
        Ok(_) => panic!("accepted: {value}"),
        Err(error) => error.to_string(),
    }
}

fn with(mut object: Value, field: &str, value: Value) -> Value {
    object[field] = value;
    object
}

fn without(mut object: Value, field: &str) -> Value {
    object.as_object_mut().unwrap().remove(field).expect("the field is there to be removed");
    object
}

fn id() -> Uuid {
    ID.parse().unwrap()
}

fn time() -> Timestamp {
    TIME.parse().unwrap()
}

fn port(number: u16, protocol: Protocol) -> Port {
    Port {
        id: id(),
        host_id: id(),
        network_id: id(),
        number: PortNumber::try_from(number).unwrap(),
        protocol,
        created_at: time(),
        updated_at: time(),
    }
}

fn port_json() -> Value {
    json!({
        "id": ID, "host_id": ID, "network_id": ID, "number": 80, "protocol": "Tcp", "created_at": TIME,
        "updated_at": TIME,
    })
}

fn binding_json() -> Value {
    json!({
        "id": ID, "service_id": ID, "network_id": ID, "interface_id": null, "port_id": ID, "type": "Port",
        "created_at": TIME, "updated_at": TIME,
    })
}

fn interface_json() -> Value {
    json!({
        "id": ID, "host_id": ID, "network_id": ID, "ip_address": "192.0.2.1", "position": 0, "created_at": TIME,
        "updated_at": TIME,
    })
}

fn service_json() -> Value {
    json!({
        "id": ID, "host_id": ID, "network_id": ID, "name": "web", "position": 0, "service_definition": "Nginx",
        "created_at": TIME, "updated_at": TIME,
    })
}

fn if_entry_json() -> Value {
    json!({
        "id": ID, "host_id": ID, "network_id": ID, "if_index": 1, "if_descr": "", "created_at": TIME,
        "updated_at": TIME,
    })
}

fn host_json() -> Value {
    json!({"id": ID, "network_id": ID, "name": "", "created_at": TIME, "updated_at": TIME})
}

const PORT_TYPES: &[(u16, Protocol, &str)] = &[
    (21, Protocol::Tcp, "Ftp"),
    (22, Protocol::Tcp, "Ssh"),
    (23, Protocol::Tcp, "Telnet"),
    (53, Protocol::Tcp, "DnsTcp"),
    (80, Protocol::Tcp, "Http"),
    (88, Protocol::Tcp, "Kerberos"),
    (389, Protocol::Tcp, "Ldap"),
    (443, Protocol::Tcp, "Https"),
    (445, Protocol::Tcp, "Samba"),
    (515, Protocol::Tcp, "LdpTcp"),
    (554, Protocol::Tcp, "Rtsp"),
    (631, Protocol::Tcp, "Ipp"),
    (636, Protocol::Tcp, "Ldaps"),
    (1433, Protocol::Tcp, "MsSql"),
    (1883, Protocol::Tcp, "Mqtt"),
    (2049, Protocol::Tcp, "Nfs"),
    (2375, Protocol::Tcp, "Docker"),
    (2376, Protocol::Tcp, "DockerTls"),
    (3000, Protocol::Tcp, "Http3000"),
    (3306, Protocol::Tcp, "MySql"),
    (3389, Protocol::Tcp, "Rdp"),
    (5000, Protocol::Tcp, "Http5000"),
    (5060, Protocol::Tcp, "Sip"),
    (5061, Protocol::Tcp, "SipTls"),
    (5432, Protocol::Tcp, "PostgreSQL"),
    (5671, Protocol::Tcp, "AMQPTls"),
    (5672, Protocol::Tcp, "AMQP"),
    (5984, Protocol::Tcp, "CouchDb"),
    (6379, Protocol::Tcp, "Redis"),
    (6443, Protocol::Tcp, "Kubernetes"),
    (8080, Protocol::Tcp, "Http8080"),
    (8081, Protocol::Tcp, "Http8081"),
    (8082, Protocol::Tcp, "Http8082"),
    (8086, Protocol::Tcp, "InfluxDb"),
    (8443, Protocol::Tcp, "Https8443"),
    (8883, Protocol::Tcp, "MqttTls"),
    (8888, Protocol::Tcp, "Http8888"),
    (9000, Protocol::Tcp, "Http9000"),
    (9042, Protocol::Tcp, "Cassandra"),
    (9092, Protocol::Tcp, "Kafka"),
    (9100, Protocol::Tcp, "JetDirect"),
    (9200, Protocol::Tcp, "Elasticsearch"),
    (9443, Protocol::Tcp, "Https9443"),
    (10_443, Protocol::Tcp, "Https10443"),
    (15_672, Protocol::Tcp, "RabbitMqMgmt"),
    (27_017, Protocol::Tcp, "MongoDB"),
    (53, Protocol::Udp, "DnsUdp"),
    (67, Protocol::Udp, "Dhcp"),
    (123, Protocol::Udp, "Ntp"),
    (161, Protocol::Udp, "Snmp"),
    (515, Protocol::Udp, "LdpUdp"),
    (1161, Protocol::Udp, "SnmpAlt"),
    (1194, Protocol::Udp, "OpenVPN"),
    (47_808, Protocol::Udp, "BACnet"),
    (51_820, Protocol::Udp, "Wireguard"),
    (1, Protocol::Tcp, "Custom"),
    (22, Protocol::Udp, "Custom"),
    (161, Protocol::Tcp, "Custom"),
    (443, Protocol::Udp, "Custom"),
    (65_535, Protocol::Tcp, "Custom"),
    (65_535, Protocol::Udp, "Custom"),
];

#[test]
fn a_port_is_written_with_the_type_that_its_number_and_protocol_have() {
    for &(number, protocol, kind) in PORT_TYPES {
        let port = port(number, protocol);
        assert_eq!(port.kind(), kind, "{number} {protocol}");
        let expected = format!(
            r#"{{"id":"{ID}","host_id":"{ID}","network_id":"{ID}","number":{number},"protocol":"{protocol}","type":"{kind}","created_at":"{TIME}","updated_at":"{TIME}"}}"#
        );
        assert_eq!(round_trip::<Port>(&expected), port);
    }
}

#[test]
fn no_port_has_a_type_that_is_not_in_the_table() {
    for protocol in [Protocol::Tcp, Protocol::Udp] {
        for number in 1..=u16::MAX {
            let expected = PORT_TYPES.iter().find(|row| (row.0, row.1) == (number, protocol));
            let expected = expected.map_or("Custom", |row| row.2);
            assert_eq!(port(number, protocol).kind(), expected, "{number} {protocol}");
        }
    }
}

#[test]
fn the_type_of_a_port_is_ignored_when_read() {
    let expected = port(80, Protocol::Tcp);
    assert_eq!(serde_json::from_value::<Port>(port_json()).unwrap(), expected);
    for sent in [json!("Ssh"), json!("nonsense"), Value::Null, json!(7), json!({"a": []}), json!([1, 2])] {
        let sent = with(port_json(), "type", sent);
        assert_eq!(serde_json::from_value::<Port>(sent).unwrap(), expected);
    }
}

#[test]
fn a_port_number_is_1_to_65535() {
    assert_eq!(PortNumber::try_from(1).unwrap().get(), 1);
    assert_eq!(PortNumber::try_from(65_535).unwrap().to_string(), "65535");
    assert!(PortNumber::try_from(0).is_err());
    for number in [json!(0), json!(-1), json!(65_536), json!(1.5), json!("80"), Value::Null] {
        refusal::<Port>(&with(port_json(), "number", number));
    }
}

#[test]
fn a_protocol_is_spelt_as_on_the_wire() {
    assert!(Protocol::Tcp < Protocol::Udp);
    for protocol in ["tcp", "TCP", "Sctp", ""] {
        refusal::<Port>(&with(port_json(), "protocol", json!(protocol)));
    }
}

#[test]
fn a_mac_address_is_read_in_every_usual_spelling_and_written_in_one() {
    let address = MacAddress::new([0x00, 0x1B, 0x21, 0xAF, 0x09, 0xE0]);
    for text in [
        "00:1B:21:AF:09:E0",
        "00:1b:21:af:09:e0",
        "00:1b:21:aF:09:E0",
        "00-1B-21-AF-09-E0",
        "00-1b-21-af-09-e0",
        "001B21AF09E0",
        "001b21af09e0",
    ] {
        assert_eq!(text.parse(), Ok(address), "{text}");
        assert_eq!(serde_json::from_value::<MacAddress>(json!(text)).unwrap(), address);
    }
    assert_eq!(address.to_string(), "00:1B:21:AF:09:E0");
    assert_eq!(address.octets(), [0x00, 0x1B, 0x21, 0xAF, 0x09, 0xE0]);
    round_trip::<MacAddress>(r#""FF:FF:FF:FF:FF:FF""#);
    round_trip::<MacAddress>(r#""00:00:00:00:00:00""#);
}

#[test]
fn what_is_not_6_bytes_in_hexadecimal_is_no_mac_address() {
    for text in [
        "",
        "0",
        "00",
        ":",
        "00:1B:21:AF:09",
        "00:1B:21:AF:09:",
        "00:1B:21:AF:09:E",
        "00:1B:21:AF:09:E0:",
        "00:1B:21:AF:09:E0:11",
        ":00:1B:21:AF:09:E",
        "00:1B:21:AF:09-E0",
        "00-1B:21:AF:09:E0",
        "00:1B:21:AF:09:G0",
        "00:1B:21:AF:09: 0",
        "00:1B:21:AF:09:+1",
        "00.1B.21.AF.09.E0",
        "001B.21AF.09E0",
        "0:1B:21:AF:09:E0",
        "0:1B:21:AF:09:E00",
        "000:1B:21:AF:9:E0",
        "001B21AF09E",
        "001B21AF09E00",
        "001B21AF09EO",
        " 00:1B:21:AF:09:E0",
        "00:1B:21:AF:09:E0 ",
        "００１Ｂ",
        "éééééé",
        "00:1B:21:AF:09:é",
        "00é1B:21:AF:09:E",
        "00:1B:21:AF:09:E0:11:22",
    ] {
        assert!(text.parse::<MacAddress>().is_err(), "{text}");
    }
    for value in [Value::Null, json!(1), json!([0, 27, 33, 175, 9, 224])] {
        refusal::<MacAddress>(&value);
    }
}

fn target(text: &str) -> BindingTarget {
    round_trip::<Binding>(text).target
}

#[test]
fn a_binding_is_written_with_both_ids() {
    let head = format!(r#"{{"id":"{ID}","service_id":"{ID}","network_id":"{ID}""#);
    let tail = format!(r#","created_at":"{TIME}","updated_at":"{TIME}"}}"#);
    assert_eq!(
        target(&format!(r#"{head},"interface_id":null,"port_id":"{ID}","type":"Port"{tail}"#)),
        BindingTarget::Port { port_id: id(), interface_id: None }
    );
    assert_eq!(
        target(&format!(r#"{head},"interface_id":"{ID}","port_id":"{ID}","type":"Port"{tail}"#)),
        BindingTarget::Port { port_id: id(), interface_id: Some(id()) }
    );
    assert_eq!(
        target(&format!(r#"{head},"interface_id":"{ID}","port_id":null,"type":"Interface"{tail}"#)),
        BindingTarget::Interface { interface_id: id() }
    );
}

#[test]
fn a_binding_may_leave_out_the_id_that_it_has_not() {
    let binding: Binding = serde_json::from_value(without(binding_json(), "interface_id")).unwrap();
    assert_eq!(binding.target, BindingTarget::Port { port_id: id(), interface_id: None });
    let binding =
        with(with(without(binding_json(), "port_id"), "interface_id", json!(ID)), "type", json!("Interface"));
    let binding: Binding = serde_json::from_value(binding).unwrap();
    assert_eq!(binding.target, BindingTarget::Interface { interface_id: id() });
}

#[test]
fn a_binding_whose_ids_do_not_go_with_its_type_is_refused() {
    let on_interface = with(binding_json(), "type", json!("Interface"));
    assert!(refusal::<Binding>(&without(binding_json(), "port_id")).contains("needs a port_id"));
    assert!(refusal::<Binding>(&with(binding_json(), "port_id", Value::Null)).contains("needs a port_id"));
    assert!(refusal::<Binding>(&on_interface).contains("has no port_id"));
    assert!(
        refusal::<Binding>(&with(on_interface.clone(), "interface_id", json!(ID))).contains("has no port_id")
    );
    assert!(refusal::<Binding>(&without(on_interface, "port_id")).contains("needs an interface_id"));
    refusal::<Binding>(&without(binding_json(), "type"));
    refusal::<Binding>(&with(binding_json(), "type", json!("port")));
}

#[test]
fn a_neighbor_is_an_interface_entry_or_a_host() {
    assert_eq!(
        round_trip::<Neighbor>(&format!(r#"{{"type":"IfEntry","id":"{ID}"}}"#)),
        Neighbor::IfEntry(id())
    );
    assert_eq!(round_trip::<Neighbor>(&format!(r#"{{"type":"Host","id":"{ID}"}}"#)), Neighbor::Host(id()));
    let sent = format!(r#"{{"more":[],"id":"{ID}","type":"Host"}}"#);
    assert_eq!(serde_json::from_str::<Neighbor>(&sent).unwrap(), Neighbor::Host(id()));
    for value in [
        json!({"type": "Host"}),
        json!({"id": ID}),
        json!({"type": "Port", "id": ID}),
        json!({"type": "Host", "id": null}),
        json!({"type": "Host", "id": "x"}),
    ] {
        refusal::<Neighbor>(&value);
    }
}

#[test]
fn a_source_is_tagged_with_its_type() {
    assert_eq!(round_trip::<Source>(r#"{"type":"Manual"}"#), Source::Manual);
    assert_eq!(round_trip::<Source>(r#"{"type":"System"}"#), Source::System);
    assert_eq!(round_trip::<Source>(r#"{"type":"Unknown"}"#), Source::Unknown);
    round_trip::<Source>(r#"{"type":"Discovery","metadata":[]}"#);
    let source = round_trip::<Source>(
        r#"{"type":"DiscoveryWithMatch","metadata":[{"a":null,"b":[1,-2,1.5,{"type":"x"}]},{}],"details":{"type":"y"}}"#,
    );
    assert!(matches!(source, Source::DiscoveryWithMatch { metadata, .. } if metadata.len() == 2));
}

#[test]
fn the_type_of_a_source_may_stand_anywhere_among_its_fields() {
    let sent =
        r#"{"details":{},"metadata":[{"big":18446744073709551615}],"more":1,"type":"DiscoveryWithMatch"}"#;
    let source: Source = serde_json::from_str(sent).unwrap();
    let Source::DiscoveryWithMatch { metadata, details } = source else { panic!("{source:?}") };
    assert_eq!(metadata[0]["big"], json!(u64::MAX));
    assert!(details.is_empty());
    assert_eq!(serde_json::from_str::<Source>(r#"{"metadata":[],"type":"Manual"}"#).unwrap(), Source::Manual);
}

#[test]
fn a_source_of_another_shape_is_refused() {
    for value in [
        Value::Null,
        json!("Manual"),
        json!({}),
        json!({"type": "Other"}),
        json!({"type": null}),
        json!({"type": "Discovery"}),
        json!({"type": "Discovery", "metadata": null}),
        json!({"type": "Discovery", "metadata": [1]}),
        json!({"type": "DiscoveryWithMatch", "metadata": []}),
        json!({"type": "DiscoveryWithMatch", "metadata": [], "details": []}),
    ] {
        refusal::<Source>(&value);
    }
    for text in [
        r#"{"type":"Manual","type":"Manual"}"#,
        r#"{"type":"Discovery","metadata":[],"metadata":[]}"#,
        r#"{"metadata":[],"metadata":[],"type":"Discovery"}"#,
    ] {
        assert!(serde_json::from_str::<Source>(text).is_err(), "{text}");
    }
}

#[test]
fn virtualization_tells_its_type_and_details() {
    let proxmox: HostVirtualization = round_trip(&format!(
        r#"{{"type":"Proxmox","details":{{"vm_name":"web","vm_id":null,"service_id":"{ID}"}}}}"#
    ));
    assert_eq!(proxmox.service_id(), id());
    let details = ProxmoxVirtualization { vm_name: Some("web".to_owned()), vm_id: None, service_id: id() };
    assert_eq!(proxmox, HostVirtualization::Proxmox(details));

    let docker: ServiceVirtualization = round_trip(&format!(
        r#"{{"type":"Docker","details":{{"container_name":null,"container_id":"9f","service_id":"{ID}"}}}}"#
    ));
    let details =
        DockerVirtualization { container_name: None, container_id: Some("9f".to_owned()), service_id: id() };
    assert_eq!(docker, ServiceVirtualization::Docker(details));
}

#[test]
fn virtualization_may_leave_out_names_but_not_the_service() {
    let sent = json!({"details": {"service_id": ID}, "type": "Proxmox"});
    assert_eq!(serde_json::from_value::<HostVirtualization>(sent).unwrap().service_id(), id());
    for value in [
        json!({"type": "Proxmox"}),
        json!({"type": "Proxmox", "details": null}),
        json!({"type": "Proxmox", "details": {}}),
        json!({"type": "Docker", "details": {"service_id": ID}}),
        json!({"details": {"service_id": ID}}),
    ] {
        refusal::<HostVirtualization>(&value);
    }
    refusal::<ServiceVirtualization>(&json!({"type": "Proxmox", "details": {"service_id": ID}}));
    refusal::<ServiceVirtualization>(&json!({"type": "Docker", "details": {}}));
}

#[test]
fn a_credential_is_assigned_to_all_interfaces_or_to_some() {
    let all: CredentialAssignment =
        round_trip(&format!(r#"{{"credential_id":"{ID}","interface_ids":null}}"#));
    assert_eq!(all.interface_ids, None);
    let some: CredentialAssignment =
        round_trip(&format!(r#"{{"credential_id":"{ID}","interface_ids":["{ID}"]}}"#));
    assert_eq!(some.interface_ids, Some(vec![id()]));
    let missing: CredentialAssignment = serde_json::from_value(json!({"credential_id": ID})).unwrap();
    assert_eq!(missing, all);
}

#[test]
fn statuses_and_subtypes_are_spelt_as_on_the_wire() {
    for status in ["Up", "Down", "Testing"] {
        round_trip::<AdminStatus>(&format!("\"{status}\""));
    }
    for status in ["Up", "Down", "Testing", "Unknown", "Dormant", "NotPresent", "LowerLayerDown"] {
        round_trip::<OperStatus>(&format!("\"{status}\""));
    }
    refusal::<AdminStatus>(&json!("Dormant"));
    refusal::<OperStatus>(&json!("up"));

    let common = [
        "InterfaceAlias",
        "PortComponent",
        "MacAddress",
        "NetworkAddress",
        "InterfaceName",
        "LocallyAssigned",
    ];
    for subtype in common {
        round_trip::<LldpChassisIdSubtype>(&format!("\"{subtype}\""));
        round_trip::<LldpPortIdSubtype>(&format!("\"{subtype}\""));
    }
    round_trip::<LldpChassisIdSubtype>("\"ChassisComponent\"");
    round_trip::<LldpPortIdSubtype>("\"AgentCircuitId\"");
    refusal::<LldpChassisIdSubtype>(&json!("AgentCircuitId"));
    refusal::<LldpPortIdSubtype>(&json!("ChassisComponent"));
}

#[test]
fn an_interface_entry_is_written_whole_and_holds_what_devices_really_send() {
    let entry: IfEntry = round_trip(&format!(
        r#"{{"id":"{ID}","host_id":"{ID}","network_id":"{ID}","interface_id":"{ID}","if_index":1001000003000,"if_name":"Gi0/1\u0000","if_descr":"","if_alias":"","if_type":1767992425,"speed_bps":4294967295000000,"mac_address":"00:1B:21:AF:09:E0","admin_status":"Up","oper_status":"LowerLayerDown","neighbor":{{"type":"Host","id":"{ID}"}},"cdp_address":"not an address","cdp_device_id":"b","cdp_platform":"c","cdp_port_id":"d","lldp_chassis_id":{{"subtype":"MacAddress","value":"no mac"}},"lldp_mgmt_addr":"e","lldp_port_desc":"f","lldp_port_id":{{"subtype":"AgentCircuitId","value":""}},"lldp_sys_desc":"g","lldp_sys_name":"h","created_at":"{TIME}","updated_at":"{TIME}"}}"#
    ));
    assert_eq!(entry.if_name.as_deref(), Some("Gi0/1\0"));
    round_trip::<IfEntry>(&format!(
        r#"{{"id":"{ID}","host_id":"{ID}","network_id":"{ID}","interface_id":null,"if_index":0,"if_name":null,"if_descr":"x","if_alias":null,"if_type":null,"speed_bps":null,"mac_address":null,"admin_status":null,"oper_status":null,"neighbor":null,"cdp_address":null,"cdp_device_id":null,"cdp_platform":null,"cdp_port_id":null,"lldp_chassis_id":null,"lldp_mgmt_addr":null,"lldp_port_desc":null,"lldp_port_id":null,"lldp_sys_desc":null,"lldp_sys_name":null,"created_at":"{TIME}","updated_at":"{TIME}"}}"#
    ));
    refusal::<IfEntry>(&with(if_entry_json(), "if_descr", Value::Null));
    refusal::<IfEntry>(&with(if_entry_json(), "speed_bps", json!(-1)));
    refusal::<IfEntry>(&with(if_entry_json(), "mac_address", json!("")));
}

#[test]
fn hosts_and_what_they_embed_are_written_whole_in_the_order_of_the_wire() {
    let interface = format!(
        r#"{{"id":"{ID}","host_id":"{ID}","network_id":"{ID}","subnet_id":null,"name":null,"ip_address":"2001:db8::1","mac_address":null,"position":-1,"created_at":"{TIME}","updated_at":"{TIME}"}}"#
    );
    round_trip::<Interface>(&interface);
    let service = format!(
        r#"{{"id":"{ID}","host_id":"{ID}","network_id":"{ID}","name":"","position":9,"service_definition":" ","source":{{"type":"System"}},"tags":["{ID}"],"virtualization":null,"bindings":[],"created_at":"{TIME}","updated_at":"{TIME}"}}"#
    );
    round_trip::<Service>(&service);
    round_trip::<Host>(&format!(
        r#"{{"id":"{ID}","network_id":"{ID}","name":"","hostname":null,"description":null,"hidden":true,"created_at":"{TIME}","updated_at":"{TIME}","tags":["{ID}"],"source":{{"type":"Manual"}},"virtualization":null,"credential_assignments":[{{"credential_id":"{ID}","interface_ids":null}}],"interfaces":[{interface}],"ports":[],"services":[{service}],"if_entries":[]}}"#
    ));
}

#[test]
fn what_is_null_or_empty_may_be_missing_when_read() {
    let host: Host = serde_json::from_value(host_json()).unwrap();
    assert_eq!((&host.hostname, &host.description, &host.virtualization), (&None, &None, &None));
    assert!(!host.hidden);
    assert_eq!(host.source, Source::Unknown);
    let lengths = [host.tags.len(), host.interfaces.len(), host.ports.len(), host.services.len()];
    assert_eq!(lengths, [0; 4]);
    assert!(host.credential_assignments.is_empty() && host.if_entries.is_empty());

    let service: Service = serde_json::from_value(service_json()).unwrap();
    assert!(service.tags.is_empty() && service.bindings.is_empty() && service.virtualization.is_none());
    assert_eq!(service.source, Source::Unknown);

    let interface: Interface = serde_json::from_value(interface_json()).unwrap();
    assert_eq!((interface.name, interface.mac_address, interface.subnet_id), (None, None, None));

    let entry: IfEntry = serde_json::from_value(if_entry_json()).unwrap();
    assert!(entry.if_name.is_none() && entry.neighbor.is_none() && entry.lldp_chassis_id.is_none());
}

/// Each object has only what is required, so that leaving out any field, or making it null, must be refused.
fn assert_all_required<T: DeserializeOwned>(object: &Value) {
    for field in object.as_object().unwrap().keys() {
        refusal::<T>(&without(object.clone(), field));
        refusal::<T>(&with(object.clone(), field, Value::Null));
    }
}

#[test]
fn what_is_required_may_be_neither_missing_nor_null() {
    assert_all_required::<Host>(&host_json());
    assert_all_required::<Interface>(&interface_json());
    assert_all_required::<Port>(&port_json());
    assert_all_required::<Service>(&service_json());
    assert_all_required::<IfEntry>(&if_entry_json());
    assert_all_required::<Binding>(&without(binding_json(), "interface_id"));
}

#[test]
fn a_list_may_be_missing_but_not_null() {
    for field in ["tags", "credential_assignments", "interfaces", "ports", "services", "if_entries"] {
        refusal::<Host>(&with(host_json(), field, Value::Null));
    }
    for field in ["tags", "bindings"] {
        refusal::<Service>(&with(service_json(), field, Value::Null));
    }
    refusal::<Host>(&with(host_json(), "hidden", Value::Null));
    refusal::<Host>(&with(host_json(), "source", Value::Null));
}

#[test]
fn unknown_fields_are_ignored_and_double_ones_refused() {
    let host: Host = serde_json::from_value(with(host_json(), "colour", json!({"a": [1]}))).unwrap();
    assert_eq!(host.id, id());

    let text = host_json().to_string();
    let doubled = text.replacen('{', r#"{"name":"again","#, 1);
    assert!(serde_json::from_str::<Host>(&doubled).unwrap_err().to_string().contains("duplicate field"));
    let doubled = binding_json().to_string().replacen('{', r#"{"type":"Port","#, 1);
    assert!(serde_json::from_str::<Binding>(&doubled).unwrap_err().to_string().contains("duplicate field"));
}

#[test]
fn a_service_definition_is_any_text_but_the_empty_one() {
    assert_eq!(ServiceDefinition::new(" ").unwrap().as_str(), " ");
    assert_eq!(ServiceDefinition::new("Home Assistant").unwrap().to_string(), "Home Assistant");
    assert!(ServiceDefinition::new("").is_err());
    let error = refusal::<Service>(&with(service_json(), "service_definition", json!("")));
    assert!(error.contains("not empty"), "{error}");
}

#[test]
fn an_address_is_ipv4_or_ipv6_without_a_prefix_length() {
    for (sent, written) in [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.1"),
    ] {
        let interface = with(interface_json(), "ip_address", json!(sent));
        let interface: Interface = serde_json::from_value(interface).unwrap();
        assert_eq!(serde_json::to_value(interface).unwrap()["ip_address"], written);
    }
    for address in ["192.0.2.1/24", "2001:db8::1/64", "192.0.2", "192.0.2.01", "fe80::1%eth0", "", "host"] {
        refusal::<Interface>(&with(interface_json(), "ip_address", json!(address)));
    }
}

fn uuid(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

#[test]
fn embedded_records_are_sorted_by_place_and_then_by_id() {
    let mut host: Host = serde_json::from_value(host_json()).unwrap();
    let interface: Interface = serde_json::from_value(interface_json()).unwrap();
    for (position, number) in [(2, 1), (1, 3), (1, 2), (-1, 4)] {
        host.interfaces.push(Interface { id: uuid(number), position, ..interface.clone() });
    }
    for (number, protocol, key) in [
        (443, Protocol::Tcp, 1),
        (53, Protocol::Udp, 2),
        (53, Protocol::Tcp, 4),
        (53, Protocol::Tcp, 3),
        (1_000, Protocol::Tcp, 5),
    ] {
        host.ports.push(Port { id: uuid(key), ..port(number, protocol) });
    }
    let service: Service = serde_json::from_value(service_json()).unwrap();
    for (position, number) in [(5, 1), (0, 3), (0, 2)] {
        host.services.push(Service { id: uuid(number), position, ..service.clone() });
    }
    let binding: Binding = serde_json::from_value(binding_json()).unwrap();
    for (micros, number) in [(1, 3), (1, 2), (0, 4)] {
        let created_at = time().plus_micros(micros);
        host.services[0].bindings.push(Binding { id: uuid(number), created_at, ..binding.clone() });
    }
    let entry: IfEntry = serde_json::from_value(if_entry_json()).unwrap();
    for (if_index, number) in [(1_001_000_003_000, 1), (2, 3), (2, 2), (10, 4)] {
        host.if_entries.push(IfEntry { id: uuid(number), if_index, ..entry.clone() });
    }

    host.sort_embedded();

    let numbers = |ids: Vec<Uuid>| ids.into_iter().map(|id| id.as_u128()).collect::<Vec<_>>();
    assert_eq!(numbers(host.interfaces.iter().map(|interface| interface.id).collect()), [4, 2, 3, 1]);
    assert_eq!(numbers(host.ports.iter().map(|port| port.id).collect()), [3, 4, 2, 1, 5]);
    assert_eq!(numbers(host.services.iter().map(|service| service.id).collect()), [2, 3, 1]);
    assert_eq!(numbers(host.services[2].bindings.iter().map(|binding| binding.id).collect()), [4, 2, 3]);
    assert_eq!(numbers(host.if_entries.iter().map(|entry| entry.id).collect()), [2, 3, 4, 1]);
}

#[test]
fn permissions_are_ordered_and_the_upper_two_see_every_network() {
    let ascending = [Permission::Viewer, Permission::Member, Permission::Admin, Permission::Owner];
    assert!(ascending.is_sorted());
    assert_eq!(ascending.map(Permission::sees_every_network), [false, false, true, true]);
    for permission in ascending {
        assert_eq!(round_trip::<Permission>(&format!("\"{permission}\"")), permission);
    }
    refusal::<Permission>(&json!("owner"));
}

#[test]
fn order_fields_and_directions_have_one_name_everywhere() {
    let names =
        ["created_at", "updated_at", "name", "hostname", "network_id", "virtualized_by", "interface_ip"];
    assert_eq!(HostOrderField::ALL.iter().map(ToString::to_string).collect::<Vec<_>>(), names);
    for field in HostOrderField::ALL {
        assert_eq!(field.as_str().parse(), Ok(*field));
        assert_eq!(round_trip::<HostOrderField>(&format!("\"{field}\"")), *field);
    }
    for text in ["", "Name", "NAME", "id", "name "] {
        assert!(text.parse::<HostOrderField>().is_err(), "{text}");
        assert!(text.parse::<OrderDirection>().is_err(), "{text}");
    }
    assert_eq!(HostOrderField::default(), HostOrderField::CreatedAt);
    assert_eq!(OrderDirection::default(), OrderDirection::Ascending);
    for (text, direction) in [("asc", OrderDirection::Ascending), ("desc", OrderDirection::Descending)] {
        assert_eq!(text.parse(), Ok(direction));
        assert_eq!(round_trip::<OrderDirection>(&format!("\"{text}\"")), direction);
        assert_eq!(direction.to_string(), text);
    }
}

#[test]
fn records_around_the_inventory_are_written_in_the_order_of_the_wire() {
    let times = format!(r#""created_at":"{TIME}","updated_at":"{TIME}""#);
    round_trip::<Organization>(&format!(r#"{{"id":"{ID}","name":"a","api_access":true,{times}}}"#));
    round_trip::<Network>(&format!(r#"{{"id":"{ID}","organization_id":"{ID}","name":"a",{times}}}"#));
    round_trip::<Tag>(&format!(r#"{{"id":"{ID}","organization_id":"{ID}","name":"a",{times}}}"#));
    round_trip::<User>(&format!(
        r#"{{"id":"{ID}","email":"a@example.org","organization_id":"{ID}","permissions":"Member","network_ids":["{ID}"],{times}}}"#
    ));
    round_trip::<Session>(&format!(
        r#"{{"id":"{ID}","user_id":"{ID}","organization_id":"{ID}","created_at":"{TIME}","expires_at":"{TIME}"}}"#
    ));
    round_trip::<Referral>(&format!(
        r#"{{"id":"{ID}","organization_id":"{ID}","user_id":"{ID}","referral_source":"other","referral_source_other":null,{times}}}"#
    ));
    for (last_used, expires_at) in
        [("null", "null"), (r#""2026-01-01T00:00:00Z""#, r#""2027-01-01T00:00:00Z""#)]
    {
        round_trip::<DaemonApiKey>(&format!(
            r#"{{"id":"{ID}","name":"a","network_id":"{ID}","tags":[],"key":"topo_d_…abcd","last_used":{last_used},{times},"expires_at":{expires_at},"is_enabled":true}}"#
        ));
        round_trip::<UserApiKey>(&format!(
            r#"{{"id":"{ID}","name":"a","organization_id":"{ID}","user_id":"{ID}","tags":["{ID}"],"key":"topo_u_…abcd","last_used":{last_used},{times},"expires_at":{expires_at},"is_enabled":false,"network_ids":[],"permissions":"Viewer"}}"#
        ));
    }
}

#[test]
fn share_metadata_tells_nothing_of_whose_the_share_is() {
    let options = r#"{"show_export_button":true,"show_inspect_panel":false,"show_minimap":true,"show_zoom_controls":false}"#;
    let share: Share = round_trip(&format!(
        r#"{{"id":"{ID}","organization_id":"{ID}","network_id":null,"name":"a","is_enabled":true,"expires_at":null,"requires_password":true,"options":{options},"created_at":"{TIME}","updated_at":"{TIME}"}}"#
    ));
    let metadata: ShareMetadata =
        round_trip(&format!(r#"{{"id":"{ID}","name":"a","requires_password":true,"options":{options}}}"#));
    assert_eq!(ShareMetadata::from(&share), metadata);
}

#[test]
fn the_known_referral_sources_are_thirteen() {
    assert_eq!(referral_source::ALL.len(), 13);
    assert_eq!(referral_source::ALL[9], "proxmox_community_scripts");
    assert!(referral_source::ALL.contains(&referral_source::PREFER_NOT_TO_SAY));
}

#[test]
fn a_timestamp_is_read_with_any_offset_and_written_in_utc_to_the_microsecond() {
    for (sent, written) in [
        ("2026-08-14T12:00:14Z", "2026-08-14T12:00:14Z"),
        ("2026-08-14t12:00:14z", "2026-08-14T12:00:14Z"),
        ("2026-08-14T14:00:14+02:00", "2026-08-14T12:00:14Z"),
        ("2026-08-14T00:30:14-11:30", "2026-08-14T12:00:14Z"),
        ("2026-08-14T12:00:14.5Z", "2026-08-14T12:00:14.500Z"),
        ("2026-08-14T12:00:14.123456Z", "2026-08-14T12:00:14.123456Z"),
        ("2026-08-14T12:00:14.123456999Z", "2026-08-14T12:00:14.123456Z"),
        ("2026-08-14T12:00:14.0000009Z", "2026-08-14T12:00:14Z"),
        ("1969-12-31T23:59:59.9999999Z", "1969-12-31T23:59:59.999999Z"),
        ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"),
    ] {
        let time: Timestamp = sent.parse().unwrap_or_else(|error| panic!("{error}: {sent}"));
        assert_eq!(time.to_string(), written, "{sent}");
        assert_eq!(written.parse(), Ok(time));
        assert_eq!(Timestamp::from_unix_micros(time.unix_micros()), Ok(time));
        round_trip::<Timestamp>(&format!("\"{written}\""));
    }
}

#[test]
fn a_timestamp_outside_the_years_0_to_9999_or_without_a_zone_is_refused() {
    for text in [
        "",
        "2026-08-14",
        "2026-08-14T12:00:14",
        "2026-02-30T12:00:14Z",
        "2026-08-14T25:00:14Z",
        "0000-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
        "-0001-12-31T23:59:59Z",
        "+10000-01-01T00:00:00Z",
        "1786708814",
    ] {
        assert!(text.parse::<Timestamp>().is_err(), "{text}");
    }
    refusal::<Timestamp>(&json!(1_786_708_814));
    refusal::<Timestamp>(&Value::Null);
}

/// The lines of the real inventory, or `None` where it is not at hand: it is no part of the repository.
fn inventory() -> Option<Vec<String>> {
    let path = env::var_os("TOPOSCOPE_INVENTORY").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data/inventory.jsonl.gz"),
        PathBuf::from,
    );
    if !path.exists() {
        // Not by `eprintln`, which the harness keeps to itself for a test that passes.
        let text = format!(
            "skipped: no inventory at {}; TOPOSCOPE_INVENTORY may name another file\n",
            path.display()
        );
        std::io::stderr().write_all(text.as_bytes()).expect("standard error");
        return None;
    }
    let output = Command::new("gzip").arg("-dc").arg(&path).output().expect("gzip runs");
    assert!(output.status.success(), "gzip: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("UTF-8").lines().map(str::to_owned).collect())
}

/// The oddities that an importer must deal with before a host of the inventory is one of the model.
#[derive(Debug, Default, PartialEq, Eq)]
struct Oddities {
    empty_macs: usize,
    other_macs: usize,
    ports_zero: usize,
    descriptions_null: usize,
}

impl Oddities {
    fn mend_mac(&mut self, record: &mut Value) {
        let Some(text) = record["mac_address"].as_str() else { return };
        if text.parse::<MacAddress>().is_ok() {
            return;
        }
        if text.is_empty() {
            self.empty_macs += 1;
        } else {
            self.other_macs += 1;
        }
        record["mac_address"] = Value::Null;
    }

    /// Takes the oddities out of a host.
    fn mend(host: &mut Value) -> Self {
        let mut found = Self::default();
        for interface in list(host, "interfaces") {
            found.mend_mac(interface);
        }
        for entry in list(host, "if_entries") {
            found.mend_mac(entry);
            if entry["if_descr"].is_null() {
                found.descriptions_null += 1;
                entry["if_descr"] = json!("");
            }
        }
        let ports = list(host, "ports");
        let before = ports.len();
        ports.retain(|port| port["number"] != 0);
        found.ports_zero = before - ports.len();
        found
    }
}

fn list<'a>(host: &'a mut Value, field: &str) -> &'a mut Vec<Value> {
    host[field].as_array_mut().expect("a list")
}

/// Takes out of a host what is not meant to come back as it was sent: the types of ports, which are derived, what is
/// finer than a microsecond in the times of the records, and the spelling of IPv6 addresses (`::169.254.2.31`).
fn normalize(value: &mut Value, field: &str) {
    match value {
        Value::Object(object) => {
            if field == "ports" {
                object.remove("type");
            }
            object.iter_mut().for_each(|(name, value)| normalize(value, name));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| normalize(value, field)),
        Value::String(text) if matches!(field, "created_at" | "updated_at") && text.len() > 27 => {
            text.truncate(26);
            text.push('Z');
        }
        Value::String(text) if field == "ip_address" => {
            *text = text.parse::<IpAddr>().expect("an address").to_string();
        }
        _ => {}
    }
}

#[test]
fn the_real_inventory_comes_back_as_it_was_sent() {
    let Some(lines) = inventory() else { return };
    let mut total = Oddities::default();
    let mut refused = 0;
    for (line, text) in lines.iter().enumerate() {
        let read = serde_json::from_str::<Host>(text);
        let mut sent: Value = serde_json::from_str(text).unwrap();
        let found = Oddities::mend(&mut sent);
        match &read {
            Ok(_) => assert_eq!(found, Oddities::default(), "line {line} has oddities and was not refused"),
            Err(error) => {
                assert_ne!(found, Oddities::default(), "line {line} has no oddity and was refused: {error}");
                refused += 1;
            }
        }
        total.empty_macs += found.empty_macs;
        total.other_macs += found.other_macs;
        total.ports_zero += found.ports_zero;
        total.descriptions_null += found.descriptions_null;

        let host = read.unwrap_or_else(|_| {
            Host::deserialize(&sent).unwrap_or_else(|error| panic!("line {line}, mended: {error}"))
        });
        let mut written = serde_json::to_value(&host).unwrap();
        normalize(&mut written, "");
        normalize(&mut sent, "");
        assert!(written == sent, "line {line} changed: {}", host.id);
    }
    println!("{} hosts, {refused} refused as they are, all read after mending: {total:?}", lines.len());
}
