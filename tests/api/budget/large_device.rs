//! The memory that a report of one device with very many interfaces takes, when it is new, repeated and changed.

use std::env;
use std::fmt::Write;
use std::process::Command;

use bytes::Bytes;
use http_body_util::BodyExt;
use toposcope::access::{Caller, Scope};
use toposcope::model::{Network, Permission, UserId};
use toposcope::service::Api;
use toposcope::{Inventory, MemoryStore};
use tower::ServiceExt;

use super::measure::{Cost, Pieces, forget_peak, memory};
use super::promises::Promise;
use crate::common::{OFFICE, bare, with_caller, with_header};

/// Set in the process that measures.
const ALONE: &str = "TOPOSCOPE_LARGE_DEVICE_ALONE";

const INTERFACES: usize = 20_000;

/// More interfaces than a host may have by the default quotas.
const TOO_MANY: usize = 60_000;

#[test]
fn device_with_many_interfaces_keeps_the_promises_of_the_guide() {
    if env::var_os(ALONE).is_some() {
        return;
    }
    let output = Command::new(env::current_exe().unwrap())
        .args([
            "budget::large_device::measure_devices",
            "--exact",
            "--test-threads=1",
            "--nocapture",
            "--ignored",
        ])
        .env(ALONE, "1")
        // Freed memory goes back to the system, so that none that one request frees hides what the next one takes.
        .env("MALLOC_ARENA_MAX", "1")
        .env("MALLOC_MMAP_THRESHOLD_", "32768")
        .env("MALLOC_TRIM_THRESHOLD_", "32768")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    println!("{text}");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("1 passed"));
}

/// Returns a report as JSON. `alias` is the same text for all interfaces.
fn report(name: &str, interfaces: usize, minute: u32, alias: &str) -> String {
    let rows: Vec<String> =
        (1..=interfaces).map(|number| format!(r#"{{"if_index":{number},"if_alias":"{alias}"}}"#)).collect();
    let tables = format!(r#"{{"if_entries":{{"complete":true,"rows":[{}]}}}}"#, rows.join(","));
    format!(
        r#"{{"reporter":{{"name":"test"}},"observed_at":"2026-11-01T12:{minute:02}:00Z","devices":[{{"sys_name":"{name}","tables":{tables}}}]}}"#
    )
}

fn walk(name: &str, interfaces: usize) -> String {
    let mut text = format!(".1.3.6.1.2.1.1.5.0 = STRING: \"{name}\"\n");
    for number in 1..=interfaces {
        writeln!(text, ".1.3.6.1.2.1.2.2.1.3.{number} = INTEGER: 6").unwrap();
    }
    text
}

#[tokio::test]
#[ignore = "runs in a process of its own"]
async fn measure_devices() {
    if env::var_os(ALONE).is_none() {
        return;
    }
    let inventory = Inventory::new(MemoryStore::new());
    let organization = inventory.organizations().create("Home").await.unwrap().id;
    inventory
        .networks()
        .create_with_id(&Caller::system(organization), OFFICE, Network::new("Office"))
        .await
        .unwrap();
    let api = Api::builder(inventory).build();
    let promises = Promise::all();
    let import = "POST /api/v1/discovery/import";
    let promise =
        promises.iter().find(|promise| promise.endpoints.iter().any(|name| name == import)).unwrap();
    let cases = [
        ("new", "report", report("core", INTERFACES, 0, "a"), INTERFACES, "created"),
        ("repeated", "report", report("core", INTERFACES, 0, "a"), INTERFACES, "unchanged"),
        ("changed", "report", report("core", INTERFACES, 1, "b"), INTERFACES, "updated"),
        ("too large", "report", report("huge", TOO_MANY, 0, "a"), TOO_MANY, "ignored"),
        ("new walk", "snmpwalk", walk("edge", INTERFACES), INTERFACES, "created"),
        ("walk again", "snmpwalk", walk("edge", INTERFACES), INTERFACES, "unchanged"),
        ("walk that is too large", "snmpwalk", walk("vast", TOO_MANY), TOO_MANY, "ignored"),
    ];
    for (name, format, body, interfaces, outcome) in cases {
        let length = body.len();
        let target = format!("/api/v1/discovery/import?format={format}&complete=true&network_id={OFFICE}");
        let caller = Caller::new(organization, UserId::from_u128(1), Permission::Member, Scope::all());
        let request = bare("POST", &target).map(|_| Pieces::new(Bytes::from(body), 64 * 1024));
        let request = with_header(request, "content-type", "application/octet-stream");
        forget_peak();
        let before = memory("VmRSS:");
        let response = api.clone().oneshot(with_caller(request, caller)).await.unwrap();
        assert_eq!(response.status(), 200, "{name}");
        let answer = response.into_body().collect().await.unwrap().to_bytes();
        let memory = memory("VmHWM:").saturating_sub(before);
        let answer = String::from_utf8_lossy(&answer);
        println!("{name}: {} bytes for each interface", memory / interfaces as u64);
        assert!(answer.contains(&format!(r#""outcome":"{outcome}""#)), "{name}: {answer:.300}");
        let cost =
            Cost { status: 200, memory, body: length as u64, items: interfaces as u64, ..Cost::default() };
        let broken = promise.broken_by(&cost);
        assert!(broken.is_empty(), "{name}: {broken:?}");
    }
}
