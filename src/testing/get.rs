use super::{Bench, Outcome, expiring, same, shows};
use crate::store::{Batch, Facets, Key, Precondition};

super::table! { of "get":
    "One answer for each key, in the order of the keys" =>
        answers_follow_the_order_of_the_keys,
        hundreds_of_keys_are_answered_at_once;
    "`None` where there is no such record" =>
        a_record_that_never_was_or_is_no_more_is_none,
        the_same_id_under_another_kind_is_another_record;
    "A key that is given twice is answered twice. No keys, no answers" =>
        a_key_given_twice_is_answered_twice,
        no_keys_get_no_answers;
    of "store":
    "A record whose time is over is a record like any other until it is purged" =>
        an_expired_record_is_there_until_it_is_purged;
}

async fn answers_follow_the_order_of_the_keys(mut bench: Bench) -> Outcome {
    let [first, second, third] = bench.keys();
    let a = bench.put(first, Facets::default(), "a").await?;
    let b = bench.put(second, Facets::default(), "b").await?;
    let c = bench.put(third, Facets::default(), "c").await?;
    let answers = bench.store.get(&[third, first, second]).await?;
    same("answers to the third, first and second key", &answers, &[Some(c), Some(a), Some(b)])
}

async fn hundreds_of_keys_are_answered_at_once(mut bench: Bench) -> Outcome {
    let keys: Vec<Key> = (0..800).map(|_| bench.key()).collect();
    let mut batch = Batch::new();
    for (number, key) in keys.iter().enumerate().filter(|(number, _)| number % 2 == 0) {
        batch.put(*key, Precondition::Absent, Facets::default(), number.to_string());
    }
    bench.store.commit(batch).await?;
    let answers = bench.store.get(&keys).await?;
    let bodies: Vec<_> = answers.into_iter().map(|answer| answer.map(|record| record.body)).collect();
    let expected: Vec<_> =
        (0..800).map(|number| (number % 2 == 0).then(|| number.to_string().into())).collect();
    same("the bodies of 800 answers", &bodies, &expected)
}

async fn a_record_that_never_was_or_is_no_more_is_none(mut bench: Bench) -> Outcome {
    let [never, there, deleted] = bench.keys();
    let record = bench.put(there, Facets::default(), "there").await?;
    bench.put(deleted, Facets::default(), "deleted").await?;
    bench.delete(deleted).await?;
    let answers = bench.store.get(&[never, there, deleted]).await?;
    same("answers to a key never used, one in use and one deleted", &answers, &[None, Some(record), None])
}

async fn the_same_id_under_another_kind_is_another_record(mut bench: Bench) -> Outcome {
    let key = bench.key();
    let namesake = Key::new(bench.other_kind, key.id);
    let record = bench.put(key, Facets::default(), "one").await?;
    same("the record of another kind, before it is put", &bench.read(namesake).await?, &None)?;
    let other = bench.put(namesake, Facets::default(), "other").await?;
    let answers = bench.store.get(&[key, namesake]).await?;
    same("two records with one id", &answers, &[Some(record), Some(other.clone())])?;
    bench.delete(key).await?;
    let answers = bench.store.get(&[key, namesake]).await?;
    same("the same after one of them is deleted", &answers, &[None, Some(other)])
}

async fn a_key_given_twice_is_answered_twice(mut bench: Bench) -> Outcome {
    let [there, missing] = bench.keys();
    let record = bench.put(there, Facets::default(), "there").await?;
    let answers = bench.store.get(&[there, missing, there, missing]).await?;
    same("the answers", &answers, &[Some(record.clone()), None, Some(record), None])
}

async fn no_keys_get_no_answers(bench: Bench) -> Outcome {
    same("the answers to no keys", &bench.store.get(&[]).await?, &[])
}

async fn an_expired_record_is_there_until_it_is_purged(mut bench: Bench) -> Outcome {
    let (key, unique_key, time) = (bench.key(), bench.unique_key(), bench.antiquity());
    let mut facets = expiring(time);
    facets.unique_keys.push(unique_key.clone());
    let record = bench.put(key, facets, "expired").await?;
    same("get of an expired record", &bench.read(key).await?, &Some(record.clone()))?;
    same("the record of its unique key", &bench.store.get_by_unique_key(&unique_key).await?, &Some(record))?;
    shows("the list of its kind", &bench.store.list(&bench.query()).await?, &[key])
}
