//! An operation that runs once at a time. Callers that come while it runs share its outcome.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

/// The last run of an operation.
#[derive(Debug)]
pub(super) struct SingleFlight<T> {
    /// Holds the outcome once there is one. Without an outcome, the operation runs for as long as the sender exists.
    last: Mutex<watch::Receiver<Option<T>>>,
}

impl<T> Default for SingleFlight<T> {
    fn default() -> Self {
        Self { last: Mutex::new(watch::channel(None).1) }
    }
}

impl<T: Clone + Send + Sync + 'static> SingleFlight<T> {
    /// Waits for the operation that is running, or starts it, on a task of its own. Must be called on a runtime.
    ///
    /// Returns `None` if the runtime is shut down meanwhile.
    pub(super) async fn run<F>(&self, operation: impl FnOnce() -> F) -> Option<T>
    where
        F: Future<Output = T> + Send + 'static,
    {
        let mut outcome = self.start(operation);
        outcome.wait_for(Option::is_some).await.ok().and_then(|outcome| outcome.clone())
    }

    /// Like [`run`](Self::run), without waiting for the outcome.
    pub(super) fn start<F>(&self, operation: impl FnOnce() -> F) -> watch::Receiver<Option<T>>
    where
        F: Future<Output = T> + Send + 'static,
    {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_running = last.borrow().is_none() && last.has_changed().is_ok();
        if !is_running {
            let (sender, receiver) = watch::channel(None);
            let running = operation();
            tokio::spawn(async move { sender.send_replace(Some(running.await)) });
            *last = receiver;
        }
        last.clone()
    }
}

/// Minimum time between two log lines about the same kind of event.
const INTERVAL: Duration = Duration::from_secs(60);

/// Counts events of which a line is logged at most once a minute.
#[derive(Debug, Default)]
pub(super) struct Occasional {
    last: Option<Instant>,
    count: u64,
}

impl Occasional {
    /// Counts an event. Returns the number of events since the last line if it is time for the next one.
    pub(super) fn count(&mut self) -> Option<u64> {
        self.count += 1;
        if self.last.is_some_and(|last| last.elapsed() < INTERVAL) {
            return None;
        }
        self.last = Some(Instant::now());
        Some(std::mem::take(&mut self.count))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::Semaphore;
    use tokio::task::yield_now;

    use super::SingleFlight;

    #[tokio::test]
    async fn callers_that_come_while_it_runs_share_the_outcome_and_the_next_one_starts_it_again() {
        let (flight, runs) = (Arc::new(SingleFlight::default()), Arc::new(AtomicUsize::new(0)));
        let gate = Arc::new(Semaphore::new(0));
        for round in 1..4 {
            let callers: Vec<_> = (0..5)
                .map(|_| {
                    let (flight, runs, gate) = (Arc::clone(&flight), Arc::clone(&runs), Arc::clone(&gate));
                    tokio::spawn(async move {
                        let operation = || async move {
                            gate.acquire().await.unwrap().forget();
                            runs.fetch_add(1, Ordering::Relaxed) + 1
                        };
                        flight.run(operation).await
                    })
                })
                .collect();
            yield_now().await;
            // A caller that stops waiting stops nothing.
            callers[0].abort();
            yield_now().await;
            gate.add_permits(1);
            for caller in callers.into_iter().skip(1) {
                assert_eq!(caller.await.unwrap(), Some(round));
            }
        }
    }
}
