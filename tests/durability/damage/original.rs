use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use toposcope::store::SledStore;

use crate::support::copy;
use crate::workload::{WRITERS, Writer, commit};

/// An undamaged folder and its expected contents.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Original {
    pub(super) name: String,
    pub(super) folder: PathBuf,
    pub(super) seed: u64,
    /// Number of batches that each writer has written.
    pub(super) batches: u64,
}

impl Original {
    pub(super) fn writers(&self) -> Vec<Writer> {
        (0..WRITERS).map(|number| Writer::after(self.seed, number, self.batches)).collect()
    }
}

/// Creates folders in several states: closed in order, left by a killed process, and opened many times.
pub(super) async fn originals(folder: &Path, seed: u64) -> Vec<Original> {
    let mut originals = Vec::new();
    for (name, closings, batches) in [("closed", 1, 12), ("killed", 0, 8), ("continued", 1, 6), ("old", 6, 2)]
    {
        let (work, kept) = (folder.join(format!("{name}.work")), folder.join(name));
        let mut writers: Vec<Writer> = (0..WRITERS).map(|number| Writer::new(seed, number)).collect();
        for _ in 0..closings {
            let store = SledStore::open(&work).await.unwrap();
            write(&store, &mut writers, batches).await;
            store.close().await.unwrap();
        }
        if name == "closed" {
            copy(&work, &kept);
        } else {
            let store = SledStore::open(&work).await.unwrap();
            store.verify().await.unwrap();
            write(&store, &mut writers, batches).await;
            // No work is in progress, so this copy is what a kill would leave.
            copy(&work, &kept);
            store.close().await.unwrap();
        }
        originals.push(Original { name: name.to_owned(), folder: kept, seed, batches: writers[0].done });
    }
    originals
}

async fn write(store: &SledStore, writers: &mut [Writer], batches: u64) {
    for _ in 0..batches {
        for writer in &mut *writers {
            commit(store, writer).await.unwrap();
            writer.go_on();
        }
    }
}
