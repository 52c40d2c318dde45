//! The [`Store`] trait, and the storage backends that implement it.
//!
//! A store holds *records*: a [`Key`], a [`Version`], and a body of bytes that the store never interprets. The
//! attributes by which records are found and ordered are stored beside the body as [`Facets`]. The trait is
//! independent of the resources of the API, so a new resource needs no new method and no migration, and breaks no
//! third-party backend.

mod batch;
mod error;
mod figures;
mod index;
mod lock;
#[cfg(any(feature = "sled", feature = "postgres"))]
mod log;
mod materializer;
mod memory;
#[cfg(feature = "postgres")]
mod postgres;
mod query;
mod record;
#[cfg(feature = "sled")]
mod sled;
mod snapshot;
mod transfer;
mod wrapper;

use std::fmt;

use async_trait::async_trait;
use uuid::Uuid;

pub use batch::{Batch, Guard, Precondition, Write};
pub use error::{StoreError, StoreErrorKind};
pub use figures::StoreFigures;
pub use memory::MemoryStore;
pub use query::{
    Cursor, Direction, KeyFilter, LinkCondition, LinkFilter, Order, Page, Query, Start, TermFilter, TermRange,
};
pub use record::{Facets, Key, Link, Name, Record, Revision, SortKey, Term, UniqueKey, Version};
pub use snapshot::{Entry, Snapshot};
pub use transfer::{Export, Restore, TransferError, TransferErrorKind, TransferReport};
pub(crate) use transfer::{ExportReader, ExportedRecord};
pub(crate) use wrapper::StoreFuture;
pub use wrapper::Wrapper;

#[cfg(feature = "postgres")]
pub use self::postgres::{PostgresStatus, PostgresStore, PostgresStoreBuilder};
#[cfg(feature = "sled")]
pub use self::sled::{Backup, Compaction, Durability, Repair, SledStore, SledStoreBuilder, Verification};
use crate::model::Timestamp;

