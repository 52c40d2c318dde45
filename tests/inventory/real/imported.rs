//! Every real host is imported as it was sent, but for corrections, and exported unchanged.
//!
//! The expected result is computed on JSON values, without the types of the crate.

use std::collections::BTreeSet;
use std::net::IpAddr;
use toposcope::access::Caller;

use serde_json::{Value, json};
use toposcope::inventory::{Alteration, Import, Inventory};
use toposcope::model::Host;
use toposcope::store::MemoryStore;

use super::real;
use crate::model::PORT_TYPES;
use crate::support::documents;

/// Counts of the corrections, by kind.
#[derive(Debug, Default, PartialEq, Eq)]
struct Corrections {
    odd_macs: u64,
    empty_macs: u64,
    dropped_ports: Vec<String>,
    missing_descriptions: u64,
    cut_times: u64,
}

impl Corrections {
    /// Returns the number of corrections without which a host cannot be read.
    fn required(&self) -> u64 {
        self.odd_macs + self.empty_macs + self.missing_descriptions + self.dropped_ports.len() as u64
    }

    fn correct(&mut self, host: &mut Value) {
        self.times(host);
        for interface in list(host, "interfaces") {
            self.times(interface);
            self.mac(interface);
            let address: IpAddr = interface["ip_address"].as_str().unwrap().parse().unwrap();
            interface["ip_address"] = json!(address.to_string());
        }
        list(host, "ports").retain(|port| {
            let is_zero = port["number"] == 0;
            self.dropped_ports.extend(is_zero.then(|| port["id"].as_str().unwrap().to_owned()));
            !is_zero
        });
        for port in list(host, "ports") {
            self.times(port);
            let number = u16::try_from(port["number"].as_u64().unwrap()).unwrap();
            let known = PORT_TYPES.get(&(number, port["protocol"] == "Tcp"));
            port["type"] = json!(known.copied().unwrap_or("Custom"));
        }
        for service in list(host, "services") {
            self.times(service);
            for binding in list(service, "bindings") {
                self.times(binding);
            }
            list(service, "bindings").sort_by_key(|binding| (moment(&binding["created_at"]), id(binding)));
        }
        for entry in list(host, "if_entries") {
            self.times(entry);
            self.mac(entry);
            if entry["if_descr"].is_null() {
                entry["if_descr"] = json!("");
                self.missing_descriptions += 1;
            }
        }
        list(host, "interfaces").sort_by_key(|interface| (interface["position"].as_i64(), id(interface)));
        list(host, "services").sort_by_key(|service| (service["position"].as_i64(), id(service)));
        list(host, "if_entries").sort_by_key(|entry| (entry["if_index"].as_i64(), id(entry)));
        list(host, "ports")
            .sort_by_key(|port| (port["number"].as_u64(), port["protocol"] == "Udp", id(port)));
    }

    fn mac(&mut self, part: &mut Value) {
        let Some(text) = part["mac_address"].as_str() else { return };
        let separator = ['-', ':'].into_iter().find(|separator| text.contains(*separator));
        let digits: String = match separator {
            Some(separator) if text.split(separator).all(|pair| pair.len() == 2) => {
                text.split(separator).collect()
            }
            Some(_) => String::new(),
            None => text.to_owned(),
        };
        let is_whole = [12, 16, 40].contains(&digits.len());
        part["mac_address"] = if is_whole && digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            let pairs: Vec<&str> = (0..digits.len() / 2).map(|pair| &digits[2 * pair..][..2]).collect();
            json!(pairs.join(":").to_uppercase())
        } else {
            *(if text.is_empty() { &mut self.empty_macs } else { &mut self.odd_macs }) += 1;
            Value::Null
        };
    }

    fn times(&mut self, part: &mut Value) {
        for field in ["created_at", "updated_at"] {
            let (seconds, decimals) = moment(&part[field]);
            let (kept, lost) = decimals.split_at(decimals.len().min(6));
            self.cut_times += u64::from(lost.bytes().any(|digit| digit != b'0'));
            let kept = format!("{kept:0<6}");
            part[field] = json!(match (&kept[..3], &kept[3..]) {
                ("000", "000") => format!("{seconds}Z"),
                (milliseconds, "000") => format!("{seconds}.{milliseconds}Z"),
                _ => format!("{seconds}.{kept}Z"),
            });
        }
    }
}

fn list<'v>(value: &'v mut Value, name: &str) -> &'v mut Vec<Value> {
    value[name].as_array_mut().unwrap()
}

fn id(part: &Value) -> String {
    part["id"].as_str().unwrap().to_owned()
}

/// Returns a time in a sortable form: all of them are in UTC here.
pub(super) fn moment(time: &Value) -> (String, String) {
    let time = time.as_str().and_then(|time| time.strip_suffix('Z')).expect("a time in UTC");
    let (seconds, decimals) = time.split_once('.').unwrap_or((time, ""));
    (seconds.to_owned(), decimals.to_owned())
}

