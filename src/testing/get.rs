//! Reads of single records: by key, by unique key, and of every body.

use bytes::Bytes;

use crate::store::Precondition::Absent;
use crate::store::{Batch, Facets, Key, Name, Record, UniqueKey};
use crate::testing::{
    CaseOutcome, Fixture, MAIL, Violation, expect_equal, expect_list, with_expiry, with_unique_keys,
};

crate::testing::table! {
    of "get":
    "The result has one element per key, in the order of the keys" =>
        records_are_returned_in_key_order,
        hundreds_of_keys_are_read_in_one_call;
    "`None` where no such record exists" =>
        missing_or_deleted_record_yields_none,
        records_with_equal_ids_of_different_kinds_are_distinct;
    "A key given twice yields two elements, and no keys yield an empty result" =>
        duplicate_key_yields_two_elements,
        no_keys_yield_empty_result;
    of "store":
    "Expired records stay visible until purged" =>
        expired_record_is_visible_until_purged;
    "Bodies are opaque: the store returns exactly the bytes that were put, whatever their content and size" =>
        empty_body_is_returned_empty,
        body_of_all_byte_values_is_returned_unchanged,
        body_that_resembles_json_is_returned_unchanged,
        body_of_1_mebibyte_is_returned_unchanged,
        body_of_14_mebibytes_is_returned_unchanged;
    of "get_by_unique_key":
    "Returns the record that has this unique key, or `None`" =>
        every_unique_key_of_a_record_finds_it,
        unused_unique_key_finds_nothing;
    "Both name and value identify a unique key, and both are compared byte by byte: the same value under \
     another name is a different unique key" =>
        unique_key_is_distinguished_by_its_name,
        unique_key_values_are_compared_as_bytes;
    "Once its record is deleted or put without it, a unique key finds nothing" =>
        unique_key_is_free_after_put_without_it,
        unique_key_is_free_after_delete;
}

async fn records_are_returned_in_key_order(mut fixture: Fixture) -> CaseOutcome {
    let [first, second, third] = fixture.keys();
    let a = fixture.put(first, Facets::default(), "a").await?;
    let b = fixture.put(second, Facets::default(), "b").await?;
    let c = fixture.put(third, Facets::default(), "c").await?;
    let answers = fixture.store.get(&[third, first, second]).await?;
    expect_equal("the records of the third, first and second key", &answers, &[Some(c), Some(a), Some(b)])
}

async fn hundreds_of_keys_are_read_in_one_call(mut fixture: Fixture) -> CaseOutcome {
    let keys: Vec<Key> = (0..800).map(|_| fixture.key()).collect();
    let mut batch = Batch::new();
    for (number, key) in keys.iter().enumerate().filter(|(number, _)| number % 2 == 0) {
        batch.put(*key, Absent, Facets::default(), number.to_string());
    }
    fixture.store.commit(batch).await?;
    let answers = fixture.store.get(&keys).await?;
    let bodies: Vec<_> = answers.into_iter().map(|answer| answer.map(|record| record.body)).collect();
    let expected: Vec<_> =
        (0..800).map(|number| (number % 2 == 0).then(|| number.to_string().into())).collect();
    expect_equal("the bodies of 800 elements", &bodies, &expected)
}

async fn missing_or_deleted_record_yields_none(mut fixture: Fixture) -> CaseOutcome {
    let [never, there, deleted] = fixture.keys();
    let record = fixture.put(there, Facets::default(), "there").await?;
    fixture.put(deleted, Facets::default(), "deleted").await?;
    fixture.delete(deleted).await?;
    let answers = fixture.store.get(&[never, there, deleted]).await?;
    expect_equal(
        "the elements for a key never used, one in use and one deleted",
        &answers,
        &[None, Some(record), None],
    )
}

