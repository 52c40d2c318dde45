use std::fmt;

use async_trait::async_trait;
use uuid::Uuid;

use crate::model::Timestamp;
use crate::store::{
    Batch, Key, Name, Page, Query, Record, Revision, Snapshot, Store, StoreError, UniqueKey, Wrapper,
};

/// A store whose operations pass through a hook. The hook can observe, delay, fail or replace them.
///
/// It serves tests of code that uses a store. They can check the behavior of the code when the store fails, is slow,
/// or is changed by another task between two operations. The hook receives every operation as a value, so that it can
/// count or fail all of them alike. A store that changes certain methods is a [`Wrapper`] instead.
///
/// ```
/// use async_trait::async_trait;
/// use toposcope::store::{Key, MemoryStore, Name, Store, StoreError, StoreErrorKind};
/// use toposcope::testing::{Call, Intercept, Interceptor, Operation, Reply};
/// use uuid::Uuid;
///
/// /// Every read fails.
/// #[derive(Debug)]
/// struct NoReads;
///
/// #[async_trait]
/// impl Intercept for NoReads {
///     async fn intercept(&self, call: Call<'_>) -> Result<Reply, StoreError> {
///         match call.operation() {
///             Operation::Get(_) => Err(StoreError::unavailable("out of order")),
///             _ => call.proceed().await,
///         }
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let store = Interceptor::new(MemoryStore::new(), NoReads);
/// let read = store.get(&[Key::new(Name::new("note"), Uuid::nil())]).await;
/// assert!(matches!(read.unwrap_err().kind(), StoreErrorKind::Unavailable));
/// # });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Interceptor<S, I> {
    store: S,
    hook: I,
}

impl<S: Store, I: Intercept> Interceptor<S, I> {
    /// Creates a store that passes the operations of `store` through `hook`.
    pub fn new(store: S, hook: I) -> Self {
        Self { store, hook }
    }

    /// Returns the hook.
    pub fn hook(&self) -> &I {
        &self.hook
    }

    /// Returns the store behind the hook.
    pub fn store(&self) -> &S {
        &self.store
    }

    async fn call(&self, operation: Operation) -> Result<Reply, StoreError> {
        self.hook.intercept(Call { store: &self.store, operation }).await
    }
}

/// The hook of an [`Interceptor`].
#[async_trait]
pub trait Intercept: fmt::Debug + Send + Sync + 'static {
    /// Answers one operation, usually with the result of [`Call::proceed`].
    ///
    /// # Errors
    /// The error is returned to the caller of the store.
    async fn intercept(&self, call: Call<'_>) -> Result<Reply, StoreError>;
}

#[async_trait]
impl<I: Intercept + ?Sized> Intercept for std::sync::Arc<I> {
    async fn intercept(&self, call: Call<'_>) -> Result<Reply, StoreError> {
        (**self).intercept(call).await
    }
}

/// A requested operation of a store that has not begun yet.
#[derive(Debug)]
pub struct Call<'c> {
    store: &'c dyn Store,
    operation: Operation,
}

impl Call<'_> {
    /// Returns the operation.
    pub fn operation(&self) -> &Operation {
        &self.operation
    }

    /// Performs the operation on the store behind the hook.
    ///
    /// # Errors
    /// The errors of the store.
    pub async fn proceed(self) -> Result<Reply, StoreError> {
        let Self { store, operation } = self;
        Ok(match operation {
            Operation::Get(keys) => Reply::Records(store.get(&keys).await?),
            Operation::GetByUniqueKey(unique_key) => {
                Reply::Record(store.get_by_unique_key(&unique_key).await?)
            }
            Operation::List(query) => Reply::Page(store.list(&query).await?),
            Operation::Commit(batch) => {
                store.commit(batch).await?;
                Reply::Committed
            }
            Operation::PurgeExpired(now) => Reply::Purged(store.purge_expired(now).await?),
            Operation::Snapshot => Reply::Snapshot(store.snapshot().await?),
            Operation::Revision(kind, organization) => {
                Reply::Revision(store.revision(kind, organization).await?)
            }
            Operation::ChangedSince(kind, organization, revision) => {
                Reply::Changed(store.changed_since(kind, organization, revision).await?)
            }
        })
    }
}

/// A method of [`Store`] with its arguments.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Operation {
    /// [`Store::get`]
    Get(Vec<Key>),
    /// [`Store::get_by_unique_key`]
    GetByUniqueKey(UniqueKey),
    /// [`Store::list`]
    List(Box<Query>),
    /// [`Store::commit`]
    Commit(Batch),
    /// [`Store::purge_expired`]
    PurgeExpired(Timestamp),
    /// [`Store::snapshot`]
    Snapshot,
    /// [`Store::revision`]
    Revision(Name, Uuid),
    /// [`Store::changed_since`]
    ChangedSince(Name, Uuid, Revision),
}

/// The result of an [`Operation`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Reply {
    /// The result of [`Store::get`].
    Records(Vec<Option<Record>>),
    /// The result of [`Store::get_by_unique_key`].
    Record(Option<Record>),
    /// The result of [`Store::list`].
    Page(Page),
    /// The result of [`Store::commit`].
    Committed,
    /// The result of [`Store::purge_expired`].
    Purged(u64),
    /// The result of [`Store::snapshot`].
    Snapshot(Box<dyn Snapshot>),
    /// The result of [`Store::revision`].
    Revision(Option<Revision>),
    /// The result of [`Store::changed_since`].
    Changed(Option<Vec<Uuid>>),
}

/// The error when a hook replies to an operation with the result of another.
fn mismatch() -> StoreError {
    StoreError::corrupt("the hook returned the reply of another operation")
}

#[async_trait]
impl<S: Store, I: Intercept> Wrapper for Interceptor<S, I> {
    fn inner(&self) -> &dyn Store {
        &self.store
    }

    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        match self.call(Operation::Get(keys.to_vec())).await? {
            Reply::Records(records) => Ok(records),
            _ => Err(mismatch()),
        }
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        match self.call(Operation::GetByUniqueKey(unique_key.clone())).await? {
            Reply::Record(record) => Ok(record),
            _ => Err(mismatch()),
        }
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        match self.call(Operation::List(Box::new(query.clone()))).await? {
            Reply::Page(page) => Ok(page),
            _ => Err(mismatch()),
        }
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        match self.call(Operation::Commit(batch)).await? {
            Reply::Committed => Ok(()),
            _ => Err(mismatch()),
        }
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        match self.call(Operation::PurgeExpired(now)).await? {
            Reply::Purged(purged) => Ok(purged),
            _ => Err(mismatch()),
        }
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        match self.call(Operation::Snapshot).await? {
            Reply::Snapshot(snapshot) => Ok(snapshot),
            _ => Err(mismatch()),
        }
    }

    async fn revision(&self, kind: Name, organization: Uuid) -> Result<Option<Revision>, StoreError> {
        match self.call(Operation::Revision(kind, organization)).await? {
            Reply::Revision(revision) => Ok(revision),
            _ => Err(mismatch()),
        }
    }

    async fn changed_since(
        &self,
        kind: Name,
        organization: Uuid,
        revision: Revision,
    ) -> Result<Option<Vec<Uuid>>, StoreError> {
        match self.call(Operation::ChangedSince(kind, organization, revision)).await? {
            Reply::Changed(changed) => Ok(changed),
            _ => Err(mismatch()),
        }
    }
}
