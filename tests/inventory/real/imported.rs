//! Every real host is imported as it was sent, but for what the rules correct, and exported unchanged.

use std::collections::BTreeSet;

use serde_json::Value;
use toposcope::inventory::{Alteration, Import, Inventory};
use toposcope::model::Host;
use toposcope::store::MemoryStore;

use super::mended::Mended;
use super::real;
use crate::support::documents;

#[test]
fn every_host_is_imported_and_corrections_are_counted() {
    let Some(real) = real() else { return };
    let report = &real.report;
    assert_eq!((report.lines, report.imported, report.replaced, report.refused), (1953, 1953, 0, 0));
    assert_eq!(report.bytes, real.input.len() as u64);
    assert!(report.refusals.is_empty());
    assert_eq!(report.created_networks, 15);
    assert_eq!(report.altered(Alteration::InvalidMac), 962);
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
    let mut mended = Mended::default();
    let mut networks = BTreeSet::new();
    let (mut with_nul, mut with_control, mut not_ascii) = (0, 0, 0);
    for (number, line) in (1_u64..).zip(real.lines()) {
        let mut expected: Value = serde_json::from_slice(line).unwrap();
        let (dropped_before, required_before) = (mended.dropped_ports.len(), mended.required());
        mended.mend(&mut expected);
        for port in &mended.dropped_ports[dropped_before..] {
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
        let host = real.inventory.host(real.organization, id).await.unwrap();
        let found = serde_json::to_value(&host).unwrap();
        assert!(found == expected, "line {number}: {}", first_difference(&found, &expected, ""));
        // A host that needs no correction is read as it was sent; any other is refused.
        match serde_json::from_slice::<Host>(line) {
            Ok(mut read) => {
                assert_eq!(mended.required(), required_before, "line {number} was not refused");
                read.sort_embedded();
                assert!(read == host, "line {number}");
            }
            Err(error) => assert!(mended.required() > required_before, "line {number} was refused: {error}"),
        }
        assert!(serde_json::from_value::<Host>(expected).unwrap() == host, "line {number}");
    }
    assert_eq!((mended.odd_macs, mended.empty_macs), (962, 10_081));
    assert_eq!((mended.dropped_ports.len(), mended.missing_descriptions), (16, 1298));
    assert_eq!(mended.cut_times, 152);
    assert_eq!(networks.len(), 15);
    let created = real.inventory.networks(real.organization).await.unwrap();
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
const LONGEST: usize = 20_000;

#[tokio::test]
async fn listed_documents_are_imported_unchanged_into_another_inventory() {
    let Some(real) = real() else { return };
    let mut served = documents(&real.inventory, real.organization).await;
    served.retain(|document| document.len() <= LONGEST);
    assert!(served.len() > 1500);
    let lines = served.join(&b'\n');
    let inventory = Inventory::new(MemoryStore::new());
    let organization = inventory.create_organization("Elsewhere").await.unwrap().id;
    for round in 0..2 {
        let import = Import::new().create_networks(true);
        let report = inventory.import_hosts(organization, &lines[..], import).await.unwrap();
        let count = served.len() as u64;
        assert_eq!((report.imported, report.replaced, report.refused), (count, round * count, 0));
        assert!(report.alterations.is_empty(), "{report}");
        assert!(documents(&inventory, organization).await == served, "round {round}");
    }
}
