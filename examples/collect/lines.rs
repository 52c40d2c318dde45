//! The lines about devices that were read, and about addresses of which there is no report.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use toposcope::collect::crawl::{CrawlFailure, CrawlFailureReason, CrawledDevice};
use toposcope::collect::snmp::{AskError, SnmpRefusal, TruncationReason};
use toposcope::collect::tables;

/// Maximum number of characters of a text from a device that are printed.
const MAX_TEXT: usize = 80;

/// Returns a text from a device on one line. Devices may send texts without end, and characters that a terminal obeys.
fn shown(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().replace(char::is_control, "?");
    match line.char_indices().nth(MAX_TEXT) {
        Some((end, _)) => format!("{}…", line.split_at(end).0),
        None => line,
    }
}

/// Returns the name of a device, if it has one.
pub(crate) fn name(device: &CrawledDevice) -> Option<String> {
    device.report.devices.iter().find_map(|described| described.sys_name.as_deref()).map(shown)
}

/// Returns name, address and model of a device, and the tables that could not be read.
pub(crate) fn device_lines(device: &CrawledDevice) -> String {
    let mut lines = String::new();
    for described in &device.report.devices {
        let name = described.sys_name.as_deref().map_or_else(|| "a device without a name".to_owned(), shown);
        let model = described.model.as_deref().or(described.sys_descr.as_deref()).unwrap_or("unknown model");
        let is_unchanged = !described.tables.unchanged().is_empty();
        let mark = if is_unchanged { "  (unchanged)" } else { "" };
        lines += &format!("{name}  {}  {}{mark}\n", device.address, shown(model));
    }
    if let Some(from) = device.answers_from {
        lines += &format!("  it answers from {from}\n");
    }
    lines + &truncated_lines(device)
}

/// Returns a line for each reason for which tables are incomplete.
fn truncated_lines(device: &CrawledDevice) -> String {
    let mut reasons: BTreeMap<String, (BTreeSet<&str>, &str)> = BTreeMap::new();
    for (object, reason) in &device.truncated {
        let (names, _) = reasons
            .entry(reason.to_string())
            .or_insert_with(|| (BTreeSet::new(), truncation_advice(*reason)));
        let kinds = tables::kinds(object);
        names.extend(kinds.iter().map(|kind| kind.as_str()));
        if kinds.is_empty() {
            names.insert("others");
        }
    }
    let line = |(reason, (names, advice)): (String, (BTreeSet<&str>, &str))| {
        let names: Vec<&str> = names.into_iter().collect();
        format!("  incomplete: {} ({reason}; {advice})\n", names.join(", "))
    };
    reasons.into_iter().map(line).collect()
}

const fn truncation_advice(reason: TruncationReason) -> &'static str {
    match reason {
        TruncationReason::Silent => "look at its load, and at the view of the user or community",
        TruncationReason::Status(_) => "give the user or the community the right to read the whole tree",
        TruncationReason::Changed => "collect again",
        TruncationReason::RowLimit | TruncationReason::ByteLimit | TruncationReason::TimeLimit => {
            "the rest is left out"
        }
        _ => "a newer firmware may help",
    }
}

/// Returns the line about an address of which there is no report. `devices` has the names of those that were read, by their addresses.
pub(crate) fn failure_line(failure: &CrawlFailure, devices: &BTreeMap<IpAddr, String>) -> String {
    let CrawlFailure { address, reason, .. } = failure;
    match devices.get(address) {
        Some(name) => {
            format!("{address}  {reason}; it is an address of {name}, which was read at another one\n")
        }
        None => format!("{address}  {reason}; {}\n", advice(reason)),
    }
}

/// Returns advice for a failure.
const fn advice(reason: &CrawlFailureReason) -> &'static str {
    match reason {
        CrawlFailureReason::NotAnswered(AskError::Silent) => {
            "check that SNMP is switched on, that its access list has this machine, and that the community is right"
        }
        CrawlFailureReason::NotAnswered(AskError::NotAllowed) => "--within decides what may be asked",
        CrawlFailureReason::NotAnswered(AskError::NotSent(_)) => "check the routes of this machine",
        CrawlFailureReason::NotAnswered(AskError::Refused(refusal)) => match refusal {
            SnmpRefusal::UnknownUser => "check --user",
            SnmpRefusal::WrongDigest => "check --auth and its password",
            SnmpRefusal::DecryptionFailed => "check --priv and its password",
            SnmpRefusal::UnsupportedLevel => "check whether --auth-env and --priv-env are needed",
            _ => "check the SNMP settings of the device",
        },
        CrawlFailureReason::NotAnswered(AskError::Denied(_)) => {
            "give the user or the community the right to read the whole tree"
        }
        _ => "walk it with snmpbulkwalk, and import the file",
    }
}