/// A database of records with facets: the interface of every storage backend.
///
/// A backend implements six methods. Four further ones are optional: [`revision`](Self::revision) lets the API answer
/// conditional requests without reading records, [`changed_since`](Self::changed_since) lets it read only changed records
/// again, [`is_shared`](Self::is_shared) reports whether other processes may use the store, and
/// [`figures`](Self::figures) are for monitoring. Error names below are variants of [`StoreErrorKind`].
///
/// The *state* of a store is the set of its records at one moment, with their versions, bodies and facets.
///
/// # Implementing a store
/// 1. Store the key, version, body and all facets of every record: [`snapshot`](Self::snapshot) returns the facets again,
///    and [`list`](Self::list), the guards and [`purge_expired`](Self::purge_expired) filter by them.
/// 2. Make [`commit`](Self::commit) serializable. Snapshot isolation is not enough: two commits may each write a record
///    that a guard of the other one reads, and one of them must fail.
/// 3. Report a failure that may pass, such as a lost connection, as [`StoreError::unavailable`], and damaged data as
///    [`StoreError::corrupt`]. Attach the backend's own error with [`StoreError::with_source`].
/// 4. Retry serialization failures of the database inside the backend, so that of two competing commits one succeeds and
///    the other fails with its precondition.
/// 5. Reject a batch with an unknown write, precondition or guard, and a query with an unknown start, as
///    [`StoreError::invalid`]. The types that may gain fields or variants are `#[non_exhaustive]`.
/// 6. Run the conformance suite (feature `testing`) on a multi-threaded and on a single-threaded runtime. In doubt, read
///    `testing::ReferenceStore`: this contract as a short program, which the suite compares every backend with.
///
/// A store around another store implements [`Wrapper`] instead.
///
/// # Contract
/// The conformance suite has a case for every line of the lists below, except for durability across a crash, which cannot
/// be tested from within a process.
///
/// * Every method may be called concurrently from any number of tasks, on any tokio runtime, including a single-threaded
///   one.
/// * Every result reflects one state of the store, never a partially applied commit.
/// * Once a commit has returned, every call that begins later sees it.
/// * Dropping a future before it completes leaves the store usable. The operation then has no effect or takes effect
///   completely, possibly a little later.
/// * Expired records stay visible until purged.
/// * Bodies are opaque: the store returns exactly the bytes that were put, whatever their content and size.
#[async_trait]
pub trait Store: fmt::Debug + Send + Sync + 'static {
    /// Returns the records with these keys.
    ///
    /// # Contract
    /// * The result has one element per key, in the order of the keys: the record, or `None` where no such record exists.
    /// * A key given twice yields two elements, and no keys yield an empty result.
    /// * All elements are from one state.
    ///
    /// # Errors
    /// `Unavailable` or `Corrupt`.
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError>;

    /// Returns the record that has this unique key, or `None`.
    ///
    /// # Contract
    /// * Both name and value identify a unique key, and both are compared byte by byte: the same value under another name
    ///   is a different unique key.
    /// * Once its record is deleted or put without it, a unique key finds nothing.
    ///
    /// # Errors
    /// `Unavailable` or `Corrupt`.
    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError>;

    /// Returns one page of a list of records.
    ///
    /// # Contract
    /// * The list contains the records that pass every filter of the query, each once. A filter matches if ANY of its
    ///   values does; an empty list of values matches nothing.
    /// * A link filter with [`LinkCondition::None`] matches the records that have none of its links; with an empty list of
    ///   targets it matches every record.
    /// * A key filter matches the records whose sort key of its name is in its range. A record that lacks the sort key
    ///   matches as if that key were empty.
    /// * A term filter matches the records that have a term of its name in ANY of its ranges. Terms are compared as unsigned
    ///   bytes, a prefix before its extensions, whatever the length of a bound.
    /// * The list is ordered by the sort fields of [`Query::order`], the first field first, each in its own direction. Sort
    ///   keys are compared as unsigned bytes, a prefix before its extensions. Records that are equal in all sort fields,
    ///   and all records if there are none, are ordered by ascending id, whatever the directions.
    /// * A record that lacks the sort key of a sort field sorts as if that key were empty.
    /// * `total` counts all records that pass the filters, wherever the page starts and however long it is.
    /// * The page holds `limit` records, or all records from its start on if there are fewer. An offset at or beyond the end
    ///   gives no records and the correct total.
    /// * A cursor starts the page at the first record whose position is after the cursor's, whether or not the cursor's own
    ///   record still exists. `next` is `Some` exactly when more records follow the last one of the page, and following it
    ///   to the end yields the list that one page without a limit would have. A page without records has no `next`.
    /// * With [`Query::max_bytes`], the record whose body brings the size of the page's bodies to that number is the last one
    ///   read. [`Page::unread`] has the keys of the rest of the page in order, and `total` and `next` are those of the
    ///   page without `max_bytes`.
    /// * Records and total are from one state.
    ///
    /// # Errors
    /// `Invalid` for a cursor whose number of keys differs from the number of sort fields in the order, and for an order that
    /// names a sort key twice. `Unavailable` or `Corrupt`.
    async fn list(&self, query: &Query) -> Result<Page, StoreError>;

    /// Applies all writes of a batch, or none.
    ///
    /// # Contract
    /// * Preconditions and guards are evaluated against the state before the batch. If one fails, nothing changes and the
    ///   error names it: `Conflict` with the key, for a precondition or [`Guard::Record`]; `Linked` with the link, for
    ///   [`Guard::LinkedWithin`]; `NetworkInUse` with the network, for [`Guard::NetworkEmpty`]; `UniqueKeyTaken` with the
    ///   unique key, for [`Guard::UniqueKey`]. If several fail, the error names any one of them.
    /// * Unique keys are evaluated against the state after the batch, so a batch may move a unique key from one record to
    ///   another. If two records would share one, nothing changes and the error is `UniqueKeyTaken`. The same unique key
    ///   twice in one put counts once.
    /// * A put replaces body and facets completely. Every put record gets a version greater than any version the store
    ///   assigned before; the records of one batch may share a version. Once a version can be read, no smaller one appears.
    /// * A sort key [with a version](SortKey::with_version) is stored as its value followed by that version.
    /// * Of concurrent commits that expect the same version of a record, exactly one succeeds. The others fail with the
    ///   error of their precondition, not with `Unavailable`.
    /// * Once `commit` has returned `Ok`, the batch survives a crash as far as the backend promises durability; each
    ///   backend documents its guarantee.
    /// * A batch without writes only evaluates its guards.
    ///
    /// # Errors
    /// `Conflict`, `Linked`, `NetworkInUse` and `UniqueKeyTaken` as described above. `Invalid` if two writes have the same
    /// key, a put names a sort key twice, a unique key is longer than [`UniqueKey::MAX_LENGTH`], a term is longer than
    /// [`Term::MAX_LENGTH`], or the facets of a record exceed what the backend can hold, which is at least 1 MiB plus 200,000
    /// unique keys. `Unavailable` or `Corrupt`; the batch may or may not have been applied then, but never in part.
    async fn commit(&self, batch: Batch) -> Result<(), StoreError>;

    /// Deletes all records whose `expires_at` is at or before `now`, and returns their number.
    ///
    /// # Contract
    /// * Records without `expires_at` stay. Purged records disappear from the results of every method.
    ///
    /// # Errors
    /// `Unavailable` or `Corrupt`; some of the records may have been deleted then.
    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError>;

    /// Opens a snapshot of all records in the store.
    ///
    /// # Contract
    /// * It contains every record of the store, of every kind, each once, in any order.
    /// * It reflects one state between the call and its return. Later commits and purges do not change it, however slowly
    ///   it is read.
    /// * Each entry holds the record's key, version and body, and the facets that it was put with: organization, network
    ///   and `expires_at` unchanged; links, terms and unique keys each once, in any order; sort keys in any order, and empty
    ///   ones may be omitted.
    /// * An open snapshot blocks no other call: reads, commits, purges and other snapshots proceed.
    /// * It may be dropped before its end. It stays readable after the last handle to the store is dropped.
    ///
    /// # Errors
    /// `Unavailable` or `Corrupt`.
    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError>;

    /// Returns the revision of an organization's records of one kind, without reading them.
    ///
    /// `None`, which the default implementation returns, means that the store does not track revisions.
    ///
    /// # Contract
    /// * If two calls return the same revision, all records of this kind and organization were unchanged in between: every
    ///   list of them that began after the first call and ended before the second is from that one state.
    /// * Two different states never have the same revision, even if the store was closed and reopened, restored, or lost
    ///   commits in a crash in between. A state that recurs after a different one has a new revision.
    /// * It depends on no other organization: commits that change only records of others leave it unchanged, and it reveals
    ///   neither their number nor their time.
    ///
    /// # Errors
    /// `Unavailable` or `Corrupt`.
    async fn revision(&self, _kind: Name, _organization: Uuid) -> Result<Option<Revision>, StoreError> {
        Ok(None)
    }

    /// Returns the ids of the records of an organization and kind that have changed since a revision, without reading
    /// them. Readers of many records then read only these again.
    ///
    /// `None`, which the default implementation returns, means that it is not known: any record may have changed.
    ///
    /// # Contract
    /// * Every record that was put, deleted or purged, or that has joined or left the organization, between the state of the
    ///   revision and the call is among them. Others may be.
    /// * They are in ascending order, each once.
    /// * For a revision that the store does not know, such as one from before it was opened again, the result is `None`.
    ///
    /// # Errors
    /// `Unavailable` or `Corrupt`.
    async fn changed_since(
        &self,
        _kind: Name,
        _organization: Uuid,
        _revision: Revision,
    ) -> Result<Option<Vec<Uuid>>, StoreError> {
        Ok(None)
    }

    /// Returns whether other processes may use the same records at the same time. Default: true.
    fn is_shared(&self) -> bool {
        true
    }

    /// Returns figures for monitoring. Default: none are known.
    ///
    /// They are read often: this method waits for neither a disk nor a database.
    fn figures(&self) -> StoreFigures {
        StoreFigures::default()
    }
}
