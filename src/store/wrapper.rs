//! Stores that pass calls on to another store: [`Wrapper`], and `Arc`.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use uuid::Uuid;

use super::{
    Batch, Key, Name, Page, Query, Record, Revision, Snapshot, Store, StoreError, StoreFigures, UniqueKey,
};
use crate::model::Timestamp;

/// The future that a method of [`Store`] returns, as `async_trait` declares it.
pub(crate) type StoreFuture<'f, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'f>>;

/// Defines every method of [`Store`] by a call of the same method.
///
/// Written without `async_trait`, which would put each future into a second box.
macro_rules! forward {
    ($self:ident: $trait:ident of $to:expr) => {
        /// Calls [`Store::get`].
        fn get<'s, 'k, 'f>(&'s $self, keys: &'k [Key]) -> StoreFuture<'f, Vec<Option<Record>>>
        where
            's: 'f,
            'k: 'f,
            Self: 'f,
        {
            $trait::get($to, keys)
        }

        /// Calls [`Store::get_by_unique_key`].
        fn get_by_unique_key<'s, 'k, 'f>(&'s $self, unique_key: &'k UniqueKey) -> StoreFuture<'f, Option<Record>>
        where
            's: 'f,
            'k: 'f,
            Self: 'f,
        {
            $trait::get_by_unique_key($to, unique_key)
        }

        /// Calls [`Store::list`].
        fn list<'s, 'q, 'f>(&'s $self, query: &'q Query) -> StoreFuture<'f, Page>
        where
            's: 'f,
            'q: 'f,
            Self: 'f,
        {
            $trait::list($to, query)
        }

        /// Calls [`Store::commit`].
        fn commit<'s, 'f>(&'s $self, batch: Batch) -> StoreFuture<'f, ()>
        where
            's: 'f,
            Self: 'f,
        {
            $trait::commit($to, batch)
        }

        /// Calls [`Store::purge_expired`].
        fn purge_expired<'s, 'f>(&'s $self, now: Timestamp) -> StoreFuture<'f, u64>
        where
            's: 'f,
            Self: 'f,
        {
            $trait::purge_expired($to, now)
        }

        /// Calls [`Store::snapshot`].
        fn snapshot<'s, 'f>(&'s $self) -> StoreFuture<'f, Box<dyn Snapshot>>
        where
            's: 'f,
            Self: 'f,
        {
            $trait::snapshot($to)
        }

        /// Calls [`Store::revision`].
        fn revision<'s, 'f>(&'s $self, kind: Name, organization: Uuid) -> StoreFuture<'f, Option<Revision>>
        where
            's: 'f,
            Self: 'f,
        {
            $trait::revision($to, kind, organization)
        }

        /// Calls [`Store::changed_since`].
        fn changed_since<'s, 'f>(
            &'s $self,
            kind: Name,
            organization: Uuid,
            revision: Revision,
        ) -> StoreFuture<'f, Option<Vec<Uuid>>>
        where
            's: 'f,
            Self: 'f,
        {
            $trait::changed_since($to, kind, organization, revision)
        }

        /// Calls [`Store::is_shared`].
        fn is_shared(&$self) -> bool {
            $trait::is_shared($to)
        }

        /// Calls [`Store::figures`].
        fn figures(&$self) -> StoreFigures {
            $trait::figures($to)
        }
    };
}

/// A store around another store, which changes some of its methods.
///
/// Implement [`inner`](Self::inner) and the methods to change. All others call the inner store, including methods that
/// a later version of the crate adds to [`Store`]. Every wrapper is a [`Store`].
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use toposcope::store::{Batch, MemoryStore, Store, StoreError, Wrapper};
/// use toposcope::{Inventory, async_trait};
///
/// /// Counts commits.
/// #[derive(Debug)]
/// struct Counting<S> {
///     inner: S,
///     commits: AtomicU64,
/// }
///
/// #[async_trait]
/// impl<S: Store> Wrapper for Counting<S> {
///     fn inner(&self) -> &dyn Store {
///         &self.inner
///     }
///
///     async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
///         self.commits.fetch_add(1, Ordering::Relaxed);
///         self.inner.commit(batch).await
///     }
/// }
///
/// let inventory = Inventory::new(Counting { inner: MemoryStore::new(), commits: AtomicU64::new(0) });
/// ```
///
/// # Methods that belong together
/// * Records are read by [`get`](Self::get), [`get_by_unique_key`](Self::get_by_unique_key), [`list`](Self::list) and
///   [`snapshot`](Self::snapshot). A wrapper that changes the stored records overrides all four in addition to
///   [`commit`](Self::commit).
/// * Records are removed by [`commit`](Self::commit) and [`purge_expired`](Self::purge_expired).
/// * A wrapper that hides or adds records overrides [`revision`](Self::revision) and
///   [`changed_since`](Self::changed_since) too. A revision must change whenever the records that callers see do; `None` is
///   always correct, for both.
///
/// A file that imports both `Store` and `Wrapper` calls a method of a wrapper by its trait: `Store::get(&wrapper, &keys)`.
///
/// Records that a wrapper adds by itself have a kind that begins with `x.`. If they name an organization, their kind has to be declared with
/// [`Inventory::with_wrapper_kinds`](crate::Inventory::with_wrapper_kinds): they are deleted with it, and otherwise remain.
pub trait Wrapper: fmt::Debug + Send + Sync + 'static {
    /// Returns the inner store.
    fn inner(&self) -> &dyn Store;

    forward!(self: Store of self.inner());
}

#[deny(clippy::missing_trait_methods)]
impl<W: Wrapper> Store for W {
    forward!(self: Wrapper of self);
}

#[deny(clippy::missing_trait_methods)]
impl<S: Store + ?Sized> Store for Arc<S> {
    forward!(self: Store of &**self);
}
