use super::{
    CaseOutcome, Entries, Fixture, WORD, expect, expect_equal, expect_list, guard_only, put, with_expiry,
    with_links, with_unique_keys,
};
use crate::model::Timestamp;
use crate::store::Precondition::Absent;
use crate::store::{Facets, Guard, Query, Term, TermFilter, TermRange};

super::table! { of "purge_expired":
    "Deletes all records whose `expires_at` is at or before `now`" =>
        record_is_purged_at_its_exact_microsecond,
        earliest_expiry_is_purged_and_latest_stays;
    "and returns their number" =>
        purge_returns_number_of_deleted_records;
    "Records without `expires_at` stay" =>
        record_without_expiry_is_not_purged;
    "Purged records disappear from the results of every method" =>
        purged_record_disappears_from_every_method,
        purged_record_can_be_created_again;
}

/// Purges records that an earlier failed run left behind, so that the counts are exact.
async fn fresh_start(fixture: &mut Fixture) -> CaseOutcome<Timestamp> {
    let time = fixture.ancient_time();
    fixture.store.purge_expired(time).await?;
    Ok(time)
}

async fn record_is_purged_at_its_exact_microsecond(mut fixture: Fixture) -> CaseOutcome {
    let time = fresh_start(&mut fixture).await?;
    let [long_ago, before, at, after] = fixture.keys();
    for (key, micros) in [(long_ago, -1_000_000_000), (before, -1), (at, 0), (after, 1)] {
        fixture.put(key, with_expiry(time.plus_micros(micros)), "expires").await?;
    }
    let query = fixture.query();
    fixture.store.purge_expired(time.plus_micros(-1)).await?;
    expect_list("the list 1 µs before the expiry", &fixture.store.list(&query).await?, &[at, after])?;
    fixture.store.purge_expired(time).await?;
    expect_list("the list at the expiry", &fixture.store.list(&query).await?, &[after])?;
    fixture.store.purge_expired(time).await?;
    expect_list("the list after the same purge again", &fixture.store.list(&query).await?, &[after])?;
    fixture.store.purge_expired(time.plus_micros(1)).await?;
    expect_list("the list 1 µs after the expiry", &fixture.store.list(&query).await?, &[])
}

/// A database may represent these times as infinity, or overflow.
async fn earliest_expiry_is_purged_and_latest_stays(mut fixture: Fixture) -> CaseOutcome {
    let time = fresh_start(&mut fixture).await?;
    let [oldest, kept] = fixture.keys();
    fixture.put(oldest, with_expiry(Timestamp::UNIX_EPOCH.plus_micros(i64::MIN)), "of the year 0").await?;
    fixture.put(kept, with_expiry(Timestamp::UNIX_EPOCH.plus_micros(i64::MAX)), "of the year 9999").await?;
    fixture.store.purge_expired(time).await?;
    expect_list("the list after the purge", &fixture.store.list(&fixture.query()).await?, &[kept])
}

async fn purge_returns_number_of_deleted_records(mut fixture: Fixture) -> CaseOutcome {
    let time = fresh_start(&mut fixture).await?;
    expect_equal("the count when nothing has expired", &fixture.store.purge_expired(time).await?, &0)?;
    let (unique_key, link) = (fixture.unique_key(), fixture.link());
    let [a, b, later] = fixture.keys();
    let other = fixture.other_key();
    let rich = Facets {
        expires_at: Some(time),
        links: vec![link, fixture.link()],
        ..with_unique_keys(&[&unique_key])
    };
    fixture.put(a, rich, "expires").await?;
    fixture.put(b, with_expiry(time.plus_micros(-1)), "expired").await?;
    fixture.put(other, with_expiry(time), "of another kind").await?;
    fixture.put(later, with_expiry(time.plus_micros(1)), "expires later").await?;
    expect_equal("the count when three have expired", &fixture.store.purge_expired(time).await?, &3)?;
    expect_equal("the count of the same purge again", &fixture.store.purge_expired(time).await?, &0)?;
    expect_equal(
        "the count when the last expires",
        &fixture.store.purge_expired(time.plus_micros(1)).await?,
        &1,
    )
}

async fn record_without_expiry_is_not_purged(mut fixture: Fixture) -> CaseOutcome {
    let time = fresh_start(&mut fixture).await?;
    let (key, unique_key) = (fixture.key(), fixture.unique_key());
    let record = fixture.put(key, with_unique_keys(&[&unique_key]), "stays").await?;
    fixture.store.purge_expired(time).await?;
    expect_equal("get", &fixture.read(key).await?, &Some(record.clone()))?;
    expect_equal("get_by_unique_key", &fixture.record_of(&unique_key).await?, &Some(record))?;
    expect_list("list", &fixture.store.list(&fixture.query()).await?, &[key])
}

async fn purged_record_disappears_from_every_method(mut fixture: Fixture) -> CaseOutcome {
    let time = fresh_start(&mut fixture).await?;
    let ([key, claimant], unique_key, link) = (fixture.keys(), fixture.unique_key(), fixture.link());
    let [organization, network] = fixture.ids();
    let facets = Facets {
        organization: Some(organization),
        network: Some(network),
        expires_at: Some(time),
        terms: vec![Term::new(WORD, "core")],
        unique_keys: vec![unique_key.clone()],
        ..with_links(&[link])
    };
    fixture.put(key, facets, "expires").await?;
    fixture.store.purge_expired(time).await?;
    expect_equal("get", &fixture.read(key).await?, &None)?;
    expect_equal("get_by_unique_key", &fixture.holder(&unique_key).await?, &None)?;
    expect_list("list", &fixture.store.list(&fixture.query()).await?, &[])?;
    expect_equal("snapshot", &fixture.entries().await?, &Entries::new())?;
    let networks = Query { networks: Some(vec![network]), ..fixture.query() };
    expect_list("list by network", &fixture.store.list(&networks).await?, &[])?;
    let terms = vec![TermFilter::new(WORD, [TermRange::prefix("")])];
    let terms = Query { terms, ..fixture.query() };
    expect_list("list by term", &fixture.store.list(&terms).await?, &[])?;
    fixture.store.commit(guard_only(Guard::linked_within(None, link))).await?;
    fixture.store.commit(guard_only(Guard::network_empty(None, network))).await?;
    fixture.put(claimant, with_unique_keys(&[&unique_key]), "claims the unique key").await?;
    expect_equal("the next holder of the unique key", &fixture.holder(&unique_key).await?, &Some(claimant))
}

async fn purged_record_can_be_created_again(mut fixture: Fixture) -> CaseOutcome {
    let time = fresh_start(&mut fixture).await?;
    let key = fixture.key();
    let old = fixture.put(key, with_expiry(time), "expires").await?.version;
    fixture.store.purge_expired(time).await?;
    fixture.store.commit(put(key, Absent, Facets::default())).await?;
    fixture.store.purge_expired(time).await?;
    let version = fixture.read(key).await?.map(|record| record.version);
    expect(version > Some(old), &format!("created again with {version:?} after {old:?}"))
}
