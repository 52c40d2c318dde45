//! Commits that compete. On a single-threaded runtime, a store that never awaits passes trivially.
//!
//! Write skew: two commits write different records, each under a condition that the other one breaks. A database with
//! snapshot isolation, but without serializability, accepts both.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::task::yield_now;

use crate::store::Precondition::{Absent, Present};
use crate::store::StoreErrorKind::{Conflict, Linked, NetworkInUse, UniqueKeyTaken};
use crate::store::{
    Batch, Cursor, Direction, Facets, Guard, Key, Link, Order, Precondition, Query, SortKey, Start, Store,
    StoreError, StoreErrorKind, Version,
};
use crate::testing::{
    CaseOutcome, Fixture, OWNER, RANK, Violation, delete, expect_equal, expect_error, of, put,
    run_concurrently, with_links, with_unique_keys,
};

crate::testing::table! {
    of "store":
    "Every method may be called concurrently from any number of tasks" =>
        concurrent_increments_are_all_counted,
        concurrent_commits_get_different_versions;
    of "commit":
    "Once a version can be read, no smaller one appears" =>
        list_in_the_order_of_versions_only_grows_at_its_end;
    "Of concurrent commits that expect the same version of a record, exactly one succeeds" =>
        concurrent_updates_of_one_version_let_one_succeed,
        concurrent_creates_of_one_record_let_one_succeed;
    "If two records would share one, nothing changes and the error is `UniqueKeyTaken`" =>
        concurrent_puts_of_one_unique_key_let_one_succeed;
    "Guards keep references valid under concurrency" =>
        target_delete_and_concurrent_new_link_exclude_each_other;
    "Ensures that no record has started to refer to the target since the referring records were listed" =>
        concurrent_links_guarded_as_only_one_let_one_succeed;
    "Ensures that no record has been added to the network since its records were listed" =>
        network_delete_and_concurrent_new_record_exclude_each_other,
        concurrent_records_guarded_as_alone_on_network_let_one_succeed;
    "Preconditions and guards are evaluated against the state before the batch" =>
        commits_guarding_each_others_writes_let_one_succeed;
}

/// Tasks and increments of the counter.
const WRITERS: usize = 8;
const INCREMENTS: usize = 25;

async fn concurrent_increments_are_all_counted(mut fixture: Fixture) -> CaseOutcome {
    let key = fixture.key();
    fixture.put(key, Facets::default(), "0").await?;
    let results = run_concurrently(WRITERS, |_| count(fixture.store.clone(), key)).await?;
    results.into_iter().collect::<CaseOutcome>()?;
    let sum = fixture.read(key).await?.map(|record| record.body);
    expect_equal("the count", &sum, &Some((WRITERS * INCREMENTS).to_string().into()))
}

/// A reader that continues after the last record that it has seen misses none and sees none twice.
async fn list_in_the_order_of_versions_only_grows_at_its_end(mut fixture: Fixture) -> CaseOutcome {
    let written: [Key; WRITERS * INCREMENTS] = fixture.keys();
    let query = Query { order: vec![Order::new(RANK, Direction::Ascending)], ..fixture.query() };
    let (store, left) = (fixture.store.clone(), Arc::new(AtomicUsize::new(WRITERS)));
    let follower = {
        let (store, query, left) = (store.clone(), query.clone(), left.clone());
        tokio::spawn(async move {
            let (mut seen, mut query) = (Vec::new(), query);
            loop {
                let is_last = left.load(Ordering::Acquire) == 0;
                let page = store.list(&query).await?;
                if let Some(last) = page.records.last() {
                    let key = last.version.0.to_be_bytes().to_vec();
                    query.start = Start::After(Cursor::new(vec![key], last.key.id));
                }
                seen.extend(page.records.iter().map(|record| record.key));
                if is_last {
                    return CaseOutcome::Ok(seen);
                }
                yield_now().await;
            }
        })
    };
    let outcomes = run_concurrently(WRITERS, |number| {
        let own = written.iter().skip(number).step_by(WRITERS).copied().collect::<Vec<_>>();
        let (store, left) = (store.clone(), left.clone());
        async move {
            let outcome = put_with_version(&*store, &own).await;
            left.fetch_sub(1, Ordering::Release);
            outcome
        }
    });
    outcomes.await?.into_iter().collect::<CaseOutcome>()?;
    let seen = follower.await??;
    let all: Vec<Key> = fixture.store.list(&query).await?.records.iter().map(|record| record.key).collect();
    expect_equal("the records that a follower has seen", &seen, &all)
}

async fn put_with_version(store: &dyn Store, keys: &[Key]) -> CaseOutcome {
    for key in keys {
        let sort_keys = vec![SortKey::with_version(RANK, [])];
        store.commit(put(*key, Absent, Facets { sort_keys, ..Facets::default() })).await?;
    }
    Ok(())
}

async fn count(store: Arc<dyn Store>, key: Key) -> CaseOutcome {
    for _ in 0..INCREMENTS {
        increment(&*store, key).await?;
    }
    Ok(())
}

