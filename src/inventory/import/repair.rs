//! Repair of odd values in imported hosts, with a count of every alteration.

use serde_json::Value;

use super::document::{
    HostDocument, IfEntryDocument, InterfaceDocument, MacDocument, NumberDocument, PortDocument,
};
use super::report::{Alteration, Alterations, DroppedPort};
use crate::model::{Host, IfEntry, Interface, MacAddress, Port};

pub(super) fn repair(document: HostDocument, line: u64, notes: &mut Alterations) -> Host {
    let interfaces =
        document.interfaces.into_iter().map(|interface| repair_interface(interface, notes)).collect();
    let if_entries = document.if_entries.into_iter().map(|entry| repair_if_entry(entry, notes)).collect();
    let ports = document.ports.iter().enumerate();
    let ports = ports.filter_map(|(place, port)| repair_port(port, place, line, notes)).collect();
    Host {
        id: document.id,
        network_id: document.network_id,
        name: document.name,
        hostname: document.hostname,
        description: document.description,
        hidden: document.hidden,
        created_at: document.created_at,
        updated_at: document.updated_at,
        tags: document.tags,
        source: document.source,
        virtualization: document.virtualization,
        credential_assignments: document.credential_assignments,
        interfaces,
        ports,
        services: document.services,
        if_entries,
    }
}

fn repair_interface(interface: InterfaceDocument, notes: &mut Alterations) -> Interface {
    Interface {
        id: interface.id,
        host_id: interface.host_id,
        network_id: interface.network_id,
        subnet_id: interface.subnet_id,
        name: interface.name,
        ip_address: interface.ip_address,
        mac_address: repair_mac(interface.mac_address, notes),
        position: interface.position,
        created_at: interface.created_at,
        updated_at: interface.updated_at,
    }
}

fn repair_port(port: &PortDocument, place: usize, line: u64, notes: &mut Alterations) -> Option<Port> {
    let number = match port.number {
        NumberDocument::Valid(number) => number,
        NumberDocument::Zero => {
            let (host_id, port_id, protocol) = (port.host_id, port.id, port.protocol);
            notes.drop_port(DroppedPort { line, host_id, port_id, protocol }, place);
            return None;
        }
    };
    Some(Port {
        id: port.id,
        host_id: port.host_id,
        network_id: port.network_id,
        number,
        protocol: port.protocol,
        created_at: port.created_at,
        updated_at: port.updated_at,
    })
}

fn repair_if_entry(entry: IfEntryDocument, notes: &mut Alterations) -> IfEntry {
    IfEntry {
        id: entry.id,
        host_id: entry.host_id,
        network_id: entry.network_id,
        interface_id: entry.interface_id,
        if_index: entry.if_index,
        if_name: entry.if_name,
        if_descr: entry.if_descr.unwrap_or_else(|| {
            notes.count(Alteration::MissingDescription, 1);
            String::new()
        }),
        if_alias: entry.if_alias,
        if_type: entry.if_type,
        speed_bps: entry.speed_bps,
        mac_address: repair_mac(entry.mac_address, notes),
        admin_status: entry.admin_status,
        oper_status: entry.oper_status,
        neighbor: entry.neighbor,
        cdp_address: entry.cdp_address,
        cdp_device_id: entry.cdp_device_id,
        cdp_platform: entry.cdp_platform,
        cdp_port_id: entry.cdp_port_id,
        lldp_chassis_id: entry.lldp_chassis_id,
        lldp_mgmt_addr: entry.lldp_mgmt_addr,
        lldp_port_desc: entry.lldp_port_desc,
        lldp_port_id: entry.lldp_port_id,
        lldp_sys_desc: entry.lldp_sys_desc,
        lldp_sys_name: entry.lldp_sys_name,
        created_at: entry.created_at,
        updated_at: entry.updated_at,
    }
}

fn repair_mac(mac: MacDocument, notes: &mut Alterations) -> Option<MacAddress> {
    match mac {
        MacDocument::Valid(mac) => return Some(mac),
        MacDocument::Absent => {}
        MacDocument::Empty => notes.count(Alteration::EmptyMac, 1),
        MacDocument::Odd => notes.count(Alteration::OddMac, 1),
    }
    None
}

/// Counts the times of a line that are finer than a microsecond.
///
/// Such times are rare, so the line is parsed again only when it contains seven decimals in a row.
pub(super) fn count_cut_times(line: &[u8], notes: &mut Alterations) {
    let has_decimals = |place: usize| {
        line.get(place + 1..place + 8).is_some_and(|decimals| decimals.iter().all(u8::is_ascii_digit))
    };
    if !memchr::memchr_iter(b'.', line).any(has_decimals) {
        return;
    }
    if let Ok(host) = serde_json::from_slice::<Value>(line) {
        notes.count(Alteration::CutTime, cut_times(&host));
    }
}

fn cut_times(record: &Value) -> u64 {
    let own = ["created_at", "updated_at"].iter().filter(|field| is_cut(record.get(field))).count() as u64;
    let parts = ["interfaces", "ports", "services", "bindings", "if_entries"];
    let parts = parts.iter().filter_map(|list| record.get(list)?.as_array()).flatten();
    own + parts.map(cut_times).sum::<u64>()
}

fn is_cut(time: Option<&Value>) -> bool {
    let Some((_, decimals)) = time.and_then(Value::as_str).and_then(|text| text.split_once('.')) else {
        return false;
    };
    decimals.bytes().take_while(u8::is_ascii_digit).skip(6).any(|digit| digit != b'0')
}
