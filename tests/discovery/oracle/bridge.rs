//! VLANs of ports and forwarding databases.

use std::collections::BTreeMap;

use toposcope::model::Vlans;

use super::recording::{Recording, Variables};
use super::tally::Tally;

const BASE_PORT: &str = "1.3.6.1.2.1.17.1.4.1.2";
const Q_BRIDGE: &str = "1.3.6.1.2.1.17.7.1";

pub(crate) fn compare(recording: &Recording, variables: &Variables<'_>, tally: &mut Tally) {
    compare_vlans(recording, variables, tally);
    compare_fdb(recording, variables, tally);
}

fn compare_vlans(recording: &Recording, variables: &Variables<'_>, tally: &mut Tally) {
    let rows = recording.device().tables.if_entries.iter().flat_map(|table| &table.rows);
    let vlans: BTreeMap<i64, &Vlans> =
        rows.filter_map(|row| Some((row.if_index, row.vlans.as_ref()?))).collect();
    for expected in recording.rows("port_vlans") {
        let port = expected[1].as_i64().unwrap();
        let vlan = expected[2].as_u64().unwrap() as u16;
        let is_untagged = expected[3].as_bool().unwrap();
        let index = variables.number(&format!("{BASE_PORT}.{port}"));
        let found = index.and_then(|index| vlans.get(&index));
        let example = || format!("{}: {expected}, ifIndex {index:?}, we {found:?}", recording.name);
        let is_tagged = found.is_some_and(|found| found.tagged.contains(&vlan));
        let has_untagged =
            |found: &&Vlans| found.untagged == Some(vlan) || found.other_untagged.contains(&vlan);
        let is_found =
            if is_untagged { found.copied().is_some_and(|found| has_untagged(&found)) } else { is_tagged };
        if is_found {
            tally.agree("port VLANs");
        } else if index.is_none() {
            tally.theirs("port VLANs", "the recording has no dot1dBasePortIfIndex of the port", example);
        } else if !variables.has_any(Q_BRIDGE) {
            tally.theirs("port VLANs", "the recording has nothing of Q-BRIDGE-MIB", example);
        } else if !(1..4095).contains(&vlan) {
            tally.theirs("port VLANs", "the VLAN is none of IEEE 802.1Q", example);
        } else if !has_list(variables, vlan) {
            tally.theirs("port VLANs", "no egress list of Q-BRIDGE-MIB is of the VLAN", example);
        } else {
            tally.ours("port VLANs", "another membership", example);
        }
    }
}

/// Returns whether the recording has an egress list of a VLAN.
fn has_list(variables: &Variables<'_>, vlan: u16) -> bool {
    let is_of = |oid: &str| oid.rsplit('.').next() == Some(&vlan.to_string());
    let columns = [format!("{Q_BRIDGE}.4.2.1.4"), format!("{Q_BRIDGE}.4.3.1.2")];
    columns.iter().flat_map(|column| variables.below(column)).any(|(oid, _)| is_of(oid))
}

fn compare_fdb(recording: &Recording, variables: &Variables<'_>, tally: &mut Tally) {
    let rows = recording.device().tables.fdb.iter().flat_map(|table| &table.rows);
    let rows: Vec<_> = rows.collect();
    for expected in recording.rows("fdb") {
        let mac = expected[0].as_str().unwrap();
        let octets = (0..12).step_by(2).map(|start| u8::from_str_radix(&mac[start..start + 2], 16).unwrap());
        let octets: Vec<u8> = octets.collect();
        let found: Vec<_> = rows.iter().filter(|row| row.mac_address.octets() == octets.as_slice()).collect();
        let example = || format!("{}: {expected}, we {found:?}", recording.name);
        let arcs = octets.iter().map(u8::to_string).collect::<Vec<_>>().join(".");
        let is_same = |index: Option<i64>| index == expected[1].as_i64();
        let sent = variables.below("1.3.6.1.2.1.17");
        if found.iter().any(|row| is_same(row.if_index) && row.vlan.map(u64::from) == expected[2].as_u64()) {
            tally.agree("FDB");
        } else if !sent.iter().any(|(oid, value)| oid.contains(&arcs) || *value == octets) {
            tally.theirs("FDB", "no variable of BRIDGE-MIB or Q-BRIDGE-MIB has the address", example);
        } else if found.is_empty() {
            tally.ours("FDB", "missing", example);
        } else if found.iter().any(|row| is_same(row.if_index)) {
            tally.ours("FDB", "another VLAN", example);
        } else {
            tally.ours("FDB", "another interface", example);
        }
    }
}
