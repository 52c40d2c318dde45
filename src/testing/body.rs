use bytes::Bytes;

use super::{Fault, Fixture, Outcome, with_unique_keys};
use crate::store::{Batch, Precondition, Record};

super::table! { of "store":
    "Bodies are opaque: the store returns exactly the bytes that were put, whatever their content and size" =>
        empty_body_is_returned_empty,
        body_of_all_byte_values_is_returned_unchanged,
        body_that_resembles_json_is_returned_unchanged,
        body_of_1_mebibyte_is_returned_unchanged,
        body_of_14_mebibytes_is_returned_unchanged;
}

async fn empty_body_is_returned_empty(fixture: Fixture) -> Outcome {
    expect_returned(fixture, Bytes::new()).await
}

async fn body_of_all_byte_values_is_returned_unchanged(fixture: Fixture) -> Outcome {
    expect_returned(fixture, (u8::MIN..=u8::MAX).collect()).await
}

async fn body_that_resembles_json_is_returned_unchanged(fixture: Fixture) -> Outcome {
    expect_returned(fixture, Bytes::from_static(b" {\"b\": 1.0, \"a\": \"\\u0041\", \"b\": 2}\r\n\0 ")).await
}

async fn body_of_1_mebibyte_is_returned_unchanged(mut fixture: Fixture) -> Outcome {
    let body = fixture.random.bytes(1 << 20);
    expect_returned(fixture, body.into()).await
}

async fn body_of_14_mebibytes_is_returned_unchanged(mut fixture: Fixture) -> Outcome {
    let body = fixture.random.bytes(14 << 20);
    expect_returned(fixture, body.into()).await
}

/// Checks every method that returns a body.
async fn expect_returned(mut fixture: Fixture, body: Bytes) -> Outcome {
    let (key, unique_key) = (fixture.key(), fixture.unique_key());
    let mut batch = Batch::new();
    batch.put(key, Precondition::Absent, with_unique_keys(&[&unique_key]), body.clone());
    fixture.store.commit(batch).await?;
    let read = fixture.read(key).await?.map(|record| record.body);
    same_bytes("get", read.as_slice(), &body)?;
    let resolved = fixture.store.get_by_unique_key(&unique_key).await?.map(|record| record.body);
    same_bytes("get_by_unique_key", resolved.as_slice(), &body)?;
    let page = fixture.store.list(&fixture.query()).await?;
    let listed: Vec<Bytes> = page.records.into_iter().map(|Record { body, .. }| body).collect();
    same_bytes("list", &listed, &body)?;
    let entries = fixture.entries().await?;
    let snapped: Vec<Bytes> = entries.into_values().map(|entry| entry.record.body).collect();
    same_bytes("snapshot", &snapped, &body)
}

/// Compares bodies and reports the first difference instead of megabytes of content.
fn same_bytes(method: &str, found: &[Bytes], expected: &Bytes) -> Outcome {
    let [found] = found else {
        return Err(Fault::new(format!("{method}: expected one record, got {}", found.len())));
    };
    if found == expected {
        return Ok(());
    }
    let common = found.iter().zip(expected).take_while(|(left, right)| left == right).count();
    let (found, expected) = (found.len(), expected.len());
    Err(Fault::new(format!(
        "{method}: expected the {expected} bytes that were put, got {found}, of which the first {common} are the same"
    )))
}
