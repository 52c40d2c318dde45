use std::error::Error;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use ::sled::{Batch, Config, Db, IVec, Tree};

use super::super::files::{self, sync_directory};
use crate::invariant::Invariant;
use crate::store::StoreError;

/// Runs a call into sled, and returns a panic as `Corrupt`. This is needed because sled panics on damaged files.
pub(super) fn catch_panic<T>(
    folder: &Path,
    call: impl FnOnce() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(call))
        .unwrap_or_else(|_| Err(damaged_file("a file of the records", folder)))
}

/// Returns the error for damage that cannot be attributed to a record.
pub(super) fn damaged_file(what: &str, folder: &Path) -> StoreError {
    StoreError::corrupt(format!("{what} in {} is damaged", folder.display()))
}

/// Returns an error after which the operation can be retried. `what` completes "the records in ... ".
pub(super) fn unavailable(what: &str, folder: &Path) -> StoreError {
    StoreError::unavailable(format!("the records in {} {what}", folder.display()))
}

/// Converts an error of sled: I/O errors to `Unavailable`, all others to `Corrupt`.
pub(super) fn failed(what: &str, folder: &Path, error: ::sled::Error) -> StoreError {
    let said = match &error {
        ::sled::Error::Io(_) => unavailable(what, folder),
        _ => StoreError::corrupt(format!("the records in {} {what}", folder.display())),
    };
    said.with_source(error)
}

/// Segment size of the database file, in bytes. It cannot change after the database is created.
const SEGMENT_BYTES: usize = 512 << 10;

/// Memory for sled's page cache, in bytes. It is small, because frequently read bodies are in the body cache.
const PAGE_CACHE_BYTES: u64 = 16 << 20;

/// How long to wait for another holder to release the folder.
const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
const RETRY_DELAY: Duration = Duration::from_millis(10);

/// Time after which a flush is considered stuck and is issued again.
///
/// It doubles with each of the [`FLUSH_ATTEMPTS`], which makes about two minutes in all.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);
const FLUSH_ATTEMPTS: u32 = 7;

/// File name of a rewritten file until it is complete.
const REWRITE_FILE: &str = "copy";
const BUFFER: usize = 1 << 20;

/// The sled database of one copy.
#[derive(Debug)]
pub(super) struct Database {
    db: Db,
    tree: Tree,
    folder: PathBuf,
}

impl Database {
    pub(super) fn open(folder: &Path) -> Result<Self, StoreError> {
        remove_stale_files(folder)
            .map_err(|error| unavailable("cannot be read", folder).with_source(error))?;
        files::create_private_folder(folder)
            .map_err(|error| unavailable("cannot be created", folder).with_source(error))?;
        let db = catch_panic(folder, || open_with_retry(&config(folder), folder))?;
        let tree = catch_panic(folder, || {
            db.open_tree("records").map_err(|error| failed("cannot be opened", folder, error))
        })?;
        restrict_files(folder);
        Ok(Self { db, tree, folder: folder.to_owned() })
    }

