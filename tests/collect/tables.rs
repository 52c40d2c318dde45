//! Tables over the wire give the report of the same variables from a file.

use toposcope::collect::snmp::{SnmpAgent, TableEnd, TruncationReason, WalkLimits};
use toposcope::collect::tables;
use toposcope::discovery::report::{TableKind, WarningCode};
use toposcope::discovery::{Format, ParseOptions, Report, ReporterId, parse};
use toposcope::model::Timestamp;

use crate::farm::Variables;
use crate::farm::{Agent, Fault};
use crate::recording::{data, recorded, unpacked, walked};
use crate::support::{COMMUNITY, community, farm_of, find, variables};

fn options() -> ParseOptions {
    let options = ParseOptions::new("2026-11-01T12:00:00Z".parse::<Timestamp>().unwrap());
    options.with_reporter(ReporterId::SysName("nameless".to_owned())).with_complete_tables()
}

/// Reads a report over the wire.
async fn over_the_wire(agent: Agent) -> Report {
    let farm = farm_of(agent);
    let mut agent: SnmpAgent = find(&farm, "192.0.2.1", community()).await.unwrap();
    let read = tables::read(&mut agent, &WalkLimits::default()).await;
    assert!(read.iter().all(|table| !matches!(table.end, TableEnd::Truncated(_))), "{read:?}");
    tables::report(&read, &options()).unwrap()
}

/// Leaves out what a file has beside the variables: the name of its format, the numbers of its lines, and the variables that
/// no table reads, which are not asked for over the wire.
fn comparable(mut report: Report) -> Report {
    report.reporter.name.clear();
    report.warnings.retain(|warning| warning.code != WarningCode::VariableUnread);
    for warning in &mut report.warnings {
        warning.line = None;
        warning.example = None;
    }
    report
}

/// Writes variables as a recording, so that values that no type of SNMP has do not count.
fn recording(variables: &Variables) -> String {
    use toposcope::collect::snmp::SnmpValue::{
        Bytes, Counter32, Counter64, Gauge32, Integer, IpAddress, ObjectId, TimeTicks,
    };
    let mut lines = String::new();
    for (id, value) in variables {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let value = match value {
            Integer(number) => format!("2|{number}"),
            Counter32(number) => format!("65|{number}"),
            Gauge32(number) => format!("66|{number}"),
            TimeTicks(number) => format!("67|{number}"),
            Counter64(number) => format!("70|{number}"),
            Bytes(bytes) => format!("4x|{}", hex(bytes)),
            IpAddress(octets) => format!("64x|{}", hex(octets)),
            ObjectId(id) => format!("6|{id}"),
            _ => continue,
        };
        let id: Vec<String> = id.iter().map(u32::to_string).collect();
        lines += &format!("{}|{value}\n", id.join("."));
    }
    lines
}

/// Compares table by table, because reports are long.
fn assert_same(name: &str, wire: &Report, file: &Report) {
    let json = |report: &Report| serde_json::to_value(&report.devices[0]).unwrap();
    let (one, other) = (json(wire), json(file));
    for (field, value) in other["tables"].as_object().unwrap() {
        assert_eq!(&one["tables"][field], value, "{name}: {field}");
    }
    assert!(wire.devices == file.devices, "{name}: {one} instead of {other}");
    assert!(wire == file, "{name}: {:?} instead of {:?}", wire.warnings, file.warnings);
}

async fn compare(name: &str, variables: Variables) {
    let file = parse(Format::Snmprec, recording(&variables).as_bytes(), &options()).unwrap();
    let wire = over_the_wire(Agent::new(COMMUNITY, variables)).await;
    let (wire, file) = (comparable(wire), comparable(file));
    assert_same(name, &wire, &file);
}

#[tokio::test(start_paused = true)]
async fn recordings_give_the_same_report_over_the_wire() {
    compare("variables", variables(20)).await;
    let Some(folder) = data("discovery") else { return };
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let variables = if name.contains(".snmprec") { recorded(&unpacked(&path)) } else { continue };
        if variables.is_empty() {
            println!("skipped: {name} cannot be unpacked here");
            continue;
        }
        compare(&name, variables).await;
        count += 1;
    }
    println!("{count} recordings give the same report");
}

