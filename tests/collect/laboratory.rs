//! A network of Linux machines, whose walks the farm serves.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::net::IpAddr;
use std::path::Path;

use toposcope::collect::crawl::{Crawl, CrawlEvent, CrawlOptions};
use toposcope::collect::snmp::SnmpValue;
use toposcope::discovery::report::Device;
use toposcope::discovery::{Format, ParseOptions, parse};
use toposcope::model::Timestamp;

use crate::farm::{Agent, Farm};
use crate::recording::{data, unpacked, walked};
use crate::support::{COMMUNITY, community, gate, ip};

/// The subnets of the machines.
pub(crate) const SUBNETS: &str = "192.0.2.0/24,198.51.100.0/24,203.0.113.0/24";

/// `ipAdEntAddr`.
const OWN_ADDRESSES: &[u32] = &[1, 3, 6, 1, 2, 1, 4, 20, 1, 1];

/// The machines that send no LLDP frames.
const SILENT: [&str; 2] = ["nas1", "pc1"];

/// Serves each walk at all addresses of its machine.
pub(crate) fn farm(folder: &Path) -> Farm {
    let mut agents = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let agent = Agent::new(COMMUNITY, walked(&unpacked(&entry.unwrap().path())));
        for (_, value) in agent.below(OWN_ADDRESSES) {
            if let SnmpValue::IpAddress(octets) = value {
                agents.push((IpAddr::from(octets), agent.clone()));
            }
        }
    }
    Farm::with(agents.into_iter().filter(|(address, _)| !address.is_loopback()))
}

/// Returns the devices that the walks describe, by name.
fn described(folder: &Path) -> BTreeMap<String, Device> {
    let time: Timestamp = "2026-11-01T12:00:00Z".parse().unwrap();
    let options = ParseOptions::new(time).with_complete_tables();
    let devices = fs::read_dir(folder).unwrap().map(|entry| {
        let walk = unpacked(&entry.unwrap().path());
        parse(Format::Snmpwalk, walk.as_slice(), &options).unwrap().devices.remove(0)
    });
    devices.map(|device| (device.sys_name.clone().unwrap(), device)).collect()
}

async fn crawled(folder: &Path) -> BTreeMap<String, Device> {
    let farm = farm(folder);
    let mut options = CrawlOptions::default();
    options.follows_arp = true;
    let seeds = [ip("198.51.100.11")];
    let mut crawl = Crawl::begin(&gate(&farm, SUBNETS), seeds, |_| community(), options).unwrap();
    let mut devices = BTreeMap::new();
    while let Some(event) = crawl.next().await {
        if let CrawlEvent::Device(device) = event {
            let device = device.report.devices.into_iter().next().unwrap();
            assert!(devices.insert(device.sys_name.clone().unwrap(), device).is_none());
        }
    }
    devices
}

#[tokio::test(start_paused = true)]
async fn crawl_gives_the_devices_of_the_walks() {
    let Some(folder) = data("live/s1/walk") else { return };
    let (devices, expected) = (crawled(&folder).await, described(&folder));
    assert_eq!(devices.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    assert!(devices == expected);
}

#[tokio::test(start_paused = true)]
async fn crawl_gives_the_cables_of_all_machines_that_send_lldp() {
    let Some(folder) = data("live/s1") else { return };
    let devices = crawled(&folder.join("walk")).await;
    let mut found = BTreeSet::new();
    for (name, device) in &devices {
        for row in device.tables.lldp.iter().flat_map(|table| &table.rows) {
            let (port, neighbor) = (row.if_name.as_ref().unwrap(), row.sys_name.as_ref().unwrap());
            found.insert(format!("{name} {port} {neighbor}"));
        }
    }
    let cables = fs::read_to_string(folder.join("links.tsv")).unwrap();
    let cables = cables.lines().filter(|cable| !SILENT.iter().any(|machine| cable.contains(machine)));
    // Each cable is seen from both of its ends.
    let mut expected = BTreeSet::new();
    for cable in cables {
        let fields: Vec<&str> = cable.split_whitespace().collect();
        expected.insert(format!("{} {} {}", fields[0], fields[1], fields[2]));
        expected.insert(format!("{} {} {}", fields[2], fields[3], fields[0]));
    }
    assert_eq!(found, expected);
}
