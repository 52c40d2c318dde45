use super::{Bench, Entries, Outcome, check, expiring, holds, linked, put, same, shows, uniquely_keyed};
use crate::model::Timestamp;
use crate::store::{Facets, Guard, Precondition, Query};

super::table! { of "purge_expired":
    "Deletes all records whose `expires_at` is `now` or earlier" =>
        a_record_goes_at_the_very_microsecond,
        the_earliest_time_goes_and_the_latest_stays;
    "and tells how many" =>
        the_count_is_of_the_records_that_went;
    "Records without `expires_at` stay" =>
        a_record_without_a_time_stays;
    "What is deleted is gone from every method" =>
        what_is_purged_is_gone_from_every_method,
        what_was_purged_can_be_made_again;
}

/// Records that an earlier, broken run left behind must not spoil the counts.
async fn fresh_start(bench: &mut Bench) -> Outcome<Timestamp> {
    let time = bench.antiquity();
    bench.store.purge_expired(time).await?;
    Ok(time)
}

async fn a_record_goes_at_the_very_microsecond(mut bench: Bench) -> Outcome {
    let time = fresh_start(&mut bench).await?;
    let [long_ago, before, at, after] = bench.keys();
    for (key, micros) in [(long_ago, -1_000_000_000), (before, -1), (at, 0), (after, 1)] {
        bench.put(key, expiring(time.plus_micros(micros)), "expires").await?;
    }
    let query = bench.query();
    bench.store.purge_expired(time.plus_micros(-1)).await?;
    shows("what is left just before", &bench.store.list(&query).await?, &[at, after])?;
    bench.store.purge_expired(time).await?;
    shows("what is left at the time", &bench.store.list(&query).await?, &[after])?;
    bench.store.purge_expired(time).await?;
    shows("what is left after the same again", &bench.store.list(&query).await?, &[after])?;
    bench.store.purge_expired(time.plus_micros(1)).await?;
    shows("what is left just after", &bench.store.list(&query).await?, &[])
}

/// They may be infinities or overflows where a database keeps its times.
async fn the_earliest_time_goes_and_the_latest_stays(mut bench: Bench) -> Outcome {
    let time = fresh_start(&mut bench).await?;
    let [oldest, kept] = bench.keys();
    bench.put(oldest, expiring(Timestamp::UNIX_EPOCH.plus_micros(i64::MIN)), "of the year 0").await?;
    bench.put(kept, expiring(Timestamp::UNIX_EPOCH.plus_micros(i64::MAX)), "of the year 9999").await?;
    bench.store.purge_expired(time).await?;
    shows("what is left", &bench.store.list(&bench.query()).await?, &[kept])
}

async fn the_count_is_of_the_records_that_went(mut bench: Bench) -> Outcome {
    let time = fresh_start(&mut bench).await?;
    same("the count when nothing has expired", &bench.store.purge_expired(time).await?, &0)?;
    let (unique_key, link) = (bench.unique_key(), bench.link());
    let [a, b, later] = bench.keys();
    let other = bench.other_key();
    let rich =
        Facets { expires_at: Some(time), links: vec![link, bench.link()], ..uniquely_keyed(&[&unique_key]) };
    bench.put(a, rich, "expires").await?;
    bench.put(b, expiring(time.plus_micros(-1)), "expired").await?;
    bench.put(other, expiring(time), "of another kind").await?;
    bench.put(later, expiring(time.plus_micros(1)), "expires later").await?;
    same("the count when three have expired", &bench.store.purge_expired(time).await?, &3)?;
    same("the count of the same again", &bench.store.purge_expired(time).await?, &0)?;
    same("the count when the last expires", &bench.store.purge_expired(time.plus_micros(1)).await?, &1)
}

async fn a_record_without_a_time_stays(mut bench: Bench) -> Outcome {
    let time = fresh_start(&mut bench).await?;
    let (key, unique_key) = (bench.key(), bench.unique_key());
    let record = bench.put(key, uniquely_keyed(&[&unique_key]), "stays").await?;
    bench.store.purge_expired(time).await?;
    same("get", &bench.read(key).await?, &Some(record.clone()))?;
    same("get_by_unique_key", &bench.store.get_by_unique_key(&unique_key).await?, &Some(record))?;
    shows("list", &bench.store.list(&bench.query()).await?, &[key])
}

async fn what_is_purged_is_gone_from_every_method(mut bench: Bench) -> Outcome {
    let time = fresh_start(&mut bench).await?;
    let ([key, claimant], unique_key, link) = (bench.keys(), bench.unique_key(), bench.link());
    let [organization, network] = bench.ids();
    let facets = Facets {
        organization: Some(organization),
        network: Some(network),
        expires_at: Some(time),
        unique_keys: vec![unique_key.clone()],
        ..linked(&[link])
    };
    bench.put(key, facets, "expires").await?;
    bench.store.purge_expired(time).await?;
    same("get", &bench.read(key).await?, &None)?;
    same("get_by_unique_key", &bench.holder(&unique_key).await?, &None)?;
    shows("list", &bench.store.list(&bench.query()).await?, &[])?;
    same("snapshot", &bench.entries().await?, &Entries::new())?;
    let networks = Query { networks: Some(vec![network]), ..bench.query() };
    shows("list by network", &bench.store.list(&networks).await?, &[])?;
    bench.store.commit(check(Guard::LinkedWithin { organization: None, link })).await?;
    bench.store.commit(check(Guard::NetworkEmpty { organization: None, network })).await?;
    bench.put(claimant, uniquely_keyed(&[&unique_key]), "claims the unique key").await?;
    same("the next holder of the unique key", &bench.holder(&unique_key).await?, &Some(claimant))
}

async fn what_was_purged_can_be_made_again(mut bench: Bench) -> Outcome {
    let time = fresh_start(&mut bench).await?;
    let key = bench.key();
    let old = bench.put(key, expiring(time), "expires").await?.version;
    bench.store.purge_expired(time).await?;
    bench.store.commit(put(key, Precondition::Absent, Facets::default())).await?;
    bench.store.purge_expired(time).await?;
    let version = bench.read(key).await?.map(|record| record.version);
    holds(version > Some(old), &format!("made again with {version:?} after {old:?}"))
}
