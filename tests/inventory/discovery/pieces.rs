//! Walks of real networks that are imported in pieces, one subtree of the MIB in each file, in random orders.

use std::collections::{BTreeMap, VecDeque};
use std::env;

use fastrand::Rng;
use toposcope::discovery::report::{Device, Report, Tables};
use toposcope::inventory::{DiscoverOptions, DiscoveryOutcome};

use super::canonical::canonical;
use super::labs::labs;
use super::support::{FIRST, run_in_memory};
use crate::support::{Fixture, owner_of};

/// Returns the number of orders in which the pieces of a lab are imported.
fn orders() -> u64 {
    env::var("TOPOSCOPE_DISCOVERY_ORDERS").map_or(2, |number| number.parse().unwrap())
}

/// Returns the parts of a walk as separate reports, all by the name of the device.
fn pieces(report: &Report) -> Vec<Report> {
    let mut pieces = Vec::new();
    for device in &report.devices {
        let whole = &device.tables;
        let mut parts: Vec<Device> = Vec::new();
        // The system group, with the serial number of the chassis.
        let mut system = device.clone();
        system.tables = Tables::default();
        (system.chassis_id, system.bridge_address, system.cdp_device_id) = (None, None, None);
        parts.push(system);
        let mut named = Device::default();
        named.sys_name.clone_from(&device.sys_name);
        let mut interfaces = named.clone();
        interfaces.tables.if_entries.clone_from(&whole.if_entries);
        interfaces.tables.lag.clone_from(&whole.lag);
        parts.push(interfaces);
        let mut addresses = named.clone();
        addresses.tables.addresses.clone_from(&whole.addresses);
        addresses.tables.arp.clone_from(&whole.arp);
        parts.push(addresses);
        let mut bridge = named.clone();
        // Many bridges announce another address as their chassis id, which a subtree alone does not show.
        bridge.bridge_address = device.bridge_address.filter(|_| device.chassis_id.is_none());
        bridge.tables.fdb.clone_from(&whole.fdb);
        bridge.tables.stp.clone_from(&whole.stp);
        parts.push(bridge);
        let mut neighbors = named.clone();
        neighbors.chassis_id.clone_from(&device.chassis_id);
        neighbors.tables.lldp.clone_from(&whole.lldp);
        neighbors.tables.cdp.clone_from(&whole.cdp);
        parts.push(neighbors);
        for part in parts {
            let mut piece = Report::new(report.reporter.clone(), report.observed_at);
            piece.devices.push(part);
            pieces.push(piece);
        }
    }
    pieces
}

#[test]
fn labs_in_pieces_give_the_same_hosts_in_any_order() {
    run_in_memory(async || {
        for (name, reports) in labs(FIRST) {
            let mut all: Vec<Report> = reports.iter().flat_map(pieces).collect();
            let mut expected: Option<Vec<String>> = None;
            for seed in 0..orders() {
                let mut random = Rng::with_seed(seed);
                random.shuffle(&mut all);
                let fixture = Fixture::new().await;
                let (caller, options) =
                    (owner_of(fixture.organization), DiscoverOptions::new(fixture.network));
                let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
                // Tables about others are ignored as long as their host is unknown, and then offered again.
                let mut queue: VecDeque<&Report> = all.iter().collect();
                let mut attempts = 0;
                while let Some(report) = queue.pop_front() {
                    attempts += 1;
                    assert!(attempts <= 2 * all.len(), "{name}: a report is ignored again and again");
                    let answer =
                        fixture.inventory.discovery().reconcile(&caller, report, options).await.unwrap();
                    if answer.hosts.iter().any(|host| host.outcome == DiscoveryOutcome::Ignored) {
                        queue.push_back(report);
                    }
                    for host in &answer.hosts {
                        assert_ne!(host.outcome, DiscoveryOutcome::Ambiguous, "{name}: {:?}", answer.hosts);
                        *outcomes.entry(format!("{:?}", host.outcome)).or_default() += 1;
                    }
                }
                let found = canonical(&fixture).await;
                assert_eq!(found.len(), reports.len(), "{name}, seed {seed}: {outcomes:?}");
                let expected = expected.get_or_insert_with(|| found.clone());
                for (one, other) in expected.iter().zip(&found) {
                    assert_eq!(one, other, "{name}, seed {seed}");
                }
            }
        }
    });
}
