//! The values of each field, kept as they are sent.

use serde_json::{Value, json};
use toposcope::model::Host;

use super::{are_kept, document, id};

#[tokio::test]
async fn texts_and_flags_of_a_host_are_kept() {
    for place in ["/name", "/services/0/name", "/services/0/service_definition", "/if_entries/0/if_descr"] {
        are_kept(place, ["x", " ", "größe\0"].map(Value::from)).await;
    }
    for place in
        ["/hostname", "/description", "/interfaces/0/name", "/if_entries/0/if_name", "/if_entries/0/if_alias"]
    {
        are_kept(place, [json!(null), json!(""), json!("a\0b")]).await;
    }
    are_kept("/hidden", [json!(true), json!(false)]).await;
    are_kept("/interfaces/0/subnet_id", [json!(null), json!(id(7))]).await;
    are_kept("/services/0/service_definition", ["Proxmox VE", "a definition of tomorrow"].map(Value::from))
        .await;
}

#[tokio::test]
async fn sources_are_of_five_types() {
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
}

#[tokio::test]
async fn virtualization_is_proxmox_of_a_host_and_docker_of_a_service() {
    let proxmox = |name: Value, id: Value| json!({"type": "Proxmox", "details": {"vm_name": name, "vm_id": id, "service_id": self::id(9)}});
    let docker = |name: Value, id: Value| {
        let details = json!({"container_name": name, "container_id": id, "service_id": self::id(9)});
        json!({"type": "Docker", "details": details})
    };
    let texts = || [(json!(null), json!(null)), (json!("vm"), json!("100")), (json!(""), json!(null))];
    are_kept("/virtualization", texts().map(|(name, id)| proxmox(name, id))).await;
    are_kept("/services/0/virtualization", texts().map(|(name, id)| docker(name, id))).await;
}

#[tokio::test]
async fn credentials_are_for_all_interfaces_or_for_those_named() {
    let credential = |interfaces: Value| json!({"credential_id": id(8), "interface_ids": interfaces});
    let lists = [
        json!([]),
        json!([credential(json!(null))]),
        json!([credential(json!([]))]),
        json!([credential(json!([id(0x21)])), credential(json!(null))]),
    ];
    are_kept("/credential_assignments", lists).await;
}

#[tokio::test]
async fn bindings_are_to_a_port_or_to_an_interface_and_show_both_fields() {
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
}

#[tokio::test]
async fn statuses_neighbors_and_names_of_lldp_are_of_their_sorts() {
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
        let ids =
            common.into_iter().chain([own]).map(|subtype| json!({"subtype": subtype, "value": "no MAC\0"}));
        are_kept(&format!("/if_entries/0/{field}"), ids).await;
    }
    for field in ["lldp_mgmt_addr", "lldp_port_desc", "lldp_sys_desc", "lldp_sys_name"] {
        are_kept(&format!("/if_entries/0/{field}"), texts(&["", "no address\u{1}"])).await;
    }
    for field in ["cdp_address", "cdp_device_id", "cdp_platform", "cdp_port_id"] {
        are_kept(&format!("/if_entries/0/{field}"), texts(&["", "no address\u{1}"])).await;
    }
}

/// Each sort of LLDP name has one that the other has not, and a status of operation is none of administration.
#[test]
fn what_is_of_another_sort_is_not_read() {
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
        ("/ports/0/protocol", json!("tcp")),
    ] {
        let mut document = document();
        *document.pointer_mut(place).unwrap() = value.clone();
        assert!(serde_json::from_value::<Host>(document).is_err(), "{place}: {value}");
    }
}

#[tokio::test]
async fn numbers_are_as_large_as_devices_send_them() {
    are_kept("/if_entries/0/if_index", [0, -1, 1_001_000_003_000, i64::MAX, i64::MIN].map(Value::from)).await;
    are_kept("/if_entries/0/if_type", [json!(null), json!(6), json!(1_767_992_425_u64), json!(-1)]).await;
    let speeds = [json!(null), json!(0), json!(4_294_967_295_000_000_u64), json!(u64::MAX)];
    are_kept("/if_entries/0/speed_bps", speeds).await;
    are_kept("/interfaces/0/position", [0, -5, i64::MAX, i64::MIN].map(Value::from)).await;
    are_kept("/services/0/position", [7, i64::MIN].map(Value::from)).await;
    are_kept("/if_entries/0/interface_id", [json!(null), json!(id(0x21))]).await;
}
