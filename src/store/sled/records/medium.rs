use std::error::Error;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use ::sled::{Batch, Config, Db, IVec, Tree};

use super::super::folder::sync_directory;
use super::super::private;
use super::guard::{failed, guarded, unavailable};
use crate::store::StoreError;

/// The size of a segment of sled's, for good from the creation on.
const SEGMENT: usize = 512 << 10;

/// How much of its pages sled may keep in memory. Documents that are read often are kept elsewhere, as they are served.
const PAGES: u64 = 16 << 20;

/// How long a former holder may take to let go.
const PATIENCE: Duration = Duration::from_secs(5);
const PAUSE: Duration = Duration::from_millis(10);

/// After how long a flush is taken for one that sled may have forgotten, twice as long each time, and how often it is
/// reminded: it may take two minutes in all.
const FORGOTTEN: Duration = Duration::from_secs(1);
const REMINDERS: u32 = 7;

/// What a copy is called until it is whole.
const COPY: &str = "copy";
const PIECE: usize = 1 << 20;

/// What sled is asked for.
#[derive(Debug)]
pub(super) struct Medium {
    db: Db,
    tree: Tree,
    folder: PathBuf,
}

impl Medium {
    pub(super) fn open(folder: &Path) -> Result<Self, StoreError> {
        remove_misleading_files(folder)
            .map_err(|error| unavailable("cannot be read", folder).with_source(error))?;
        private::create_folder(folder)
            .map_err(|error| unavailable("cannot be made", folder).with_source(error))?;
        let db = guarded(folder, || open_patiently(&config(folder), folder))?;
        let tree = guarded(folder, || {
            db.open_tree("records").map_err(|error| failed("cannot be opened", folder, error))
        })?;
        restrict(folder);
        Ok(Self { db, tree, folder: folder.to_owned() })
    }

    /// sled lets go of its folder a little after its last handle was dropped.
    pub(super) fn close(self) -> Result<(), StoreError> {
        let Self { db, tree, folder } = self;
        guarded(&folder, || {
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
        restrict(&folder);
        Ok(())
    }

    /// Puts copies in the place of all files, while nobody has them open. What could not be brought to the disk when it was
    /// synced, the system takes for written from then on: it may be in memory alone, whatever a later sync says.
    pub(super) fn renew(folder: &Path) -> Result<(), StoreError> {
        for_each_file(folder, |path| renew_file(&path))
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
    pub(super) fn first_from(&self, key: &[u8]) -> Result<Option<IVec>, StoreError> {
        self.key_of(self.tree.range(key..).next())
    }

    /// The last key that is before another.
    pub(super) fn last_before(&self, key: &[u8]) -> Result<Option<IVec>, StoreError> {
        self.key_of(self.tree.range(..key).next_back())
    }

    fn key_of(&self, found: Option<::sled::Result<(IVec, IVec)>>) -> Result<Option<IVec>, StoreError> {
        let key = found.map(|entry| entry.map(|(key, _)| key)).transpose();
        key.map_err(|error| failed("cannot be read", &self.folder, error))
    }

    /// Has everything between two keys brought into memory.
    pub(super) fn touch(&self, from: &[u8], to: &[u8]) -> Result<(), StoreError> {
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
    pub(super) fn settle(&self, keys: &[Vec<u8>]) -> Result<(), StoreError> {
        keys.iter().try_for_each(|key| self.get(key).map(|_| ()))
    }

    /// What sled calls a flush starts the writing, and does not wait for the disk.
    pub(super) fn sync(&self, folder: &Path) -> Result<(), StoreError> {
        self.flush()?;
        restrict(folder);
        sync_files(folder).map_err(|error| unavailable("cannot be written", folder).with_source(error))
    }

    /// A write that fails beside a flush can leave the flush waiting for ever; a second one wakes it.
    fn flush(&self) -> Result<(), StoreError> {
        let (done, flushed) = channel();
        for reminder in 0..REMINDERS {
            let (db, folder, done) = (self.db.clone(), self.folder.clone(), done.clone());
            let flush = move || {
                let flush = || db.flush().map_err(|error| failed("cannot be written", &folder, error));
                // Nobody waits any more when another flush was quicker.
                let _ = done.send(guarded(&folder, flush));
            };
            let begun = thread::Builder::new().name("toposcope-flush".to_owned()).spawn(flush);
            begun.map_err(|error| StoreError::unavailable("a thread cannot be begun").with_source(error))?;
            if let Ok(outcome) = flushed.recv_timeout(FORGOTTEN * 2_u32.pow(reminder)) {
                return outcome.map(|_| ());
            }
        }
        Err(unavailable("are not written, however long it is waited for", &self.folder))
    }
}

/// How sled is to work in a folder.
fn config(folder: &Path) -> Config {
    Config::new().path(folder).segment_size(SEGMENT).cache_capacity(PAGES).flush_every_ms(None)
}

fn open_patiently(config: &Config, folder: &Path) -> Result<Db, StoreError> {
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
fn remove_misleading_files(folder: &Path) -> io::Result<()> {
    if !folder.exists() {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "generating")
            || path.ends_with("conf")
            || path.ends_with(COPY)
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
fn restrict(folder: &Path) {
    if let Err(error) = private::restrict(folder) {
        let error = &error as &dyn Error;
        tracing::warn!(error, folder = %folder.display(), "the modes of files cannot be set");
    }
}

/// By reading and writing: what the system copies by itself it may take from the disk.
fn renew_file(path: &Path) -> io::Result<()> {
    let copy = path.with_file_name(COPY);
    let (mut from, mut to) = (File::open(path)?, private::create(&copy)?);
    private::copy_mode(&from, &to)?;
    let mut piece = vec![0; PIECE];
    loop {
        let length = from.read(&mut piece)?;
        if length == 0 {
            to.sync_all()?;
            return fs::rename(copy, path);
        }
        to.write_all(piece.get(..length).unwrap_or_default())?;
    }
}
