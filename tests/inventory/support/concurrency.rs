use std::pin::pin;

use toposcope::inventory::Inventory;

use super::{Fault, Fixture};

/// Runs an action while a concurrent task interferes right before a call of the store.
///
/// It is repeated for each of the action's calls, each time on a new fixture. Returns the number of calls.
///
/// Trying every call in turn covers every way in which the two can interleave.
pub(crate) async fn with_interference_at_every_call<S, T, I>(
    prepare: impl AsyncFn(&Fixture) -> S,
    interfere: impl AsyncFn(&Inventory, &S) -> I,
    act: impl AsyncFn(&Inventory, &S) -> T,
    check: impl AsyncFn(&Fixture, &S, T),
) -> usize {
    let mut calls = 0;
    loop {
        let fixture = Fixture::new().await;
        let prepared = prepare(&fixture).await;
        let (inventory, probe) = fixture.probed();
        probe.set(Fault::SilentAt(calls));
        let mut action = pin!(act(&inventory, &prepared));
        tokio::select! {
            biased;
            _ = &mut action => return calls,
            () = probe.silenced() => drop(interfere(&fixture.inventory, &prepared).await),
        }
        probe.set(Fault::None);
        let result = action.await;
        check(&fixture, &prepared, result).await;
        calls += 1;
    }
}

/// Calls [`with_interference_at_every_call`] with an action that reads and writes.
pub(crate) async fn at_every_call<S, T, I>(
    prepare: impl AsyncFn(&Fixture) -> S,
    interfere: impl AsyncFn(&Inventory, &S) -> I,
    act: impl AsyncFn(&Inventory, &S) -> T,
    check: impl AsyncFn(&Fixture, &S, T),
) {
    let calls = with_interference_at_every_call(prepare, interfere, act, check).await;
    assert!(calls > 1, "reading and writing are two calls at least");
}

/// Runs `count` numbered tasks at once, and returns their results in order.
pub(crate) async fn concurrently<T, F>(
    fixture: &Fixture,
    count: u64,
    task: impl Fn(Fixture, u64) -> F,
) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let tasks: Vec<_> = (0..count).map(|number| tokio::spawn(task(fixture.clone(), number))).collect();
    let mut results = Vec::new();
    for task in tasks {
        results.push(task.await.unwrap());
    }
    results
}

/// Waits until all links that have changed are recorded, and all other background tasks have ended.
#[cfg(feature = "discovery")]
pub(crate) async fn followed(inventory: &Inventory) {
    while inventory.figures().background_tasks > 0 {
        tokio::task::yield_now().await;
    }
}

/// Lets background tasks finish. On a single-threaded runtime, over stores that answer at once, they only
/// need to be scheduled.
pub(crate) async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}
