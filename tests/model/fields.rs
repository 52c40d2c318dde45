//! Missing, null, unknown and duplicate fields.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toposcope::model::{Binding, Host, IfEntry, Interface, Port, Service, Source};

use crate::support::{
    binding_json, host_json, id, if_entry_json, interface_json, port_json, refusal, service_json, with,
    without,
};

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

/// Each object has only required fields, so that omitting any of them, or making it null, must be refused.
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