    /// Closes the database, and waits until sled has released its file. sled does so some time after the last handle
    /// was dropped.
    pub(super) fn close(self) -> Result<(), StoreError> {
        let Self { db, tree, folder } = self;
        catch_panic(&folder, || {
            drop(tree);
            drop(db);
            Ok(())
        })?;
        let is_free = || match File::open(folder.join("db")) {
            Ok(file) => file.try_lock().is_ok(),
            // A file that does not exist is not locked.
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        let begin = Instant::now();
        while !is_free() {
            if begin.elapsed() > LOCK_TIMEOUT {
                return Err(unavailable("are still locked by a background thread of sled", &folder));
            }
            sleep(RETRY_DELAY);
        }
        restrict_files(&folder);
        Ok(())
    }

    /// Replaces every file with a fresh copy; the database must be closed.
    ///
    /// After a failed sync the operating system regards the unwritten pages as written, so they may exist in memory
    /// only, whatever a later sync reports.
    pub(super) fn rewrite_files(folder: &Path) -> Result<(), StoreError> {
        for_each_file(folder, |path| rewrite_file(&path))
            .and_then(|()| sync_directory(folder))
            .map_err(|error| unavailable("cannot be written", folder).with_source(error))
    }

    pub(super) fn get(&self, key: &[u8]) -> Result<Option<IVec>, StoreError> {
        self.tree.get(key).map_err(|error| failed("cannot be read", &self.folder, error))
    }

    /// Calls `each` for the entries from `from` on whose keys start with `prefix`. The scan ends when `each` breaks.
    ///
    /// Returns `Break` if `each` ended the scan.
    pub(super) fn scan(
        &self,
        prefix: &[u8],
        from: &[u8],
        mut each: impl FnMut(&[u8], &[u8]) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<ControlFlow<()>, StoreError> {
        for entry in self.tree.range(from..) {
            let (key, value) = entry.map_err(|error| failed("cannot be read", &self.folder, error))?;
            if !key.starts_with(prefix) {
                break;
            }
            if each(&key, &value)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Returns the first key that is not less than `key`.
    pub(super) fn first_key_from(&self, key: &[u8]) -> Result<Option<IVec>, StoreError> {
        self.key_of(self.tree.range(key..).next())
    }

    /// Returns the last key that is less than `key`.
    pub(super) fn last_key_before(&self, key: &[u8]) -> Result<Option<IVec>, StoreError> {
        self.key_of(self.tree.range(..key).next_back())
    }

    fn key_of(&self, found: Option<::sled::Result<(IVec, IVec)>>) -> Result<Option<IVec>, StoreError> {
        let key = found.map(|entry| entry.map(|(key, _)| key)).transpose();
        key.map_err(|error| failed("cannot be read", &self.folder, error))
    }

    /// Loads all pages between two keys into memory.
    pub(super) fn load_range(&self, from: &[u8], to: &[u8]) -> Result<(), StoreError> {
        self.tree
            .range(from..to)
            .try_for_each(|entry| entry.map(|_| ()))
            .map_err(|error| failed("cannot be read", &self.folder, error))
    }

    pub(super) fn apply(&self, batch: Batch) -> Result<(), StoreError> {
        self.tree.apply_batch(batch).map_err(|error| failed("cannot be written", &self.folder, error))
    }

    /// Visits the changed keys, so that sled splits and merges their pages now.
    ///
    /// sled does this on the next access, also by a reader, who would then have to write.
    pub(super) fn rebalance(&self, keys: &[Vec<u8>]) -> Result<(), StoreError> {
        keys.iter().try_for_each(|key| self.get(key).map(|_| ()))
    }

    /// Writes and syncs all files. sled's own flush starts the write, but does not wait for the disk.
    pub(super) fn sync(&self, folder: &Path) -> Result<(), StoreError> {
        self.flush()?;
        restrict_files(folder);
        sync_files(folder).map_err(|error| unavailable("cannot be written", folder).with_source(error))
    }

    /// Flushes sled's buffers.
    ///
    /// A write that fails during a flush can leave that flush waiting forever; a second flush wakes it.
    pub(super) fn flush(&self) -> Result<(), StoreError> {
        let (done, flushed) = channel();
        for attempt in 0..FLUSH_ATTEMPTS {
            let (db, folder, done) = (self.db.clone(), self.folder.clone(), done.clone());
            let flush = move || {
                let flush = || db.flush().map_err(|error| failed("cannot be written", &folder, error));
                // Sending fails when another flush was faster and the receiver was dropped.
                let _ = done.send(catch_panic(&folder, flush));
            };
            let spawned = thread::Builder::new().name("toposcope-flush".to_owned()).spawn(flush);
            spawned.map_err(|error| {
                StoreError::unavailable("a background thread cannot be started").with_source(error)
            })?;
            if let Ok(outcome) = flushed.recv_timeout(FLUSH_TIMEOUT * 2_u32.pow(attempt)) {
                return outcome.map(|_| ());
            }
        }
        Err(unavailable("cannot be flushed: sled did not finish within two minutes", &self.folder))
    }
}

/// Returns the configuration of the database in a folder.
fn config(folder: &Path) -> Config {
    Config::new()
        .path(folder)
        .segment_size(SEGMENT_BYTES)
        .cache_capacity(PAGE_CACHE_BYTES)
        .flush_every_ms(None)
}

fn open_with_retry(config: &Config, folder: &Path) -> Result<Db, StoreError> {
    let begin = Instant::now();
    loop {
        match config.open() {
            Err(::sled::Error::Io(error)) if is_held(&error) && begin.elapsed() < LOCK_TIMEOUT => {
                sleep(RETRY_DELAY);
            }
            outcome => return outcome.map_err(|error| failed("cannot be opened", folder, error)),
        }
    }
}

/// Returns whether another holder has the lock. sled wraps the error of a refused lock in an error of its own.
fn is_held(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock || error.to_string().contains("lock")
}

/// Removes files that would make sled fail or behave wrongly.
///
/// An unfinished snapshot (`*.generating`) would be taken for the newest one, and sled would refuse to open. A
/// damaged `conf` would configure sled wrongly; sled writes it again from the given configuration. An incomplete
/// rewritten file only takes space.
fn remove_stale_files(folder: &Path) -> io::Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "generating")
            || path.ends_with("conf")
            || path.ends_with(REWRITE_FILE)
        {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

fn sync_files(folder: &Path) -> io::Result<()> {
    for_each_file(folder, |path| match File::open(path) {
        // sled removes a snapshot once there is a newer one.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        file => file?.sync_all(),
    })?;
    sync_directory(folder)
}

fn for_each_file(folder: &Path, mut each: impl FnMut(PathBuf) -> io::Result<()>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            each(entry.path())?;
        }
    }
    Ok(())
}

/// Restricts the modes of files that sled has created. Until then the mode of the folder protects them.
fn restrict_files(folder: &Path) {
    if let Err(error) = files::restrict_permissions(folder) {
        let error = &error as &dyn Error;
        tracing::warn!(error, folder = %folder.display(), "the file modes cannot be restricted to the owner");
    }
}

/// Copies a file by reading and writing. A copy made by the operating system could come from the stale disk contents.
fn rewrite_file(path: &Path) -> io::Result<()> {
    let copy = path.with_file_name(REWRITE_FILE);
    let (mut from, mut to) = (File::open(path)?, files::create_private(&copy)?);
    files::copy_mode(&from, &to)?;
    let mut buffer = vec![0; BUFFER];
    loop {
        let length = from.read(&mut buffer)?;
        if length == 0 {
            to.sync_all()?;
            return fs::rename(copy, path);
        }
        to.write_all(buffer.get(..length).asserted_or_default())?;
    }
}
