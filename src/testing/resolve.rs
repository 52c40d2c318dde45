use super::{Bench, Fault, MAIL, Outcome, aliased, same};
use crate::store::{Alias, Facets, Name};

super::table! { of "resolve":
    "Reads the record that has an alias, or `None`" =>
        every_alias_of_a_record_finds_it,
        an_alias_that_nobody_has_finds_nothing;
    "An alias is the whole of it: the same value under another name is another alias" =>
        the_name_is_part_of_an_alias,
        a_value_is_compared_by_its_bytes;
    "An alias that a record no longer has, because it was put without it or deleted, finds nothing" =>
        an_alias_is_free_after_a_put_without_it,
        an_alias_is_free_after_a_delete;
}

async fn every_alias_of_a_record_finds_it(mut bench: Bench) -> Outcome {
    let (key, first, second) = (bench.key(), bench.alias(), bench.alias());
    let record = bench.put(key, aliased(&[&first, &second]), "record").await?;
    same("the first alias", &bench.store.resolve(&first).await?, &Some(record.clone()))?;
    same("the second alias", &bench.store.resolve(&second).await?, &Some(record))
}

async fn an_alias_that_nobody_has_finds_nothing(mut bench: Bench) -> Outcome {
    let alias = bench.alias();
    same("an alias never given", &bench.store.resolve(&alias).await?, &None)
}

async fn the_name_is_part_of_an_alias(mut bench: Bench) -> Outcome {
    const PHONE: Name = Name::new("phone");
    let [one, two] = bench.keys();
    let mail = bench.alias();
    let phone = Alias::new(PHONE, mail.value.clone());
    bench.put(one, aliased(&[&mail]), "one").await?;
    same("the value under another name", &bench.holder(&phone).await?, &None)?;
    bench.put(two, aliased(&[&phone]), "two").await?;
    same("the value under the one name", &bench.holder(&mail).await?, &Some(one))?;
    same("the value under the other name", &bench.holder(&phone).await?, &Some(two))
}

/// Values that a text, a collation, a padded column or a concatenated key would take for one another.
async fn a_value_is_compared_by_its_bytes(mut bench: Bench) -> Outcome {
    let stem = bench.random.bytes(12);
    let endings: [&[u8]; 10] = [b"", b"a", b"A", b"a ", b"a\0", b"\0a", b"aa", b"\x80", b"\xff", b"\xff\xff"];
    let mut records = Vec::new();
    for ending in endings {
        let (key, alias) = (bench.key(), Alias::new(MAIL, [&stem, ending].concat()));
        let record =
            bench.put(key, aliased(&[&alias]), "record").await.map_err(|fault| taken(fault, ending))?;
        records.push((ending, alias, record));
    }
    for (ending, alias, record) in records {
        same(&format!("the value ending in {ending:?}"), &bench.store.resolve(&alias).await?, &Some(record))?;
    }
    Ok(())
}

fn taken(fault: Fault, ending: &[u8]) -> Fault {
    fault.within(&format!("claiming a value of its own, ending in {ending:?}"))
}

async fn an_alias_is_free_after_a_put_without_it(mut bench: Bench) -> Outcome {
    let [old, new] = bench.keys();
    let (dropped, kept) = (bench.alias(), bench.alias());
    bench.put(old, aliased(&[&dropped, &kept]), "with both").await?;
    bench.put(old, aliased(&[&kept]), "with one").await?;
    same("the alias that was dropped", &bench.holder(&dropped).await?, &None)?;
    same("the alias that was kept", &bench.holder(&kept).await?, &Some(old))?;
    bench.put(new, aliased(&[&dropped]), "the next holder").await?;
    same("the alias after another claimed it", &bench.holder(&dropped).await?, &Some(new))
}

async fn an_alias_is_free_after_a_delete(mut bench: Bench) -> Outcome {
    let [old, new] = bench.keys();
    let alias = bench.alias();
    bench.put(old, aliased(&[&alias]), "old").await?;
    bench.delete(old).await?;
    same("the alias of a deleted record", &bench.holder(&alias).await?, &None)?;
    bench.put(old, Facets::default(), "made again").await?;
    same("the alias after its record was made again without it", &bench.holder(&alias).await?, &None)?;
    bench.put(new, aliased(&[&alias]), "new").await?;
    same("the alias after another claimed it", &bench.holder(&alias).await?, &Some(new))
}
