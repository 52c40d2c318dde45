//! The forwarding databases of devices that have one for each VLAN, each in a context of its own.
//!
//! A switch of Cisco has all VLANs in `community@vlan` or the context `vlan-…` of SNMPv3. Other
//! devices are only asked so if they are bridges whose usual context has no forwarding entries.

use std::collections::BTreeSet;

use super::subtrees::{BASE_PORTS, BRIDGE_FDB, Q_BRIDGE_FDB};
use crate::collect::snmp::{
    AskError, ObjectId, SnmpAgent, SnmpValue, TableEnd, TruncationReason, WalkBudget, WalkedTable,
};

/// Maximum number of VLANs whose forwarding databases are read. Beyond it, the table is truncated.
const MAX_VLANS: usize = 1_024;

/// Number of VLANs in a row without an answer after which no further ones are read.
const MAX_SILENT_VLANS: usize = 2;

/// Number of VLANs in a row to which the device refuses access after which no further ones are read.
const MAX_DENIED_VLANS: usize = 4;

/// Number of VLANs in a row that fail otherwise, without an entry, after which no further ones are read.
const MAX_FAILED_VLANS: usize = 8;

/// `sysObjectID` of Cisco's devices.
const CISCO: [u32; 7] = [1, 3, 6, 1, 4, 1, 9];

/// `vtpVlanState` of CISCO-VTP-MIB, with the number of the domain and the VLAN as its index.
const VTP_VLAN_STATE: [u32; 14] = [1, 3, 6, 1, 4, 1, 9, 9, 46, 1, 3, 1, 1, 2];

/// VLANs that every switch of Cisco has for FDDI and token ring.
const LEGACY_VLANS: std::ops::RangeInclusive<u32> = 1_002..=1_005;

/// `dot1qVlanCurrentTable` and `dot1qVlanStaticTable` by columns, whose indexes end with the VLAN.
const Q_BRIDGE_VLANS: [&[u32]; 2] =
    [&[1, 3, 6, 1, 2, 1, 17, 7, 1, 4, 2, 1, 3], &[1, 3, 6, 1, 2, 1, 17, 7, 1, 4, 3, 1, 2]];

/// `dot1dBaseNumPorts.0`.
const NUM_PORTS: [u32; 10] = [1, 3, 6, 1, 2, 1, 17, 1, 2, 0];

/// Notes that the forwarding databases by VLAN were not read, if the device needs it.
pub(super) fn note_unread(agent: &SnmpAgent, tables: &mut Vec<WalkedTable>) {
    if lacks_vlans(tables, is_cisco(agent)) {
        tables.push(truncated(TruncationReason::Silent));
    }
}

fn is_cisco(agent: &SnmpAgent) -> bool {
    agent.system().object_id.as_ref().is_some_and(|id| id.arcs().starts_with(&CISCO))
}

/// Reads the forwarding databases by VLAN if the device needs it, and adds them to the other tables.
pub(super) async fn read(agent: &mut SnmpAgent, budget: &mut WalkBudget, tables: &mut Vec<WalkedTable>) {
    let is_cisco = is_cisco(agent);
    if !lacks_vlans(tables, is_cisco) {
        return;
    }
    let vlans = if is_cisco { cisco_vlans(agent, budget, tables).await } else { named_vlans(tables) };
    let Some(first) = vlans.first() else { return };
    agent.enter_vlan(Some(*first));
    match agent.get(&[ObjectId::new(NUM_PORTS)]).await {
        // A device that refuses one context may allow another.
        Ok(_) | Err(AskError::Refused(_)) => read_each(agent, budget, &vlans, is_cisco, tables).await,
        // Other devices need not have contexts.
        Err(error) if is_cisco => tables.push(truncated(error.into()).of_vlan(*first)),
        Err(_) => {}
    }
    agent.enter_vlan(None);
}

/// Returns whether the tables may lack the forwarding entries of VLANs.
fn lacks_vlans(tables: &[WalkedTable], is_cisco: bool) -> bool {
    let has = |root: &[u32]| {
        let table = tables.iter().find(|table| table.root.arcs() == root);
        table.is_some_and(|table| !table.rows.is_empty() || matches!(table.end, TableEnd::Truncated(_)))
    };
    !has(Q_BRIDGE_FDB) && (is_cisco || (!has(BRIDGE_FDB) && has(BASE_PORTS)))
}

