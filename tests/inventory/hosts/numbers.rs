//! Metadata from discovery may be any JSON, and is preserved.

use fastrand::Rng;
use serde_json::{Map, Number, Value, json};
use toposcope::inventory::Import;
use toposcope::model::Source;

use crate::support::{Fixture, bare_host, id, jsonl};

fn discovery(noted: impl IntoIterator<Item = (String, Value)>) -> Source {
    Source::Discovery { metadata: vec![Map::from_iter(noted)] }
}

fn floats() -> Vec<Value> {
    let mut random = Rng::with_seed(7);
    let numbers = std::iter::from_fn(|| Some(f64::from_bits(random.u64(..))));
    numbers.filter_map(Number::from_f64).map(Value::Number).take(2000).collect()
}

#[tokio::test]
async fn floating_point_numbers_come_back_to_the_last_bit() {
    let fixture = Fixture::new().await;
    let mut host = bare_host(id(1), fixture.network);
    host.source = discovery([("numbers".to_owned(), Value::Array(floats()))]);
    fixture.put(&host).await;
    let back = fixture.host(host.id).await;
    let (put, got) = (noted_numbers(&host.source), noted_numbers(&back.source));
    let differing = put.iter().zip(&got).filter(|(put, got)| put != got).count();
    assert_eq!(differing, 0, "of {} numbers", put.len());
}

#[tokio::test]
async fn a_document_with_floating_point_numbers_is_imported_unchanged() {
    let fixture = Fixture::new().await;
    let mut host = bare_host(id(1), fixture.network);
    host.source = discovery([("numbers".to_owned(), Value::Array(floats()))]);
    fixture.inventory.import_hosts(fixture.organization, &jsonl([&host])[..], Import::new()).await.unwrap();
    let first = fixture.documents().await;
    fixture.inventory.import_hosts(fixture.organization, &first[0][..], Import::new()).await.unwrap();
    assert!(fixture.documents().await == first, "a second import of the same document alters its numbers");
}

#[tokio::test]
async fn integers_of_sixty_four_bits_and_odd_strings_come_back() {
    let fixture = Fixture::new().await;
    let mut host = bare_host(id(1), fixture.network);
    let noted = json!([
        u64::MAX,
        i64::MIN,
        0,
        -1,
        1.0,
        -0.0,
        1e300,
        "\u{0}\u{7f}\u{2028}\u{10ffff}",
        true,
        null,
        [],
        {}
    ]);
    host.source = discovery([("odd \u{0} key".to_owned(), noted), (String::new(), Value::Null)]);
    fixture.put(&host).await;
    assert_eq!(fixture.host(host.id).await, host);
}

/// Every stored host must be readable: one that can be put but not read could only be overwritten.
#[tokio::test]
async fn a_host_that_is_accepted_can_be_read_however_deep_its_metadata_is() {
    let fixture = Fixture::new().await;
    for depth in [10, 100, 120, 125, 130, 1000] {
        let mut host = bare_host(id(1), fixture.network);
        let nested = (0..depth).fold(json!("core"), |inner, _| json!([inner]));
        host.source = discovery([("nested".to_owned(), nested)]);
        if fixture.inventory.put_host(fixture.organization, host.clone()).await.is_ok() {
            let back = fixture.inventory.host(fixture.organization, host.id).await;
            assert!(back.is_ok(), "nested {depth} deep it is stored, and then: {back:?}");
            assert_eq!(back.unwrap(), host);
        }
    }
}

fn noted_numbers(source: &Source) -> Vec<f64> {
    let Source::Discovery { metadata } = source else { panic!("another source") };
    metadata[0]["numbers"].as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}
