//! What Toposcope asks of a database: the [`Store`] trait, and backends that implement it.
//!
//! A store holds *records*: a [`Key`], a [`Version`], and a body of bytes that it never looks into. What it must know in
//! order to find a record comes beside the body as [`Facets`]. The trait knows no resource of the API, so a new resource
//! needs no new method, no migration and no change in anybody's backend.

mod batch;
mod error;
#[cfg_attr(
    not(feature = "sled"),
    allow(dead_code, unused_imports, reason = "only a store on a disk loads an index")
)]
mod index;
mod lock;
mod materializer;
mod memory;
mod name;
mod query;
mod record;
mod revision;
#[cfg(feature = "sled")]
mod sled;
mod snapshot;
mod transfer;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use uuid::Uuid;

pub use batch::{Batch, Guard, Precondition, Write};
pub use error::{StoreError, StoreErrorKind};
pub use memory::MemoryStore;
pub use name::Name;
pub use query::{Cursor, Direction, LinkFilter, Order, Page, Query, Start};
pub use record::{Facets, Key, Link, Record, SortKey, UniqueKey, Version};
pub use revision::Revision;
pub use snapshot::{Entry, Snapshot};
pub use transfer::{Export, Restore, TransferError, TransferErrorKind, TransferReport};

#[cfg(feature = "sled")]
pub use self::sled::{Durability, Repair, SledStore, SledStoreBuilder, Verification};
use crate::model::Timestamp;

