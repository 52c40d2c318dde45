//! Cancellation: futures that are dropped before they complete, after each number of polls.

use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use tokio::task::{JoinSet, spawn_blocking};

use super::{CaseOutcome, Fixture, delete, expect, expect_equal, put, with_expiry, with_unique_keys};
use crate::store::Precondition::{Absent, Any, Present};
use crate::store::{Facets, Precondition, StoreError};

super::table! { of "store":
    "The operation then has no effect or takes effect completely, possibly a little later" =>
        dropped_commit_is_applied_completely_or_not_at_all,
        dropped_purge_is_applied_completely_or_not_at_all;
    "Dropping a future before it completes leaves the store usable" =>
        dropped_commit_does_not_block_other_commits,
        dropped_reads_leave_store_usable;
}

/// Maximum number of polls before the drop. Later stages of a slower store are not covered.
const POLLS: usize = 48;

/// Polls a future this many times, then drops it. Returns `None` if it did not complete.
pub(super) async fn poll_then_drop<F: Future>(polls: usize, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    for _ in 0..polls {
        if let Some(output) = poll(future.as_mut()) {
            return Some(output);
        }
        let_others_run().await;
    }
    None
}

fn poll<F: Future>(future: Pin<&mut F>) -> Option<F::Output> {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// Lets the runtime and the storage device make progress. No waker wakes a future that is polled by hand.
async fn let_others_run() {
    // Avoids tokio's `time` feature, which users of the suite may not enable.
    let _ = spawn_blocking(|| thread::sleep(Duration::from_micros(200))).await;
}

async fn dropped_commit_is_applied_completely_or_not_at_all(mut fixture: Fixture) -> CaseOutcome {
    for polls in 0..POLLS {
        if commit_dropped_after(polls, &mut fixture).await? {
            break;
        }
    }
    Ok(())
}

/// Returns whether the commit completed before it was dropped.
async fn commit_dropped_after(polls: usize, fixture: &mut Fixture) -> CaseOutcome<bool> {
    let ([created, replaced, deleted], unique_key) = (fixture.keys(), fixture.unique_key());
    fixture.put(replaced, with_unique_keys(&[&unique_key]), "before").await?;
    fixture.put(deleted, Facets::default(), "before").await?;
    let mut batch = put(created, Absent, with_unique_keys(&[&unique_key]));
    batch.put(replaced, Present, Facets::default(), "after").delete(deleted, Present);
    let outcome = poll_then_drop(polls, fixture.store.commit(batch)).await;
    let ready = outcome.is_some();
    outcome.transpose()?;

    let answers = fixture.store.get(&[created, replaced, deleted]).await?;
    let bodies: Vec<_> = answers.into_iter().map(|answer| answer.map(|record| record.body)).collect();
    let whole = bodies == [Some("put".into()), Some("after".into()), None];
    let nothing = bodies == [None, Some("before".into()), Some("before".into())];
    expect(whole || (nothing && !ready), &format!("after {polls} polls the bodies are {bodies:?}"))?;
    let holder = fixture.holder(&unique_key).await?;
    // The store may apply the batch after the drop, between the two reads, but never undo it.
    let follows = holder == Some(created) || (nothing && holder == Some(replaced));
    expect(follows, &format!("after {polls} polls the bodies are {bodies:?}, and the holder is {holder:?}"))?;

    let next = fixture.key();
    fixture.put(next, Facets::default(), "the next commit").await?;
    fixture.put(replaced, Facets::default(), "the next put of the same record").await?;
    Ok(ready)
}

async fn dropped_purge_is_applied_completely_or_not_at_all(mut fixture: Fixture) -> CaseOutcome {
    for polls in 0..POLLS {
        let ([one, two], time) = (fixture.keys(), fixture.ancient_time());
        let mut batch = put(one, Absent, with_expiry(time));
        batch.put(two, Absent, with_expiry(time), "expires");
        fixture.store.commit(batch).await?;
        let outcome = poll_then_drop(polls, fixture.store.purge_expired(time)).await;
        let there = fixture.store.get(&[one, two]).await?.iter().flatten().count();
        let expected: &[usize] = if outcome.is_some() { &[0] } else { &[0, 2] };
        expect(expected.contains(&there), &format!("after {polls} polls {there} of two records exist"))?;
        fixture.store.purge_expired(time).await?;
        expect_equal("the records after a purge", &fixture.store.get(&[one, two]).await?, &[None, None])?;
        if outcome.transpose()?.is_some() {
            break;
        }
    }
    Ok(())
}

/// Starts many commits and drops every other one. The first is dropped as well, and may hold the lock that the others
/// wait for.
async fn dropped_commit_does_not_block_other_commits(mut fixture: Fixture) -> CaseOutcome {
    const COMMITS: usize = 24;
    for polls in 1..6 {
        let key = fixture.key();
        let mut pending = Vec::new();
        for _ in 0..COMMITS {
            let store = fixture.store.clone();
            let batch = put(key, Any, Facets::default());
            pending.push(Box::pin(async move { store.commit(batch).await }));
        }
        let left = begin_and_drop_half(polls, pending).await?;
        let mut running = JoinSet::new();
        left.into_iter().for_each(|commit| {
            running.spawn(commit);
        });
        while let Some(result) = running.join_next().await {
            result??;
        }
        let next = fixture.key();
        fixture.put(next, Facets::default(), "the next commit").await?;
    }
    Ok(())
}

/// Returns the futures that neither completed nor were dropped.
async fn begin_and_drop_half<F>(polls: usize, mut pending: Vec<Pin<Box<F>>>) -> CaseOutcome<Vec<Pin<Box<F>>>>
where
    F: Future<Output = Result<(), StoreError>>,
{
    for _ in 0..polls {
        let mut left = Vec::new();
        for mut future in pending {
            match poll(future.as_mut()) {
                Some(result) => result?,
                None => left.push(future),
            }
        }
        pending = left;
        let_others_run().await;
    }
    Ok(pending
        .into_iter()
        .enumerate()
        .filter(|(number, _)| number % 2 == 1)
        .map(|(_, future)| future)
        .collect())
}

async fn dropped_reads_leave_store_usable(mut fixture: Fixture) -> CaseOutcome {
    let (key, unique_key) = (fixture.key(), fixture.unique_key());
    let record = fixture.put(key, with_unique_keys(&[&unique_key]), "there").await?;
    let query = fixture.query();
    for polls in 0..8 {
        let keys = [key];
        let _ = poll_then_drop(polls, fixture.store.get(&keys)).await;
        let _ = poll_then_drop(polls, fixture.store.get_by_unique_key(&unique_key)).await;
        let _ = poll_then_drop(polls, fixture.store.list(&query)).await;
        let _ = poll_then_drop(polls, fixture.store.snapshot()).await;
        expect_equal("a read after dropped reads", &fixture.read(key).await?, &Some(record.clone()))?;
    }
    fixture.store.commit(delete(key, Precondition::Version(record.version))).await?;
    expect_equal("the record after a delete", &fixture.read(key).await?, &None)
}
