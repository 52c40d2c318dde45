//! Walks of real networks: `TOPOSCOPE_DISCOVERY_DATA`, or `../shared/data` beside the crate, has a folder `labs`.
//!
//! Each lab has `<device>.walk.gz` files and `expected.tsv`, the links that another tool finds.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use fastrand::Rng;
use toposcope::discovery::{Format, Report, parse};
use toposcope::model::{Host, IfEntry, Neighbor};

use crate::reconcile::world::World;
use crate::support::options;

#[test]
fn every_walked_device_is_one_host() {
    for lab in labs() {
        let mut world = World::default();
        for (device, report) in &lab.reports {
            assert_eq!(world.discover(report).len(), 1, "{}: {device}", lab.name);
        }
        assert_eq!(world.hosts().count(), lab.reports.len(), "{}", lab.name);
    }
}

#[test]
fn order_of_walks_does_not_matter() {
    for lab in labs() {
        let expected = imported(&lab.reports).without_times();
        let mut random = Rng::with_seed(1);
        let mut reports: Vec<&Report> = lab.reports.values().collect();
        for _ in 0..20 {
            random.shuffle(&mut reports);
            let mut world = World::default();
            for report in &reports {
                world.discover(report);
            }
            assert_eq!(world.without_times(), expected, "{}", lab.name);
        }
    }
}

#[test]
fn walks_that_are_imported_again_change_nothing() {
    for lab in labs() {
        let mut world = imported(&lab.reports);
        let before = world.clone();
        for report in lab.reports.values() {
            for outcome in world.discover(report) {
                assert!(outcome.wrote_nothing, "{}: {:?}", lab.name, outcome.changes);
            }
        }
        assert_eq!(world, before, "{}", lab.name);
    }
}

#[test]
fn neighbors_are_those_of_the_expected_links() {
    for lab in labs() {
        let world = imported(&lab.reports);
        let report = check_links(&lab, &world);
        println!("{}: {} links at port level, {} missing", lab.name, report.found, report.missing.len());
        for line in report.missing.iter().chain(&report.unexpected) {
            println!("  {line}");
        }
    }
}

struct Lab {
    name: String,
    reports: BTreeMap<String, Report>,
    links: Vec<Link>,
}

/// A row of `expected.tsv`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Link {
    source: String,
    source_port: String,
    target: String,
    target_port: String,
}

#[derive(Default)]
struct Found {
    found: usize,
    missing: Vec<String>,
    unexpected: Vec<String>,
}

fn check_links(lab: &Lab, world: &World) -> Found {
    let hosts: BTreeMap<String, &Host> = lab
        .reports
        .iter()
        .map(|(device, report)| (device.to_lowercase(), world.host_of(&report.devices[0])))
        .collect();
    let mut result = Found::default();
    let mut expected: BTreeSet<(uuid::Uuid, Neighbor2)> = BTreeSet::new();
    let _ = &mut expected;
    for link in &lab.links {
        let (Some(source), Some(target)) =
            (hosts.get(&link.source.to_lowercase()), hosts.get(&link.target.to_lowercase()))
        else {
            continue;
        };
        let line = format!("{} {} -> {} {}", link.source, link.source_port, link.target, link.target_port);
        let from = port(source, &link.source_port);
        let to = port(target, &link.target_port);
        match (from, to) {
            (Some(from), Some(to)) if from.neighbor == Some(Neighbor::IfEntry(to.id)) => result.found += 1,
            (from, to) => result.missing.push(format!(
                "missing {line}: source port {:?}, target port {:?}, neighbor {:?}",
                from.map(|entry| &entry.if_name),
                to.map(|entry| &entry.if_name),
                from.and_then(|entry| entry.neighbor).map(|neighbor| name_of(world, neighbor)),
            )),
        }
    }
    for (device, host) in &hosts {
        for entry in &host.if_entries {
            if let Some(neighbor) = entry.neighbor {
                result.unexpected.push(format!(
                    "set {device} {} -> {}",
                    shown(entry),
                    name_of(world, neighbor)
                ));
            }
        }
    }
    result
}

type Neighbor2 = String;

fn name_of(world: &World, neighbor: Neighbor) -> String {
    for host in world.hosts() {
        match neighbor {
            Neighbor::Host(id) if host.id == id => return host.name.clone(),
            Neighbor::IfEntry(id) => {
                if let Some(entry) = host.if_entries.iter().find(|entry| entry.id == id) {
                    return format!("{} {}", host.name, shown(entry));
                }
            }
            Neighbor::Host(_) => {}
        }
    }
    "nothing".to_owned()
}

fn shown(entry: &IfEntry) -> String {
    format!("{}/{:?}/{}", entry.if_index, entry.if_name, entry.if_descr)
}

/// Returns the port with a name, a description, an index, or a MAC address without separators.
fn port<'h>(host: &'h Host, text: &str) -> Option<&'h IfEntry> {
    let is = |entry: &&IfEntry| {
        entry.if_name.as_deref() == Some(text)
            || entry.if_descr == text
            || entry.if_index.to_string() == text
            || entry.mac_address.is_some_and(|address| address.to_string().replace(':', " ") == text)
    };
    let mut ports = host.if_entries.iter().filter(is);
    let port = ports.next();
    if ports.next().is_none() { port } else { None }
}

fn imported(reports: &BTreeMap<String, Report>) -> World {
    let mut world = World::default();
    for report in reports.values() {
        world.discover(report);
    }
    world
}

/// Returns the labs; none, with a message, where the folder is missing.
fn labs() -> Vec<Lab> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let data = env::var_os("TOPOSCOPE_DISCOVERY_DATA").map_or_else(beside, PathBuf::from);
    let Ok(folders) = fs::read_dir(data.join("labs")) else {
        println!("skipped: no labs at {}; TOPOSCOPE_DISCOVERY_DATA may name another folder", data.display());
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = folders.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| lab(path)).collect()
}

fn lab(folder: &Path) -> Lab {
    let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
    let mut reports = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_str().unwrap();
        if let Some(device) = file.strip_suffix(".walk.gz") {
            let walk = Command::new("gzip").arg("-dc").arg(&path).output().unwrap().stdout;
            let options = options().with_reporter(device.into()).with_complete_tables();
            reports.insert(device.to_owned(), parse(Format::Snmpwalk, walk.as_slice(), &options).unwrap());
        }
    }
    // The lists of one lab may be of several scenarios.
    let is_whole = |scenario: &str| name != "nms18541" || scenario.starts_with("nms18541_network_all");
    let text = fs::read_to_string(folder.join("expected.tsv")).unwrap();
    let rows = text.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>());
    let links = rows.filter(|row| is_whole(row[0])).map(|row| Link {
        source: row[2].to_owned(),
        source_port: row[3].to_owned(),
        target: row[4].to_owned(),
        target_port: row[5].to_owned(),
    });
    let links = links.collect();
    Lab { name, reports, links }
}