/// Where records are kept. Six methods make a backend; a seventh, [`revision`](Self::revision), spares clients what they know
/// already.
///
/// # Contract
/// The conformance suite (feature `testing`) has a case for every line of the lists below.
///
/// * Every method may be called from any number of tasks at once, on any runtime of tokio's, also a single-threaded one.
/// * What a method returns comes from one state of the store: never from the middle of a commit.
/// * A commit that has returned is seen by every call that begins after it.
/// * A future that is dropped before it is ready leaves the store as if it had never been called or as if it had been
///   carried out whole, then or a little later, and usable.
/// * A record whose time is over is a record like any other until it is purged.
/// * A store does not look into a body, and gives back its very bytes, whatever they are and however many.
#[async_trait]
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// Reads records by key.
    ///
    /// # Contract
    /// * One answer for each key, in the order of the keys; `None` where there is no such record.
    /// * A key that is given twice is answered twice. No keys, no answers.
    /// * All answers are from one state.
    ///
    /// # Errors
    /// `Unavailable` and `Corrupt`.
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError>;

    /// Reads the record that has a unique key, or `None`.
    ///
    /// # Contract
    /// * A unique key is the whole of it: the same value under another name is another unique key.
    /// * A unique key that a record no longer has, because it was put without it or deleted, finds nothing.
    ///
    /// # Errors
    /// `Unavailable` and `Corrupt`.
    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError>;

    /// Reads one page of a list.
    ///
    /// # Contract
    /// * Only records that pass every filter of the query, each once; a filter's values match with ANY, and the empty
    ///   list of values matches nothing.
    /// * Ordered by the terms of the order, first term first, keys compared as bytes; each term in its own direction;
    ///   what is equal in all terms, and everything when there is no term, by id, ascending in either direction.
    /// * A record without a sort key of that name has the empty one.
    /// * `total` counts what passes the filters, wherever the page begins and however long it is.
    /// * The page holds `limit` records, or as many as there are from its beginning on. An offset behind the end gives no
    ///   records and the true total.
    /// * A cursor begins the page at the first record whose place is behind the cursor's, whether or not its own record
    ///   still exists. `next` is there exactly when records follow the last one of the page; following it to the end
    ///   gives the list that one unlimited page would have given. A page of no records has no `next`.
    /// * Records and total are from one state.
    ///
    /// # Errors
    /// `Invalid` for a cursor with another number of keys than the order has terms, and for an order that names a sort
    /// key twice. `Unavailable` and `Corrupt`.
    async fn list(&self, query: &Query) -> Result<Page, StoreError>;

    /// Carries out all changes of a batch, or none.
    ///
    /// # Contract
    /// * Expectations and guards are about the state before the batch. If one is not met, nothing changes and the error
    ///   names it: `Conflict` and the key, `Linked` and the link, `NetworkInUse` and the network, `UniqueKeyTaken` and the
    ///   unique key. If several are not met, it names any of them.
    /// * Unique keys are about the state after the batch: a unique key may pass from one record to another within it. If two
    ///   records would share one, nothing changes and the error is `UniqueKeyTaken`. The same unique key twice in one put counts once.
    /// * A put replaces body and facets whole. Every put record gets a version greater than any the store gave before;
    ///   those of one batch may share it.
    /// * Of commits at the same time that expect the same version of a record, one succeeds; the others fail by what they
    ///   expected, not as `Unavailable`.
    /// * When it has returned `Ok`, the batch is there after a crash, as far as the backend promises at all to keep
    ///   anything: each backend's documentation says how far that is.
    /// * A batch without writes only checks.
    ///
    /// # Errors
    /// `Conflict`, `Linked`, `NetworkInUse` and `UniqueKeyTaken` as above. `Invalid` when two writes name one key, a put
    /// names a sort key twice, a unique key is longer than [`UniqueKey::MAX_LENGTH`], or the facets of a record are more than the
    /// backend can hold (at least 1 MiB, and 200,000 unique keys beside). `Unavailable` and `Corrupt`; after these the batch
    /// may or may not have been carried out, but never in part.
    async fn commit(&self, batch: Batch) -> Result<(), StoreError>;

    /// Deletes all records whose `expires_at` is `now` or earlier, and tells how many.
    ///
    /// # Contract
    /// * Records without `expires_at` stay. What is deleted is gone from every method.
    ///
    /// # Errors
    /// `Unavailable` and `Corrupt`; some of the records may have been deleted by then.
    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError>;

    /// Begins to read everything the store holds.
    ///
    /// # Contract
    /// * Every record of the store is in it, of whatever kind, each once, in any order.
    /// * It is of one state, that of a moment between the call and the return; whatever is committed or purged afterwards,
    ///   and however slowly it is read, it stays that state.
    /// * Of a record come key, version and body, and the facets that it was put with: organization, network and
    ///   `expires_at` as they were; links and unique keys each once, in any order; sort keys in any order, and one that is
    ///   empty may be missing.
    /// * Nobody waits for a snapshot that is open: reads, commits and purges go on, and so do other snapshots.
    /// * It may be dropped before its end. It may be read when nobody holds the store any more.
    ///
    /// # Errors
    /// `Unavailable` and `Corrupt`.
    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError>;

    /// Returns the revision of an organization's records of one kind, without reading any; `None` if the store has none.
    ///
    /// # Contract
    /// * Between two calls that give the same revision, all records of this kind and organization were what they are: every
    ///   list of them that began after the first call and ended before the second is of that one state.
    /// * Two states that differ never have the same revision, also not when the store was closed and opened again, restored,
    ///   or lost commits in a crash. Nor has a state that came back after another.
    /// * It depends on nothing of another organization: commits that change only records of others leave it as it is, and
    ///   it reveals neither their number nor when they happened.
    ///
    /// # Errors
    /// `Unavailable` and `Corrupt`.
    async fn revision(&self, _kind: Name, _organization: Uuid) -> Result<Option<Revision>, StoreError> {
        Ok(None)
    }
}

#[deny(clippy::missing_trait_methods)]
#[async_trait]
impl<S: Store + ?Sized> Store for Arc<S> {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        (**self).get(keys).await
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        (**self).get_by_unique_key(unique_key).await
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        (**self).list(query).await
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        (**self).commit(batch).await
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        (**self).purge_expired(now).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        (**self).snapshot().await
    }

    async fn revision(&self, kind: Name, organization: Uuid) -> Result<Option<Revision>, StoreError> {
        (**self).revision(kind, organization).await
    }
}
