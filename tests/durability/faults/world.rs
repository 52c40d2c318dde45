use std::path::Path;
use std::sync::Arc;

use http::Request;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use toposcope::access::{Caller, Scope};
use toposcope::inventory::{Inventory, NewUser, NewUserApiKey};
use toposcope::model::Permission;
use toposcope::service::Api;
use toposcope::store::{SledStore, StoreError, StoreErrorKind};
use tower::ServiceExt;

use crate::support::{Fault, chain, compare, faults};
use crate::workload::{Progress, Writer, commit, settle, truth_of};

/// Seed of everything that the writers do.
const SEED: u64 = 7;

/// A store on a disk, and everything written to it.
pub(super) struct World {
    pub(super) store: Arc<SledStore>,
    writers: Vec<Writer>,
    /// Progress of the writers, including the batch refused last: it may be present when the store is opened
    /// again.
    pub(super) progress: Progress,
}

/// Outcomes of a number of batches.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) done: usize,
    pub(super) refused: usize,
}

impl World {
    pub(super) async fn new(folder: &Path) -> Self {
        Self::open(folder, Progress::new()).await
    }

    pub(super) async fn open(folder: &Path, progress: Progress) -> Self {
        Self::try_to_open(folder, progress).await.unwrap_or_else(|error| panic!("{}", chain(&error)))
    }

    /// Opens the store with a small cache, so that nearly every read goes to the disk.
    pub(super) async fn try_to_open(folder: &Path, progress: Progress) -> Result<Self, StoreError> {
        let store = Arc::new(SledStore::builder(folder).cache_size(10_000).open().await?);
        let writers = settle(&*store, SEED, &progress).await.unwrap_or_else(|problem| panic!("{problem}"));
        let progress = Progress::of(&writers);
        Ok(Self { store, writers, progress })
    }

    /// Writes this many batches with every writer. A refused batch is tried again in the next round.
    pub(super) async fn write(&mut self, rounds: usize) -> Tally {
        let mut tally = Tally::default();
        for _ in 0..rounds {
            for writer in &mut self.writers {
                let number = writer.number as usize;
                self.progress.begun[number] = writer.done + 1;
                match commit(&*self.store, writer).await {
                    Ok(()) => {
                        writer.go_on();
                        self.progress.done[number] = writer.done;
                        tally.done += 1;
                    }
                    Err(error) => {
                        assert_eq!(*error.kind(), StoreErrorKind::Unavailable, "{}", chain(&error));
                        tally.refused += 1;
                    }
                }
            }
        }
        tally
    }

    /// Like [`write`](Self::write), but every batch must succeed.
    pub(super) async fn write_all(&mut self, rounds: usize) {
        let tally = self.write(rounds).await;
        assert_eq!(tally.refused, 0, "{tally:?}");
    }

    /// Asserts that the store holds everything acknowledged and nothing that was refused.
    pub(super) async fn assert_read(&self) {
        compare(&*self.store, &truth_of(&self.writers)).await.unwrap();
    }

    /// Like [`assert_read`](Self::assert_read), but records may be unavailable; none may be lost or wrong.
    pub(super) async fn assert_read_or_told(&self) {
        let faults = faults(&*self.store, &truth_of(&self.writers)).await;
        let is_told = |fault: &&Fault| matches!(fault, Fault::Told(text) if text.starts_with("Unavailable"));
        let wrong: Vec<&Fault> = faults.iter().filter(|fault| !is_told(fault)).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    /// Asserts that everything is present, in memory and on the disk.
    pub(super) async fn assert_sound(&self) {
        let found = self.store.verify().await.unwrap_or_else(|error| panic!("{}", chain(&error)));
        assert!(found.is_sound(), "{found}");
        self.assert_read().await;
    }

    /// Closes the store, if possible, and returns what it must hold when it is opened again.
    pub(super) async fn close(self) -> Progress {
        if let Err(error) = self.store.close().await {
            assert_eq!(*error.kind(), StoreErrorKind::Unavailable, "{}", chain(&error));
        }
        self.progress
    }
}

/// The API on such a store. Its own records are not the writers', and are removed in the end.
pub(super) struct Served {
    api: Api,
    caller: Caller,
    key: String,
    network: String,
}

impl Served {
    pub(super) async fn new(store: &Arc<SledStore>) -> Self {
        let inventory = Inventory::new(Arc::clone(store));
        let organization = inventory.create_organization("Example").await.unwrap();
        let network = inventory.create_network(organization.id, "Office").await.unwrap();
        let user = NewUser::new(organization.id, "owner@example.net", Permission::Owner);
        let user = inventory.create_user(user).await.unwrap();
        let key = NewUserApiKey::new(user.id, "laptop", Permission::Owner);
        let key = inventory.create_user_api_key(key).await.unwrap().plaintext().to_string();
        let scope = Scope::granted(user.permissions, vec![network.id]);
        let caller = Caller::new(organization.id, user.id, user.permissions, scope);
        Self {
            api: Api::builder(inventory).rate_limit(None).build(),
            caller,
            key,
            network: network.id.to_string(),
        }
    }

    /// Returns the status and the code of a request that only reads, though it may record the use of the key.
    pub(super) async fn read(&self) -> (u16, Value) {
        let request = Request::get("/api/v1/hosts").header(AUTHORIZATION, format!("Bearer {}", self.key));
        self.send(request.body(String::new()).unwrap()).await
    }

    /// Returns the status and the code of a request that writes.
    pub(super) async fn write(&self) -> (u16, Value) {
        let key = json!({"name": "scanner", "network_id": self.network, "tags": []});
        let request = Request::post("/api/v1/auth/daemon").header(CONTENT_TYPE, "application/json");
        self.send(request.extension(self.caller.clone()).body(key.to_string()).unwrap()).await
    }

    async fn send(&self, request: Request<String>) -> (u16, Value) {
        let response = self.api.clone().oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let answer: Value = serde_json::from_slice(&body).unwrap();
        (status, answer["code"].clone())
    }
}
