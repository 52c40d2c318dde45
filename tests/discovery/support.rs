use toposcope::discovery::report::{Device, Table, WarningCode};
use toposcope::discovery::{Format, ParseError, ParseErrorKind, ParseOptions, Report, parse};
use toposcope::model::Timestamp;

pub(crate) const WALK: &str = include_str!("samples/switch.walk");
pub(crate) const SYMBOLIC_WALK: &str = include_str!("samples/symbolic.walk");
pub(crate) const RECORDING: &str = include_str!("samples/switch.snmprec");
pub(crate) const SCAN: &str = include_str!("samples/scan.xml");
pub(crate) const JSON: &str = include_str!("samples/lldpctl.json");
pub(crate) const JSON0: &str = include_str!("samples/lldpctl.json0");
pub(crate) const IP_NEIGH: &str = include_str!("samples/neigh.json");
pub(crate) const IP_ADDR: &str = include_str!("samples/addr.json");
pub(crate) const IP_ROUTE: &str = include_str!("samples/route.json");
pub(crate) const BRIDGE_FDB: &str = include_str!("samples/fdb.json");
pub(crate) const BRIDGE_VLAN: &str = include_str!("samples/vlan.json");
pub(crate) const ARP: &str = include_str!("samples/arp.txt");

/// Returns options with the time of the samples.
pub(crate) fn options() -> ParseOptions {
    ParseOptions::new("2026-11-01T12:00:00Z".parse::<Timestamp>().unwrap())
}

pub(crate) fn with_reporter() -> ParseOptions {
    options().with_reporter("core-1".into())
}

pub(crate) fn parsed(format: Format, text: &str) -> Report {
    parse(format, text.as_bytes(), &with_reporter()).unwrap()
}

pub(crate) fn refused(format: Format, input: impl AsRef<[u8]>) -> ParseError {
    parse(format, input.as_ref(), &with_reporter()).unwrap_err()
}

/// Parses input of one device.
pub(crate) fn device(format: Format, text: &str) -> Device {
    let mut report = parsed(format, text);
    assert_eq!(report.devices.len(), 1);
    report.devices.remove(0)
}

pub(crate) fn rows<T: Clone>(table: Option<&Table<T>>) -> Vec<T> {
    table.expect("the table is missing").rows.clone()
}

/// Returns the count of a warning of the report.
pub(crate) fn count(report: &Report, code: WarningCode) -> u64 {
    report.warnings.iter().find(|warning| warning.code == code).map_or(0, |warning| warning.count)
}

pub(crate) fn is_syntax(error: &ParseError) -> bool {
    matches!(error.kind(), ParseErrorKind::Syntax(_))
}
