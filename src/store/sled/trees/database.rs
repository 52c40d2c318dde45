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
use crate::store::StoreError;

/// Calls what panics on damaged files.
pub(super) fn catch_panic<T>(
    folder: &Path,
    call: impl FnOnce() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(call))
        .unwrap_or_else(|_| Err(damaged_file("a file of the records", folder)))
}

/// What is said where no single record can be named.
pub(super) fn damaged_file(what: &str, folder: &Path) -> StoreError {
    StoreError::corrupt(format!("{what} in {} is damaged", folder.display()))
}

/// What can be tried again, in the words of what was to be done to the records.
pub(super) fn unavailable(what: &str, folder: &Path) -> StoreError {
    StoreError::unavailable(format!("the records in {} {what}", folder.display()))
}

/// What sled has to say, by what can be done about it.
pub(super) fn failed(what: &str, folder: &Path, error: ::sled::Error) -> StoreError {
    let said = match &error {
        ::sled::Error::Io(_) => unavailable(what, folder),
        _ => StoreError::corrupt(format!("the records in {} {what}", folder.display())),
    };
    said.with_source(error)
}

/// The size of a segment of sled's, for good from the creation on.
const SEGMENT_BYTES: usize = 512 << 10;

/// How much of its pages sled may keep in memory. Documents that are read often are kept elsewhere, as they are served.
const PAGE_CACHE_BYTES: u64 = 16 << 20;

/// How long a former holder may take to let go.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(10);

/// After how long a flush is taken for one that sled may have forgotten, twice as long each time, and how often it is
/// reminded: it may take two minutes in all.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);
const FLUSH_ATTEMPTS: u32 = 7;

/// What a copy is called until it is whole.
const REWRITTEN: &str = "copy";
const BUFFER: usize = 1 << 20;

/// What sled is asked for.
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
            .map_err(|error| unavailable("cannot be made", folder).with_source(error))?;
        let db = catch_panic(folder, || open_with_retry(&config(folder), folder))?;
        let tree = catch_panic(folder, || {
            db.open_tree("records").map_err(|error| failed("cannot be opened", folder, error))
        })?;
        restrict_files(folder);
        Ok(Self { db, tree, folder: folder.to_owned() })
    }

    /// sled lets go of its folder a little after its last handle was dropped.
    pub(super) fn close(self) -> Result<(), StoreError> {
        let Self { db, tree, folder } = self;
        catch_panic(&folder, || {
            drop(tree);
            drop(db);
            Ok(())
        })?;
        let is_free = || match File::open(folder.join("db")) {
            Ok(file) => file.try_lock().is_ok(),
            // What is not there any more is held by nobody.
            Err(error) => error.kind() == io::ErrorKind::NotFound,
        };
        let begin = Instant::now();
        while !is_free() {
            if begin.elapsed() > PATIENCE {
                return Err(unavailable("are still held by a thread of sled's", &folder));
            }
            sleep(PAUSE);
        }
        restrict_files(&folder);
        Ok(())
    }

    /// Puts copies in the place of all files, while nobody has them open. What could not be brought to the disk when it was
    /// synced, the system takes for written from then on: it may be in memory alone, whatever a later sync says.
    pub(super) fn rewrite_files(folder: &Path) -> Result<(), StoreError> {
        for_each_file(folder, |path| rewrite_file(&path))
            .and_then(|()| sync_directory(folder))
            .map_err(|error| unavailable("cannot be written", folder).with_source(error))
    }

    pub(super) fn get(&self, key: &[u8]) -> Result<Option<IVec>, StoreError> {
        self.tree.get(key).map_err(|error| failed("cannot be read", &self.folder, error))
    }

    /// Calls `each` for the entries from a key on, as long as it continues and their keys begin with the prefix. Returns
    /// `Break` when `each` ended the scan.
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

    /// The first key that is not before another.
    pub(super) fn first_key_from(&self, key: &[u8]) -> Result<Option<IVec>, StoreError> {
        self.key_of(self.tree.range(key..).next())
    }

    /// The last key that is before another.
    pub(super) fn last_key_before(&self, key: &[u8]) -> Result<Option<IVec>, StoreError> {
        self.key_of(self.tree.range(..key).next_back())
    }

    fn key_of(&self, found: Option<::sled::Result<(IVec, IVec)>>) -> Result<Option<IVec>, StoreError> {
        let key = found.map(|entry| entry.map(|(key, _)| key)).transpose();
        key.map_err(|error| failed("cannot be read", &self.folder, error))
    }

    /// Has everything between two keys brought into memory.
    pub(super) fn load_range(&self, from: &[u8], to: &[u8]) -> Result<(), StoreError> {
        self.tree
            .range(from..to)
            .try_for_each(|entry| entry.map(|_| ()))
            .map_err(|error| failed("cannot be read", &self.folder, error))
    }

    pub(super) fn apply(&self, batch: Batch) -> Result<(), StoreError> {
        self.tree.apply_batch(batch).map_err(|error| failed("cannot be written", &self.folder, error))
    }

    /// Pages that have become too large or too small, sled divides and joins when somebody comes by, also one who only reads.
    /// Whoever comes by here leaves nothing to write for readers.
    pub(super) fn rebalance(&self, keys: &[Vec<u8>]) -> Result<(), StoreError> {
        keys.iter().try_for_each(|key| self.get(key).map(|_| ()))
    }

    /// What sled calls a flush starts the writing, and does not wait for the disk.
    pub(super) fn sync(&self, folder: &Path) -> Result<(), StoreError> {
        self.flush()?;
        restrict_files(folder);
        sync_files(folder).map_err(|error| unavailable("cannot be written", folder).with_source(error))
    }

    /// A write that fails beside a flush can leave the flush waiting for ever; a second one wakes it.
    fn flush(&self) -> Result<(), StoreError> {
        let (done, flushed) = channel();
        for attempt in 0..FLUSH_ATTEMPTS {
            let (db, folder, done) = (self.db.clone(), self.folder.clone(), done.clone());
            let flush = move || {
                let flush = || db.flush().map_err(|error| failed("cannot be written", &folder, error));
                // Nobody waits any more when another flush was quicker.
                let _ = done.send(catch_panic(&folder, flush));
            };
            let spawned = thread::Builder::new().name("toposcope-flush".to_owned()).spawn(flush);
            spawned
                .map_err(|error| StoreError::unavailable("a thread cannot be spawned").with_source(error))?;
            if let Ok(outcome) = flushed.recv_timeout(FLUSH_TIMEOUT * 2_u32.pow(attempt)) {
                return outcome.map(|_| ());
            }
        }
        Err(unavailable("are not written, however long it is waited for", &self.folder))
    }
}

