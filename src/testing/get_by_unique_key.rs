use super::{Fault, Fixture, MAIL, Outcome, expect_equal, with_unique_keys};
use crate::store::{Facets, Name, UniqueKey};

super::table! { of "get_by_unique_key":
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

async fn every_unique_key_of_a_record_finds_it(mut fixture: Fixture) -> Outcome {
    let (key, first, second) = (fixture.key(), fixture.unique_key(), fixture.unique_key());
    let record = fixture.put(key, with_unique_keys(&[&first, &second]), "record").await?;
    expect_equal(
        "the first unique key",
        &fixture.store.get_by_unique_key(&first).await?,
        &Some(record.clone()),
    )?;
    expect_equal("the second unique key", &fixture.store.get_by_unique_key(&second).await?, &Some(record))
}

async fn unused_unique_key_finds_nothing(mut fixture: Fixture) -> Outcome {
    let unique_key = fixture.unique_key();
    expect_equal("a unique key never given", &fixture.store.get_by_unique_key(&unique_key).await?, &None)
}

async fn unique_key_is_distinguished_by_its_name(mut fixture: Fixture) -> Outcome {
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

/// Uses values that a text type, a collation, a padded column or a concatenated key would confuse.
async fn unique_key_values_are_compared_as_bytes(mut fixture: Fixture) -> Outcome {
    let stem = fixture.random.bytes(12);
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
            &fixture.store.get_by_unique_key(&unique_key).await?,
            &Some(record),
        )?;
    }
    Ok(())
}

fn taken(fault: Fault, ending: &[u8]) -> Fault {
    fault.within(&format!("claiming a value of its own, ending in {ending:?}"))
}

async fn unique_key_is_free_after_put_without_it(mut fixture: Fixture) -> Outcome {
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

async fn unique_key_is_free_after_delete(mut fixture: Fixture) -> Outcome {
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
