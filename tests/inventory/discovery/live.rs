//! The files of a real network, in the folder `live` of the test data, in random orders.
//!
//! The test data is in `TOPOSCOPE_DISCOVERY_DATA`, or in `../shared/data` beside the crate.
//! `TOPOSCOPE_DISCOVERY_ORDERS` is the number of orders of each test and variant; the default is 5.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use fastrand::Rng;
use toposcope::discovery::{Format, ParseOptions, Report, parse};
use toposcope::inventory::{DiscoverOptions, DiscoveryOutcome};
use toposcope::model::Timestamp;

use super::canonical::{canonical, hosts};
use super::support::run_in_memory;
use crate::support::{Fixture, owner_of, time};

/// The time at which all files were observed, or after which each was.
const START: &str = "2026-08-01T12:00:00Z";

/// The number of devices, and an address that two routers share.
const HOSTS: usize = 11;

#[test]
fn live_network_gives_the_same_hosts_in_any_order() {
    for (complete, spread) in [(false, 0), (true, 0), (false, 1), (true, 1)] {
        let Some(reports) = reports(complete, spread) else { return };
        check_orders(&reports, &format!("complete {complete}, {spread} seconds apart"));
    }
}

#[test]
fn live_network_with_its_neighbors_has_the_same_hosts_in_any_order() {
    let Some(reports) = reports(false, 0) else { return };
    run_in_memory(async || {
        let mut expected: Option<Vec<String>> = None;
        for seed in 0..orders() {
            let order = random_order(reports.len(), seed);
            let fixture = Fixture::new().await;
            import(&fixture, &reports, &order, DiscoverOptions::new(fixture.network).create_neighbors())
                .await;
            let mut names: Vec<String> = hosts(&fixture).await.into_iter().map(|host| host.name).collect();
            names.sort();
            assert!(names.len() <= HOSTS, "seed {seed}: {names:?}");
            let expected = expected.get_or_insert_with(|| names.clone());
            assert_eq!(&names, expected, "seed {seed}");
        }
    });
}

/// Returns the places of all reports in a random order, and of some of them again.
fn random_order(count: usize, seed: u64) -> Vec<usize> {
    let mut random = Rng::with_seed(seed);
    let mut order: Vec<usize> = (0..count).collect();
    random.shuffle(&mut order);
    for _ in 0..5 {
        let again = order[random.usize(..order.len())];
        order.insert(random.usize(..order.len()), again);
    }
    order
}

/// Checks that random orders of reports, some of them repeated, give the same hosts.
fn check_orders(reports: &[(String, Report)], name: &str) {
    run_in_memory(async || {
        let mut expected: Option<Vec<String>> = None;
        for seed in 0..orders() {
            let order = random_order(reports.len(), seed);
            let fixture = Fixture::new().await;
            import(&fixture, reports, &order, DiscoverOptions::new(fixture.network)).await;
            let found = canonical(&fixture).await;
            let files: Vec<&str> = order.iter().map(|place| reports[*place].0.as_str()).collect();
            assert!(found.len() <= HOSTS, "{name}, seed {seed}: {} hosts by {files:?}", found.len());
            let expected = expected.get_or_insert_with(|| found.clone());
            assert_same(expected, &found, &format!("{name}, seed {seed}: {files:?}"));
        }
    });
}

/// Imports reports in an order. Reports that were ignored are offered again after the others.
async fn import(fixture: &Fixture, reports: &[(String, Report)], order: &[usize], options: DiscoverOptions) {
    let caller = owner_of(fixture.organization);
    let mut left = order.to_vec();
    for _ in 0..2 {
        let mut ignored = Vec::new();
        for place in left {
            let answer =
                fixture.inventory.discovery().reconcile(&caller, &reports[place].1, options).await.unwrap();
            if answer.hosts.iter().any(|host| host.outcome == DiscoveryOutcome::Ignored) {
                ignored.push(place);
            }
        }
        left = ignored;
    }
}

#[track_caller]
fn assert_same(expected: &[String], found: &[String], name: &str) {
    let lines = |hosts: &[String]| hosts.join("\n").lines().map(str::to_owned).collect::<Vec<_>>();
    let (expected, found) = (lines(expected), lines(found));
    let differs = expected.iter().zip(&found).position(|(one, other)| one != other);
    let Some(first) = differs.or((expected.len() != found.len()).then_some(0)) else { return };
    let around = |lines: &[String]| lines[first.saturating_sub(30)..lines.len().min(first + 10)].join("\n");
    panic!("{name}\nexpected at line {first}\n{}\nfound\n{}", around(&expected), around(&found));
}

fn orders() -> u64 {
    env::var("TOPOSCOPE_DISCOVERY_ORDERS").map_or(5, |number| number.parse().unwrap())
}

/// Returns the report of each file by its name; `None` after a message if the folder is missing. The reports are
/// observed this number of seconds apart.
fn reports(complete: bool, spread: i64) -> Option<Vec<(String, Report)>> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let data = env::var_os("TOPOSCOPE_DISCOVERY_DATA").map_or_else(beside, PathBuf::from);
    let folder = data.join("live/s1");
    if !folder.is_dir() {
        eprintln!(
            "skipped: no files at {}; TOPOSCOPE_DISCOVERY_DATA may name another folder",
            data.display()
        );
        return None;
    }
    let mut reports = Vec::new();
    let formats = [
        ("arpan", Format::Arp),
        ("lldp", Format::Lldpctl),
        ("neigh", Format::Arp),
        ("nmap", Format::Nmap),
        ("walk", Format::Snmpwalk),
    ];
    for (kind, format) in formats {
        let mut paths: Vec<PathBuf> =
            fs::read_dir(folder.join(kind)).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        for path in paths {
            let seconds = spread * i64::try_from(reports.len()).unwrap();
            let at = time(START).plus_micros(seconds * 1_000_000);
            reports.push((path.display().to_string(), read(&path, format, complete, at)));
        }
    }
    // The scanner states its own time.
    for (_, report) in &mut reports {
        if spread == 0 {
            report.observed_at = time(START);
        }
    }
    Some(reports)
}

fn read(path: &Path, format: Format, complete: bool, at: Timestamp) -> Report {
    let file = path.file_name().unwrap().to_str().unwrap();
    let bytes = match file.ends_with(".gz") {
        true => Command::new("gzip").arg("-dc").arg(path).output().unwrap().stdout,
        false => fs::read(path).unwrap(),
    };
    let reporter = file.split('.').next().unwrap();
    let mut options = ParseOptions::new(at).with_reporter(reporter.into());
    if complete {
        options = options.with_complete_tables();
    }
    parse(format, bytes.as_slice(), &options).unwrap()
}