/// Returns the VLANs of Q-BRIDGE-MIB.
fn named_vlans(tables: &[WalkedTable]) -> BTreeSet<u16> {
    let tables = tables.iter().filter(|table| Q_BRIDGE_VLANS.contains(&table.root.arcs()));
    tables.flat_map(|table| &table.rows).filter_map(|row| vlan_of(&row.id)).collect()
}

/// Asks for the VLANs of CISCO-VTP-MIB.
async fn cisco_vlans(
    agent: &mut SnmpAgent,
    budget: &mut WalkBudget,
    tables: &mut Vec<WalkedTable>,
) -> BTreeSet<u16> {
    let table = agent.walk(&ObjectId::new(VTP_VLAN_STATE), budget).await;
    if let TableEnd::Truncated(reason) = table.end {
        tables.push(truncated(reason));
    }
    let is_operational = |value: &SnmpValue| *value == SnmpValue::Integer(1);
    let rows = table.rows.iter().filter(|row| is_operational(&row.value));
    let is_legacy = |vlan: &u16| LEGACY_VLANS.contains(&u32::from(*vlan));
    rows.filter_map(|row| vlan_of(&row.id)).filter(|vlan| !is_legacy(vlan)).collect()
}

fn vlan_of(id: &ObjectId) -> Option<u16> {
    let vlan = id.arcs().last().and_then(|arc| u16::try_from(*arc).ok());
    vlan.filter(|vlan| (1..4_095).contains(vlan))
}

async fn read_each(
    agent: &mut SnmpAgent,
    budget: &mut WalkBudget,
    vlans: &BTreeSet<u16>,
    is_cisco: bool,
    tables: &mut Vec<WalkedTable>,
) {
    let before = tables.len();
    let (mut failures, mut has_answered) = (ContextFailures::default(), false);
    for (place, vlan) in vlans.iter().enumerate() {
        let stop = if place == MAX_VLANS { Some(TruncationReason::RowLimit) } else { failures.stop() };
        if let Some(reason) = stop {
            tables.push(truncated(reason).of_vlan(*vlan));
            break;
        }
        agent.enter_vlan(Some(*vlan));
        let entries = agent.walk(&ObjectId::new(BRIDGE_FDB), budget).await;
        failures.note(&entries);
        has_answered |= failures.denied == 0;
        if !entries.rows.is_empty() {
            let ports = agent.walk(&ObjectId::new(BASE_PORTS), budget).await;
            tables.push(ports.of_vlan(*vlan));
        }
        if !entries.rows.is_empty() || matches!(entries.end, TableEnd::Truncated(_)) {
            tables.push(entries.of_vlan(*vlan));
        }
    }
    // Other devices need not have contexts. Without, they refuse all of them.
    if !is_cisco && !has_answered {
        tables.truncate(before);
    }
}

/// The failures of contexts in a row.
#[derive(Debug, Default)]
struct ContextFailures {
    silent: usize,
    denied: usize,
    failed: usize,
    last: Option<TruncationReason>,
}

impl ContextFailures {
    /// Notes how reading a context has ended. A fault of a table, such as `genErr`, may be that of one context alone.
    fn note(&mut self, entries: &WalkedTable) {
        let TableEnd::Truncated(reason) = entries.end else {
            *self = Self::default();
            return;
        };
        let follow = |is_such: bool, count: usize| if is_such { count + 1 } else { 0 };
        self.silent = follow(reason == TruncationReason::Silent, self.silent);
        self.denied = follow(reason.is_refusal(), self.denied);
        self.failed = follow(entries.rows.is_empty(), self.failed);
        self.last = Some(reason);
    }

    /// Returns the reason why no further contexts are read, if there is one.
    fn stop(&self) -> Option<TruncationReason> {
        let is_over = self.silent >= MAX_SILENT_VLANS
            || self.denied >= MAX_DENIED_VLANS
            || self.failed >= MAX_FAILED_VLANS;
        self.last.filter(|_| is_over)
    }
}

/// Returns the table for forwarding entries that could not be read.
fn truncated(reason: TruncationReason) -> WalkedTable {
    WalkedTable::without_rows(ObjectId::new(BRIDGE_FDB), TableEnd::Truncated(reason))
}
