//! The parts of a host, as a list shows them.

mod order;
mod sorts;

use serde_json::{Value, json};
use toposcope::model::Host;
use uuid::Uuid;

use crate::common::{OFFICE, World};

const TIME: &str = "2026-08-14T12:00:00Z";

fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

/// A host with one of each part, and null in every field that may be null.
fn document() -> Value {
    json!({
        "id": id(1),
        "network_id": OFFICE,
        "name": "",
        "hostname": null,
        "description": null,
        "hidden": false,
        "created_at": TIME,
        "updated_at": TIME,
        "tags": [],
        "source": {"type": "Manual"},
        "virtualization": null,
        "credential_assignments": [],
        "interfaces": [{
            "id": id(0x21),
            "host_id": id(1),
            "network_id": OFFICE,
            "subnet_id": null,
            "name": null,
            "ip_address": "10.0.0.1",
            "mac_address": null,
            "position": 0,
            "created_at": TIME,
            "updated_at": TIME,
        }],
        "ports": [{
            "id": id(0x31),
            "host_id": id(1),
            "network_id": OFFICE,
            "number": 443,
            "protocol": "Tcp",
            "type": "Https",
            "created_at": TIME,
            "updated_at": TIME,
        }],
        "services": [{
            "id": id(0x41),
            "host_id": id(1),
            "network_id": OFFICE,
            "name": "web",
            "position": 0,
            "service_definition": "nginx",
            "source": {"type": "Manual"},
            "tags": [],
            "virtualization": null,
            "bindings": [{
                "id": id(0x51),
                "service_id": id(0x41),
                "network_id": OFFICE,
                "interface_id": null,
                "port_id": id(0x31),
                "type": "Port",
                "created_at": TIME,
                "updated_at": TIME,
            }],
            "created_at": TIME,
            "updated_at": TIME,
        }],
        "if_entries": [if_entry()],
    })
}

fn if_entry() -> Value {
    json!({
        "id": id(0x61),
        "host_id": id(1),
        "network_id": OFFICE,
        "interface_id": null,
        "if_index": 1,
        "if_name": null,
        "if_descr": "",
        "if_alias": null,
        "if_type": null,
        "speed_bps": null,
        "mac_address": null,
        "admin_status": null,
        "oper_status": null,
        "neighbor": null,
        "cdp_address": null,
        "cdp_device_id": null,
        "cdp_platform": null,
        "cdp_port_id": null,
        "lldp_chassis_id": null,
        "lldp_mgmt_addr": null,
        "lldp_port_desc": null,
        "lldp_port_id": null,
        "lldp_sys_desc": null,
        "lldp_sys_name": null,
        "created_at": TIME,
        "updated_at": TIME,
    })
}

/// Puts the host and returns it as it is listed.
async fn listed(world: &World, document: &Value) -> Value {
    let host: Host =
        serde_json::from_value(document.clone()).unwrap_or_else(|error| panic!("{error}: {document}"));
    world.put([host]).await;
    world.list("").await.data()[0].clone()
}

/// Asserts that each of these values, at this place of a host, is listed as it was sent.
async fn are_kept(place: &str, values: impl IntoIterator<Item = Value>) {
    let world = World::new().await;
    for value in values {
        let mut document = document();
        *document.pointer_mut(place).expect("the place is there") = value;
        assert_eq!(listed(&world, &document).await, document, "{place}");
    }
}

#[tokio::test]
async fn what_is_null_is_printed_as_null_and_nothing_is_left_out() {
    let world = World::new().await;
    assert_eq!(listed(&world, &document()).await, document());
}

/// A host sent with the required fields only is listed with every field.
#[tokio::test]
async fn what_was_not_sent_is_null_or_empty() {
    let world = World::new().await;
    let least =
        json!({"id": id(1), "network_id": OFFICE, "name": "x", "created_at": TIME, "updated_at": TIME});
    let expected = json!({
        "id": id(1),
        "network_id": OFFICE,
        "name": "x",
        "hostname": null,
        "description": null,
        "hidden": false,
        "created_at": TIME,
        "updated_at": TIME,
        "tags": [],
        "source": {"type": "Unknown"},
        "virtualization": null,
        "credential_assignments": [],
        "interfaces": [],
        "ports": [],
        "services": [],
        "if_entries": [],
    });
    assert_eq!(listed(&world, &least).await, expected);
}
