//! Write skew: commits that write different records, each under a condition that the other one breaks.
//!
//! A database with snapshot isolation, but without serializability, accepts both.

use std::sync::Arc;

use super::run_concurrently;
use crate::store::{Batch, Facets, Guard, Link, Precondition, Store, StoreError, StoreErrorKind};
use crate::testing::{Fixture, OWNER, Outcome, delete, expect_equal, expect_error, of, put, with_links};

crate::testing::table! { of "commit":
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

const ROUNDS: usize = 20;

async fn target_delete_and_concurrent_new_link_exclude_each_other(mut fixture: Fixture) -> Outcome {
    for _ in 0..ROUNDS {
        let [target, referrer] = fixture.keys();
        fixture.put(target, Facets::default(), "target").await?;
        let link = Link::new(OWNER, target.id);
        let mut remove = delete(target, Precondition::Present);
        remove.guard(Guard::LinkedWithin { organization: None, link });
        let mut refer = put(referrer, Precondition::Absent, with_links(&[link]));
        refer.guard(Guard::Record { key: target, precondition: Precondition::Present });
        let removed = (remove, StoreErrorKind::Linked(link));
        let referred = (refer, StoreErrorKind::Conflict(target));
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

async fn concurrent_links_guarded_as_only_one_let_one_succeed(mut fixture: Fixture) -> Outcome {
    for _ in 0..ROUNDS {
        let (keys, link) = (fixture.keys::<2>(), fixture.link());
        let sides = keys.map(|key| {
            let mut batch = put(key, Precondition::Absent, with_links(&[link]));
            batch.guard(Guard::LinkedWithin { organization: None, link });
            (batch, StoreErrorKind::Linked(link))
        });
        expect_one_success(&fixture, sides).await?;
        let there = fixture.store.get(&keys).await?.iter().flatten().count();
        expect_equal("the number of records with the link", &there, &1)?;
    }
    Ok(())
}

async fn network_delete_and_concurrent_new_record_exclude_each_other(mut fixture: Fixture) -> Outcome {
    for _ in 0..ROUNDS {
        let ([network, newcomer], organization) = (fixture.keys(), fixture.random.uuid());
        fixture.put(network, of(Some(organization), None), "network").await?;
        let mut remove = delete(network, Precondition::Present);
        remove.guard(Guard::NetworkEmpty { organization: Some(organization), network: network.id });
        let mut come = put(newcomer, Precondition::Absent, of(Some(organization), Some(network.id)));
        come.guard(Guard::Record { key: network, precondition: Precondition::Present });
        let removed = (remove, StoreErrorKind::NetworkInUse(network.id));
        let came = (come, StoreErrorKind::Conflict(network));
        expect_one_success(&fixture, [removed, came]).await?;
        let there = fixture.store.get(&[network, newcomer]).await?.iter().flatten().count();
        let expected = if fixture.read(newcomer).await?.is_some() { 2 } else { 0 };
        expect_equal("the number of records, of the network and the one on it", &there, &expected)?;
    }
    Ok(())
}

async fn concurrent_records_guarded_as_alone_on_network_let_one_succeed(mut fixture: Fixture) -> Outcome {
    for _ in 0..ROUNDS {
        let ([red, blue, network], keys) = (fixture.ids(), [fixture.key(), fixture.other_key()]);
        let [one, two] = keys;
        let sides = [(one, red), (two, blue)].map(|(key, organization)| {
            let mut batch = put(key, Precondition::Absent, of(Some(organization), Some(network)));
            batch.guard(Guard::NetworkEmpty { organization: None, network });
            (batch, StoreErrorKind::NetworkInUse(network))
        });
        expect_one_success(&fixture, sides).await?;
        let there = fixture.store.get(&keys).await?.iter().flatten().count();
        expect_equal("the number of records on the network", &there, &1)?;
    }
    Ok(())
}

async fn commits_guarding_each_others_writes_let_one_succeed(mut fixture: Fixture) -> Outcome {
    for _ in 0..ROUNDS {
        let [left, right] = fixture.keys();
        let a = fixture.put(left, Facets::default(), "before").await?.version;
        let b = fixture.put(right, Facets::default(), "before").await?.version;
        let sides = [(left, right, b), (right, left, a)].map(|(written, checked, version)| {
            let mut batch = put(written, Precondition::Present, Facets::default());
            batch.guard(Guard::Record { key: checked, precondition: Precondition::Version(version) });
            (batch, StoreErrorKind::Conflict(checked))
        });
        expect_one_success(&fixture, sides).await?;
    }
    Ok(())
}

/// Commits both batches concurrently. Each is paired with the error it must fail with if the other one succeeds.
async fn expect_one_success(fixture: &Fixture, sides: [(Batch, StoreErrorKind); 2]) -> Outcome {
    let attempts = run_concurrently(2, |number| {
        let side = sides.get(number).cloned();
        attempt(fixture.store.clone(), side)
    });
    let (won, lost): (Vec<_>, Vec<_>) =
        attempts.await?.into_iter().flatten().partition(|(result, _)| result.is_ok());
    for (result, expected) in &lost {
        expect_error("the error of the losing commit", result, expected)?;
    }
    expect_equal("the number of successful commits", &won.len(), &1)
}

type Attempt = (Result<(), StoreError>, StoreErrorKind);

async fn attempt(store: Arc<dyn Store>, side: Option<(Batch, StoreErrorKind)>) -> Option<Attempt> {
    let (batch, losing) = side?;
    Some((store.commit(batch).await, losing))
}
