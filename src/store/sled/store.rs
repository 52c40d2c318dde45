use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use uuid::Uuid;

use super::backup::{Backup, backup};
use super::blocking::{blocking, cancellable};
use super::compact::{Compaction, compact};
use super::handle::Handle;
use super::open::{SledStoreBuilder, open};
use super::read::PendingRead;
use super::repair::{Repair, repair};
use super::scrub::{Verification, scrub};
use super::snapshot::SledSnapshot;
use crate::model::Timestamp;
use crate::store::log::queue::Job;
use crate::store::{
    Batch, Key, Name, Page, Query, Record, Revision, Snapshot, Store, StoreError, StoreFigures, UniqueKey,
};

/// A durable store in a local folder, for one process at a time. Clones are handles to the same open store.
///
/// It needs no server. Use it for an inventory that outlives the process.
///
/// # Guarantees
/// * **Durability and atomicity.** A commit that has returned `Ok` is on disk. A commit that was interrupted before
///   it returned is on disk either completely or not at all. Both hold when the process is killed at any moment, and
///   when the power fails, provided that the disk and the file system honour a sync.
///   [`Durability::Buffered`](crate::store::Durability::Buffered) is faster and guarantees less.
/// * **No dirty reads.** A read returns only commits that have reached the durability guarantee, so no decision rests
///   on data that a crash can remove.
/// * **Redundancy.** The store keeps two copies of all records and changes only one at a time, so one of them is
///   intact at any moment. If a copy does not open, or is incomplete because a change was interrupted, the store
///   rebuilds it from the other. If a record's body is damaged in one copy, the store reads it from the other.
/// * **Corruption is reported.** Everything on disk carries a checksum. Corruption present in both copies is reported
///   as an error, when the folder is opened or when the record is read; damaged data is never returned.
///   [`verify`](Self::verify) finds damage, [`repair`](Self::repair) restores a folder that does not open.
/// * **Disk failures.** While the disk is full or fails, commits return `Unavailable` and reads continue. Commits
///   succeed again once the cause is removed.
///
/// # Costs
/// A commit waits for one sync of the write-ahead log. Commits that wait at the same time share one sync:
/// concurrent writers together reach a multiple of one writer's rate.
///
/// Recently read and written bodies are cached, up to the [cache size](SledStoreBuilder::cache_size). Reading another
/// body takes a disk read on a blocking thread.
///
/// Memory use, beside the cache:
/// * the facets of all records, as in a [`MemoryStore`](crate::store::MemoryStore);
/// * 56 bytes for each record;
/// * the bodies of commits since the last checkpoints: at most about 200 MB and one group of batches;
/// * the page cache of sled.
///
/// On disk, the two compressed copies together take about one and a half times the size of hosts as JSON if each was
/// written once, and two to three times if hosts were often replaced: sled reuses freed space only gradually, as it
/// writes. To reclaim all of it, export the store and restore the export into a new folder.
///
/// # Limits
/// * One store at a time can have the folder open, in this process or another.
/// * Both copies are on one disk. Only a [`backup`](Self::backup) or an export that is kept elsewhere protects against
///   the loss of the disk.
/// * The last release of sled is 0.34.7, of 2021, and no other release of this line will follow. The guarantees above
///   do not depend on those of sled, which are weaker: a file that is damaged in the middle may not open, and sled
///   overwrites freed space before its replacement is safe from a loss of power. Therefore the write-ahead log is
///   this store's own and keeps every commit until it is synced in both copies, the copies are separate databases,
///   and everything read from sled is compared with a checksum.
///
/// # Example
/// ```
/// use toposcope::store::{Batch, Precondition, Facets, Key, Name, SledStore, Store};
/// use uuid::Uuid;
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// # let directory = tempfile::tempdir()?;
/// # let folder = directory.path().join("inventory");
/// let key = Key::new(Name::new("note"), Uuid::nil());
/// let store = SledStore::open(&folder).await?;
/// let mut batch = Batch::new();
/// batch.put(key, Precondition::Absent, Facets::default(), "a body");
/// store.commit(batch).await?;
/// store.close().await?;
///
/// let store = SledStore::open(&folder).await?;
/// let found = store.get(&[key]).await?;
/// assert_eq!(found[0].as_ref().map(|record| &record.body[..]), Some(&b"a body"[..]));
/// # store.close().await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct SledStore {
    handle: Arc<Handle>,
}

