//! Links of an inventory that was imported without discovery.
//!
//! `TOPOSCOPE_DISCOVERY_DATA`, or `../shared/data` beside the crate, has `inventory.jsonl.gz`.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::path::PathBuf;
use std::process::Command;

use toposcope::model::{Host, Neighbor};
use toposcope::topology::links::{Device, Links, Rule};

#[test]
fn stored_neighbors_of_an_inventory_are_links() {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let data = env::var_os("TOPOSCOPE_DISCOVERY_DATA").map_or_else(beside, PathBuf::from);
    let path = data.join("inventory.jsonl.gz");
    if !path.exists() {
        println!(
            "skipped: no inventory at {}; TOPOSCOPE_DISCOVERY_DATA may name another folder",
            path.display()
        );
        return;
    }
    let lines = Command::new("gzip").arg("-dc").arg(&path).output().unwrap().stdout;
    let lines = String::from_utf8(lines).unwrap();
    let mut networks: BTreeMap<_, Vec<Host>> = BTreeMap::new();
    for line in lines.lines() {
        if let Ok(host) = serde_json::from_str::<Host>(line) {
            networks.entry(host.network_id).or_default().push(host);
        }
    }
    let mut rules: BTreeMap<Rule, usize> = BTreeMap::new();
    for hosts in networks.values() {
        let links = Links::new(hosts.iter().map(|host| Device::of(host, &[])), &[]);
        for link in links.links() {
            *rules.entry(link.evidence[0].rule).or_default() += 1;
        }
        println!(
            "{} hosts: {} links, {} stubs, {} segments, {} warnings",
            hosts.len(),
            links.links().count(),
            links.stubs().count(),
            links.segments().count(),
            links.warnings().len()
        );
        let supported: BTreeSet<_> = links
            .links()
            .flat_map(|link| &link.evidence)
            .filter_map(|evidence| evidence.if_entry_id)
            .collect();
        let rejected: BTreeSet<_> = links
            .links()
            .flat_map(|link| &link.rejected)
            .filter_map(|claim| claim.evidence.if_entry_id)
            .collect();
        let ports: BTreeMap<_, _> =
            hosts.iter().flat_map(|host| &host.if_entries).map(|entry| (entry.id, entry.host_id)).collect();
        let ids: BTreeSet<_> = hosts.iter().map(|host| host.id).collect();
        for entry in hosts.iter().flat_map(|host| &host.if_entries) {
            let remote = match entry.neighbor {
                Some(Neighbor::IfEntry(id)) => ports.get(&id).copied(),
                Some(Neighbor::Host(id)) => ids.get(&id).copied(),
                None => None,
            };
            if remote.is_some_and(|remote| remote != entry.host_id) {
                assert!(supported.contains(&entry.id) || rejected.contains(&entry.id), "{:?}", entry.if_name);
            }
        }
    }
    println!("{rules:?}");
}
