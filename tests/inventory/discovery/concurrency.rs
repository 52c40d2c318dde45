use std::collections::BTreeMap;

use serde_json::Value;
use toposcope::discovery::report::Device;
use toposcope::inventory::HostQuery;

use super::support::{FIRST, SECOND, discover, discover_one, switch_seeing};
use crate::backend::{run, run_on_threads};
use crate::support::{Fixture, concurrently, owner_of};

const SWITCHES: u8 = 6;

/// Returns the devices that a task reports. They are a part of a ring that begins at the task's number.
fn ring(task: u64) -> Vec<Device> {
    let number = |place: u8| (u8::try_from(task).unwrap() + place) % SWITCHES + 1;
    (0..SWITCHES - 1).map(|place| switch_seeing(number(place), number(place + 1))).collect()
}

/// Returns the hosts by name, without ids of services and times.
async fn hosts(fixture: &Fixture) -> BTreeMap<String, Value> {
    let page = fixture.inventory.hosts().list(&owner_of(fixture.organization), &HostQuery::default()).await;
    let documents = page.unwrap().documents;
    let hosts = documents.iter().map(|document| {
        let mut host: Value = serde_json::from_slice(document).unwrap();
        forget_times(&mut host);
        (host["name"].as_str().unwrap().to_owned(), host)
    });
    let count = documents.len();
    let hosts: BTreeMap<String, Value> = hosts.collect();
    assert_eq!(hosts.len(), count, "no device became two hosts");
    hosts
}

fn forget_times(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| name != "created_at" && name != "updated_at");
            members.values_mut().for_each(forget_times);
        }
        Value::Array(items) => items.iter_mut().for_each(forget_times),
        _ => {}
    }
}

#[test]
fn concurrent_reports_of_the_same_devices_end_as_one_after_the_other() {
    run_on_threads(async || {
        let one_by_one = Fixture::new().await;
        for task in 0..8 {
            discover(&one_by_one, ring(task), FIRST).await;
        }
        let at_once = Fixture::new().await;
        concurrently(&at_once, 8, async |fixture, task| drop(discover(&fixture, ring(task), FIRST).await))
            .await;
        let (expected, found) = (hosts(&one_by_one).await, hosts(&at_once).await);
        assert_eq!(found.len(), usize::from(SWITCHES));
        let neighbors = |hosts: &BTreeMap<String, Value>| {
            let entries = hosts.values().flat_map(|host| host["if_entries"].as_array().unwrap().clone());
            entries.map(|entry| !entry["neighbor"].is_null()).collect::<Vec<_>>()
        };
        assert_eq!(neighbors(&found), neighbors(&expected));
        let names = |hosts: &BTreeMap<String, Value>| hosts.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&found), names(&expected));
    });
}

#[test]
fn concurrent_deletions_and_discoveries_leave_no_records_without_host() {
    run(async || {
        let fixture = Fixture::new().await;
        let (_, host) = discover_one(&fixture, switch_seeing(1, 2), FIRST).await;
        let id = host.id;
        concurrently(&fixture, 8, move |fixture, task| async move {
            if task % 2 == 0 {
                let _ = fixture.delete(id).await;
            } else {
                discover(&fixture, vec![switch_seeing(1, 2)], SECOND).await;
            }
        })
        .await;
        for key in fixture.mentioning(id).await {
            assert!(fixture.try_host(id).await.is_ok(), "{key} is left");
        }
    });
}
