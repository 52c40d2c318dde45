//! Fuzz targets for the parsers of discovery, one for each format.
//!
//! ```text
//! cargo install cargo-fuzz
//! cargo +nightly fuzz run snmpwalk
//! ```
//!
//! Inputs that reach new code are kept in `fuzz/corpus`, and those that fail in `fuzz/artifacts`. Neither is in the
//! repository.

use toposcope::discovery::{Format, ParseOptions, ReporterId, parse};
use toposcope::model::Timestamp;

/// Parses an input, and checks that a report survives its own JSON form.
pub fn parse_input(format: Format, input: &[u8]) {
    let options =
        ParseOptions::new(Timestamp::UNIX_EPOCH).with_reporter(ReporterId::SysName("fuzz".to_owned()));
    let Ok(report) = parse(format, input, &options) else { return };
    let json = serde_json::to_vec(&report).expect("a report is JSON");
    let again =
        parse(Format::Report, json.as_slice(), &options).expect("the JSON form of a report is a report");
    assert_eq!(again.devices, report.devices);
}
