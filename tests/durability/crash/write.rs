use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toposcope::store::{Durability, SledStore, Store};

use crate::support::say;
use crate::workload::{Ledger, Progress, WRITERS, Writer, commit, settle};

/// Options of a child that writes.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Orders {
    pub(super) folder: PathBuf,
    pub(super) seed: u64,
    pub(super) progress: Progress,
    pub(super) is_durable: bool,
    pub(super) cache_size: usize,
    /// Whether the child verifies the store before it begins, which waits for background work.
    pub(super) verifies: bool,
}

/// Opens the folder, determines the progress of the writers, and lets all of them continue until the process
/// is killed.
pub(crate) async fn write(arguments: &[String]) {
    let orders: Orders = serde_json::from_str(&arguments[0]).unwrap();
    if let Err(problem) = try_to_write(&orders).await {
        say(&format!("failed {problem}"));
    }
}

async fn try_to_write(orders: &Orders) -> Result<(), String> {
    let store = Arc::new(open(orders).await?);
    say("open");
    let writers = settle(&*store, orders.seed, &orders.progress).await?;
    if orders.verifies {
        verify(&store).await?;
    }
    let done: Vec<String> = writers.iter().map(|writer| writer.done.to_string()).collect();
    say(&format!("come {}", done.join(" ")));
    let mut tasks = tokio::task::JoinSet::new();
    for writer in writers {
        tasks.spawn(go_on(Arc::clone(&store), writer));
    }
    tasks.spawn(look(Arc::clone(&store)));
    tasks.join_next().await.unwrap().map_err(|error| error.to_string())?
}

pub(super) async fn open(orders: &Orders) -> Result<SledStore, String> {
    let durability = if orders.is_durable { Durability::Durable } else { Durability::Buffered };
    let builder = SledStore::builder(&orders.folder).cache_size(orders.cache_size).durability(durability);
    builder.open().await.map_err(|error| format!("to open: {error} ({error:?})"))
}

pub(super) async fn verify(store: &SledStore) -> Result<(), String> {
    let found = store.verify().await.map_err(|error| format!("verify: {error}"))?;
    if found.is_sound() { Ok(()) } else { Err(format!("not sound: {found}")) }
}

async fn go_on(store: Arc<SledStore>, mut writer: Writer) -> Result<(), String> {
    loop {
        let (number, batch) = (writer.number, writer.done + 1);
        say(&format!("begin {number} {batch}"));
        let outcome = commit(&*store, &writer).await;
        outcome.map_err(|error| format!("batch {batch} of writer {number}: {error} ({error:?})"))?;
        say(&format!("done {number} {batch}"));
        writer.go_on();
    }
}

/// Reads the store: every value read must be present later too.
async fn look(store: Arc<SledStore>) -> Result<(), String> {
    let mut last = Ledger(vec![0; WRITERS as usize]);
    loop {
        let record = store.get(&[Ledger::KEY]).await.map_err(|error| error.to_string())?.pop().flatten();
        let ledger = Ledger::read(record.as_ref());
        if ledger != last {
            let seen: Vec<String> = ledger.0.iter().map(ToString::to_string).collect();
            say(&format!("saw {}", seen.join(" ")));
            last = ledger;
        }
        tokio::task::yield_now().await;
    }
}
