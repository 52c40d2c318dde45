//! Hosts and their parts: required fields, order, and serialized form.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toposcope::model::{
    AdminStatus, Binding, CredentialAssignment, DockerVirtualization, Host, HostOrderField,
    HostVirtualization, IfEntry, Interface, LldpChassisIdSubtype, LldpPortIdSubtype, Neighbor, OperStatus,
    OrderDirection, Port, Protocol, ProxmoxVirtualization, Service, ServiceDefinition, ServiceVirtualization,
    Source,
};
use uuid::Uuid;

use super::{
    ID, TIME, binding_json, host_json, id, if_entry_json, interface_json, port, port_json, refusal,
    round_trip, service_json, time, with, without,
};

#[test]
fn credential_is_assigned_to_all_interfaces_or_to_some() {
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
fn hosts_and_their_parts_are_written_with_all_fields_in_order() {
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
fn service_definition_is_any_text_but_the_empty_one() {
    assert_eq!(ServiceDefinition::new(" ").unwrap().as_str(), " ");
    assert_eq!(ServiceDefinition::new("Home Assistant").unwrap().to_string(), "Home Assistant");
    assert!(ServiceDefinition::new("").is_err());
    let error = refusal::<Service>(&with(service_json(), "service_definition", json!("")));
    assert!(error.contains("must not be empty"), "{error}");
}

#[test]
fn address_is_ipv4_or_ipv6_without_a_prefix_length() {
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

#[test]
fn virtualization_is_written_with_its_type_and_details() {
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
fn virtualization_may_omit_names_but_not_the_service() {
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
fn neighbor_is_an_interface_entry_or_a_host() {
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
fn statuses_and_subtypes_are_spelled_in_pascal_case() {
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
fn interface_entry_holds_odd_values_of_real_devices() {
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
fn nullable_fields_and_lists_may_be_missing() {
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

/// Asserts that every field of an object is required. Omitting it or making it null must be refused.
fn assert_all_required<T: DeserializeOwned>(object: &Value) {
    for field in object.as_object().unwrap().keys() {
        refusal::<T>(&without(object.clone(), field));
        refusal::<T>(&with(object.clone(), field, Value::Null));
    }
}

#[test]
fn required_fields_may_be_neither_missing_nor_null() {
    assert_all_required::<Host>(&host_json());
    assert_all_required::<Interface>(&interface_json());
    assert_all_required::<Port>(&port_json());
    assert_all_required::<Service>(&service_json());
    assert_all_required::<IfEntry>(&if_entry_json());
    assert_all_required::<Binding>(&without(binding_json(), "interface_id"));
}

#[test]
fn list_that_is_null_is_refused() {
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
fn unknown_fields_are_ignored_and_duplicate_ones_refused() {
    let host: Host = serde_json::from_value(with(host_json(), "colour", json!({"a": [1]}))).unwrap();
    assert_eq!(host.id, id());

    let text = host_json().to_string();
    let doubled = text.replacen('{', r#"{"name":"again","#, 1);
    assert!(serde_json::from_str::<Host>(&doubled).unwrap_err().to_string().contains("duplicate field"));
    let doubled = binding_json().to_string().replacen('{', r#"{"type":"Port","#, 1);
    assert!(serde_json::from_str::<Binding>(&doubled).unwrap_err().to_string().contains("duplicate field"));
}

fn uuid(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

#[test]
fn parts_of_a_host_are_sorted_by_place_and_then_by_id() {
    let mut host: Host = serde_json::from_value(host_json()).unwrap();
    let interface: Interface = serde_json::from_value(interface_json()).unwrap();
    for (position, number) in [(2, 1), (1, 3), (1, 2), (-1, 4)] {
        host.interfaces.push(Interface { id: uuid(number).into(), position, ..interface.clone() });
    }
    for (number, protocol, key) in [
        (443, Protocol::Tcp, 1),
        (53, Protocol::Udp, 2),
        (53, Protocol::Tcp, 4),
        (53, Protocol::Tcp, 3),
        (1_000, Protocol::Tcp, 5),
    ] {
        host.ports.push(Port { id: uuid(key).into(), ..port(number, protocol) });
    }
    let service: Service = serde_json::from_value(service_json()).unwrap();
    for (position, number) in [(5, 1), (0, 3), (0, 2)] {
        host.services.push(Service { id: uuid(number).into(), position, ..service.clone() });
    }
    let binding: Binding = serde_json::from_value(binding_json()).unwrap();
    for (micros, number) in [(1, 3), (1, 2), (0, 4)] {
        let created_at = time().plus_micros(micros);
        host.services[0].bindings.push(Binding { id: uuid(number).into(), created_at, ..binding.clone() });
    }
    let entry: IfEntry = serde_json::from_value(if_entry_json()).unwrap();
    for (if_index, number) in [(1_001_000_003_000, 1), (2, 3), (2, 2), (10, 4)] {
        host.if_entries.push(IfEntry { id: uuid(number).into(), if_index, ..entry.clone() });
    }

    host.sort_embedded();

    let numbers = |ids: Vec<Uuid>| ids.into_iter().map(|id| id.as_u128()).collect::<Vec<_>>();
    assert_eq!(numbers(host.interfaces.iter().map(|interface| interface.id.uuid()).collect()), [4, 2, 3, 1]);
    assert_eq!(numbers(host.ports.iter().map(|port| port.id.uuid()).collect()), [3, 4, 2, 1, 5]);
    assert_eq!(numbers(host.services.iter().map(|service| service.id.uuid()).collect()), [2, 3, 1]);
    assert_eq!(
        numbers(host.services[2].bindings.iter().map(|binding| binding.id.uuid()).collect()),
        [4, 2, 3]
    );
    assert_eq!(numbers(host.if_entries.iter().map(|entry| entry.id.uuid()).collect()), [2, 3, 4, 1]);
}

#[test]
fn order_fields_and_directions_have_one_name_everywhere() {
    let names = "created_at updated_at name hostname name_natural hostname_natural network_id virtualized_by interface_ip";
    let names: Vec<&str> = names.split(' ').collect();
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
