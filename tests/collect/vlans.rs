//! Forwarding databases of VLANs, each in a context of its own.

use async_snmp::Version;
use toposcope::collect::snmp::{SnmpAgent, SnmpValue, TableEnd, TruncationReason, WalkLimits};
use toposcope::collect::tables;
use toposcope::discovery::Report;
use toposcope::discovery::report::TableKind;

use crate::farm::{Agent, Fault};
use crate::support::{COMMUNITY, community, farm_of, find, variables};
use crate::tables::{BASE_PORTS, bridge, is_complete, options, read};

/// Moves the bridge ports and forwarding entries of [`bridge`] into the contexts of two VLANs.
fn by_vlan(is_cisco: bool) -> Agent {
    use toposcope::collect::snmp::ObjectId;
    let mut agent = Agent::new(COMMUNITY, bridge(4));
    let mut own = agent.take_below(BASE_PORTS);
    own.extend(agent.take_below(&[1, 3, 6, 1, 2, 1, 17, 4, 3]));
    for vlan in [10, 20_u16] {
        let variables =
            own.iter().filter(|(id, _)| id.last().is_some_and(|last| last % 2 == u32::from(vlan / 10 % 2)));
        let variables = variables.map(|(id, value)| (id.clone(), value.clone())).collect();
        agent.vlans.insert(vlan, Agent::new(&[], variables));
    }
    agent.variables.retain(|id, _| !id.starts_with(&[1, 3, 6, 1, 2, 1, 17, 7]));
    if is_cisco {
        let id = ObjectId::new([1, 3, 6, 1, 4, 1, 9, 1, 516]);
        agent.variables.insert(vec![1, 3, 6, 1, 2, 1, 1, 2, 0], SnmpValue::ObjectId(id));
        for vlan in [10, 20, 30, 1_002] {
            let state = vec![1, 3, 6, 1, 4, 1, 9, 9, 46, 1, 3, 1, 1, 2, 1, vlan];
            agent.variables.insert(state, SnmpValue::Integer(1));
        }
    } else {
        // A bridge port without forwarding entries shows that the device is a bridge.
        agent.variables.insert([BASE_PORTS, &[99]].concat(), SnmpValue::Integer(1));
        for vlan in [10, 20, 30] {
            let egress = vec![1, 3, 6, 1, 2, 1, 17, 7, 1, 4, 3, 1, 2, vlan];
            agent.variables.insert(egress, SnmpValue::Bytes([0].into()));
        }
    }
    agent
}

#[tokio::test(start_paused = true)]
async fn forwarding_databases_of_vlans_are_read_in_their_contexts() {
    for is_cisco in [true, false] {
        let mut agent = by_vlan(is_cisco);
        // A VLAN without entries.
        agent.vlans.insert(30, Agent::new(&[], variables(0)));
        let (report, truncated) = read(agent).await;
        assert_eq!(truncated, []);
        let table = report.devices[0].tables.fdb.as_ref().unwrap();
        let rows: Vec<_> = table.rows.iter().map(|row| (row.vlan, row.bridge_port, row.if_index)).collect();
        let expected = [
            (Some(10), Some(1), Some(4)),
            (Some(10), Some(3), Some(2)),
            (Some(20), Some(2), Some(3)),
            (Some(20), Some(4), Some(1)),
        ];
        assert_eq!(rows, expected, "{is_cisco}");
        assert!(table.complete);
    }
}

#[tokio::test(start_paused = true)]
async fn vlan_without_an_answer_truncates_the_forwarding_database() {
    let (report, truncated) = read(by_vlan(true)).await;
    assert_eq!(truncated, [TableEnd::Truncated(TruncationReason::Silent)]);
    assert_eq!(report.devices[0].tables.fdb.as_ref().unwrap().rows.len(), 4);
    assert!(!is_complete(&report, TableKind::Fdb));
}

#[tokio::test(start_paused = true)]
async fn contexts_are_asked_for_only_where_the_device_needs_it() {
    // One has its forwarding entries in the usual context, one is no bridge, and one knows no contexts.
    let mut router = variables(4);
    router.insert(vec![1, 3, 6, 1, 2, 1, 17, 7, 1, 4, 3, 1, 2, 10], SnmpValue::Bytes([0].into()));
    let mut without = by_vlan(false);
    without.vlans.clear();
    for (agent, asked) in
        [(Agent::new(COMMUNITY, bridge(4)), 0), (Agent::new(COMMUNITY, router), 0), (without, 3)]
    {
        let farm = farm_of(agent);
        let mut agent = find(&farm, "192.0.2.1", community()).await.unwrap();
        let read = tables::read(&mut agent, &WalkLimits::default()).await;
        assert!(read.iter().all(|table| !matches!(table.end, TableEnd::Truncated(_))));
        assert_eq!(farm.times_seen(b"kept to ourselves@"), asked);
        assert_eq!(farm.times_seen(b"@1002"), 0);
    }
}

/// Returns the ends of the truncated tables of a device, and how often each of some contexts was asked.
async fn contexts(agent: Agent, vlans: &[u16]) -> (Report, Vec<TableEnd>, Vec<usize>) {
    let farm = farm_of(agent);
    let mut agent: SnmpAgent = find(&farm, "192.0.2.1", community()).await.unwrap();
    let read = tables::read(&mut agent, &WalkLimits::default()).await;
    let truncated = read.iter().map(|table| table.end).filter(|end| matches!(end, TableEnd::Truncated(_)));
    let asked = vlans.iter().map(|vlan| farm.times_seen(format!("kept to ourselves@{vlan}").as_bytes()));
    (tables::report(&read, &options()).unwrap(), truncated.collect(), asked.collect())
}

