//! Stored answers to requests with an idempotency key, and a store that adds them to the commits of the changes.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use uuid::Uuid;

use super::pending::PendingAnswer;
use crate::inventory::BulkChange;
use crate::model::{HostId, NetworkId, OrganizationId, Timestamp, UserId};
use crate::store::{Batch, Store, StoreError, Wrapper};

/// The body of an [`IDEMPOTENCY_KEY`](crate::inventory::schema::IDEMPOTENCY_KEY) record.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct AnsweredRequest {
    pub(super) organization_id: OrganizationId,
    pub(super) user_id: UserId,
    /// The digest of the key and the body. Without the key, which is not stored, guesses of the body cannot be tested.
    pub(super) digest: Uuid,
    /// The execution that has stored the record. Nil in records of earlier versions.
    #[serde(default)]
    pub(super) execution: Uuid,
    pub(super) expires_at: Timestamp,
    /// Until when a request counts as running that takes several commits; `None`: it is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) running_until: Option<Timestamp>,
    pub(super) answer: RequestAnswer,
}

/// The answer to a request, as far as it is known.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RequestAnswer {
    /// The data of the answer; of a running request, a list of [`DoneHost`].
    pub(crate) data: Box<RawValue>,
    /// Whether the data is the whole answer, not only its ids.
    pub(crate) is_whole: bool,
    /// The networks that a caller must have access to in order to see the answer.
    pub(super) networks: Vec<NetworkId>,
}

/// A host of a bulk request that is stored: its place, its id, and the outcome.
pub(super) type DoneHost = (usize, HostId, BulkChange);

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