/// Increments the counter optimistically: reads, commits, and retries on a conflict.
async fn increment(store: &dyn Store, key: Key) -> CaseOutcome {
    const TRIES: usize = 10_000;
    for _ in 0..TRIES {
        let record = store.get(&[key]).await?.pop().flatten();
        let record = record.ok_or_else(|| Violation::new("the counter does not exist"))?;
        let count = std::str::from_utf8(&record.body).ok().and_then(|text| text.parse::<u64>().ok());
        let count = count.ok_or_else(|| Violation::new("the counter is not a number"))?;
        let mut batch = Batch::new();
        batch.put(key, Precondition::Version(record.version), Facets::default(), (count + 1).to_string());
        match store.commit(batch).await {
            Err(error) if *error.kind() == Conflict(key) => yield_now().await,
            result => return Ok(result?),
        }
    }
    Err(Violation::new(format!("{TRIES} consecutive conflicts, although one commit must succeed each time")))
}

async fn concurrent_commits_get_different_versions(mut fixture: Fixture) -> CaseOutcome {
    let keys: Vec<Key> = (0..WRITERS * INCREMENTS).map(|_| fixture.key()).collect();
    let results = run_concurrently(WRITERS, |number| {
        let mine = keys.iter().copied().skip(number * INCREMENTS).take(INCREMENTS).collect();
        put_one_by_one(fixture.store.clone(), mine)
    });
    results.await?.into_iter().collect::<CaseOutcome>()?;
    let records = fixture.store.get(&keys).await?.into_iter().flatten();
    let versions: BTreeSet<Version> = records.map(|record| record.version).collect();
    expect_equal("the number of different versions", &versions.len(), &keys.len())
}

async fn put_one_by_one(store: Arc<dyn Store>, keys: Vec<Key>) -> CaseOutcome {
    for key in keys {
        store.commit(put(key, Absent, Facets::default())).await?;
    }
    Ok(())
}

const TASKS: usize = 16;
const ROUNDS: usize = 10;

async fn concurrent_updates_of_one_version_let_one_succeed(mut fixture: Fixture) -> CaseOutcome {
    let key = fixture.key();
    fixture.put(key, Facets::default(), "before").await?;
    for _ in 0..ROUNDS {
        let version = fixture.read(key).await?.map(|record| record.version);
        race(&fixture, key, version.map_or(Absent, Precondition::Version)).await?;
    }
    Ok(())
}

async fn concurrent_creates_of_one_record_let_one_succeed(mut fixture: Fixture) -> CaseOutcome {
    for _ in 0..ROUNDS {
        let key = fixture.key();
        race(&fixture, key, Absent).await?;
    }
    Ok(())
}

/// Lets every task write its number. The record must then have the number of the task that succeeded.
async fn race(fixture: &Fixture, key: Key, precondition: Precondition) -> CaseOutcome {
    let tasks = run_concurrently(TASKS, |number| {
        let mut batch = Batch::new();
        batch.put(key, precondition, Facets::default(), number.to_string());
        attempt(fixture.store.clone(), number, batch)
    });
    let winner = expect_one_winner(&tasks.await?, &Conflict(key))?;
    let body = fixture.read(key).await?.map(|record| record.body);
    expect_equal("the body, which is the winner's number", &body, &Some(winner.to_string().into()))
}

async fn concurrent_puts_of_one_unique_key_let_one_succeed(mut fixture: Fixture) -> CaseOutcome {
    for _ in 0..ROUNDS {
        let (keys, unique_key): ([Key; TASKS], _) = (fixture.keys(), fixture.unique_key());
        let tasks = run_concurrently(TASKS, |number| {
            let mut batch = Batch::new();
            for key in keys.iter().skip(number).take(1) {
                batch.put(*key, Absent, with_unique_keys(&[&unique_key]), number.to_string());
            }
            attempt(fixture.store.clone(), number, batch)
        });
        let winner = expect_one_winner(&tasks.await?, &UniqueKeyTaken(unique_key.clone()))?;
        let record = fixture.store.get_by_unique_key(&unique_key).await?;
        let body = record.as_ref().map(|record| record.body.clone());
        expect_equal("the body of the unique key's holder", &body, &Some(winner.to_string().into()))?;
        let there: Vec<_> = fixture.store.get(&keys).await?.into_iter().flatten().collect();
        expect_equal("the records of all competing puts", &there, &Vec::from_iter(record))?;
    }
    Ok(())
}

type Attempt = (usize, Result<(), StoreError>);

async fn attempt(store: Arc<dyn Store>, number: usize, batch: Batch) -> Attempt {
    (number, store.commit(batch).await)
}

fn expect_one_winner(attempts: &[Attempt], losers: &StoreErrorKind) -> CaseOutcome<usize> {
    let (won, lost): (Vec<&Attempt>, Vec<_>) = attempts.iter().partition(|(_, result)| result.is_ok());
    for (_, result) in lost {
        expect_error("the error of a losing commit", result, losers)?;
    }
    expect_equal("the number of successful commits", &won.len(), &1)?;
    Ok(won.iter().map(|(number, _)| *number).sum())
}

