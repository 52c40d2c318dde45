//! Walks of real networks, in the folder `labs` of the test data.
//!
//! The test data is in `TOPOSCOPE_DISCOVERY_DATA`, or in `../shared/data` beside the crate.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use fastrand::Rng;
use serde_json::Value;
use toposcope::discovery::{Format, ParseOptions, Report, parse};
use toposcope::inventory::{DiscoverOptions, DiscoveryOutcome};

use super::support::{FIRST, SECOND, outcomes, run_in_memory};
use crate::support::{Fixture, owner_of, time};

/// Number of orders in which the walks of a lab are imported.
const SHUFFLES: usize = 3;

#[test]
fn labs_give_the_same_hosts_in_any_order() {
    run_in_memory(async || {
        for (name, mut reports) in labs(FIRST) {
            let expected = imported(&reports).await;
            assert_eq!(hosts(&expected).await.len(), reports.len(), "{name}");
            let expected = hosts(&expected).await;
            let mut random = Rng::with_seed(1);
            for _ in 0..SHUFFLES {
                random.shuffle(&mut reports);
                assert_eq!(hosts(&imported(&reports).await).await, expected, "{name}");
            }
            let mut whole = reports.swap_remove(0);
            whole.devices.extend(reports.iter().flat_map(|report| report.devices.clone()));
            assert_eq!(hosts(&imported(&[whole]).await).await, expected, "{name}, in one report");
        }
    });
}

#[test]
fn device_that_is_imported_alone_and_then_with_all_becomes_the_same_host() {
    run_in_memory(async || {
        for (name, reports) in labs(FIRST) {
            let expected = hosts(&imported(&reports).await).await;
            for report in &reports {
                let fixture = imported(std::slice::from_ref(report)).await;
                let alone = fixture.documents().await;
                assert_eq!(alone.len(), 1, "{name}");
                let (caller, options) =
                    (owner_of(fixture.organization), DiscoverOptions::new(fixture.network));
                for report in &reports {
                    fixture.inventory.discovery().reconcile(&caller, report, options).await.unwrap();
                }
                assert_eq!(hosts(&fixture).await, expected, "{name}");
            }
        }
    });
}

#[test]
fn labs_that_are_imported_again_write_nothing_or_claims_only() {
    run_in_memory(async || {
        for ((name, reports), (_, later)) in labs(FIRST).into_iter().zip(labs(SECOND)) {
            let fixture = imported(&reports).await;
            let (before, commits) = (fixture.documents().await, fixture.commits());
            let seen = |at: &str| format!("\"last_seen_at\":\"{at}\"");
            let text = |document: &[u8]| String::from_utf8(document.to_vec()).unwrap();
            let aged: Vec<String> =
                before.iter().map(|document| text(document).replace(&seen(FIRST), &seen(SECOND))).collect();
            import(&fixture, &reports, DiscoveryOutcome::Unchanged, &name).await;
            assert_eq!(fixture.commits(), commits, "{name}");
            import(&fixture, &later, DiscoveryOutcome::Unchanged, &name).await;
            // Only the times at which the hosts were seen differ.
            let after: Vec<String> =
                fixture.documents().await.iter().map(|document| text(document)).collect();
            assert!(after == aged, "{name}");
        }
    });
}

async fn import(fixture: &Fixture, reports: &[Report], expected: DiscoveryOutcome, name: &str) {
    let (caller, options) = (owner_of(fixture.organization), DiscoverOptions::new(fixture.network));
    for report in reports {
        let answer = fixture.inventory.discovery().reconcile(&caller, report, options).await.unwrap();
        assert!(outcomes(&answer).iter().all(|outcome| *outcome == expected), "{name}: {:?}", answer.hosts);
    }
}

async fn imported(reports: &[Report]) -> Fixture {
    let fixture = Fixture::new().await;
    import(&fixture, reports, DiscoveryOutcome::Created, "new").await;
    fixture
}

/// Returns all hosts by id, without values that depend on the run.
async fn hosts(fixture: &Fixture) -> Vec<Value> {
    let documents = fixture.documents().await;
    let mut hosts: Vec<Value> =
        documents.iter().map(|document| serde_json::from_slice(document).unwrap()).collect();
    hosts.sort_by_key(|host| host["id"].as_str().unwrap().to_owned());
    let network = fixture.network.to_string();
    for host in &mut hosts {
        normalize(host, &network);
    }
    hosts
}

fn normalize(value: &mut Value, network: &str) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| name != "created_at" && name != "updated_at");
            members.values_mut().for_each(|member| normalize(member, network));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| normalize(item, network)),
        Value::String(text) if text == network => text.clear(),
        _ => {}
    }
}

/// Returns the labs by name, observed at this time. If the folder is missing, it prints a message and returns none.
pub(super) fn labs(at: &str) -> Vec<(String, Vec<Report>)> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let data = env::var_os("TOPOSCOPE_DISCOVERY_DATA").map_or_else(beside, PathBuf::from);
    let Ok(folders) = fs::read_dir(data.join("labs")) else {
        eprintln!("skipped: no labs at {}; TOPOSCOPE_DISCOVERY_DATA may name another folder", data.display());
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = folders.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| (path.display().to_string(), walks(path, at))).collect()
}

fn walks(folder: &Path, at: &str) -> Vec<Report> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut reports = Vec::new();
    for path in paths {
        let file = path.file_name().unwrap().to_str().unwrap();
        let Some(device) = file.strip_suffix(".walk.gz") else { continue };
        let walk = Command::new("gzip").arg("-dc").arg(&path).output().unwrap().stdout;
        let options = ParseOptions::new(time(at)).with_reporter(device.into()).with_complete_tables();
        reports.push(parse(Format::Snmpwalk, walk.as_slice(), &options).unwrap());
    }
    reports
}
