//! Shared helpers: records as JSON, and checks of how they are parsed, written and refused.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toposcope::model::{Port, PortNumber, Protocol, Timestamp};
use uuid::Uuid;

pub(crate) const ID: &str = "133e671d-8ee1-51bd-903c-32657d3d8ef1";
pub(crate) const TIME: &str = "2026-08-14T12:00:14Z";

/// Parses a text in canonical form, and asserts that it is written identically.
pub(crate) fn round_trip<T: Serialize + DeserializeOwned>(text: &str) -> T {
    let value: T = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(serde_json::to_string(&value).unwrap(), text);
    value
}

pub(crate) fn refusal<T: DeserializeOwned>(value: &Value) -> String {
    match serde_json::from_value::<T>(value.clone()) {
        Ok(_) => panic!("accepted: {value}"),
        Err(error) => error.to_string(),
    }
}

pub(crate) fn with(mut object: Value, field: &str, value: Value) -> Value {
    object[field] = value;
    object
}

pub(crate) fn without(mut object: Value, field: &str) -> Value {
    object.as_object_mut().unwrap().remove(field).expect("the field is there to be removed");
    object
}

pub(crate) fn id() -> Uuid {
    ID.parse().unwrap()
}

pub(crate) fn time() -> Timestamp {
    TIME.parse().unwrap()
}

pub(crate) fn port(number: u16, protocol: Protocol) -> Port {
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

pub(crate) fn port_json() -> Value {
    json!({
        "id": ID, "host_id": ID, "network_id": ID, "number": 80, "protocol": "Tcp", "created_at": TIME,
        "updated_at": TIME,
    })
}

pub(crate) fn binding_json() -> Value {
    json!({
        "id": ID, "service_id": ID, "network_id": ID, "interface_id": null, "port_id": ID, "type": "Port",
        "created_at": TIME, "updated_at": TIME,
    })
}

pub(crate) fn interface_json() -> Value {
    json!({
        "id": ID, "host_id": ID, "network_id": ID, "ip_address": "192.0.2.1", "position": 0, "created_at": TIME,
        "updated_at": TIME,
    })
}

pub(crate) fn service_json() -> Value {
    json!({
        "id": ID, "host_id": ID, "network_id": ID, "name": "web", "position": 0, "service_definition": "Nginx",
        "created_at": TIME, "updated_at": TIME,
    })
}

pub(crate) fn if_entry_json() -> Value {
    json!({
        "id": ID, "host_id": ID, "network_id": ID, "if_index": 1, "if_descr": "", "created_at": TIME,
        "updated_at": TIME,
    })
}

pub(crate) fn host_json() -> Value {
    json!({"id": ID, "network_id": ID, "name": "", "created_at": TIME, "updated_at": TIME})
}