impl SledStore {
    /// Opens a folder with the default options, and creates it if it does not exist.
    ///
    /// # Errors
    /// The errors of [`SledStoreBuilder::open`].
    pub async fn open(folder: impl Into<PathBuf>) -> Result<Self, StoreError> {
        Self::builder(folder).open().await
    }

    /// Returns a builder to open a folder with other options.
    #[must_use]
    pub fn builder(folder: impl Into<PathBuf>) -> SledStoreBuilder {
        SledStoreBuilder::new(folder.into())
    }

    /// Returns the path of the folder, as it was given when the store was opened.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.handle.shared().folder.path()
    }

    /// Applies all commits to both copies, and releases the folder.
    ///
    /// After it has returned, the folder can be opened again, also by another process, and every further call on this
    /// store or a clone of it returns `Unavailable`.
    ///
    /// Dropping the last handle of a store does the same in the background. Acknowledged commits are kept in either
    /// case; `close` makes the next opening faster and returns when the folder is free.
    ///
    /// # Errors
    /// `Unavailable` when a write fails. Acknowledged commits are still in the write-ahead log then, and are recovered
    /// when the folder is opened again.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.handle.mark_closed();
        self.handle.queue.submit(Job::Close).await.map(|_| ())
    }

    /// Reads both copies from disk, and verifies all checksums. The copies are also compared with the index in
    /// memory.
    ///
    /// It works in slices of some milliseconds and lets checkpoints run between them, so it hardly affects reads and
    /// commits. It finds all damage that existed when it began, except in data that was overwritten or deleted in the
    /// meantime. Only one verification runs at a time; others wait for it. Dropping the future ends the verification
    /// after its current slice.
    ///
    /// # Errors
    /// `Unavailable` when data cannot be read at all, when a checkpoint fails during the verification, and when the
    /// store is closed before the verification is complete. Damage is not an error: it is reported in the
    /// [`Verification`].
    pub async fn verify(&self) -> Result<Verification, StoreError> {
        self.handle.require_open()?;
        scrub(&self.handle).await
    }

    /// Writes a backup of the open store into a folder. It has all records as they are at one moment of the call.
    ///
    /// The backup is the folder of a store: open it in place, or copy it over a lost one. It has one copy of the records;
    /// the first opening writes the second. Versions of records are kept. To change the backend, use an
    /// [`Export`](crate::store::Export).
    ///
    /// The path must be an empty folder or not exist; missing parent folders are created. The folder becomes that of a
    /// store in the last step, so an interrupted backup does not open as a complete one. After an error, and when the
    /// future is dropped before that step, everything that was written is removed. When the process is killed, the parts stay; delete them.
    ///
    /// Reads and commits continue. Memory use is that of a [`snapshot`](Store::snapshot), and about 10 MB. Until the backup
    /// ends, the folder of the store also keeps the bodies that are replaced meanwhile. Only one backup runs at a time;
    /// others wait for it.
    ///
    /// ```
    /// use toposcope::store::SledStore;
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// # let directory = tempfile::tempdir()?;
    /// # let (folder, copy) = (directory.path().join("inventory"), directory.path().join("inventory-backup"));
    /// let store = SledStore::open(&folder).await?;
    /// let backup = store.backup(&copy).await?;
    /// assert_eq!(backup.records, 0);
    /// # store.close().await?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// `Invalid` when the path is a folder that is not empty. `Unavailable` when it cannot be written, the disk is full, or
    /// the store is closed before the backup is complete. `Corrupt` when a record is damaged in both copies.
    pub async fn backup(&self, path: impl Into<PathBuf>) -> Result<Backup, StoreError> {
        self.handle.require_open()?;
        backup(&self.handle, path.into()).await
    }

    /// Compacts a folder: writes both copies again, without the space that is no longer used.
    ///
    /// sled reuses freed space, but its files do not become smaller. Each copy is replaced once the new one is complete;
    /// until then, the disk must have space for one more. Dropping the future stops the compaction between the two
    /// copies; the folder can be opened, and compacted again.
    ///
    /// # Errors
    /// The errors of [`SledStoreBuilder::open`]; `Unavailable` when a copy cannot be written.
    pub async fn compact(folder: impl Into<PathBuf>) -> Result<Compaction, StoreError> {
        let folder = folder.into();
        // Everything in the log is applied first.
        Self::open(&folder).await?.close().await?;
        cancellable(move |cancellation| compact(&folder, cancellation)).await
    }

    /// Repairs a damaged folder, so that it can be opened again.
    ///
    /// Use it when [`open`](Self::open) fails with `Corrupt`. Data that is damaged in one copy is restored from the
    /// other; if either copy is intact, every record is restored. The previous contents of the folder `records` stay in
    /// `records.damaged`; delete that folder when it is no longer needed. The next repair replaces it. If only the file
    /// `format` or `acknowledged` is damaged, only this file is written again.
    ///
    /// Dropping the future stops the repair, unless it has reached its last step. The folder's data is unchanged
    /// then, and the repair can be run again.
    ///
    /// # Errors
    /// `Corrupt` when neither copy can be read at all. `Unavailable` when the folder is in use or cannot be written.
    /// `Invalid` when it is not the folder of a store.
    pub async fn repair(folder: impl Into<PathBuf>) -> Result<Repair, StoreError> {
        let folder = folder.into();
        cancellable(move |cancellation| repair(&folder, cancellation)).await
    }
}