/// Rounds of two commits of which one must fail.
const PAIRS: usize = 20;

async fn target_delete_and_concurrent_new_link_exclude_each_other(mut fixture: Fixture) -> CaseOutcome {
    for _ in 0..PAIRS {
        let [target, referrer] = fixture.keys();
        fixture.put(target, Facets::default(), "target").await?;
        let link = Link::new(OWNER, target.id);
        let mut remove = delete(target, Present);
        remove.guard(Guard::linked_within(None, link));
        let mut refer = put(referrer, Absent, with_links(&[link]));
        refer.guard(Guard::record(target, Present));
        let removed = (remove, Linked(link));
        let referred = (refer, Conflict(target));
        expect_one_success(&fixture, [removed, referred]).await?;
        let there = fixture.store.get(&[target, referrer]).await?.iter().flatten().count();
        let expected = if fixture.read(referrer).await?.is_some() { 2 } else { 0 };
        expect_equal(
            "the number of records, of the target and the one that refers to it",
            &there,
            &expected,
        )?;
    }
    Ok(())
}

async fn concurrent_links_guarded_as_only_one_let_one_succeed(mut fixture: Fixture) -> CaseOutcome {
    for _ in 0..PAIRS {
        let (keys, link) = (fixture.keys::<2>(), fixture.link());
        let sides = keys.map(|key| {
            let mut batch = put(key, Absent, with_links(&[link]));
            batch.guard(Guard::linked_within(None, link));
            (batch, Linked(link))
        });
        expect_one_success(&fixture, sides).await?;
        let there = fixture.store.get(&keys).await?.iter().flatten().count();
        expect_equal("the number of records with the link", &there, &1)?;
    }
    Ok(())
}

async fn network_delete_and_concurrent_new_record_exclude_each_other(mut fixture: Fixture) -> CaseOutcome {
    for _ in 0..PAIRS {
        let ([network, newcomer], organization) = (fixture.keys(), fixture.uuid());
        fixture.put(network, of(Some(organization), None), "network").await?;
        let mut remove = delete(network, Present);
        remove.guard(Guard::network_empty(Some(organization), network.id));
        let mut come = put(newcomer, Absent, of(Some(organization), Some(network.id)));
        come.guard(Guard::record(network, Present));
        let removed = (remove, NetworkInUse(network.id));
        let came = (come, Conflict(network));
        expect_one_success(&fixture, [removed, came]).await?;
        let there = fixture.store.get(&[network, newcomer]).await?.iter().flatten().count();
        let expected = if fixture.read(newcomer).await?.is_some() { 2 } else { 0 };
        expect_equal("the number of records, of the network and the one on it", &there, &expected)?;
    }
    Ok(())
}

async fn concurrent_records_guarded_as_alone_on_network_let_one_succeed(mut fixture: Fixture) -> CaseOutcome {
    for _ in 0..PAIRS {
        let ([red, blue, network], keys) = (fixture.ids(), [fixture.key(), fixture.other_key()]);
        let [one, two] = keys;
        let sides = [(one, red), (two, blue)].map(|(key, organization)| {
            let mut batch = put(key, Absent, of(Some(organization), Some(network)));
            batch.guard(Guard::network_empty(None, network));
            (batch, NetworkInUse(network))
        });
        expect_one_success(&fixture, sides).await?;
        let there = fixture.store.get(&keys).await?.iter().flatten().count();
        expect_equal("the number of records on the network", &there, &1)?;
    }
    Ok(())
}

async fn commits_guarding_each_others_writes_let_one_succeed(mut fixture: Fixture) -> CaseOutcome {
    for _ in 0..PAIRS {
        let [left, right] = fixture.keys();
        let a = fixture.put(left, Facets::default(), "before").await?.version;
        let b = fixture.put(right, Facets::default(), "before").await?.version;
        let sides = [(left, right, b), (right, left, a)].map(|(written, checked, version)| {
            let mut batch = put(written, Present, Facets::default());
            batch.guard(Guard::record(checked, Precondition::Version(version)));
            (batch, Conflict(checked))
        });
        expect_one_success(&fixture, sides).await?;
    }
    Ok(())
}

/// Commits both batches concurrently. Each is paired with the error it must fail with if the other one succeeds.
async fn expect_one_success(fixture: &Fixture, sides: [(Batch, StoreErrorKind); 2]) -> CaseOutcome {
    let attempts = run_concurrently(2, |number| {
        let (store, side) = (fixture.store.clone(), sides.get(number).cloned());
        async move {
            let (batch, losing) = side?;
            Some((store.commit(batch).await, losing))
        }
    });
    let (won, lost): (Vec<_>, Vec<_>) =
        attempts.await?.into_iter().flatten().partition(|(result, _)| result.is_ok());
    for (result, expected) in &lost {
        expect_error("the error of the losing commit", result, expected)?;
    }
    expect_equal("the number of successful commits", &won.len(), &1)
}
