//! Futures that are dropped before they are ready, after every number of polls.

use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use tokio::task::{JoinSet, spawn_blocking};

use super::{Bench, Outcome, delete, expiring, holds, put, same, uniquely_keyed};
use crate::store::{Facets, Precondition, StoreError};

super::table! { of "store":
    "A future that is dropped before it is ready leaves the store as if it had never been called or as if it had \
     been carried out whole" =>
        a_dropped_commit_is_carried_out_whole_or_not_at_all,
        a_dropped_purge_is_carried_out_whole_or_not_at_all;
    "and usable" =>
        a_dropped_commit_does_not_hold_up_others,
        dropped_reads_leave_the_store_usable;
}

/// A store that is ready later than after so many polls is not dropped in its last moments.
const POLLS: usize = 48;

/// Polls a future so often, then drops it. `None` when it was not ready by then.
pub(super) async fn drop_after<F: Future>(polls: usize, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    for _ in 0..polls {
        if let Some(output) = poll(future.as_mut()) {
            return Some(output);
        }
        breathe().await;
    }
    None
}

fn poll<F: Future>(future: Pin<&mut F>) -> Option<F::Output> {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// Gives the runtime and the store's medium time to go on: nobody wakes a future that is polled by hand.
async fn breathe() {
    // Without the feature `time` of tokio's, which a user of the suite may not have.
    let _ = spawn_blocking(|| thread::sleep(Duration::from_micros(200))).await;
}

async fn a_dropped_commit_is_carried_out_whole_or_not_at_all(mut bench: Bench) -> Outcome {
    for polls in 0..POLLS {
        if commit_dropped_after(polls, &mut bench).await? {
            break;
        }
    }
    Ok(())
}

/// Whether the commit was ready before it was dropped.
async fn commit_dropped_after(polls: usize, bench: &mut Bench) -> Outcome<bool> {
    let ([created, replaced, deleted], unique_key) = (bench.keys(), bench.unique_key());
    bench.put(replaced, uniquely_keyed(&[&unique_key]), "before").await?;
    bench.put(deleted, Facets::default(), "before").await?;
    let mut batch = put(created, Precondition::Absent, uniquely_keyed(&[&unique_key]));
    batch
        .put(replaced, Precondition::Present, Facets::default(), "after")
        .delete(deleted, Precondition::Present);
    let outcome = drop_after(polls, bench.store.commit(batch)).await;
    let ready = outcome.is_some();
    outcome.transpose()?;

    let answers = bench.store.get(&[created, replaced, deleted]).await?;
    let bodies: Vec<_> = answers.into_iter().map(|answer| answer.map(|record| record.body)).collect();
    let whole = bodies == [Some("put".into()), Some("after".into()), None];
    let nothing = bodies == [None, Some("before".into()), Some("before".into())];
    holds(whole || (nothing && !ready), &format!("after {polls} polls the bodies are {bodies:?}"))?;
    let holder = bench.holder(&unique_key).await?;
    // A store may carry out the batch after the drop, between the two reads; never the other way round.
    let follows = holder == Some(created) || (nothing && holder == Some(replaced));
    holds(follows, &format!("after {polls} polls the bodies are {bodies:?}, and the holder is {holder:?}"))?;

    let next = bench.key();
    bench.put(next, Facets::default(), "the next commit").await?;
    bench.put(replaced, Facets::default(), "the next put of the same record").await?;
    Ok(ready)
}

async fn a_dropped_purge_is_carried_out_whole_or_not_at_all(mut bench: Bench) -> Outcome {
    for polls in 0..POLLS {
        let ([one, two], time) = (bench.keys(), bench.antiquity());
        let mut batch = put(one, Precondition::Absent, expiring(time));
        batch.put(two, Precondition::Absent, expiring(time), "expires");
        bench.store.commit(batch).await?;
        let outcome = drop_after(polls, bench.store.purge_expired(time)).await;
        let there = bench.store.get(&[one, two]).await?.iter().flatten().count();
        let expected: &[usize] = if outcome.is_some() { &[0] } else { &[0, 2] };
        holds(expected.contains(&there), &format!("after {polls} polls {there} of two records are there"))?;
        bench.store.purge_expired(time).await?;
        same("the records after a purge", &bench.store.get(&[one, two]).await?, &[None, None])?;
        if outcome.transpose()?.is_some() {
            break;
        }
    }
    Ok(())
}

/// Begins many commits, drops every other one, the first too, which may have got hold of what the others wait for.
async fn a_dropped_commit_does_not_hold_up_others(mut bench: Bench) -> Outcome {
    const COMMITS: usize = 24;
    for polls in 1..6 {
        let key = bench.key();
        let mut pending = Vec::new();
        for _ in 0..COMMITS {
            let store = bench.store.clone();
            let batch = put(key, Precondition::Any, Facets::default());
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
        let next = bench.key();
        bench.put(next, Facets::default(), "the next commit").await?;
    }
    Ok(())
}

/// The futures that are neither ready nor dropped.
async fn begin_and_drop_half<F>(polls: usize, mut pending: Vec<Pin<Box<F>>>) -> Outcome<Vec<Pin<Box<F>>>>
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
        breathe().await;
    }
    Ok(pending
        .into_iter()
        .enumerate()
        .filter(|(number, _)| number % 2 == 1)
        .map(|(_, future)| future)
        .collect())
}

async fn dropped_reads_leave_the_store_usable(mut bench: Bench) -> Outcome {
    let (key, unique_key) = (bench.key(), bench.unique_key());
    let record = bench.put(key, uniquely_keyed(&[&unique_key]), "there").await?;
    let query = bench.query();
    for polls in 0..8 {
        let keys = [key];
        let _ = drop_after(polls, bench.store.get(&keys)).await;
        let _ = drop_after(polls, bench.store.get_by_unique_key(&unique_key)).await;
        let _ = drop_after(polls, bench.store.list(&query)).await;
        let _ = drop_after(polls, bench.store.snapshot()).await;
        same("a read after those that were dropped", &bench.read(key).await?, &Some(record.clone()))?;
    }
    bench.store.commit(delete(key, Precondition::Version(record.version))).await?;
    same("the record after a delete", &bench.read(key).await?, &None)
}