#[tokio::test(start_paused = true)]
async fn walks_of_the_laboratory_give_the_same_report_over_the_wire() {
    let Some(folder) = data("live/s1/walk") else { return };
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let walk = unpacked(&path);
        let variables = walked(&walk);
        let file = parse(Format::Snmpwalk, walk.as_slice(), &options()).unwrap();
        let wire = over_the_wire(Agent::new(COMMUNITY, variables)).await;
        assert_same(&path.display().to_string(), &comparable(wire), &comparable(file));
    }
}

#[tokio::test(start_paused = true)]
async fn table_that_fails_is_truncated_and_the_others_are_complete() {
    const FDB: &[u32] = &[1, 3, 6, 1, 2, 1, 2, 2, 1, 3];
    let farm = farm_of(Agent::new(COMMUNITY, variables(20)).faulty([Fault::FailsBelow(FDB)]));
    let mut agent = find(&farm, "192.0.2.1", community()).await.unwrap();
    let read = tables::read(&mut agent, &WalkLimits::default()).await;
    let failed = read.iter().find(|table| table.root.arcs() == FDB).unwrap();
    assert_eq!(failed.end, TableEnd::Truncated(TruncationReason::Status(5)));
    let report = tables::report(&read, &options()).unwrap();
    let summaries = report.devices[0].tables.summaries();
    let interfaces = summaries.iter().find(|table| table.kind == TableKind::IfEntries).unwrap();
    assert!(!interfaces.complete && interfaces.rows == 20);
}

#[tokio::test(start_paused = true)]
async fn device_that_dies_is_not_asked_for_all_tables() {
    let farm = farm_of(Agent::new(COMMUNITY, variables(20)).faulty([Fault::DiesAfter(3)]));
    let mut agent = find(&farm, "192.0.2.1", community()).await.unwrap();
    let read = tables::read(&mut agent, &WalkLimits::default()).await;
    assert_eq!(read.last().unwrap().end, TableEnd::Truncated(TruncationReason::Silent));
    assert!(farm.sent().len() < 3 + 2 * 10 + 1, "{}", farm.sent().len());
}

#[tokio::test(start_paused = true)]
async fn tables_that_an_agent_shows_to_be_missing_are_not_asked_for() {
    let farm = farm_of(Agent::new(COMMUNITY, variables(20)));
    let mut agent = find(&farm, "192.0.2.1", community()).await.unwrap();
    let read = tables::read(&mut agent, &WalkLimits::default()).await;
    assert!(read.len() > 50 && farm.sent().len() < 15, "{} {}", read.len(), farm.sent().len());
}

const BASE_PORTS: &[u32] = &[1, 3, 6, 1, 2, 1, 17, 1, 4, 1, 2];

/// Adds bridge ports that lead to the interfaces in the reversed order, a forwarding entry behind each, and a neighbor by LLDP on each.
fn bridge(interfaces: u32) -> Variables {
    use toposcope::collect::snmp::SnmpValue::{Bytes, Gauge32, Integer};
    let mut variables = variables(interfaces);
    let mib = [1, 3, 6, 1, 2, 1];
    variables.insert([&mib[..], &[17, 1, 1, 0]].concat(), Bytes([2, 0, 0, 0, 0, 1].into()));
    for port in 1..=interfaces {
        let index = Integer((interfaces + 1 - port).cast_signed());
        variables.insert([BASE_PORTS, &[port]].concat(), index);
        let row = |column| [&mib[..], &[17, 4, 3, 1, column, 2, 0, 0, 0, 1, port]].concat();
        variables.insert(row(1), Bytes([2, 0, 0, 0, 1, port as u8].into()));
        variables.insert(row(2), Integer(port.cast_signed()));
        variables.insert(row(3), Integer(3));
        let row = |column| [1, 0, 8802, 1, 1, 2, 1, 4, 1, 1, column, 0, port, 1];
        variables.insert(row(4).into(), Integer(7));
        variables.insert(row(5).into(), Bytes(format!("neighbor {port}").into_bytes().into()));
        variables.insert(row(7).into(), Bytes(b"a port"[..].into()));
    }
    variables.insert([&mib[..], &[17, 7, 1, 4, 2, 1, 3, 0, 10]].concat(), Gauge32(10));
    variables.insert([&mib[..], &[17, 7, 1, 4, 2, 1, 4, 0, 10]].concat(), Bytes([0xF0].into()));
    variables
}