async fn records_with_equal_ids_of_different_kinds_are_distinct(mut fixture: Fixture) -> CaseOutcome {
    let key = fixture.key();
    let namesake = Key::new(fixture.other_kind, key.id);
    let record = fixture.put(key, Facets::default(), "one").await?;
    expect_equal("the record of another kind, before it is put", &fixture.read(namesake).await?, &None)?;
    let other = fixture.put(namesake, Facets::default(), "other").await?;
    let answers = fixture.store.get(&[key, namesake]).await?;
    expect_equal("two records with one id", &answers, &[Some(record), Some(other.clone())])?;
    fixture.delete(key).await?;
    let answers = fixture.store.get(&[key, namesake]).await?;
    expect_equal("the same after one of them is deleted", &answers, &[None, Some(other)])
}

async fn duplicate_key_yields_two_elements(mut fixture: Fixture) -> CaseOutcome {
    let [there, missing] = fixture.keys();
    let record = fixture.put(there, Facets::default(), "there").await?;
    let answers = fixture.store.get(&[there, missing, there, missing]).await?;
    expect_equal("the answers", &answers, &[Some(record.clone()), None, Some(record), None])
}

async fn no_keys_yield_empty_result(fixture: Fixture) -> CaseOutcome {
    expect_equal("the result for no keys", &fixture.store.get(&[]).await?, &[])
}

async fn expired_record_is_visible_until_purged(mut fixture: Fixture) -> CaseOutcome {
    let (key, unique_key, time) = (fixture.key(), fixture.unique_key(), fixture.ancient_time());
    let mut facets = with_expiry(time);
    facets.unique_keys.push(unique_key.clone());
    let record = fixture.put(key, facets, "expired").await?;
    expect_equal("get of an expired record", &fixture.read(key).await?, &Some(record.clone()))?;
    expect_equal(
        "get_by_unique_key of an expired record",
        &fixture.record_of(&unique_key).await?,
        &Some(record),
    )?;
    expect_list("the list of its kind", &fixture.store.list(&fixture.query()).await?, &[key])
}

async fn every_unique_key_of_a_record_finds_it(mut fixture: Fixture) -> CaseOutcome {
    let (key, first, second) = (fixture.key(), fixture.unique_key(), fixture.unique_key());
    let record = fixture.put(key, with_unique_keys(&[&first, &second]), "record").await?;
    expect_equal("the first unique key", &fixture.record_of(&first).await?, &Some(record.clone()))?;
    expect_equal("the second unique key", &fixture.record_of(&second).await?, &Some(record))
}

async fn unused_unique_key_finds_nothing(mut fixture: Fixture) -> CaseOutcome {
    let unique_key = fixture.unique_key();
    expect_equal("a unique key never given", &fixture.record_of(&unique_key).await?, &None)
}

async fn unique_key_is_distinguished_by_its_name(mut fixture: Fixture) -> CaseOutcome {
    const PHONE: Name = Name::new("phone");
    let [one, two] = fixture.keys();
    let mail = fixture.unique_key();
    let phone = UniqueKey::new(PHONE, mail.value.clone());
    fixture.put(one, with_unique_keys(&[&mail]), "one").await?;
    expect_equal("the value under another name", &fixture.holder(&phone).await?, &None)?;
    fixture.put(two, with_unique_keys(&[&phone]), "two").await?;
    expect_equal("the value under the one name", &fixture.holder(&mail).await?, &Some(one))?;
    expect_equal("the value under the other name", &fixture.holder(&phone).await?, &Some(two))
}

/// Uses values that an inexact comparison would confuse. A text type, a collation, a padded column or a concatenated
/// key would cause one.
async fn unique_key_values_are_compared_as_bytes(mut fixture: Fixture) -> CaseOutcome {
    let stem = fixture.bytes(12);
    let endings: [&[u8]; 10] = [b"", b"a", b"A", b"a ", b"a\0", b"\0a", b"aa", b"\x80", b"\xff", b"\xff\xff"];
    let mut records = Vec::new();
    for ending in endings {
        let (key, unique_key) = (fixture.key(), UniqueKey::new(MAIL, [&stem, ending].concat()));
        let record = fixture
            .put(key, with_unique_keys(&[&unique_key]), "record")
            .await
            .map_err(|fault| taken(fault, ending))?;
        records.push((ending, unique_key, record));
    }
    for (ending, unique_key, record) in records {
        expect_equal(
            &format!("the value ending in {ending:?}"),
            &fixture.record_of(&unique_key).await?,
            &Some(record),
        )?;
    }
    Ok(())
}

