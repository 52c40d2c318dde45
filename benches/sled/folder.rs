//! Where the benchmark writes: on a disk, or its figures would say nothing.

use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A folder for one run, removed at its end.
#[derive(Debug)]
pub(crate) struct Folder(TempDir);

impl Folder {
    /// In the folder that `TOPOSCOPE_BENCH_FOLDER` names, or beside what cargo builds.
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

    /// A place in it where nothing is yet.
    pub(crate) fn place(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// The kind of file system that a folder is on.
fn file_system(folder: &Path) -> String {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mounts = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        Some((Path::new(fields.next()?), fields.next()?))
    });
    let around = mounts.filter(|(place, _)| folder.starts_with(place));
    // Of those mounted on the same place the last one is seen.
    let nearest = around.max_by_key(|(place, _)| place.components().count());
    nearest.map_or_else(|| "a file system that is not told".to_owned(), |(_, name)| name.to_owned())
}

/// How many bytes of the disk a folder and what is in it take.
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
