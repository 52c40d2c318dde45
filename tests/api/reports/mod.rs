//! The endpoints that turn reports of scanners and devices into hosts.

mod access;
mod age;
mod claims;
mod consolidation;
mod formats;
mod slots;
mod splitting;

use http::Request;
use serde_json::{Value, json};
use toposcope::inventory::NewDaemonApiKey;
use toposcope::model::{NetworkId, Timestamp};

use crate::common::{Fixture, OFFICE, Reply, bare, with_header, with_key};

const IMPORT: &str = "/api/v1/discovery/import";

/// Times of reports, before the present of a fixture.
const FIRST: &str = "2026-08-01T12:00:00Z";
const SECOND: &str = "2026-08-02T12:00:00Z";

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// Returns the request of an import. The query follows the network of the office.
fn import(query: &str, body: &str, key: &str) -> Request<String> {
    request(&format!("{IMPORT}?network_id={OFFICE}&{query}"), body, key)
}

fn request(target: &str, body: &str, key: &str) -> Request<String> {
    let request = with_header(bare("POST", target), "content-type", "application/octet-stream");
    with_key(request, key).map(|_| body.to_owned())
}

/// Imports a report in the library's own format with the Owner's key. Returns the `data` of the answer.
async fn import_report(fixture: &Fixture, report: &Value) -> Value {
    send(fixture, "format=report", &report.to_string()).await.data().clone()
}

async fn send(fixture: &Fixture, query: &str, body: &str) -> Reply {
    fixture.send(import(query, body, &fixture.key)).await
}

/// Returns a report of one device.
#[allow(clippy::needless_pass_by_value, reason = "tests pass literals")]
fn report_of(device: Value, at: &str) -> Value {
    json!({"reporter": {"name": "collector", "version": "1"}, "observed_at": at, "devices": [device]})
}

/// Returns a switch with a serial number, these addresses, and one neighbor. The neighbor is at its only port.
fn switch(number: u8, addresses: &[&str]) -> Value {
    let addresses: Vec<Value> = addresses.iter().map(|address| json!({"ip_address": address})).collect();
    let neighbor = format!("00:1B:21:00:00:{:02X}", number + 1);
    json!({
        "sys_name": format!("switch-{number}"),
        "serial_number": format!("SN-{number:04}"),
        "chassis_id": {"subtype": "MacAddress", "value": format!("00:1B:21:00:00:{number:02X}")},
        "tables": {
            "if_entries": {"complete": true, "rows": [{"if_index": 1, "if_name": "Gi0/1"}]},
            "addresses": {"complete": true, "rows": addresses},
            "lldp": {"complete": true, "rows": [{
                "if_index": 1, "chassis_id": {"subtype": "MacAddress", "value": neighbor},
                "port_id": {"subtype": "InterfaceName", "value": "Gi0/1"},
            }]},
        },
    })
}

async fn daemon_key(fixture: &Fixture, network: NetworkId) -> String {
    let key = NewDaemonApiKey::new(network, "a daemon");
    fixture.inventory.daemon_api_keys().create(&fixture.system(), key).await.unwrap().plaintext().to_owned()
}

/// Returns all hosts at home, sorted by name.
async fn hosts(fixture: &Fixture) -> Vec<Value> {
    fixture.list("limit=0&order_by=name").await.data().as_array().unwrap().clone()
}
