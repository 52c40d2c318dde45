//! Concurrent requests: each answer is true, and the final state is consistent.

mod audit;
mod bystanders;
mod credentials;
mod deeds;
mod one_host;
mod outcome;
mod ports;
mod references;
mod stage;

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::timeout;
use toposcope::store::Store;

use crate::common::Yielding;

/// Far longer than all of a test takes; a task that waits this long hangs.
const FOR_EVER: Duration = Duration::from_secs(60);

/// How calls reach a store.
type Way = fn(Arc<dyn Store>) -> Arc<dyn Store>;

/// Directly, and with other tasks scheduled in between.
const STORES: [Way; 2] = [|store| store, |store| Arc::new(Yielding::new(store))];

/// Waits for all tasks; none of them may fail.
async fn join_all<T: 'static>(mut tasks: JoinSet<T>) -> Vec<T> {
    let mut results = Vec::new();
    let join = async {
        while let Some(result) = tasks.join_next().await {
            results.push(result.unwrap());
        }
    };
    timeout(FOR_EVER, join).await.expect("somebody waits for ever");
    results
}
