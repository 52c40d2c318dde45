//! Interface entries: their statuses, subtypes and neighbours.

use serde_json::{Value, json};
use toposcope::model::{AdminStatus, IfEntry, LldpChassisIdSubtype, LldpPortIdSubtype, Neighbor, OperStatus};

use crate::support::{ID, TIME, id, if_entry_json, refusal, round_trip, with};

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