/// Reads a device in spite of its faults.
async fn read(agent: Agent) -> (Report, Vec<TableEnd>) {
    let farm = farm_of(agent);
    let mut agent: SnmpAgent = find(&farm, "192.0.2.1", community()).await.unwrap();
    let read = tables::read(&mut agent, &WalkLimits::default()).await;
    let truncated = read.iter().map(|table| table.end).filter(|end| matches!(end, TableEnd::Truncated(_)));
    (tables::report(&read, &options()).unwrap(), truncated.collect())
}

fn is_complete(report: &Report, kind: TableKind) -> bool {
    let summaries = report.devices[0].tables.summaries();
    summaries.iter().find(|table| table.kind == kind).unwrap().complete
}

#[tokio::test(start_paused = true)]
async fn numbers_of_ports_lead_nowhere_if_the_bridge_ports_are_not_known() {
    const KINDS: [TableKind; 3] = [TableKind::Fdb, TableKind::Lldp, TableKind::IfEntries];
    let (report, _) = read(Agent::new(COMMUNITY, bridge(4))).await;
    let indexes = |report: &Report| -> Vec<Option<i64>> {
        report.devices[0].tables.fdb.as_ref().unwrap().rows.iter().map(|row| row.if_index).collect()
    };
    assert_eq!(indexes(&report), [Some(4), Some(3), Some(2), Some(1)]);
    assert!(KINDS.iter().all(|kind| is_complete(&report, *kind)));

    let failing = Agent::new(COMMUNITY, bridge(4)).faulty([Fault::FailsBelow(BASE_PORTS)]);
    let (report, truncated) = read(failing).await;
    assert_eq!(truncated, [TableEnd::Truncated(TruncationReason::Status(5))]);
    assert_eq!(indexes(&report), [None; 4]);
    let tables = &report.devices[0].tables;
    assert_eq!(tables.lldp.as_ref().unwrap().rows.len(), 4);
    assert!(tables.lldp.as_ref().unwrap().rows.iter().all(|row| row.if_index.is_none()));
    assert!(tables.if_entries.as_ref().unwrap().rows.iter().all(|row| row.vlans.is_none()));
    assert!(!KINDS.iter().any(|kind| is_complete(&report, *kind)));
    let unknown = report.warnings.iter().find(|warning| warning.code == WarningCode::BridgePortUnknown);
    assert_eq!(unknown.unwrap().count, 4);
}

#[tokio::test(start_paused = true)]
async fn known_bridge_ports_lead_to_their_interfaces_if_others_are_missing() {
    // The agent repeats the second port, so that the others are missing.
    let second = [BASE_PORTS, &[2]].concat();
    let (report, _) = read(Agent::new(COMMUNITY, bridge(4)).faulty([Fault::RepeatsAt(second)])).await;
    let rows = &report.devices[0].tables.fdb.as_ref().unwrap().rows;
    let indexes: Vec<Option<i64>> = rows.iter().map(|row| row.if_index).collect();
    assert_eq!(indexes, [Some(4), Some(3), None, None]);
    assert!(!is_complete(&report, TableKind::Fdb));
}

/// Moves the bridge ports and forwarding entries of [`bridge`] into the contexts of two VLANs.
fn by_vlan(is_cisco: bool) -> Agent {
    use toposcope::collect::snmp::{ObjectId, SnmpValue};
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
    router.insert(
        vec![1, 3, 6, 1, 2, 1, 17, 7, 1, 4, 3, 1, 2, 10],
        toposcope::collect::snmp::SnmpValue::Bytes([0].into()),
    );
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
