//! The real inventory, parsed and written again.

use std::env;
use std::io::Write;
use std::net::IpAddr;
use std::path::PathBuf;
use std::process::Command;

use serde::Deserialize;
use serde_json::{Value, json};
use toposcope::model::{Host, MacAddress};

/// Returns the lines of the real inventory, or `None` if it is missing: it is not part of the repository.
fn inventory() -> Option<Vec<String>> {
    let path = env::var_os("TOPOSCOPE_INVENTORY").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data/inventory.jsonl.gz"),
        PathBuf::from,
    );
    if !path.exists() {
        // Not by `eprintln`, whose output the test harness hides for a passing test.
        let text = format!(
            "skipped: no inventory at {}; TOPOSCOPE_INVENTORY may name another file\n",
            path.display()
        );
        std::io::stderr().write_all(text.as_bytes()).expect("standard error");
        return None;
    }
    let output = Command::new("gzip").arg("-dc").arg(&path).output().expect("gzip runs");
    assert!(output.status.success(), "gzip: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("UTF-8").lines().map(str::to_owned).collect())
}

/// Counts of the deviations that an importer must correct before a host fits the model.
#[derive(Debug, Default, PartialEq, Eq)]
struct Oddities {
    empty_macs: usize,
    other_macs: usize,
    ports_zero: usize,
    descriptions_null: usize,
}

impl Oddities {
    fn mend_mac(&mut self, record: &mut Value) {
        let Some(text) = record["mac_address"].as_str() else { return };
        if text.parse::<MacAddress>().is_ok() {
            return;
        }
        if text.is_empty() {
            self.empty_macs += 1;
        } else {
            self.other_macs += 1;
        }
        record["mac_address"] = Value::Null;
    }

    /// Corrects the deviations of a host.
    fn mend(host: &mut Value) -> Self {
        let mut found = Self::default();
        for interface in list(host, "interfaces") {
            found.mend_mac(interface);
        }
        for entry in list(host, "if_entries") {
            found.mend_mac(entry);
            if entry["if_descr"].is_null() {
                found.descriptions_null += 1;
                entry["if_descr"] = json!("");
            }
        }
        let ports = list(host, "ports");
        let before = ports.len();
        ports.retain(|port| port["number"] != 0);
        found.ports_zero = before - ports.len();
        found
    }
}

fn list<'a>(host: &'a mut Value, field: &str) -> &'a mut Vec<Value> {
    host[field].as_array_mut().expect("a list")
}

/// Removes everything that intentionally changes in a round trip: the types of ports, which are derived;
/// fractions of a microsecond in the times of records; and the spelling of IPv6 addresses (`::169.254.2.31`).
fn normalize(value: &mut Value, field: &str) {
    match value {
        Value::Object(object) => {
            if field == "ports" {
                object.remove("type");
            }
            object.iter_mut().for_each(|(name, value)| normalize(value, name));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| normalize(value, field)),
        Value::String(text) if matches!(field, "created_at" | "updated_at") && text.len() > 27 => {
            text.truncate(26);
            text.push('Z');
        }
        Value::String(text) if field == "ip_address" => {
            *text = text.parse::<IpAddr>().expect("an address").to_string();
        }
        _ => {}
    }
}

#[test]
fn the_real_inventory_comes_back_as_it_was_sent() {
    let Some(lines) = inventory() else { return };
    let mut total = Oddities::default();
    let mut refused = 0;
    for (line, text) in lines.iter().enumerate() {
        let read = serde_json::from_str::<Host>(text);
        let mut sent: Value = serde_json::from_str(text).unwrap();
        let found = Oddities::mend(&mut sent);
        match &read {
            Ok(_) => assert_eq!(found, Oddities::default(), "line {line} has oddities and was not refused"),
            Err(error) => {
                assert_ne!(found, Oddities::default(), "line {line} has no oddity and was refused: {error}");
                refused += 1;
            }
        }
        total.empty_macs += found.empty_macs;
        total.other_macs += found.other_macs;
        total.ports_zero += found.ports_zero;
        total.descriptions_null += found.descriptions_null;

        let host = read.unwrap_or_else(|_| {
            Host::deserialize(&sent).unwrap_or_else(|error| panic!("line {line}, mended: {error}"))
        });
        let mut written = serde_json::to_value(&host).unwrap();
        normalize(&mut written, "");
        normalize(&mut sent, "");
        assert!(written == sent, "line {line} changed: {}", host.id);
    }
    println!("{} hosts, {refused} refused as they are, all read after mending: {total:?}", lines.len());
}