#[tokio::test(start_paused = true)]
async fn context_that_fails_hides_no_other() {
    for is_cisco in [true, false] {
        let mut agent = by_vlan(is_cisco);
        let failing = Agent::new(&[], variables(0)).faulty([Fault::Denies(Version::V2c, 5)]);
        // The first one, and the last one.
        agent.vlans.insert(10, failing.clone());
        agent.vlans.insert(30, failing);
        let (report, truncated, _) = contexts(agent, &[]).await;
        assert_eq!(truncated, [TableEnd::Truncated(TruncationReason::Status(5)); 2], "{is_cisco}");
        let table = report.devices[0].tables.fdb.as_ref().unwrap();
        assert_eq!(table.rows.iter().map(|row| row.vlan).collect::<Vec<_>>(), [Some(20); 2]);
        assert!(!table.complete);
    }
}

/// Returns a bridge of which each of more than a hundred contexts answers with an error.
fn refusing(is_cisco: bool, status: i32) -> Agent {
    let mut agent = by_vlan(is_cisco);
    agent.vlans.clear();
    for vlan in 40..140 {
        let (id, value) = match is_cisco {
            true => ([1, 3, 6, 1, 4, 1, 9, 9, 46, 1, 3, 1, 1, 2, 1], SnmpValue::Integer(1)),
            false => ([1, 3, 6, 1, 2, 1, 17, 7, 1, 4, 3, 1, 2, 0, 0], SnmpValue::Bytes([0].into())),
        };
        let id = if is_cisco { &id[..] } else { &id[..13] };
        agent.variables.insert([id, &[vlan]].concat(), value);
    }
    for vlan in (10..140).filter(|vlan| *vlan >= 40 || vlan % 10 == 0) {
        let refused = Agent::new(&[], variables(0)).faulty([Fault::Denies(Version::V2c, status)]);
        agent.vlans.insert(vlan, refused);
    }
    agent
}

#[tokio::test(start_paused = true)]
async fn contexts_that_are_denied_are_not_all_asked() {
    for (is_cisco, status) in [(true, 16), (true, 6), (false, 16), (false, 6)] {
        let (report, truncated, asked) = contexts(refusing(is_cisco, status), &[10, 20, 30, 40, 41]).await;
        assert!(asked[..4].iter().all(|count| *count >= 2) && asked[4] == 0, "{asked:?}");
        // Bridges of others need not have contexts. A switch of Cisco has its forwarding entries in them.
        let expected = if is_cisco { 4 + 1 } else { 0 };
        assert_eq!(truncated, vec![TableEnd::Truncated(TruncationReason::Status(status)); expected]);
        assert!(report.devices[0].tables.fdb.as_ref().is_none_or(|table| table.complete != is_cisco));
    }
}

#[tokio::test(start_paused = true)]
async fn contexts_that_all_fail_are_not_all_asked() {
    for is_cisco in [true, false] {
        let (report, truncated, asked) = contexts(refusing(is_cisco, 5), &[10, 20, 30, 40, 44, 45]).await;
        assert!(asked[..5].iter().all(|count| *count >= 2) && asked[5] == 0, "{asked:?}");
        assert_eq!(truncated, vec![TableEnd::Truncated(TruncationReason::Status(5)); 8 + 1], "{is_cisco}");
        assert!(report.devices[0].tables.fdb.as_ref().is_none_or(|fdb| !fdb.complete), "{is_cisco}");
    }
}

#[tokio::test(start_paused = true)]
async fn context_behind_some_that_fail_is_read() {
    let mut agent = refusing(true, 5);
    agent.vlans.insert(44, Agent::new(&[], bridge(60)));
    let (report, _, asked) = contexts(agent, &[52, 53]).await;
    assert_eq!(report.devices[0].tables.fdb.as_ref().unwrap().rows.len(), 60);
    // The failures before it do not count among those behind it.
    assert!(asked[0] >= 2 && asked[1] == 0, "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn context_that_is_denied_hides_no_other() {
    for is_cisco in [true, false] {
        let mut agent = by_vlan(is_cisco);
        agent.vlans.insert(30, Agent::new(&[], variables(0)));
        let denying = Agent::new(&[], variables(0)).faulty([Fault::Denies(Version::V2c, 16)]);
        agent.vlans.insert(10, denying);
        let (report, truncated, _) = contexts(agent, &[]).await;
        assert_eq!(truncated, [TableEnd::Truncated(TruncationReason::Status(16))], "{is_cisco}");
        assert_eq!(report.devices[0].tables.fdb.as_ref().unwrap().rows.len(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn context_without_getbulk_says_nothing_of_the_others() {
    let many = |faults: Vec<Fault>| Agent::new(&[], bridge(60)).faulty(faults);
    for fault in [Fault::RefusesBulk, Fault::IgnoresBulk] {
        let mut agent = by_vlan(true);
        agent.vlans.insert(10, many(vec![fault]));
        agent.vlans.insert(20, many(vec![]));
        agent.vlans.insert(30, Agent::new(&[], variables(0)));
        let (report, truncated, asked) = contexts(agent, &[10, 20]).await;
        assert_eq!(truncated, []);
        assert_eq!(report.devices[0].tables.fdb.as_ref().unwrap().rows.len(), 2 * 60);
        // 240 variables one by one, and 30 at a time.
        assert!(asked[0] > 240 && asked[1] < 20, "{asked:?}");
    }
}
