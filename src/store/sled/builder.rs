use std::path::PathBuf;

/// What an acknowledged commit has behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// The batch is on the disk: it survives the end of the process, of the system and of the power, as far as the disk and
    /// the file system keep their own promises.
    #[default]
    Durable,
    /// The batch is with the operating system: it survives the end of the process, however sudden. When the system itself
    /// stops, or the power, the commits of some seconds are lost, the newest ones, each of them wholly: those that were
    /// not written back by then, which Linux does after about half a minute.
    Buffered,
}

/// How a [`SledStore`] is to be opened; [`SledStore::builder`] makes it.
#[derive(Clone, Debug)]
pub struct SledStoreBuilder {
    pub(super) folder: PathBuf,
    pub(super) cache_size: usize,
    pub(super) durability: Durability,
}

impl SledStoreBuilder {
    /// How many bytes of bodies are kept in memory for readers, when they are on the disk already: 64 MiB unless set.
    pub const DEFAULT_CACHE_SIZE: usize = 64 << 20;

    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, cache_size: Self::DEFAULT_CACHE_SIZE, durability: Durability::default() }
    }

    /// How many bytes of bodies are kept in memory for readers. With 0, every body is read from the disk.
    #[must_use]
    pub const fn cache_size(mut self, bytes: usize) -> Self {
        self.cache_size = bytes;
        self
    }

    /// What an acknowledged commit has behind it. It may be another one each time the folder is opened.
    #[must_use]
    pub const fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }
}