impl SledStoreBuilder {
    /// Opens the folder, creates it if it does not exist, and loads its index.
    ///
    /// On Unix, the store creates folders with mode 0700 and files with mode 0600, so that only their owner can read
    /// them. An existing folder keeps its mode; if other users can read it, the store logs a warning.
    ///
    /// # Errors
    /// `Unavailable` when the folder cannot be used, or is still in use by another store after two seconds. `Invalid`
    /// when it contains files other than those of a store. `Corrupt` when both copies are damaged; the data is left
    /// unchanged then, except for what sled changes in its own files when it opens them, and [`SledStore::repair`] can
    /// restore what is readable.
    pub async fn open(self) -> Result<SledStore, StoreError> {
        let (shared, queue) = blocking(move || open(&self)).await??;
        Ok(SledStore { handle: Arc::new(Handle::new(shared, queue)) })
    }
}

#[async_trait]
impl Store for SledStore {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        self.handle.require_open()?;
        let pending = {
            let state = self.handle.shared().state.read()?;
            PendingRead::of_each(&state, keys.iter().map(|key| state.index.find(*key)))
        };
        self.handle.reader.finish(pending).await
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        self.handle.require_open()?;
        let pending = {
            let state = self.handle.shared().state.read()?;
            PendingRead::of_each(&state, [state.index.get_by_unique_key(unique_key)].into_iter())
        };
        Ok(self.handle.reader.finish(pending).await?.pop().flatten())
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        self.handle.require_open()?;
        let pending = self.handle.materializer.list(self.handle.shared(), query).await?;
        self.handle.reader.finish_page(pending, query.max_bytes).await
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        self.handle.queue.submit(|responder| Job::Commit(batch, responder)).await.map(|_| ())
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.handle.queue.submit(|responder| Job::Purge(now, responder)).await
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        self.handle.require_open()?;
        let handle = Arc::clone(&self.handle);
        let snapshot = blocking(|| SledSnapshot::new(handle)).await??;
        Ok(Box::new(snapshot))
    }

    async fn revision(&self, kind: Name, organization: Uuid) -> Result<Option<Revision>, StoreError> {
        self.handle.require_open()?;
        Ok(Some(self.handle.shared().state.read()?.index.revision(kind, organization)))
    }

    async fn changed_since(
        &self,
        kind: Name,
        organization: Uuid,
        revision: Revision,
    ) -> Result<Option<Vec<Uuid>>, StoreError> {
        self.handle.require_open()?;
        Ok(self.handle.shared().state.read()?.index.changed_since(kind, organization, revision))
    }

    fn is_shared(&self) -> bool {
        false
    }

    fn figures(&self) -> StoreFigures {
        self.handle.shared().state.read().map(|state| state.index.figures()).unwrap_or_default()
    }
}

/// Shows the folder and the number of rows, but no contents.
impl fmt::Debug for SledStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.handle.shared().state.read().map(|state| state.bodies.len());
        formatter
            .debug_struct("SledStore")
            .field("folder", &self.folder())
            .field("rows", &rows.unwrap_or_default())
            .finish_non_exhaustive()
    }
}
