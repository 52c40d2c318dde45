//! Commits that write different records, each on a condition that the other one breaks: a database that isolates its
//! transactions by snapshots alone lets both through.

use std::sync::Arc;

use super::crowd;
use crate::store::{Batch, Facets, Guard, Link, Precondition, Store, StoreError, StoreErrorKind};
use crate::testing::{Bench, OWNER, Outcome, delete, linked, of, put, refused, same};

crate::testing::table! { of "commit":
    "how a reference stays true under concurrency" =>
        a_target_is_not_deleted_while_somebody_begins_to_refer_to_it;
    "nobody has begun to refer to the target since the referring records were listed" =>
        of_two_new_links_that_must_be_the_only_one_one_succeeds;
    "nobody has come to the network since those on it were listed" =>
        a_network_is_not_deleted_while_somebody_comes_to_it,
        of_two_who_come_to_a_network_and_must_be_alone_there_one_succeeds;
    "Expectations and guards are about the state before the batch" =>
        of_two_commits_that_check_what_the_other_writes_one_succeeds;
}

const ROUNDS: usize = 20;

async fn a_target_is_not_deleted_while_somebody_begins_to_refer_to_it(mut bench: Bench) -> Outcome {
    for _ in 0..ROUNDS {
        let [target, referrer] = bench.keys();
        bench.put(target, Facets::default(), "target").await?;
        let link = Link::new(OWNER, target.id);
        let mut remove = delete(target, Precondition::Present);
        remove.guard(Guard::LinkedWithin { organization: None, link });
        let mut refer = put(referrer, Precondition::Absent, linked(&[link]));
        refer.guard(Guard::Record { key: target, precondition: Precondition::Present });
        let removed = (remove, StoreErrorKind::Linked(link));
        let referred = (refer, StoreErrorKind::Conflict(target));
        one_succeeds(&bench, [removed, referred]).await?;
        let there = bench.store.get(&[target, referrer]).await?.iter().flatten().count();
        let expected = if bench.read(referrer).await?.is_some() { 2 } else { 0 };
        same("how many of the target and who refers to it are there", &there, &expected)?;
    }
    Ok(())
}

async fn of_two_new_links_that_must_be_the_only_one_one_succeeds(mut bench: Bench) -> Outcome {
    for _ in 0..ROUNDS {
        let (keys, link) = (bench.keys::<2>(), bench.link());
        let sides = keys.map(|key| {
            let mut batch = put(key, Precondition::Absent, linked(&[link]));
            batch.guard(Guard::LinkedWithin { organization: None, link });
            (batch, StoreErrorKind::Linked(link))
        });
        one_succeeds(&bench, sides).await?;
        let there = bench.store.get(&keys).await?.iter().flatten().count();
        same("how many records have the link", &there, &1)?;
    }
    Ok(())
}

async fn a_network_is_not_deleted_while_somebody_comes_to_it(mut bench: Bench) -> Outcome {
    for _ in 0..ROUNDS {
        let ([network, newcomer], organization) = (bench.keys(), bench.random.uuid());
        bench.put(network, of(Some(organization), None), "network").await?;
        let mut remove = delete(network, Precondition::Present);
        remove.guard(Guard::NetworkEmpty { organization: Some(organization), network: network.id });
        let mut come = put(newcomer, Precondition::Absent, of(Some(organization), Some(network.id)));
        come.guard(Guard::Record { key: network, precondition: Precondition::Present });
        let removed = (remove, StoreErrorKind::NetworkInUse(network.id));
        let came = (come, StoreErrorKind::Conflict(network));
        one_succeeds(&bench, [removed, came]).await?;
        let there = bench.store.get(&[network, newcomer]).await?.iter().flatten().count();
        let expected = if bench.read(newcomer).await?.is_some() { 2 } else { 0 };
        same("how many of the network and who comes to it are there", &there, &expected)?;
    }
    Ok(())
}

async fn of_two_who_come_to_a_network_and_must_be_alone_there_one_succeeds(mut bench: Bench) -> Outcome {
    for _ in 0..ROUNDS {
        let ([red, blue, network], keys) = (bench.ids(), [bench.key(), bench.other_key()]);
        let [one, two] = keys;
        let sides = [(one, red), (two, blue)].map(|(key, organization)| {
            let mut batch = put(key, Precondition::Absent, of(Some(organization), Some(network)));
            batch.guard(Guard::NetworkEmpty { organization: None, network });
            (batch, StoreErrorKind::NetworkInUse(network))
        });
        one_succeeds(&bench, sides).await?;
        let there = bench.store.get(&keys).await?.iter().flatten().count();
        same("how many records are on the network", &there, &1)?;
    }
    Ok(())
}

async fn of_two_commits_that_check_what_the_other_writes_one_succeeds(mut bench: Bench) -> Outcome {
    for _ in 0..ROUNDS {
        let [left, right] = bench.keys();
        let a = bench.put(left, Facets::default(), "before").await?.version;
        let b = bench.put(right, Facets::default(), "before").await?.version;
        let sides = [(left, right, b), (right, left, a)].map(|(written, checked, version)| {
            let mut batch = put(written, Precondition::Present, Facets::default());
            batch.guard(Guard::Record { key: checked, precondition: Precondition::Version(version) });
            (batch, StoreErrorKind::Conflict(checked))
        });
        one_succeeds(&bench, sides).await?;
    }
    Ok(())
}

/// Commits both sides at once. Each comes with the error that it gets when the other one has won.
async fn one_succeeds(bench: &Bench, sides: [(Batch, StoreErrorKind); 2]) -> Outcome {
    let attempts = crowd(2, |number| {
        let side = sides.get(number).cloned();
        attempt(bench.store.clone(), side)
    });
    let (won, lost): (Vec<_>, Vec<_>) =
        attempts.await?.into_iter().flatten().partition(|(result, _)| result.is_ok());
    for (result, expected) in &lost {
        refused("the one that came too late", result, expected)?;
    }
    same("how many of the two commits succeeded", &won.len(), &1)
}

type Attempt = (Result<(), StoreError>, StoreErrorKind);

async fn attempt(store: Arc<dyn Store>, side: Option<(Batch, StoreErrorKind)>) -> Option<Attempt> {
    let (batch, losing) = side?;
    Some((store.commit(batch).await, losing))
}
