//! Many at once: what each is told is true, and what is left in the end is whole.

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

/// Far more than all of it takes; who waits so long waits for ever.
const FOR_EVER: Duration = Duration::from_secs(60);

/// How calls come to a store.
type Way = fn(Arc<dyn Store>) -> Arc<dyn Store>;

/// Straight, and with others coming between.
const STORES: [Way; 2] = [|store| store, |store| Arc::new(Yielding::new(store))];

/// Waits until all tasks have come to their end, which none of them may fail to.
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
