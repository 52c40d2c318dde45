//! A store that adds the answer to a request to the commit that makes the change.

use std::sync::Arc;

use async_trait::async_trait;

use super::pending::PendingAnswer;
use crate::store::{Batch, Store, StoreError, Wrapper};

/// Adds the answer to a request to the commit that makes the change. Everything else is that of the store.
#[derive(Debug)]
pub(super) struct AnsweringStore {
    store: Arc<dyn Store>,
    pending: Arc<PendingAnswer>,
}

impl AnsweringStore {
    pub(super) fn new(store: Arc<dyn Store>, pending: Arc<PendingAnswer>) -> Self {
        Self { store, pending }
    }
}

#[async_trait]
impl Wrapper for AnsweringStore {
    fn inner(&self) -> &dyn Store {
        &*self.store
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        self.pending.commit(batch).await
    }
}
