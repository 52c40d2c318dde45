use std::path::PathBuf;

/// Durability guarantee of an acknowledged commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// The commit is synced to disk before it is acknowledged.
    ///
    /// It survives a crash of the process or of the operating system, and a loss of power, provided that the disk and
    /// the file system honour a sync.
    #[default]
    Durable,
    /// The commit is written to the operating system, but not synced, before it is acknowledged.
    ///
    /// It survives a crash of the process at any moment. A crash of the operating system or a loss of power loses the
    /// newest commits, each of them as a whole: those that were not written back by then. Linux writes data back
    /// after about 30 seconds.
    Buffered,
}

/// Options for opening a [`SledStore`](crate::store::SledStore); returned by
/// [`SledStore::builder`](crate::store::SledStore::builder).
#[derive(Clone, Debug)]
pub struct SledStoreBuilder {
    pub(super) folder: PathBuf,
    pub(super) cache_size: usize,
    pub(super) durability: Durability,
}

impl SledStoreBuilder {
    /// The default [`cache_size`](Self::cache_size): 64 MiB.
    pub const DEFAULT_CACHE_SIZE: usize = 64 << 20;

    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, cache_size: Self::DEFAULT_CACHE_SIZE, durability: Durability::default() }
    }

    /// Sets the memory for cached record bodies, in bytes.
    ///
    /// The limit applies to bodies that are also in the database files. With 0, those bodies are read from disk each
    /// time. Bodies of commits that no checkpoint has applied yet stay in memory in addition. The default is
    /// [`DEFAULT_CACHE_SIZE`](Self::DEFAULT_CACHE_SIZE).
    #[must_use]
    pub const fn cache_size(mut self, bytes: usize) -> Self {
        self.cache_size = bytes;
        self
    }

    /// Sets the durability guarantee of acknowledged commits.
    ///
    /// The default is [`Durability::Durable`]. It may change each time the folder is opened.
    #[must_use]
    pub const fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }
}
