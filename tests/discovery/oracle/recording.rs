//! The recordings, what the poller reads from them, and a reader of single variables.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use serde_json::Value;
use toposcope::discovery::report::Device;
use toposcope::discovery::{Format, Report, parse};

use crate::support::with_reporter;

/// A recording with the poller's values and the report.
pub(crate) struct Recording {
    pub(crate) name: String,
    pub(crate) expected: Value,
    pub(crate) report: Report,
    bytes: Vec<u8>,
}

impl Recording {
    pub(crate) fn device(&self) -> &Device {
        &self.report.devices[0]
    }

    /// Returns the poller's rows of a kind.
    pub(crate) fn rows(&self, kind: &str) -> &[Value] {
        self.expected[kind].as_array().map_or(&[], Vec::as_slice)
    }

    pub(crate) fn variables(&self) -> Variables<'_> {
        let mut values = BTreeMap::new();
        for line in self.bytes.split(|byte| *byte == b'\n') {
            let mut parts = line.splitn(3, |byte| *byte == b'|');
            let (Some(oid), Some(tag), Some(value)) = (parts.next(), parts.next(), parts.next()) else {
                continue;
            };
            if let (Ok(oid), Ok(tag)) = (str::from_utf8(oid), str::from_utf8(tag)) {
                values.insert(oid.trim_start_matches('.'), (tag, value));
            }
        }
        Variables { values }
    }
}

/// The variables of a recording by their identifiers, read apart from the parser.
pub(crate) struct Variables<'r> {
    values: BTreeMap<&'r str, (&'r str, &'r [u8])>,
}

impl<'r> Variables<'r> {
    pub(crate) fn has(&self, oid: &str) -> bool {
        self.values.contains_key(oid)
    }

    /// Returns whether a variable begins with an identifier.
    pub(crate) fn has_any(&self, prefix: &str) -> bool {
        let prefix = format!("{prefix}.");
        self.values
            .range::<str, _>((Bound::Included(prefix.as_str()), Bound::Unbounded))
            .next()
            .is_some_and(|(oid, _)| oid.starts_with(&prefix))
    }

    /// Returns the identifiers and values below an identifier; the former without it.
    pub(crate) fn below(&self, prefix: &str) -> Vec<(&'r str, Vec<u8>)> {
        let prefix = format!("{prefix}.");
        let from = self.values.range::<str, _>((Bound::Included(prefix.as_str()), Bound::Unbounded));
        from.map_while(|(oid, value)| Some((oid.strip_prefix(prefix.as_str())?, decoded(*value)))).collect()
    }

    pub(crate) fn get(&self, oid: &str) -> Option<Vec<u8>> {
        self.values.get(oid).map(|value| decoded(*value))
    }

    pub(crate) fn text(&self, oid: &str) -> Option<String> {
        self.get(oid).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    pub(crate) fn number(&self, oid: &str) -> Option<i64> {
        self.text(oid)?.trim().parse().ok()
    }
}

fn decoded((tag, value): (&str, &[u8])) -> Vec<u8> {
    if !tag.ends_with('x') {
        return value.to_vec();
    }
    let pairs = value.trim_ascii().chunks(2).map(|pair| str::from_utf8(pair).unwrap_or(""));
    pairs.filter_map(|pair| u8::from_str_radix(pair, 16).ok()).collect()
}

/// Calls a function with each recording. If the folder is missing, it prints a message and returns `false`.
pub(crate) fn for_each(mut visit: impl FnMut(&Recording)) -> bool {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let data = env::var_os("TOPOSCOPE_DISCOVERY_DATA").map_or_else(beside, PathBuf::from);
    let folder = data.join("oracle");
    if !folder.is_dir() {
        println!(
            "skipped: no recordings at {}; TOPOSCOPE_DISCOVERY_DATA may name another folder",
            data.display()
        );
        return false;
    }
    let unpacked = tempfile::tempdir().unwrap();
    let archive = folder.join("recordings.tar.xz");
    let status =
        Command::new("tar").arg("-xJf").arg(archive).arg("-C").arg(unpacked.path()).status().unwrap();
    assert!(status.success(), "the recordings cannot be unpacked");
    let expected =
        Command::new("gzip").arg("-dc").arg(folder.join("expected.jsonl.gz")).output().unwrap().stdout;
    for line in expected.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let expected: Value = serde_json::from_slice(line).unwrap();
        let name = expected["name"].as_str().unwrap().to_owned();
        visit(&recording(unpacked.path(), name, expected));
    }
    true
}

fn recording(folder: &Path, name: String, expected: Value) -> Recording {
    let bytes = fs::read(folder.join(format!("{name}.snmprec"))).unwrap();
    let options = with_reporter().with_complete_tables();
    let report = parse(Format::Snmprec, bytes.as_slice(), &options);
    let report = report.unwrap_or_else(|error| panic!("{name}: {error}"));
    Recording { name, expected, report, bytes }
}
