//! The folder of the benchmark.
//!
//! It must be on a disk, because otherwise the figures mean nothing.

use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use toposcope::store::{Durability, SledStore, StoreError};

use crate::record::{InMemory, put_all};

/// A folder for one run, removed at its end.
#[derive(Debug)]
pub(crate) struct Folder(TempDir);

impl Folder {
    /// Creates the folder in `TOPOSCOPE_BENCH_FOLDER`, or else in cargo's target directory.
    pub(crate) fn new(takes_memory: bool) -> Result<Self, Box<dyn Error>> {
        let named = std::env::var_os("TOPOSCOPE_BENCH_FOLDER").map(PathBuf::from);
        let place = named.unwrap_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")));
        fs::create_dir_all(&place)?;
        let folder = TempDir::with_prefix_in("sled-", place.canonicalize()?)?;
        let file_system = file_system(folder.path());
        if matches!(file_system.as_str(), "tmpfs" | "ramfs") && !takes_memory {
            return Err(format!(
                "{} is in memory ({file_system}), which tells nothing of a disk: name a folder on a disk in \
                 TOPOSCOPE_BENCH_FOLDER, or say `-- tmpfs`",
                place.display()
            )
            .into());
        }
        println!("In {}, on {file_system}.\n", place.display());
        Ok(Self(folder))
    }

    /// Returns an unused path in the folder.
    pub(crate) fn place(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// Returns the type of the file system that contains a folder.
fn file_system(folder: &Path) -> String {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mounts = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        Some((Path::new(fields.next()?), fields.next()?))
    });
    let around = mounts.filter(|(place, _)| folder.starts_with(place));
    // Of several file systems mounted at the same path, the last one is visible.
    let nearest = around.max_by_key(|(place, _)| place.components().count());
    nearest.map_or_else(|| "a file system that is not told".to_owned(), |(_, name)| name.to_owned())
}

/// Returns the disk space that a folder takes, in bytes.
pub(crate) fn disk_size(folder: &Path) -> io::Result<u64> {
    let mut size = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        size +=
            if entry.file_type()?.is_dir() { disk_size(&entry.path())? } else { blocks(&entry.metadata()?) };
    }
    Ok(size)
}

#[cfg(unix)]
fn blocks(metadata: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::blocks(metadata) * 512
}

#[cfg(not(unix))]
fn blocks(metadata: &fs::Metadata) -> u64 {
    metadata.len()
}

/// Writes all records of an inventory to a new folder and closes it.
pub(crate) async fn copy_to(in_memory: &InMemory, folder: &Path) -> Result<(), StoreError> {
    let store = SledStore::builder(folder).durability(Durability::Buffered).open().await?;
    put_all(&store, &in_memory.entries).await?;
    store.close().await
}
