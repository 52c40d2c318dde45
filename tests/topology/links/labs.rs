//! Walks of real networks, in the folder `labs` of the test data.
//!
//! The test data is in `TOPOSCOPE_DISCOVERY_DATA`, or in `../shared/data` beside the crate. Each lab has
//! `<device>.walk.gz` files and `expected.tsv`, the links that another tool finds. The walks are imported into an
//! inventory, and the links follow from its hosts and claims.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use toposcope::access::{Caller, Scope};
use toposcope::discovery::{Format, ParseOptions, Report, parse};
use toposcope::inventory::{Claim, DiscoverOptions, HostQuery, Inventory};
use toposcope::model::{Host, IfEntry, IfEntryId, Network, Permission, UserId};
use toposcope::store::MemoryStore;
use toposcope::topology::links::{Device, End, Link, Links, PortRef};

use super::support::{line, time, whole};

/// Rows count if both devices are walked and differ and the source port is known. The source port must have this
/// neighbor alone.
#[test]
fn links_are_those_of_the_expected_lists() {
    for lab in labs() {
        let links = lab.links();
        let rows = lab.resolved();
        let wanted: Vec<&Row<'_>> = rows.iter().filter(|row| lab.is_wanted(row)).collect();
        for row in &wanted {
            let (source, target) = (row.source_port.unwrap().id, row.target_port.unwrap().id);
            let is_found = links.links().any(|link| joins(link, source, target) || is_mismatch_of(link, row));
            assert!(is_found, "{}: {}\n{}", lab.name, row.text.join(" "), lab.text(&links));
        }
        println!("{}: {} of {} rows are links at port level", lab.name, wanted.len(), rows.len());
        for row in rows.iter().filter(|row| !lab.is_wanted(row)) {
            println!("  not counted: {}", row.text.join(" "));
        }
        println!("{}", lab.text(&links));
    }
}

/// A link from a listed port must lead to a device listed for that port.
#[test]
fn no_link_contradicts_the_expected_lists() {
    for lab in labs() {
        let links = lab.links();
        let rows = lab.resolved();
        for link in links.links() {
            for (own, other) in [(&link.source, &link.target), (&link.target, &link.source)] {
                let End::Host { host_id, port } = own else { continue };
                let ports: Vec<&PortRef> = if link.members.is_empty() {
                    port.iter().collect()
                } else {
                    link.members.iter().flat_map(|it| [&it.source_port, &it.target_port]).flatten().collect()
                };
                let ports: BTreeSet<IfEntryId> = ports.iter().filter_map(|port| port.if_entry_id).collect();
                let listed: Vec<&Row<'_>> = rows
                    .iter()
                    .filter(|row| row.source.id == *host_id)
                    .filter(|row| row.source_port.is_some_and(|port| ports.contains(&port.id)))
                    .collect();
                let allows = |row: &&Row<'_>| match other {
                    End::Host { host_id, .. } => row.target.is_some_and(|target| target.id == *host_id),
                    End::Stub { .. } => row.target.is_none(),
                    End::Segment { .. } => true,
                };
                let is_allowed = listed.is_empty() || listed.iter().any(allows);
                assert!(is_allowed, "{}: {}", lab.name, line(&links, link));
            }
        }
    }
}

#[test]
fn order_of_devices_of_labs_does_not_matter() {
    for lab in labs() {
        let mut devices: Vec<Device> = lab.devices().collect();
        let expected = whole(&Links::new(devices.clone(), &[]));
        devices.reverse();
        assert_eq!(whole(&Links::new(devices.clone(), &[])), expected, "{}", lab.name);
        let mut changing = Links::new(devices.clone(), &[]);
        for device in devices {
            let host = device.host_id();
            changing.remove(host);
            changing.set(device);
            assert_eq!(whole(&changing), expected, "{}: {host}", lab.name);
        }
    }
}

/// Returns whether a link is the cable of a row that names its ports as a device with a fault numbers them.
fn is_mismatch_of(link: &Link, row: &Row<'_>) -> bool {
    let is_end = |end: &End| {
        let End::Host { host_id, .. } = end else { return false };
        *host_id == row.source.id || row.target.is_some_and(|target| target.id == *host_id)
    };
    link.port_mismatch && is_end(&link.source) && is_end(&link.target)
}

fn joins(link: &Link, one: IfEntryId, other: IfEntryId) -> bool {
    let id = |port: &Option<PortRef>| port.as_ref().and_then(|port| port.if_entry_id);
    let of_end = |end: &End| match end {
        End::Host { port, .. } => id(port),
        End::Stub { .. } | End::Segment { .. } => None,
    };
    let ends = [(of_end(&link.source), of_end(&link.target))];
    let members = link.members.iter().map(|member| (id(&member.source_port), id(&member.target_port)));
    let wanted = (Some(one), Some(other));
    ends.into_iter()
        .chain(members)
        .any(|(source, target)| (source, target) == wanted || (target, source) == wanted)
}

pub(crate) struct Lab {
    pub(crate) name: String,
    reports: BTreeMap<String, Report>,
    /// The hosts by device, each with its claims.
    pub(crate) hosts: BTreeMap<String, (Host, Vec<Claim>)>,
    /// Rows of `expected.tsv`: scenario, protocol, source device and port, target device and port.
    rows: Vec<Vec<String>>,
}

