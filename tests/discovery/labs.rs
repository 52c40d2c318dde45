//! Walks of real networks, in the folder `labs` of the test data.
//!
//! The test data is in `TOPOSCOPE_DISCOVERY_DATA`, or in `../shared/data` beside the crate. Each lab has
//! `<device>.walk.gz` files and `expected.tsv`, the links that another tool finds.

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
fn device_that_is_imported_alone_and_then_with_all_becomes_the_same_host() {
    for lab in labs() {
        let expected = imported(&lab.reports).without_times();
        for (device, report) in &lab.reports {
            let mut world = World::default();
            let alone = world.discover(report);
            assert_eq!(world.hosts().count(), 1, "{}: {device}", lab.name);
            for report in lab.reports.values() {
                world.discover(report);
            }
            assert_eq!(world.without_times(), expected, "{}: {device}", lab.name);
            assert_eq!(Some(world.host_of(&report.devices[0]).id), alone[0].id, "{}: {device}", lab.name);
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

/// Rows count if both devices are walked and differ and the source port is known. The source port must have this
/// neighbor alone.
#[test]
fn neighbors_are_those_of_the_expected_links() {
    for lab in labs() {
        let world = imported(&lab.reports);
        let links = lab.resolved(&world);
        let wanted: Vec<_> = links.iter().filter(|link| lab.is_wanted(link)).collect();
        for link in &wanted {
            let (source, target) = (link.source_port.unwrap(), link.target_port.unwrap());
            let neighbor = Some(Neighbor::IfEntry(target.id));
            assert_eq!(source.neighbor, neighbor, "{}: {}", lab.name, link.row.join(" "));
        }
        println!("{}: {} of {} rows are neighbors at port level", lab.name, wanted.len(), lab.rows.len());
        for link in links.iter().filter(|link| link.target.is_some() && !lab.is_wanted(link)) {
            println!("  not counted: {}", link.row.join(" "));
        }
        let hosts = lab.reports.values().map(|report| world.host_of(&report.devices[0]));
        for (host, entry) in hosts.flat_map(|host| host.if_entries.iter().map(move |entry| (host, entry))) {
            let Some(neighbor) = entry.neighbor else { continue };
            let is_row = links.iter().any(|link| link.allows(host, entry, neighbor));
            assert!(is_row, "{}: {} {:?} has {neighbor:?}", lab.name, host.name, entry.if_name);
        }
    }
}

struct Lab {
    name: String,
    reports: BTreeMap<String, Report>,
    /// Rows of `expected.tsv`: scenario, protocol, source device and port, target device and port.
    rows: Vec<Vec<String>>,
}

/// A row of `expected.tsv` with the hosts and ports that it names.
struct Link<'w> {
    row: &'w [String],
    source: &'w Host,
    source_port: Option<&'w IfEntry>,
    target: Option<&'w Host>,
    target_port: Option<&'w IfEntry>,
}

impl Link<'_> {
    /// Returns whether a neighbor of a port is the target. The list has port 0 where the local port is unknown.
    fn allows(&self, host: &Host, entry: &IfEntry, neighbor: Neighbor) -> bool {
        let is_port = self.row[3] == "0" || self.source_port.is_some_and(|port| port.id == entry.id);
        let is_target = match neighbor {
            Neighbor::IfEntry(id) => self.target_port.is_some_and(|port| port.id == id),
            Neighbor::Host(id) => self.target.is_some_and(|target| target.id == id),
        };
        self.source.id == host.id && is_port && is_target
    }
}

impl Lab {
    fn resolved<'w>(&'w self, world: &'w World) -> Vec<Link<'w>> {
        let mut hosts: BTreeMap<String, &Host> = BTreeMap::new();
        for (name, report) in &self.reports {
            let device = &report.devices[0];
            let host = world.host_of(device);
            let cdp = device.cdp_device_id.as_deref().and_then(|id| id.split('(').next());
            let chassis = host.chassis_id.as_ref().map(|id| id.value.replace(':', " "));
            let names = [Some(name.as_str()), host.sys_name.as_deref(), cdp, chassis.as_deref()];
            hosts.extend(names.into_iter().flatten().map(|name| (name.to_lowercase(), host)));
        }
        let link = |row: &'w Vec<String>| {
            let source = hosts[&row[2].to_lowercase()];
            let target = hosts.get(&row[4].to_lowercase()).copied();
            let target_port = target.and_then(|target| port(target, &row[5]));
            Link { row, source, source_port: port(source, &row[3]), target, target_port }
        };
        self.rows.iter().map(link).collect()
    }

    fn is_wanted(&self, link: &Link<'_>) -> bool {
        let same_port = self.rows.iter().filter(|row| row[1..4] == link.row[1..4]);
        let targets: BTreeSet<&String> = same_port.map(|row| &row[4]).collect();
        link.target.is_some_and(|target| target.id != link.source.id)
            && link.row[3] != "0"
            && targets.len() == 1
    }
}

/// Returns the port that a list names. A list names it by name, description, index, or MAC address, in forms of its
/// own.
fn port<'h>(host: &'h Host, text: &str) -> Option<&'h IfEntry> {
    let address = text.replace(' ', ":");
    let is: [&dyn Fn(&IfEntry) -> bool; 5] = [
        &|entry| entry.if_name.as_deref() == Some(text),
        &|entry| entry.if_descr == text,
        &|entry| entry.if_descr == format!("Port {text}"),
        &|entry| entry.if_index.to_string() == text,
        &|entry| entry.mac_address.is_some_and(|mac| mac.to_string() == address),
    ];
    is.iter().find_map(|is| {
        let mut found = host.if_entries.iter().filter(|entry| is(entry));
        found.next().filter(|_| found.next().is_none())
    })
}

fn imported(reports: &BTreeMap<String, Report>) -> World {
    let mut world = World::default();
    for report in reports.values() {
        world.discover(report);
    }
    world
}

/// Returns the labs. If the folder is missing, it prints a message and returns none.
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
    let rows = rows.filter(|row| is_whole(row[0]));
    let rows = rows.map(|row| row.into_iter().map(str::to_owned).collect()).collect();
    Lab { name, reports, rows }
}
