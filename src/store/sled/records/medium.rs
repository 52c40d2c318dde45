use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use ::sled::{Batch, Config, Db, IVec, Tree};

use super::guard::{failed, guarded};
use crate::store::StoreError;

/// The size of a segment of sled's, for good from the creation on.
const SEGMENT: usize = 512 << 10;

/// How much of its pages sled may keep in memory. Documents that are read often are kept elsewhere, as they are served.
const PAGES: u64 = 16 << 20;

/// How long a former holder may take to let go.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(10);

/// After how long a flush is taken for one that sled has forgotten, and how often it is reminded.
const FORGOTTEN: Duration = Duration::from_secs(30);
const REMINDERS: usize = 4;

/// What sled is asked for.
#[derive(Debug)]
pub(super) struct Medium {
    db: Db,
    tree: Tree,
    folder: std::path::PathBuf,
}

impl Medium {
    pub(super) fn open(folder: &Path) -> Result<Self, StoreError> {
        remove_misleading_files(folder)
            .map_err(|error| StoreError::unavailable("the records cannot be read").with_source(error))?;
        let db = guarded(|| open_patiently(&config(folder)))?;
        let tree = guarded(|| {
            db.open_tree("records").map_err(|error| failed("the records cannot be opened", error))
        })?;
        Ok(Self { db, tree, folder: folder.to_owned() })
    }

    /// sled lets go of its folder a little after its last handle was dropped.
    pub(super) fn close(self) -> Result<(), StoreError> {
        let Self { db, tree, folder } = self;
        guarded(|| {
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
                return Err(StoreError::unavailable("the records are still held by a thread of sled's"));
            }
            sleep(PAUSE);
        }
        Ok(())
    }

    pub(super) fn get(&self, key: &[u8]) -> Result<Option<IVec>, StoreError> {
        self.tree.get(key).map_err(|error| failed("a record cannot be read", error))
    }

    pub(super) fn scan(
        &self,
        prefix: &[u8],
        each: impl FnMut(&[u8], &[u8]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.scan_from(prefix, prefix, each)
    }

    /// The same from a key on that begins with the prefix.
    pub(super) fn scan_from(
        &self,
        prefix: &[u8],
        from: &[u8],
        mut each: impl FnMut(&[u8], &[u8]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        for entry in self.tree.range(from..) {
            let (key, value) = entry.map_err(|error| failed("the records cannot be read", error))?;
            if !key.starts_with(prefix) {
                break;
            }
            each(&key, &value)?;
        }
        Ok(())
    }

    pub(super) fn apply(&self, batch: Batch) -> Result<(), StoreError> {
        self.tree.apply_batch(batch).map_err(|error| failed("the records cannot be written", error))
    }

    /// What sled calls a flush starts the writing, and does not wait for the disk.
    pub(super) fn sync(&self, folder: &Path) -> Result<(), StoreError> {
        self.flush()?;
        sync_files(folder)
            .map_err(|error| StoreError::unavailable("the records cannot be written").with_source(error))
    }

    /// A write that fails beside a flush can leave the flush waiting for ever; a second one wakes it.
    fn flush(&self) -> Result<(), StoreError> {
        let (done, flushed) = channel();
        for _ in 0..REMINDERS {
            let (db, done) = (self.db.clone(), done.clone());
            let flush = move || {
                let flush = || db.flush().map_err(|error| failed("the records cannot be written", error));
                // Nobody waits any more when another flush was quicker.
                let _ = done.send(guarded(flush));
            };
            let begun = thread::Builder::new().name("toposcope-flush".to_owned()).spawn(flush);
            begun.map_err(|error| StoreError::unavailable("a thread cannot be begun").with_source(error))?;
            if let Ok(outcome) = flushed.recv_timeout(FORGOTTEN) {
                return outcome.map(|_| ());
            }
        }
        Err(StoreError::unavailable("the records are not written, however long it is waited for"))
    }
}

/// How sled is to work in a folder.
fn config(folder: &Path) -> Config {
    Config::new().path(folder).segment_size(SEGMENT).cache_capacity(PAGES).flush_every_ms(None)
}

fn open_patiently(config: &Config) -> Result<Db, StoreError> {
    let begin = Instant::now();
    loop {
        match config.open() {
            Err(::sled::Error::Io(error)) if is_held(&error) && begin.elapsed() < PATIENCE => sleep(PAUSE),
            outcome => return outcome.map_err(|error| failed("the records cannot be opened", error)),
        }
    }
}

/// sled wraps the refusal of its lock in an error of its own making.
fn is_held(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock || error.to_string().contains("lock")
}

/// A snapshot that was not finished would be taken for the newest one, and the opening refused. The settings sled writes down
/// again from those it is given; where they are damaged, it would work by wrong ones.
fn remove_misleading_files(folder: &Path) -> io::Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "generating") || path.ends_with("conf") {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

fn sync_files(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            File::open(entry.path())?.sync_all()?;
        }
    }
    super::super::folder::sync_directory(folder)
}