/// A row of `expected.tsv` with the hosts and ports that it names.
struct Row<'l> {
    text: &'l [String],
    source: &'l Host,
    source_port: Option<&'l IfEntry>,
    target: Option<&'l Host>,
    target_port: Option<&'l IfEntry>,
}

impl Lab {
    fn devices(&self) -> impl Iterator<Item = Device> {
        self.hosts.values().map(|(host, claims)| Device::of(host, claims))
    }

    pub(crate) fn links(&self) -> Links {
        Links::new(self.devices(), &[])
    }

    /// Returns all links with the names of the hosts.
    fn text(&self, links: &Links) -> String {
        let mut lines: Vec<String> = links.links().map(|link| line(links, link)).collect();
        for (name, (host, _)) in &self.hosts {
            let id = format!("sw{}", host.id.as_u128());
            lines.iter_mut().for_each(|line| *line = line.replace(&id, name));
        }
        lines.sort();
        lines.iter().map(|line| format!("    {line}\n")).collect()
    }

    fn resolved(&self) -> Vec<Row<'_>> {
        let mut hosts: BTreeMap<String, &Host> = BTreeMap::new();
        for (name, (host, _)) in &self.hosts {
            let device = &self.reports[name].devices[0];
            let cdp = device.cdp_device_id.as_deref().and_then(|id| id.split('(').next());
            let chassis = host.chassis_id.as_ref().map(|id| id.value.replace(':', " "));
            let names = [Some(name.as_str()), host.sys_name.as_deref(), cdp, chassis.as_deref()];
            hosts.extend(names.into_iter().flatten().map(|name| (name.to_lowercase(), host)));
        }
        let row = |text: &'_ Vec<String>| {
            let source = hosts[&text[2].to_lowercase()];
            let target = hosts.get(&text[4].to_lowercase()).copied();
            let target_port = target.and_then(|target| port(target, &text[5]));
            (source, port(source, &text[3]), target, target_port)
        };
        let rows = self.rows.iter().map(|text| {
            let (source, source_port, target, target_port) = row(text);
            Row { text, source, source_port, target, target_port }
        });
        rows.collect()
    }

    fn is_wanted(&self, row: &Row<'_>) -> bool {
        let same_port = self.rows.iter().filter(|other| other[1..4] == row.text[1..4]);
        let targets: BTreeSet<&String> = same_port.map(|row| &row[4]).collect();
        row.target.is_some_and(|target| target.id != row.source.id)
            && row.text[3] != "0"
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

/// Returns the labs. If the folder is missing, it prints a message and returns none.
pub(crate) fn labs() -> Vec<Lab> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let data = env::var_os("TOPOSCOPE_DISCOVERY_DATA").map_or_else(beside, PathBuf::from);
    let Ok(folders) = fs::read_dir(data.join("labs")) else {
        println!("skipped: no labs at {}; TOPOSCOPE_DISCOVERY_DATA may name another folder", data.display());
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = folders.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    paths.iter().map(|path| runtime.block_on(lab(path))).collect()
}

async fn lab(folder: &Path) -> Lab {
    let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
    let mut reports = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_str().unwrap();
        if let Some(device) = file.strip_suffix(".walk.gz") {
            let walk = Command::new("gzip").arg("-dc").arg(&path).output().unwrap().stdout;
            let options = ParseOptions::new(time()).with_reporter(device.into()).with_complete_tables();
            reports.insert(device.to_owned(), parse(Format::Snmpwalk, walk.as_slice(), &options).unwrap());
        }
    }
    // The lists of one lab may be of several scenarios.
    let is_whole = |scenario: &str| name != "nms18541" || scenario.starts_with("nms18541_network_all");
    let text = fs::read_to_string(folder.join("expected.tsv")).unwrap();
    let rows = text.lines().skip(1).map(|line| line.split('\t').collect::<Vec<_>>());
    let rows = rows.filter(|row| is_whole(row[0]));
    let rows = rows.map(|row| row.into_iter().map(str::to_owned).collect()).collect();
    Lab { hosts: imported(&reports).await, name, reports, rows }
}

/// Imports reports into an inventory, and returns the hosts and claims of the devices.
async fn imported(reports: &BTreeMap<String, Report>) -> BTreeMap<String, (Host, Vec<Claim>)> {
    let inventory = Inventory::new(MemoryStore::new());
    let organization = inventory.organizations().create("Example").await.unwrap();
    let network =
        inventory.networks().create(&Caller::system(organization.id), Network::new("Office")).await.unwrap();
    let caller = Caller::new(organization.id, UserId::nil(), Permission::Member, Scope::all());
    let mut ids = BTreeMap::new();
    for (device, report) in reports {
        let outcome =
            inventory.discovery().reconcile(&caller, report, DiscoverOptions::new(network.id)).await.unwrap();
        ids.insert(device.clone(), outcome.hosts[0].id.unwrap());
    }
    let page = inventory.hosts().list(&caller, &HostQuery::default()).await.unwrap();
    let hosts: Vec<Host> =
        page.documents.iter().map(|document| serde_json::from_slice(document).unwrap()).collect();
    assert_eq!(hosts.len(), reports.len());
    let mut found = BTreeMap::new();
    for (device, id) in ids {
        let host = hosts.iter().find(|host| host.id == id).unwrap().clone();
        let claims = inventory.discovery().claims(&caller, id, None).await.unwrap();
        found.insert(device, (host, claims));
    }
    found
}
