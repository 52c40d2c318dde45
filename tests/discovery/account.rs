//! The account of rows: each row that is read is used, or is skipped for a reason that a warning counts.

use std::path::PathBuf;
use std::{env, fs};

use toposcope::discovery::report::WarningCode;
use toposcope::discovery::{Format, Report, parse};

use crate::real::{files, format_of, unpacked};
use crate::support::{
    ARP, IP_NEIGH, JSON, JSON0, RECORDING, SCAN, SYMBOLIC_WALK, WALK, parsed, with_reporter,
};

/// The warnings that count no skipped rows.
const NOTES: &[WarningCode] = &[
    WarningCode::ValueInvalid,
    WarningCode::ValueTruncated,
    WarningCode::InputTruncated,
    WarningCode::LocalPortUnknown,
    WarningCode::BridgePortUnknown,
    WarningCode::VlanPortUnknown,
    WarningCode::ChassisIdMissing,
    WarningCode::AggregateUnknown,
    WarningCode::VariableUnread,
    WarningCode::FieldUnknown,
    WarningCode::TextIgnored,
];

/// Returns what is wrong with the account of a report.
pub(crate) fn fault(report: &Report) -> Option<String> {
    let (read, used, skipped) = (report.read_rows, report.used_rows, report.skipped_rows);
    let reasons = report.warnings.iter().filter(|warning| !NOTES.contains(&warning.code));
    let explained: u64 = reasons.map(|warning| warning.count).sum();
    let is_right = read == used + skipped && explained == skipped;
    (!is_right).then(|| {
        let warnings = report.warnings.iter().map(|warning| format!("{:?} {}", warning.code, warning.count));
        let warnings: Vec<String> = warnings.collect();
        format!("{read} read, {used} used, {skipped} skipped, {explained} explained: {}", warnings.join(", "))
    })
}

#[test]
fn rows_of_samples_are_used_or_skipped_for_a_reason() {
    let samples = [
        (Format::Snmpwalk, WALK),
        (Format::Snmpwalk, SYMBOLIC_WALK),
        (Format::Snmprec, RECORDING),
        (Format::Nmap, SCAN),
        (Format::Lldpctl, JSON),
        (Format::Lldpctl, JSON0),
        (Format::Arp, IP_NEIGH),
        (Format::Arp, ARP),
    ];
    let faults = samples.iter().filter_map(|(format, sample)| {
        let report = parsed(*format, sample);
        assert!(report.read_rows > 0, "{format}");
        fault(&report).map(|fault| format!("{format}: {fault}"))
    });
    let faults: Vec<String> = faults.collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A walk, the numbers of rows that are read and used, and the warnings.
type Case = (&'static str, u64, u64, &'static [(WarningCode, u64)]);

/// Each walk has rows that are left out for different reasons.
#[test]
fn rows_of_walks_that_are_left_out_are_counted_with_their_reason() {
    let interface = ".1.3.6.1.2.1.2.2.1.2.7 = STRING: \"eth7\"\n";
    let cases: &[Case] = &[
        (".1.3.6.1.2.1.4.20.1.2.192.0.2.1 = INTEGER: 7\n", 2, 2, &[]),
        (".1.3.6.1.2.1.4.20.1.2.224.0.0.5 = INTEGER: 7\n", 2, 1, &[(WarningCode::AddressShared, 1)]),
        (".1.3.6.1.2.1.4.20.1.2.1 = INTEGER: 7\n", 2, 1, &[(WarningCode::RowIncomplete, 1)]),
        (".1.3.6.1.2.1.4.22.1.4.7.192.0.2.2 = INTEGER: 2\n", 2, 1, &[(WarningCode::EntryInvalid, 1)]),
        (".1.3.6.1.2.1.4.22.1.4.7.192.0.2.2 = INTEGER: 3\n", 2, 1, &[(WarningCode::RowIncomplete, 1)]),
        (".1.3.6.1.2.1.17.1.4.1.2.1 = INTEGER: 7\n", 2, 2, &[]),
        (".1.3.6.1.2.1.17.1.4.1.2.1 = INTEGER: 8\n", 2, 1, &[(WarningCode::PortWithoutInterface, 1)]),
        (".1.3.6.1.2.1.17.4.3.1.3.1 = INTEGER: 3\n", 2, 1, &[(WarningCode::RowIncomplete, 1)]),
        (
            ".1.3.6.1.2.1.17.4.3.1.3.0.0.94.0.83.1 = INTEGER: 3\n",
            2,
            2,
            &[(WarningCode::BridgePortUnknown, 1)],
        ),
        (".1.3.6.1.2.1.31.1.2.1.3.7.6 = INTEGER: 1\n", 2, 1, &[(WarningCode::NotAnAggregate, 1)]),
        (".1.3.6.1.2.1.47.1.1.1.1.5.1 = INTEGER: 3\n", 2, 1, &[(WarningCode::RowIncomplete, 1)]),
        (".1.3.6.1.2.1.47.1.1.1.1.11.1 = STRING: \"SN\"\n", 2, 2, &[]),
        (".1.3.6.1.2.1.17.7.1.4.5.1.1.9 = Gauge32: 5\n", 2, 1, &[(WarningCode::PortWithoutInterface, 1)]),
    ];
    for (walk, read, used, warnings) in cases {
        let report = parsed(Format::Snmpwalk, &format!("{interface}{walk}"));
        let found: Vec<(WarningCode, u64)> =
            report.warnings.iter().map(|warning| (warning.code, warning.count)).collect();
        assert_eq!(
            (report.read_rows, report.used_rows, found.as_slice()),
            (*read, *used, *warnings),
            "{walk}"
        );
        assert_eq!(fault(&report), None, "{walk}");
        assert!(report.warnings.iter().all(|warning| warning.example.is_some()), "{walk}");
    }
}

#[test]
fn rows_of_real_files_are_used_or_skipped_for_a_reason() {
    let mut faults = Vec::new();
    for (path, format) in files().into_iter().chain(cases()) {
        let Ok(report) = parse(format, unpacked(&path).as_slice(), &with_reporter()) else { continue };
        faults.extend(fault(&report).map(|fault| format!("{format} {}: {fault}", path.display())));
    }
    assert!(faults.is_empty(), "{} files:\n{}", faults.len(), faults.join("\n"));
}

/// Returns the files of the folders `cases/discovery` and `live` of the test data.
fn cases() -> Vec<(PathBuf, Format)> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let data = env::var_os("TOPOSCOPE_DISCOVERY_DATA").map_or_else(beside, PathBuf::from);
    let folders = ["cases/discovery", "live/cases"].map(|folder| data.join(folder));
    let walks = ["walk", "lldp", "neigh", "arpan", "nmap"].map(|folder| data.join("live/s1").join(folder));
    let paths = folders.iter().chain(&walks).flat_map(|folder| fs::read_dir(folder).into_iter().flatten());
    let paths = paths.map(|entry| entry.unwrap().path());
    let format = |path: &PathBuf| {
        let is_arp = path.extension().is_some_and(|extension| extension == "arp");
        if is_arp || path.parent().is_some_and(|folder| folder.ends_with("neigh")) {
            return Some(Format::Arp);
        }
        format_of(path)
    };
    paths.filter_map(|path| Some((path.clone(), format(&path)?))).collect()
}
