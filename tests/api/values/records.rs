//! The parts of a host, as a list shows them.

use serde_json::{Value, json};
use toposcope::model::Host;
use uuid::Uuid;

use crate::backend::{run, run_with};
use crate::common::{Fixture, OFFICE, at};

const TIME: &str = "2026-08-14T12:00:00Z";

fn id(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

/// Returns a host with one of each part. Every field that may be null is null.
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
async fn listed(fixture: &Fixture, document: &Value) -> Value {
    let host: Host =
        serde_json::from_value(document.clone()).unwrap_or_else(|error| panic!("{error}: {document}"));
    fixture.put([host]).await;
    fixture.list("").await.data()[0].clone()
}

/// Asserts that each of these values, at this place, is listed as it was sent.
async fn are_kept(place: &str, values: impl IntoIterator<Item = Value>) {
    let fixture = Fixture::new().await;
    for value in values {
        let mut document = document();
        *document.pointer_mut(place).expect("the place is there") = value;
        assert_eq!(listed(&fixture, &document).await, document, "{place}");
    }
}

#[test]
fn null_fields_are_printed_as_null() {
    run_with(Fixture::new, async |fixture| {
        assert_eq!(listed(&fixture, &document()).await, document());
    });
}

/// A host sent with the required fields only is listed with every field.
#[test]
fn omitted_fields_of_a_host_are_null_or_empty() {
    run_with(Fixture::new, async |fixture| {
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
        assert_eq!(listed(&fixture, &least).await, expected);
    });
}

/// Returns copies of the part at a place, each with these fields and this id.
fn copies(place: &str, changes: &[(Value, u128)]) -> Value {
    let part = document().pointer(place).unwrap().clone();
    let copy = |(fields, number): &(Value, u128)| {
        let mut copy = part.clone();
        for (field, value) in fields.as_object().unwrap() {
            copy[field] = value.clone();
        }
        copy["id"] = json!(id(*number));
        copy
    };
    changes.iter().map(copy).collect()
}

/// Asserts the order in which a host's list of parts is shown. The parts are copies with different fields.
async fn is_order(list: &str, sent: &[(Value, u128)], expected: &[u128]) {
    let mut document = document();
    let copies = copies(&format!("{list}/0"), sent);
    // A binding refers to a port and to a service: only its own list keeps it.
    if list != "/services/0/bindings" {
        document["services"] = json!([]);
    }
    *document.pointer_mut(list).unwrap() = copies;
    let listed = listed(&Fixture::new().await, &document).await;
    let ids = listed.pointer(list).unwrap().as_array().unwrap().iter().map(|part| part["id"].clone());
    let expected: Vec<Value> = expected.iter().map(|number| json!(id(*number))).collect();
    assert_eq!(ids.collect::<Vec<_>>(), expected, "{list}");
}

#[test]
fn parts_of_a_host_are_listed_in_their_order_then_by_id() {
    run(async || {
        let position = |position: i64, id: u128| (json!({"position": position, "bindings": []}), id);
        let positions = [position(2, 2), position(-1, 3), position(2, 1), position(10, 0)];
        is_order("/interfaces", &positions, &[3, 1, 2, 0]).await;
        is_order("/services", &positions, &[3, 1, 2, 0]).await;
        let index = |index: i64, id: u128| (json!({"if_index": index}), id);
        is_order("/if_entries", &[index(10, 1), index(9, 3), index(9, 2)], &[2, 3, 1]).await;
        let port = |number: u16, protocol, id: u128| (json!({"number": number, "protocol": protocol}), id);
        let ports = [port(80, "Udp", 1), port(443, "Tcp", 2), port(80, "Tcp", 3), port(9, "Udp", 4)];
        is_order("/ports", &ports, &[4, 3, 1, 2]).await;
        let made = |second: i64, id: u128| (json!({"created_at": at(second)}), id);
        is_order("/services/0/bindings", &[made(5, 1), made(-5, 9), made(5, 0)], &[9, 0, 1]).await;
    });
}

#[test]
fn texts_and_flags_of_a_host_are_stored_unchanged() {
    run(async || {
        for place in ["/name", "/services/0/name", "/services/0/service_definition", "/if_entries/0/if_descr"]
        {
            are_kept(place, ["x", " ", "größe\0"].map(Value::from)).await;
        }
        for place in [
            "/hostname",
            "/description",
            "/interfaces/0/name",
            "/if_entries/0/if_name",
            "/if_entries/0/if_alias",
        ] {
            are_kept(place, [json!(null), json!(""), json!("a\0b")]).await;
        }
        are_kept("/hidden", [json!(true), json!(false)]).await;
        are_kept("/interfaces/0/subnet_id", [json!(null), json!(id(7))]).await;
        are_kept(
            "/services/0/service_definition",
            ["Proxmox VE", "a definition of tomorrow"].map(Value::from),
        )
        .await;
    });
}

#[test]
fn all_types_of_sources_are_stored() {
    run(async || {
        let odd = json!({"": null, "deep": {"a": [1, 2.5, -3, 1e300, {"b": [[]]}]}, "text": "\0"});
        let sources = || {
            [
                json!({"type": "Manual"}),
                json!({"type": "System"}),
                json!({"type": "Unknown"}),
                json!({"type": "Discovery", "metadata": []}),
                json!({"type": "Discovery", "metadata": [{}, odd]}),
                json!({"type": "DiscoveryWithMatch", "metadata": [], "details": {}}),
                json!({"type": "DiscoveryWithMatch", "metadata": [odd, {}], "details": odd}),
            ]
        };
        are_kept("/source", sources()).await;
        are_kept("/services/0/source", sources()).await;
    });
}

#[test]
fn virtualization_of_hosts_and_services_is_stored() {
    run(async || {
        let proxmox = |name: Value, id: Value| json!({"type": "Proxmox", "details": {"vm_name": name, "vm_id": id, "service_id": self::id(9)}});
        let docker = |name: Value, id: Value| {
            let details = json!({"container_name": name, "container_id": id, "service_id": self::id(9)});
            json!({"type": "Docker", "details": details})
        };
        let texts = || [(json!(null), json!(null)), (json!("vm"), json!("100")), (json!(""), json!(null))];
        are_kept("/virtualization", texts().map(|(name, id)| proxmox(name, id))).await;
        are_kept("/services/0/virtualization", texts().map(|(name, id)| docker(name, id))).await;
    });
}

#[test]
fn credential_assignments_are_stored() {
    run(async || {
        let credential = |interfaces: Value| json!({"credential_id": id(8), "interface_ids": interfaces});
        let lists = [
            json!([]),
            json!([credential(json!(null))]),
            json!([credential(json!([]))]),
            json!([credential(json!([id(0x21)])), credential(json!(null))]),
        ];
        are_kept("/credential_assignments", lists).await;
    });
}

#[test]
fn bindings_to_ports_and_interfaces_show_both_fields() {
    run(async || {
        let binding = |kind: &str, port: Value, interface: Value| {
            let mut binding = document()["services"][0]["bindings"][0].clone();
            binding["type"] = json!(kind);
            binding["port_id"] = port;
            binding["interface_id"] = interface;
            binding
        };
        let bindings = [
            binding("Port", json!(id(0x31)), json!(null)),
            binding("Port", json!(id(0x31)), json!(id(0x21))),
            binding("Interface", json!(null), json!(id(0x21))),
        ];
        are_kept("/services/0/bindings/0", bindings).await;
        are_kept("/services/0/bindings", [json!([])]).await;
    });
}

#[test]
fn statuses_neighbors_and_lldp_names_are_stored() {
    run(async || {
        let texts =
            |texts: &[&str]| texts.iter().copied().map(Value::from).chain([Value::Null]).collect::<Vec<_>>();
        are_kept("/if_entries/0/admin_status", texts(&["Up", "Down", "Testing"])).await;
        let statuses = ["Up", "Down", "Testing", "Unknown", "Dormant", "NotPresent", "LowerLayerDown"];
        are_kept("/if_entries/0/oper_status", texts(&statuses)).await;
        let neighbors = ["IfEntry", "Host"].map(|kind| json!({"type": kind, "id": id(7)}));
        are_kept("/if_entries/0/neighbor", neighbors).await;
        let common = [
            "InterfaceAlias",
            "PortComponent",
            "MacAddress",
            "NetworkAddress",
            "InterfaceName",
            "LocallyAssigned",
        ];
        for (field, own) in [("lldp_chassis_id", "ChassisComponent"), ("lldp_port_id", "AgentCircuitId")] {
            let ids = common
                .into_iter()
                .chain([own])
                .map(|subtype| json!({"subtype": subtype, "value": "no MAC\0"}));
            are_kept(&format!("/if_entries/0/{field}"), ids).await;
        }
        for field in ["lldp_mgmt_addr", "lldp_port_desc", "lldp_sys_desc", "lldp_sys_name"] {
            are_kept(&format!("/if_entries/0/{field}"), texts(&["", "no address\u{1}"])).await;
        }
        for field in ["cdp_address", "cdp_device_id", "cdp_platform", "cdp_port_id"] {
            are_kept(&format!("/if_entries/0/{field}"), texts(&["", "no address\u{1}"])).await;
        }
    });
}

/// Some LLDP subtypes exist only for chassis ids or only for port ids. Likewise, some operational states are not
/// administrative states.
#[test]
fn values_of_another_type_are_refused() {
    for (place, value) in [
        ("/if_entries/0/admin_status", json!("Dormant")),
        ("/if_entries/0/admin_status", json!("up")),
        ("/if_entries/0/oper_status", json!("")),
        ("/if_entries/0/lldp_chassis_id", json!({"subtype": "AgentCircuitId", "value": "x"})),
        ("/if_entries/0/lldp_port_id", json!({"subtype": "ChassisComponent", "value": "x"})),
        ("/if_entries/0/neighbor", json!({"type": "Port", "id": id(7)})),
        ("/if_entries/0/speed_bps", json!(-1)),
        ("/source", json!({"type": "Discovery"})),
        ("/source", json!({"type": "Magic"})),
        ("/virtualization", json!({"type": "Docker", "details": {"service_id": id(9)}})),
        ("/services/0/service_definition", json!("")),
        ("/services/0/bindings/0/port_id", json!(null)),
        ("/ports/0/number", json!(0)),
        ("/ports/0/number", json!(65536)),
        ("/ports/0/protocol", json!("Sctp")),
    ] {
        let mut document = document();
        *document.pointer_mut(place).unwrap() = value.clone();
        assert!(serde_json::from_value::<Host>(document).is_err(), "{place}: {value}");
    }
}

#[test]
fn large_numbers_are_stored_unchanged() {
    run(async || {
        are_kept("/if_entries/0/if_index", [0, -1, 1_001_000_003_000, i64::MAX, i64::MIN].map(Value::from))
            .await;
        are_kept("/if_entries/0/if_type", [json!(null), json!(6), json!(1_767_992_425_u64), json!(-1)]).await;
        let speeds = [json!(null), json!(0), json!(4_294_967_295_000_000_u64), json!(u64::MAX)];
        are_kept("/if_entries/0/speed_bps", speeds).await;
        are_kept("/interfaces/0/position", [0, -5, i64::MAX, i64::MIN].map(Value::from)).await;
        are_kept("/services/0/position", [7, i64::MIN].map(Value::from)).await;
        are_kept("/if_entries/0/interface_id", [json!(null), json!(id(0x21))]).await;
    });
}
