//! Concurrent tasks. On a single-threaded runtime, a store that never awaits passes trivially.

mod counter;
mod long_lists;
mod one_winner;
mod readers;
mod snapshot;
mod write_skew;

use std::sync::Arc;

use tokio::sync::Barrier;
use tokio::task::JoinSet;

use super::{Case, Outcome};

pub(super) const CASES: [&[Case]; 6] = [
    counter::CASES,
    long_lists::CASES,
    one_winner::CASES,
    write_skew::CASES,
    readers::CASES,
    snapshot::CASES,
];

/// Runs this number of tasks, started at the same moment, and collects their results.
pub(super) async fn run_concurrently<T, F>(tasks: usize, task: impl Fn(usize) -> F) -> Outcome<Vec<T>>
where
    F: Future<Output = T> + Send + 'static,
    T: Send + 'static,
{
    let barrier = Arc::new(Barrier::new(tasks));
    let mut running = JoinSet::new();
    for number in 0..tasks {
        let (barrier, task) = (barrier.clone(), task(number));
        running.spawn(async move {
            barrier.wait().await;
            task.await
        });
    }
    let mut results = Vec::new();
    while let Some(result) = running.join_next().await {
        results.push(result?);
    }
    Ok(results)
}
