//! Tables over the wire give the report of the same variables from a file.

use std::time::Duration;

use tokio::time::Instant;
use toposcope::collect::snmp::{SnmpAgent, TableEnd, TruncationReason, WalkLimits};
use toposcope::collect::tables;
use toposcope::discovery::report::{TableKind, WarningCode};
use toposcope::discovery::{Format, ParseOptions, Report, ReporterId, parse};
use toposcope::model::Timestamp;

use crate::farm::Variables;
use crate::farm::{Agent, Fault};
use crate::recording::{data, recorded, unpacked, walked};
use crate::support::{COMMUNITY, community, farm_of, find, variables};

pub(crate) fn options() -> ParseOptions {
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
    // Newer tables have replaced `atTable`, which is not asked for.
    let is_asked_for = |id: &[u32]| !id.starts_with(&[1, 3, 6, 1, 2, 1, 3]);
    for (id, value) in variables.iter().filter(|(id, _)| is_asked_for(id)) {
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
    // The others are read by GETBULK.
    assert!(farm.sent().len() < 25, "{}", farm.sent().len());
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

pub(crate) const BASE_PORTS: &[u32] = &[1, 3, 6, 1, 2, 1, 17, 1, 4, 1, 2];

/// Adds bridge ports that lead to the interfaces in the reversed order, a forwarding entry behind each, and a neighbor by LLDP on each.
pub(crate) fn bridge(interfaces: u32) -> Variables {
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
pub(crate) async fn read(agent: Agent) -> (Report, Vec<TableEnd>) {
    let farm = farm_of(agent);
    let mut agent: SnmpAgent = find(&farm, "192.0.2.1", community()).await.unwrap();
    let read = tables::read(&mut agent, &WalkLimits::default()).await;
    let truncated = read.iter().map(|table| table.end).filter(|end| matches!(end, TableEnd::Truncated(_)));
    (tables::report(&read, &options()).unwrap(), truncated.collect())
}

pub(crate) fn is_complete(report: &Report, kind: TableKind) -> bool {
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

    // One variable at a time, so that no other answer has some of them.
    let faults = [Fault::TooBigAbove(1), Fault::FailsBelow(BASE_PORTS)];
    let (report, truncated) = read(Agent::new(COMMUNITY, bridge(4)).faulty(faults)).await;
    // The end of the table before and the column of numbers are not answered, either.
    assert_eq!(truncated, [TableEnd::Truncated(TruncationReason::Status(5)); 3]);
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
async fn bridge_ports_with_numbers_of_their_own_are_found() {
    use toposcope::collect::snmp::SnmpValue::Integer;
    // Other tables name port 1 by the number 101.
    let mut variables = bridge(4);
    variables.retain(|id, _| !id.starts_with(BASE_PORTS));
    for port in 1..=4_u32 {
        let [number, index] = [Integer(port.cast_signed()), Integer(5 - port.cast_signed())];
        variables.insert([&BASE_PORTS[..10], &[1, port + 100]].concat(), number);
        variables.insert([BASE_PORTS, &[port + 100]].concat(), index);
    }
    compare("own numbers", variables.clone()).await;
    let (report, _) = read(Agent::new(COMMUNITY, variables)).await;
    let rows = &report.devices[0].tables.fdb.as_ref().unwrap().rows;
    let indexes: Vec<Option<i64>> = rows.iter().map(|row| row.if_index).collect();
    assert_eq!(indexes, [Some(4), Some(3), Some(2), Some(1)]);
}

#[tokio::test(start_paused = true)]
async fn selected_aggregates_count_where_no_other_are_stated() {
    use toposcope::collect::snmp::SnmpValue::Integer;
    let mut variables = variables(4);
    for member in [1, 2] {
        variables.insert(vec![1, 2, 840, 10006, 300, 43, 1, 2, 1, 1, 12, member], Integer(4));
    }
    compare("selected aggregates", variables.clone()).await;
    let (report, _) = read(Agent::new(COMMUNITY, variables)).await;
    let rows = &report.devices[0].tables.lag.as_ref().unwrap().rows;
    assert_eq!(rows.iter().map(|row| (row.if_index, row.lag_id)).collect::<Vec<_>>(), [(1, 4), (2, 4)]);
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

#[tokio::test(start_paused = true)]
async fn agent_whose_first_answers_were_lost_is_asked_by_getbulk_again() {
    // The second and the third packet are lost: both that ask for the first table by GETBULK.
    let farm = farm_of(Agent::new(COMMUNITY, bridge(60)).faulty([Fault::DropsFrom(2, 2)]));
    let mut agent = find(&farm, "192.0.2.1", community()).await.unwrap();
    let read = tables::read(&mut agent, &WalkLimits::default()).await;
    assert!(read.iter().all(|table| !matches!(table.end, TableEnd::Truncated(_))));
    let lossless = farm_of(Agent::new(COMMUNITY, bridge(60)));
    let mut agent = find(&lossless, "192.0.2.1", community()).await.unwrap();
    tables::read(&mut agent, &WalkLimits::default()).await;
    let (lost, usual) = (farm.sent().len(), lossless.sent().len());
    assert!(lost <= usual + 5, "{lost} packets instead of {usual}");
}

#[tokio::test(start_paused = true)]
async fn agent_that_ignores_getbulk_gets_it_at_two_tables() {
    let farm = farm_of(Agent::new(COMMUNITY, bridge(60)).faulty([Fault::IgnoresBulk]));
    let mut agent = find(&farm, "192.0.2.1", community()).await.unwrap();
    let began = Instant::now();
    let read = tables::read(&mut agent, &WalkLimits::default()).await;
    assert!(read.iter().all(|table| !matches!(table.end, TableEnd::Truncated(_))));
    let (packets, answered) = (farm.sent().len(), read.iter().map(|table| table.rows.len()).sum::<usize>());
    assert!(packets < answered + 100, "{packets} packets for {answered} variables");
    // Two messages each, which are waited for by 1 and 1.5 seconds; the rest is the pace.
    let paced = Duration::from_millis(packets as u64 * 51 + 1_100);
    assert!(began.elapsed() <= Duration::from_secs(5) + paced, "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn tables_that_an_answer_shows_are_not_asked_for_again() {
    let device = || Agent::new(COMMUNITY, bridge(3));
    let farm = farm_of(device());
    let mut agent = find(&farm, "192.0.2.1", community()).await.unwrap();
    let read = tables::read(&mut agent, &WalkLimits::default()).await;
    for table in read.iter().filter(|table| !table.rows.is_empty()) {
        let rows: Vec<_> = table.rows.iter().map(|row| (row.id.clone(), row.value.clone())).collect();
        assert_eq!(rows, device().below(table.root.arcs()), "{}", table.root);
    }
    let filled = read.iter().filter(|table| !table.rows.is_empty()).count();
    assert!(filled > 10 && farm.sent().len() < filled, "{} packets for {filled} tables", farm.sent().len());
}