/// How sled is to work in a folder.
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
            Err(::sled::Error::Io(error)) if is_held(&error) && begin.elapsed() < PATIENCE => sleep(PAUSE),
            outcome => return outcome.map_err(|error| failed("cannot be opened", folder, error)),
        }
    }
}

/// sled wraps the refusal of its lock in an error of its own making.
fn is_held(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock || error.to_string().contains("lock")
}

/// A snapshot that was not finished would be taken for the newest one, and the opening refused. The settings sled writes down
/// again from those it is given; where they are damaged, it would work by wrong ones. A copy that is not whole takes room.
fn remove_stale_files(folder: &Path) -> io::Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "generating")
            || path.ends_with("conf")
            || path.ends_with(REWRITTEN)
        {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

fn sync_files(folder: &Path) -> io::Result<()> {
    for_each_file(folder, |path| match File::open(path) {
        // A snapshot is removed by sled when there is a newer one.
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

/// Gives the files that sled has made the mode that they should have. They are protected by their folder even so.
fn restrict_files(folder: &Path) {
    if let Err(error) = files::restrict_permissions(folder) {
        let error = &error as &dyn Error;
        tracing::warn!(error, folder = %folder.display(), "the modes of files cannot be set");
    }
}

/// By reading and writing: what the system copies by itself it may take from the disk.
fn rewrite_file(path: &Path) -> io::Result<()> {
    let copy = path.with_file_name(REWRITTEN);
    let (mut from, mut to) = (File::open(path)?, files::create_private(&copy)?);
    files::copy_mode(&from, &to)?;
    let mut buffer = vec![0; BUFFER];
    loop {
        let length = from.read(&mut buffer)?;
        if length == 0 {
            to.sync_all()?;
            return fs::rename(copy, path);
        }
        to.write_all(buffer.get(..length).unwrap_or_default())?;
    }
}