#[test]
fn every_host_is_imported_and_corrections_are_counted() {
    let Some(real) = real() else { return };
    let report = &real.report;
    assert_eq!((report.lines, report.imported, report.replaced, report.refused), (1953, 1953, 0, 0));
    assert_eq!(report.bytes, real.input.len() as u64);
    assert!(report.refusals.is_empty());
    assert_eq!(report.created_networks, 15);
    assert_eq!(report.altered(Alteration::InvalidMac), 936);
    assert_eq!(report.altered(Alteration::EmptyMac), 10_081);
    assert_eq!(report.altered(Alteration::DroppedPort), 16);
    assert_eq!(report.altered(Alteration::MissingDescription), 1298);
    assert_eq!(report.altered(Alteration::TruncatedTime), 152);
    assert_eq!(report.alterations.len(), 5);
    assert_eq!(report.dropped_ports.len(), 16);
    let shown = report.to_string();
    for port in &report.dropped_ports {
        assert!(shown.contains(&port.port_id.to_string()) && shown.contains(&port.host_id.to_string()));
    }
}

#[tokio::test]
async fn every_host_is_imported_as_it_was_sent_except_for_corrections() {
    let Some(real) = real() else { return };
    let mut corrections = Corrections::default();
    let mut networks = BTreeSet::new();
    let (mut with_nul, mut with_control, mut not_ascii) = (0, 0, 0);
    for (number, line) in (1_u64..).zip(real.lines()) {
        let mut expected: Value = serde_json::from_slice(line).unwrap();
        let (dropped_before, required_before) = (corrections.dropped_ports.len(), corrections.required());
        corrections.correct(&mut expected);
        for port in &corrections.dropped_ports[dropped_before..] {
            let mut named = real.report.dropped_ports.iter();
            let named = named.find(|named| named.port_id.to_string() == *port).expect("it is named");
            assert_eq!(
                (named.line, Value::from(named.host_id.to_string())),
                (number, expected["id"].clone())
            );
        }
        networks.insert(expected["network_id"].as_str().unwrap().to_owned());
        let text = std::str::from_utf8(line).unwrap();
        with_nul += u32::from(text.contains(r"\u0000"));
        with_control += u32::from(text.contains(r"\u001") || text.contains(r"\u000"));
        not_ascii += u32::from(!line.is_ascii());
        let id = expected["id"].as_str().unwrap().parse().unwrap();
        let host = real.inventory.hosts().get(&Caller::system(real.organization), id).await.unwrap();
        let found = serde_json::to_value(&host).unwrap();
        assert!(found == expected, "line {number}: {}", first_difference(&found, &expected, ""));
        // A host that needs no correction is read as it was sent; any other is refused.
        match serde_json::from_slice::<Host>(line) {
            Ok(mut read) => {
                assert_eq!(corrections.required(), required_before, "line {number} was not refused");
                read.sort_embedded();
                assert!(read == host, "line {number}");
            }
            Err(error) => {
                assert!(corrections.required() > required_before, "line {number} was refused: {error}");
            }
        }
        assert!(serde_json::from_value::<Host>(expected).unwrap() == host, "line {number}");
    }
    assert_eq!((corrections.odd_macs, corrections.empty_macs), (936, 10_081));
    assert_eq!((corrections.dropped_ports.len(), corrections.missing_descriptions), (16, 1298));
    assert_eq!(corrections.cut_times, 152);
    assert_eq!(networks.len(), 15);
    let created = real.inventory.networks().all(&Caller::system(real.organization)).await.unwrap();
    let created: BTreeSet<String> = created.iter().map(|network| network.id.to_string()).collect();
    assert_eq!(created, networks);
    assert!(with_nul > 0 && with_control > 12 && not_ascii > 12, "{with_nul} {with_control} {not_ascii}");
}

/// Returns where two documents first differ, to diagnose a failure.
fn first_difference(found: &Value, expected: &Value, path: &str) -> String {
    match (found, expected) {
        (Value::Object(left), Value::Object(right)) if left.keys().eq(right.keys()) => {
            let mut pairs = left.iter().filter(|(key, value)| right.get(*key) != Some(*value));
            let (key, value) = pairs.next().expect("they differ");
            first_difference(value, &right[key], &format!("{path}.{key}"))
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            let place = (0..left.len()).find(|place| left[*place] != right[*place]).expect("they differ");
            first_difference(&left[place], &right[place], &format!("{path}.{place}"))
        }
        _ => format!("{path} is {found} instead of {expected}"),
    }
}

/// Maximum length of the compared documents; longer ones differ from shorter ones in length only.
const MAX_LENGTH: usize = 20_000;

#[tokio::test]
async fn listed_documents_are_imported_unchanged_into_another_inventory() {
    let Some(real) = real() else { return };
    let mut served = documents(&real.inventory, real.organization).await;
    served.retain(|document| document.len() <= MAX_LENGTH);
    assert!(served.len() > 1500);
    let lines = served.join(&b'\n');
    let inventory = Inventory::new(MemoryStore::new());
    let organization = inventory.organizations().create("Elsewhere").await.unwrap().id;
    for round in 0..2 {
        let import = Import::new().create_missing_networks();
        let report =
            inventory.hosts().import(&Caller::system(organization), &lines[..], import).await.unwrap();
        let count = served.len() as u64;
        assert_eq!((report.imported, report.replaced, report.refused), (count, round * count, 0));
        assert!(report.alterations.is_empty(), "{report}");
        assert!(documents(&inventory, organization).await == served, "round {round}");
    }
}
