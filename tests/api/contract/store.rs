use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use toposcope::access::{PasswordCost, PasswordHasher};
use toposcope::inventory::Inventory;
use toposcope::model::Timestamp;
use toposcope::service::Api;
use toposcope::store::{
    Batch, Key, Name, Page, Query, Record, Revision, Snapshot, Store, StoreError, UniqueKey, Write,
};
use uuid::Uuid;

use super::scene::Scene;
use crate::common::{Server, Watched, ample};

/// A wrapper of the scene's store that records calls and fails on demand.
pub(super) struct Interposed {
    inner: Arc<Watched>,
    fault: Fault,
    calls: AtomicUsize,
    asked: Mutex<Vec<String>>,
    written: Mutex<Vec<Write>>,
}

pub(super) enum Fault {
    None,
    /// Fails every commit that writes a record of this kind.
    Commit(Name, fn(Key) -> StoreError),
    /// Fails every call from this one on.
    From(usize, fn() -> StoreError),
}

impl Interposed {
    pub(super) fn new(scene: &Scene, fault: Fault) -> Arc<Self> {
        Arc::new(Self {
            inner: Arc::clone(&scene.world.store),
            fault,
            calls: AtomicUsize::new(0),
            asked: Mutex::default(),
            written: Mutex::default(),
        })
    }

    /// Creates a server with this store and the clock of the scene.
    pub(super) fn server(self: &Arc<Self>, scene: &Scene) -> Server {
        Server::built(Api::builder(self.inventory(scene)), ample())
    }

    pub(super) fn inventory(self: &Arc<Self>, scene: &Scene) -> Inventory {
        let cheap = PasswordHasher::new().with_cost(PasswordCost::new(8, 1).unwrap());
        let clock = Arc::new(scene.world.clock.clone());
        Inventory::new(self.clone()).with_clock(clock).with_passwords(cheap)
    }

    /// Returns the methods called since the previous call, in order.
    pub(super) fn take_asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }

    /// Returns the writes since the previous call.
    pub(super) fn take_written(&self) -> Vec<Write> {
        std::mem::take(&mut self.written.lock().unwrap())
    }

    fn ask(&self, method: &str, about: impl fmt::Display) -> Result<(), StoreError> {
        self.asked.lock().unwrap().push(format!("{method} {about}"));
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        match self.fault {
            Fault::From(first, error) if call >= first => Err(error()),
            _ => Ok(()),
        }
    }
}

#[async_trait]
impl Store for Interposed {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        let kinds: Vec<&str> = keys.iter().map(|key| key.kind.as_str()).collect();
        self.ask("get", kinds.join(", "))?;
        self.inner.get(keys).await
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        self.ask("get_by_unique_key", unique_key.name)?;
        self.inner.get_by_unique_key(unique_key).await
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        self.ask("list", query.kind)?;
        self.inner.list(query).await
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        let kinds: Vec<String> = batch.writes().iter().map(|write| write.key().kind.to_string()).collect();
        self.ask("commit", kinds.join(", "))?;
        if let Fault::Commit(kind, error) = self.fault
            && let Some(write) = batch.writes().iter().find(|write| write.key().kind == kind)
        {
            return Err(error(write.key()));
        }
        self.written.lock().unwrap().extend_from_slice(batch.writes());
        self.inner.commit(batch).await
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.ask("purge", "")?;
        self.inner.purge_expired(now).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        self.ask("snapshot", "")?;
        self.inner.snapshot().await
    }

    async fn revision(&self, kind: Name, organization: Uuid) -> Result<Option<Revision>, StoreError> {
        self.ask("revision", "")?;
        self.inner.revision(kind, organization).await
    }
}

impl fmt::Debug for Interposed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Interposed")
    }
}
