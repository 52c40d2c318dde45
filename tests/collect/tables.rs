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
