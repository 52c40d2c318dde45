use bytes::Bytes;

use super::{Bench, Fault, Outcome, uniquely_keyed};
use crate::store::{Batch, Precondition, Record};

super::table! { of "store":
    "A store does not look into a body, and gives back its very bytes, whatever they are and however many" =>
        an_empty_body_comes_back_empty,
        a_body_of_all_256_bytes_comes_back,
        a_body_that_looks_like_a_document_comes_back_unchanged,
        a_body_of_a_mebibyte_comes_back,
        a_body_of_14_mebibytes_comes_back;
}

async fn an_empty_body_comes_back_empty(bench: Bench) -> Outcome {
    comes_back(bench, Bytes::new()).await
}

async fn a_body_of_all_256_bytes_comes_back(bench: Bench) -> Outcome {
    comes_back(bench, (u8::MIN..=u8::MAX).collect()).await
}

async fn a_body_that_looks_like_a_document_comes_back_unchanged(bench: Bench) -> Outcome {
    comes_back(bench, Bytes::from_static(b" {\"b\": 1.0, \"a\": \"\\u0041\", \"b\": 2}\r\n\0 ")).await
}

async fn a_body_of_a_mebibyte_comes_back(mut bench: Bench) -> Outcome {
    let body = bench.random.bytes(1 << 20);
    comes_back(bench, body.into()).await
}

async fn a_body_of_14_mebibytes_comes_back(mut bench: Bench) -> Outcome {
    let body = bench.random.bytes(14 << 20);
    comes_back(bench, body.into()).await
}

/// Through every method that returns a body.
async fn comes_back(mut bench: Bench, body: Bytes) -> Outcome {
    let (key, unique_key) = (bench.key(), bench.unique_key());
    let mut batch = Batch::new();
    batch.put(key, Precondition::Absent, uniquely_keyed(&[&unique_key]), body.clone());
    bench.store.commit(batch).await?;
    let read = bench.read(key).await?.map(|record| record.body);
    same_bytes("get", read.as_slice(), &body)?;
    let resolved = bench.store.get_by_unique_key(&unique_key).await?.map(|record| record.body);
    same_bytes("get_by_unique_key", resolved.as_slice(), &body)?;
    let page = bench.store.list(&bench.query()).await?;
    let listed: Vec<Bytes> = page.records.into_iter().map(|Record { body, .. }| body).collect();
    same_bytes("list", &listed, &body)?;
    let entries = bench.entries().await?;
    let snapped: Vec<Bytes> = entries.into_values().map(|entry| entry.record.body).collect();
    same_bytes("snapshot", &snapped, &body)
}

/// Tells where they differ: a body of megabytes is nothing to print.
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