fn taken(fault: Violation, ending: &[u8]) -> Violation {
    fault.within(&format!("claiming a value of its own, ending in {ending:?}"))
}

async fn unique_key_is_free_after_put_without_it(mut fixture: Fixture) -> CaseOutcome {
    let [old, new] = fixture.keys();
    let (dropped, kept) = (fixture.unique_key(), fixture.unique_key());
    fixture.put(old, with_unique_keys(&[&dropped, &kept]), "with both").await?;
    fixture.put(old, with_unique_keys(&[&kept]), "with one").await?;
    expect_equal("the unique key that was dropped", &fixture.holder(&dropped).await?, &None)?;
    expect_equal("the unique key that was kept", &fixture.holder(&kept).await?, &Some(old))?;
    fixture.put(new, with_unique_keys(&[&dropped]), "the next holder").await?;
    expect_equal(
        "the unique key after another record claimed it",
        &fixture.holder(&dropped).await?,
        &Some(new),
    )
}

async fn unique_key_is_free_after_delete(mut fixture: Fixture) -> CaseOutcome {
    let [old, new] = fixture.keys();
    let unique_key = fixture.unique_key();
    fixture.put(old, with_unique_keys(&[&unique_key]), "old").await?;
    fixture.delete(old).await?;
    expect_equal("the unique key of a deleted record", &fixture.holder(&unique_key).await?, &None)?;
    fixture.put(old, Facets::default(), "made again").await?;
    expect_equal(
        "the unique key after its record was created again without it",
        &fixture.holder(&unique_key).await?,
        &None,
    )?;
    fixture.put(new, with_unique_keys(&[&unique_key]), "new").await?;
    expect_equal(
        "the unique key after another record claimed it",
        &fixture.holder(&unique_key).await?,
        &Some(new),
    )
}

async fn empty_body_is_returned_empty(fixture: Fixture) -> CaseOutcome {
    expect_returned(fixture, Bytes::new()).await
}

async fn body_of_all_byte_values_is_returned_unchanged(fixture: Fixture) -> CaseOutcome {
    expect_returned(fixture, (u8::MIN..=u8::MAX).collect()).await
}

async fn body_that_resembles_json_is_returned_unchanged(fixture: Fixture) -> CaseOutcome {
    expect_returned(fixture, Bytes::from_static(b" {\"b\": 1.0, \"a\": \"\\u0041\", \"b\": 2}\r\n\0 ")).await
}

async fn body_of_1_mebibyte_is_returned_unchanged(mut fixture: Fixture) -> CaseOutcome {
    let body = fixture.bytes(1 << 20);
    expect_returned(fixture, body.into()).await
}

async fn body_of_14_mebibytes_is_returned_unchanged(mut fixture: Fixture) -> CaseOutcome {
    let body = fixture.bytes(14 << 20);
    expect_returned(fixture, body.into()).await
}

/// Checks every method that returns a body.
async fn expect_returned(mut fixture: Fixture, body: Bytes) -> CaseOutcome {
    let (key, unique_key) = (fixture.key(), fixture.unique_key());
    let mut batch = Batch::new();
    batch.put(key, Absent, with_unique_keys(&[&unique_key]), body.clone());
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
fn same_bytes(method: &str, found: &[Bytes], expected: &Bytes) -> CaseOutcome {
    let [found] = found else {
        return Err(Violation::new(format!("{method}: expected one record, got {}", found.len())));
    };
    if found == expected {
        return Ok(());
    }
    let common = found.iter().zip(expected).take_while(|(left, right)| left == right).count();
    let (found, expected) = (found.len(), expected.len());
    Err(Violation::new(format!(
        "{method}: expected the {expected} bytes that were put, got {found}, of which the first {common} are the same"
    )))
}
