use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use uuid::Uuid;

use super::blocking::{blocking, cancellable};
use super::builder::SledStoreBuilder;
use super::commit::queue::Job;
use super::handle::Handle;
use super::open::open;
use super::read::{PendingPage, PendingRead};
use super::repair::{Repair, repair};
use super::scrub::{Verification, scrub};
use super::snapshot::SledSnapshot;
use crate::model::Timestamp;
use crate::store::{Batch, Key, Name, Page, Query, Record, Revision, Snapshot, Store, StoreError, UniqueKey};

/// A store in a folder on this machine, for inventories that outlive the process: no server, one process at a time.
///
/// # What is promised
/// * A commit that has returned `Ok` is on the disk, whole. So is a commit whose outcome nobody was told, or nothing of it.
///   That holds through the end of the process at any moment, and through a loss of power as far as the disk and the file
///   system keep their own promises. [`Durability::Buffered`](crate::store::Durability::Buffered) promises less, and is quicker.
/// * What readers see is on the disk too: nobody decides on what may be gone tomorrow.
/// * There are two copies of all records, of which one is whole at any moment. A copy that does not open, or lacks something
///   when a change of it was cut off, is made anew from the other, and a body that is damaged in one is read from the other.
/// * What is damaged in both is an error that says so, when the folder is opened or the record is read, and never another
///   answer. [`verify`](Self::verify) looks for damage, [`repair`](Self::repair) saves what can be saved.
/// * When the disk is full, or cannot be written for another reason, commits fail as `Unavailable`, and reads go on. When the
///   cause is gone, commits succeed again.
///
/// # What it costs
/// Every commit waits for the disk once, and all that wait at the same time share it, so many writers commit many times as
/// much as one. Bodies that were read or written of late are in memory, up to the
/// [size of the cache](SledStoreBuilder::cache_size); others cost a read on a blocking thread. In memory are besides: the
/// facets of all records, as in a [`MemoryStore`](crate::store::MemoryStore); 56 bytes for each record; what was committed
/// since the last checkpoint, at most some 100 MB and a group of batches more; and what sled keeps.
///
/// On the disk the two copies together take three to four times the size of the records when these were written once, and
/// six to seven times when they were replaced often: sled gives back what is replaced little by little, while others are
/// written. An export into a new folder gives back all of it.
///
/// # What to know of sled
/// The last release of sled is 0.34.7, of 2021, and there will be no other of this line. Its own promises are weaker than
/// those above, so little is left to it: it keeps what the journal of this store has put there, it is never the only
/// place of what was committed since, and everything that it gives back is compared with a checksum. A file of its that was
/// damaged in the middle may not open, and it writes over room that became free before what replaces it is safe from a loss
/// of power. That is why there are two copies, each in files of its own, and never both changed before one is on the disk.
/// Against the loss of the disk itself only an export elsewhere helps.
///
/// ```
/// use toposcope::store::{Batch, Precondition, Facets, Key, Name, SledStore, Store};
/// use uuid::Uuid;
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// # let place = tempfile::tempdir()?;
/// # let folder = place.path().join("inventory");
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
pub struct SledStore {
    handle: Arc<Handle>,
}

impl SledStore {
    /// Opens the folder, or makes it, with what is right for most.
    ///
    /// # Errors
    /// Those of [`SledStoreBuilder::open`].
    pub async fn open(folder: impl Into<PathBuf>) -> Result<Self, StoreError> {
        Self::builder(folder).open().await
    }

    /// How the folder is to be opened.
    #[must_use]
    pub fn builder(folder: impl Into<PathBuf>) -> SledStoreBuilder {
        SledStoreBuilder::new(folder.into())
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.handle.shared().folder.path()
    }

    /// Puts everything into the records and lets the folder go. When it has returned, the folder can be opened again, also
    /// by another process; every call after it is `Unavailable`.
    ///
    /// A store that is dropped does the same a little later, and nothing is lost without it either: it makes the next opening
    /// quicker, and tells when the folder is free.
    ///
    /// # Errors
    /// `Unavailable` when something cannot be written. It is in the journal still, and there when the folder is opened again.
    pub async fn close(&self) -> Result<(), StoreError> {
        self.handle.mark_closed();
        self.handle.queue.submit(Job::Close).await.map(|_| ())
    }

    /// Reads everything on the disk and compares it with what is in memory.
    ///
    /// It works in slices of some milliseconds and lets checkpoints run between them, so readers and writers hardly notice
    /// it. It finds all damage that was there when it began, unless the damaged data was overwritten or deleted since. Of
    /// several verifications at a time one runs, and the others wait for it. Dropping the future ends the verification
    /// with the slice that is under way.
    ///
    /// # Errors
    /// `Unavailable` when something cannot be read at all, when a checkpoint fails during the verification, and when the
    /// store is closed before it is complete. Damage is not an error here but a finding.
    pub async fn verify(&self) -> Result<Verification, StoreError> {
        self.handle.require_open()?;
        scrub(&self.handle).await
    }

    /// Saves what can be saved out of a folder that [`open`](Self::open) finds damaged, so that it can be opened again.
    ///
    /// What is damaged in one copy is taken from the other; where one is whole, everything is saved. What was in `records`
    /// before is left in `records.damaged`, to be deleted by hand. Dropping the future stops the repair, unless it has come
    /// to its last step; the folder is then as it was, and can be repaired again.
    ///
    /// # Errors
    /// `Corrupt` when the records cannot be read at all, in neither copy; `Unavailable` when the folder is in use or cannot be written to;
    /// `Invalid` when it is not the folder of a store.
    pub async fn repair(folder: impl Into<PathBuf>) -> Result<Repair, StoreError> {
        let folder = folder.into();
        cancellable(move |cancellation| repair(&folder, cancellation)).await
    }
}

impl SledStoreBuilder {
    /// Opens the folder, or makes it, and loads its index.
    ///
    /// On Unix, only the owner may read what it makes: folders have the mode 0700 and files 0600. A folder that exists keeps
    /// its mode; if other users may read it, a warning is logged.
    ///
    /// # Errors
    /// `Unavailable` when the folder cannot be used, or is in use by another store after two seconds still. `Invalid` when it
    /// holds something else. `Corrupt` when what it holds is damaged, in both copies: nothing is changed then, but for what sled does to
    /// its own files; [`SledStore::repair`] saves what can be saved.
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
            let state = self.handle.shared().read_state()?;
            PendingRead::of_each(&state, keys.iter().map(|key| state.index.find(*key)))
        };
        self.handle.reader.finish(pending).await
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        self.handle.require_open()?;
        let pending = {
            let state = self.handle.shared().read_state()?;
            PendingRead::of_each(&state, [state.index.get_by_unique_key(unique_key)].into_iter())
        };
        Ok(self.handle.reader.finish(pending).await?.pop().flatten())
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        self.handle.require_open()?;
        let PendingPage { pending, total, next } =
            self.handle.materializer.list(self.handle.shared(), query).await?;
        let records = self.handle.reader.finish_page(pending).await?;
        Ok(Page { records, total, next })
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
        Ok(Some(self.handle.shared().read_state()?.index.revision(kind, organization)))
    }
}

/// Where it is and how many rows it has, and nothing of what is in them.
impl fmt::Debug for SledStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.handle.shared().read_state().map(|state| state.bodies.len());
        formatter
            .debug_struct("SledStore")
            .field("folder", &self.folder())
            .field("rows", &rows.unwrap_or_default())
            .finish_non_exhaustive()
    }
}
