use super::{Bench, Fault, MAIL, Outcome, same, uniquely_keyed};
use crate::store::{Facets, Name, UniqueKey};

super::table! { of "get_by_unique_key":
    "Reads the record that has a unique key, or `None`" =>
        every_unique_key_of_a_record_finds_it,
        a_unique_key_that_nobody_has_finds_nothing;
    "A unique key is the whole of it: the same value under another name is another unique key" =>
        the_name_is_part_of_a_unique_key,
        a_value_is_compared_by_its_bytes;
    "A unique key that a record no longer has, because it was put without it or deleted, finds nothing" =>
        a_unique_key_is_free_after_a_put_without_it,
        a_unique_key_is_free_after_a_delete;
}

async fn every_unique_key_of_a_record_finds_it(mut bench: Bench) -> Outcome {
    let (key, first, second) = (bench.key(), bench.unique_key(), bench.unique_key());
    let record = bench.put(key, uniquely_keyed(&[&first, &second]), "record").await?;
    same("the first unique key", &bench.store.get_by_unique_key(&first).await?, &Some(record.clone()))?;
    same("the second unique key", &bench.store.get_by_unique_key(&second).await?, &Some(record))
}

async fn a_unique_key_that_nobody_has_finds_nothing(mut bench: Bench) -> Outcome {
    let unique_key = bench.unique_key();
    same("a unique key never given", &bench.store.get_by_unique_key(&unique_key).await?, &None)
}

async fn the_name_is_part_of_a_unique_key(mut bench: Bench) -> Outcome {
    const PHONE: Name = Name::new("phone");
    let [one, two] = bench.keys();
    let mail = bench.unique_key();
    let phone = UniqueKey::new(PHONE, mail.value.clone());
    bench.put(one, uniquely_keyed(&[&mail]), "one").await?;
    same("the value under another name", &bench.holder(&phone).await?, &None)?;
    bench.put(two, uniquely_keyed(&[&phone]), "two").await?;
    same("the value under the one name", &bench.holder(&mail).await?, &Some(one))?;
    same("the value under the other name", &bench.holder(&phone).await?, &Some(two))
}

/// Values that a text, a collation, a padded column or a concatenated key would take for one another.
async fn a_value_is_compared_by_its_bytes(mut bench: Bench) -> Outcome {
    let stem = bench.random.bytes(12);
    let endings: [&[u8]; 10] = [b"", b"a", b"A", b"a ", b"a\0", b"\0a", b"aa", b"\x80", b"\xff", b"\xff\xff"];
    let mut records = Vec::new();
    for ending in endings {
        let (key, unique_key) = (bench.key(), UniqueKey::new(MAIL, [&stem, ending].concat()));
        let record = bench
            .put(key, uniquely_keyed(&[&unique_key]), "record")
            .await
            .map_err(|fault| taken(fault, ending))?;
        records.push((ending, unique_key, record));
    }
    for (ending, unique_key, record) in records {
        same(
            &format!("the value ending in {ending:?}"),
            &bench.store.get_by_unique_key(&unique_key).await?,
            &Some(record),
        )?;
    }
    Ok(())
}

fn taken(fault: Fault, ending: &[u8]) -> Fault {
    fault.within(&format!("claiming a value of its own, ending in {ending:?}"))
}

async fn a_unique_key_is_free_after_a_put_without_it(mut bench: Bench) -> Outcome {
    let [old, new] = bench.keys();
    let (dropped, kept) = (bench.unique_key(), bench.unique_key());
    bench.put(old, uniquely_keyed(&[&dropped, &kept]), "with both").await?;
    bench.put(old, uniquely_keyed(&[&kept]), "with one").await?;
    same("the unique key that was dropped", &bench.holder(&dropped).await?, &None)?;
    same("the unique key that was kept", &bench.holder(&kept).await?, &Some(old))?;
    bench.put(new, uniquely_keyed(&[&dropped]), "the next holder").await?;
    same("the unique key after another claimed it", &bench.holder(&dropped).await?, &Some(new))
}

async fn a_unique_key_is_free_after_a_delete(mut bench: Bench) -> Outcome {
    let [old, new] = bench.keys();
    let unique_key = bench.unique_key();
    bench.put(old, uniquely_keyed(&[&unique_key]), "old").await?;
    bench.delete(old).await?;
    same("the unique key of a deleted record", &bench.holder(&unique_key).await?, &None)?;
    bench.put(old, Facets::default(), "made again").await?;
    same(
        "the unique key after its record was made again without it",
        &bench.holder(&unique_key).await?,
        &None,
    )?;
    bench.put(new, uniquely_keyed(&[&unique_key]), "new").await?;
    same("the unique key after another claimed it", &bench.holder(&unique_key).await?, &Some(new))
}
