//! Real files: `TOPOSCOPE_DISCOVERY_DATA`, or `../shared/data` beside the crate, has folders `discovery` and `labs`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use toposcope::discovery::{Format, ParseErrorKind, Report, parse};

use crate::support::{options, with_reporter};

#[test]
fn every_real_file_is_accepted_with_a_reporter() {
    for (path, format) in files() {
        let bytes = unpacked(&path);
        let report = parse(format, bytes.as_slice(), &with_reporter().with_complete_tables());
        let report = report.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let json = serde_json::to_vec(&report).unwrap();
        let read: Report = serde_json::from_slice(&json).unwrap();
        assert_eq!(read, report, "{}", path.display());
    }
}

#[test]
fn real_files_are_refused_only_for_a_missing_reporter() {
    for (path, format) in files() {
        if let Err(error) = parse(format, unpacked(&path).as_slice(), &options()) {
            assert!(matches!(error.kind(), ParseErrorKind::ReporterRequired), "{}: {error}", path.display());
        }
    }
}

#[test]
fn cut_real_walks_are_accepted() {
    for (path, format) in files().into_iter().filter(|(_, format)| *format == Format::Snmpwalk) {
        let bytes = unpacked(&path);
        for tenth in [1, 5, 9] {
            let cut = bytes.len() * tenth / 10;
            let report = parse(format, &bytes[..cut], &with_reporter().with_complete_tables());
            let report = report.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert_eq!(report.devices.len(), 1);
        }
    }
}

/// Returns the files of both folders; none, with a message, where the folders are missing.
pub(crate) fn files() -> Vec<(PathBuf, Format)> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let data = env::var_os("TOPOSCOPE_DISCOVERY_DATA").map_or_else(beside, PathBuf::from);
    if !data.join("discovery").is_dir() {
        println!("skipped: no data at {}; TOPOSCOPE_DISCOVERY_DATA may name another folder", data.display());
        return Vec::new();
    }
    let mut files = Vec::new();
    let labs = fs::read_dir(data.join("labs")).into_iter().flatten().map(|entry| entry.unwrap().path());
    for folder in labs.chain([data.join("discovery")]) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if let Some(format) = format_of(&path) {
                files.push((path, format));
            }
        }
    }
    assert!(!files.is_empty());
    files
}

pub(crate) fn format_of(path: &Path) -> Option<Format> {
    let name = path.file_name()?.to_str()?;
    let name = name.trim_end_matches(".gz").trim_end_matches(".bz2");
    match name.rsplit_once('.')?.1 {
        "xml" => Some(Format::Nmap),
        "json" => Some(Format::Lldpctl),
        "walk" | "snmpwalk" => Some(Format::Snmpwalk),
        "snmprec" => Some(Format::Snmprec),
        _ => None,
    }
}

pub(crate) fn unpacked(path: &Path) -> Vec<u8> {
    let program = match path.extension().and_then(|extension| extension.to_str()) {
        Some("gz") => "gzip",
        Some("bz2") => "bzip2",
        _ => return fs::read(path).unwrap(),
    };
    let output = Command::new(program).arg("-dc").arg(path).output().unwrap();
    assert!(output.status.success(), "{} cannot be unpacked", path.display());
    output.stdout
}
