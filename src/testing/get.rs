use super::{Fixture, Outcome, expect_equal, expect_list, with_expiry};
use crate::store::{Batch, Facets, Key, Precondition};

super::table! { of "get":
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
}

async fn records_are_returned_in_key_order(mut fixture: Fixture) -> Outcome {
    let [first, second, third] = fixture.keys();
    let a = fixture.put(first, Facets::default(), "a").await?;
    let b = fixture.put(second, Facets::default(), "b").await?;
    let c = fixture.put(third, Facets::default(), "c").await?;
    let answers = fixture.store.get(&[third, first, second]).await?;
    expect_equal("the records of the third, first and second key", &answers, &[Some(c), Some(a), Some(b)])
}

async fn hundreds_of_keys_are_read_in_one_call(mut fixture: Fixture) -> Outcome {
    let keys: Vec<Key> = (0..800).map(|_| fixture.key()).collect();
    let mut batch = Batch::new();
    for (number, key) in keys.iter().enumerate().filter(|(number, _)| number % 2 == 0) {
        batch.put(*key, Precondition::Absent, Facets::default(), number.to_string());
    }
    fixture.store.commit(batch).await?;
    let answers = fixture.store.get(&keys).await?;
    let bodies: Vec<_> = answers.into_iter().map(|answer| answer.map(|record| record.body)).collect();
    let expected: Vec<_> =
        (0..800).map(|number| (number % 2 == 0).then(|| number.to_string().into())).collect();
    expect_equal("the bodies of 800 elements", &bodies, &expected)
}

async fn missing_or_deleted_record_yields_none(mut fixture: Fixture) -> Outcome {
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

async fn records_with_equal_ids_of_different_kinds_are_distinct(mut fixture: Fixture) -> Outcome {
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

async fn duplicate_key_yields_two_elements(mut fixture: Fixture) -> Outcome {
    let [there, missing] = fixture.keys();
    let record = fixture.put(there, Facets::default(), "there").await?;
    let answers = fixture.store.get(&[there, missing, there, missing]).await?;
    expect_equal("the answers", &answers, &[Some(record.clone()), None, Some(record), None])
}

async fn no_keys_yield_empty_result(fixture: Fixture) -> Outcome {
    expect_equal("the result for no keys", &fixture.store.get(&[]).await?, &[])
}

async fn expired_record_is_visible_until_purged(mut fixture: Fixture) -> Outcome {
    let (key, unique_key, time) = (fixture.key(), fixture.unique_key(), fixture.ancient_time());
    let mut facets = with_expiry(time);
    facets.unique_keys.push(unique_key.clone());
    let record = fixture.put(key, facets, "expired").await?;
    expect_equal("get of an expired record", &fixture.read(key).await?, &Some(record.clone()))?;
    expect_equal(
        "get_by_unique_key of an expired record",
        &fixture.store.get_by_unique_key(&unique_key).await?,
        &Some(record),
    )?;
    expect_list("the list of its kind", &fixture.store.list(&fixture.query()).await?, &[key])
}
