use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::files::{self, sync_directory};
use super::wal::DurableLsn;
use crate::store::StoreError;

/// Contents of the file `format`. The number increases with every change of a disk format.
const FORMAT: &str = "toposcope store, format 2\n";

/// Like [`FORMAT`], without compressed bodies.
const WITHOUT_COMPRESSION: &str = "toposcope store, format 1\n";

const PRIMARY: &str = "records";
const MIRROR: &str = "records.second";
const DAMAGED: &str = "records.damaged";

/// How long to wait for another store to release the folder.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
const RETRY_DELAY: Duration = Duration::from_millis(10);

/// The locked folder of a store, and the paths in it.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    lock: File,
}

impl Folder {
    /// Locks a folder, and initializes it if it is empty or does not exist.
    pub(super) fn acquire(path: &Path) -> Result<Self, StoreError> {
        files::create_private_folder(path).map_err(|error| unusable(path, error))?;
        check_ownership(path)?;
        files::warn_if_readable_by_others(path);
        let lock = lock(path)?;
        let folder = Self { path: path.to_owned(), lock };
        match fs::read_to_string(folder.format()) {
            Ok(format) if format == FORMAT => {}
            Ok(format) if format == WITHOUT_COMPRESSION => {
                folder.write_format().map_err(|error| unusable(path, error))?;
            }
            Ok(_) => {
                return Err(StoreError::corrupt(format!(
                    "{} has an unsupported format, or its file `format` is damaged",
                    path.display()
                )));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                folder.create().map_err(|error| unusable(path, error))?;
            }
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                return Err(StoreError::corrupt(format!(
                    "the file `format` in {} is damaged: a repair writes it again",
                    path.display()
                )));
            }
            Err(error) => return Err(unusable(path, error)),
        }
        folder.finish_swap().map_err(|error| unusable(path, error))?;
        Ok(folder)
    }

    /// Locks a folder for a repair. It must contain records, but `format` is not checked.
    pub(super) fn acquire_damaged(path: &Path) -> Result<Self, StoreError> {
        if ![PRIMARY, MIRROR, DAMAGED].iter().any(|name| path.join(name).exists()) {
            return Err(StoreError::invalid(format!("{} is not the folder of a store", path.display())));
        }
        files::warn_if_readable_by_others(path);
        let folder = Self { path: path.to_owned(), lock: lock(path)? };
        // Left by an interrupted repair.
        let cleared = remove_folder(&folder.new_primary());
        cleared.and_then(|()| folder.finish_swap()).map_err(|error| unusable(path, error))?;
        Ok(folder)
    }

    /// Locks a folder for a backup, and creates it if it does not exist. It must be empty.
    ///
    /// It becomes the folder of a store by [`complete_backup`](Self::complete_backup).
    pub(super) fn acquire_empty(path: &Path) -> Result<Self, StoreError> {
        files::create_private_folder(path).map_err(|error| unusable(path, error))?;
        // Checked before `lock` is created in a folder of others, and after no other backup can be writing.
        check_empty(path)?;
        let folder = Self { path: path.to_owned(), lock: lock(path)? };
        check_empty(path)?;
        Ok(folder)
    }

    /// Makes the names of this folder and of those above it durable, as many as were created.
    pub(super) fn sync_above(&self, folders: usize) -> Result<(), StoreError> {
        let above = self.path.ancestors().skip(1).take(folders);
        // The parent of a relative path without a separator is empty.
        let mut above =
            above.map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
        above.try_for_each(sync_directory).map_err(|error| self.unusable(error))
    }

    /// Removes the files that a backup writes, and nothing else.
    pub(super) fn clear_backup(&self) -> io::Result<()> {
        let files = [self.durable_lsn(), self.path.join("format.new"), self.format(), self.path.join("room")];
        remove_folder(&self.new_primary())?;
        remove_folder(&self.primary())?;
        let files = files.into_iter().chain([self.path.join("lock")]);
        files.filter(|file| file.exists()).try_for_each(fs::remove_file)
    }

    /// Makes the new primary copy that of a store.
    pub(super) fn complete_backup(&self) -> Result<(), StoreError> {
        let complete = || {
            let mut durable_lsn = DurableLsn::open(&self.durable_lsn())?;
            durable_lsn.write(0)?;
            durable_lsn.sync()?;
            fs::rename(self.new_primary(), self.primary())?;
            sync_directory(&self.path)?;
            self.create()
        };
        complete().map_err(|error| self.unusable(error))
    }

    /// Unlocks the folder.
    pub(super) fn release(&self) {
        // If this fails, the operating system releases the lock when the process ends.
        let _ = self.lock.unlock();
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn primary(&self) -> PathBuf {
        self.path.join(PRIMARY)
    }

    pub(super) fn mirror(&self) -> PathBuf {
        self.path.join(MIRROR)
    }

    pub(super) fn has_mirror(&self) -> bool {
        self.mirror().exists()
    }

    /// Returns the path where a new mirror is built.
    pub(super) fn new_mirror(&self) -> PathBuf {
        self.path.join("records.second.new")
    }

    /// Removes a partly built mirror.
    pub(super) fn clear_new_mirror(&self) -> Result<(), StoreError> {
        remove_folder(&self.new_mirror()).map_err(|error| unusable(&self.path, error))
    }

    /// Replaces the mirror with the newly built one.
    pub(super) fn install_mirror(&self) -> Result<(), StoreError> {
        let put = || {
            remove_folder(&self.mirror())?;
            fs::rename(self.new_mirror(), self.mirror())?;
            sync_directory(&self.path)
        };
        put().map_err(|error| unusable(&self.path, error))
    }

    /// Swaps the primary copy and the mirror.
    pub(super) fn swap_copies(&self) -> io::Result<()> {
        fs::rename(self.primary(), self.swapped_primary())?;
        self.finish_swap()
    }

    /// Completes a swap, also one that was interrupted.
    fn finish_swap(&self) -> io::Result<()> {
        if !self.swapped_primary().exists() {
            return Ok(());
        }
        if !self.primary().exists() {
            fs::rename(self.mirror(), self.primary())?;
        }
        fs::rename(self.swapped_primary(), self.mirror())?;
        sync_directory(&self.path)
    }

    fn swapped_primary(&self) -> PathBuf {
        self.path.join("records.exchanged")
    }

    /// Returns the path where a repair keeps the previous primary copy.
    pub(super) fn damaged_copy(&self) -> PathBuf {
        self.path.join(DAMAGED)
    }

    /// Returns the path where a repair or a backup builds the new primary copy.
    pub(super) fn new_primary(&self) -> PathBuf {
        self.path.join("records.new")
    }

    /// Returns the path of the durable LSN file.
    pub(super) fn durable_lsn(&self) -> PathBuf {
        self.path.join("acknowledged")
    }

    /// Returns whether the folder has no records yet.
    pub(super) fn is_new(&self) -> bool {
        !self.primary().exists() && !self.has_mirror()
    }

    pub(super) fn unusable(&self, error: io::Error) -> StoreError {
        unusable(&self.path, error)
    }

    /// Writes `format`, which makes the folder that of a store.
    fn create(&self) -> io::Result<()> {
        self.write_format()?;
        fs::canonicalize(&self.path)?.parent().map_or(Ok(()), sync_directory)
    }

    /// Returns whether the file `format` is intact.
    pub(super) fn has_format(&self) -> bool {
        fs::read(self.format())
            .is_ok_and(|format| [FORMAT, WITHOUT_COMPRESSION].iter().any(|known| known.as_bytes() == format))
    }

    /// Writes the file `format` atomically.
    pub(super) fn write_format(&self) -> io::Result<()> {
        let new = self.path.join("format.new");
        let mut file = files::create_private(&new)?;
        file.write_all(FORMAT.as_bytes())?;
        file.sync_all()?;
        fs::rename(new, self.format())?;
        sync_directory(&self.path)
    }

    fn format(&self) -> PathBuf {
        self.path.join("format")
    }
}

/// Checks that the folder is a store or can become one. Nothing may be created in it before this check.
///
/// A folder with other contents is left unchanged.
fn check_ownership(path: &Path) -> Result<(), StoreError> {
    let mut is_empty = true;
    for entry in fs::read_dir(path).map_err(|error| unusable(path, error))? {
        let name = entry.map_err(|error| unusable(path, error))?.file_name();
        is_empty &= name == "lock" || name == "format.new";
    }
    // Another store that is initializing the folder writes `format` first, so it exists by now.
    if is_empty || path.join("format").exists() {
        return Ok(());
    }
    Err(StoreError::invalid(format!(
        "{} is not empty and not the folder of a store: it has no file `format`",
        path.display()
    )))
}

/// Checks that the folder has only the file `lock`.
fn check_empty(path: &Path) -> Result<(), StoreError> {
    for entry in fs::read_dir(path).map_err(|error| unusable(path, error))? {
        if entry.map_err(|error| unusable(path, error))?.file_name() != "lock" {
            let text = format!("{} is not empty: a backup needs an empty or a new folder", path.display());
            return Err(StoreError::invalid(text));
        }
    }
    Ok(())
}

fn lock(folder: &Path) -> Result<File, StoreError> {
    let file = files::private_options().write(true).create(true).truncate(false).open(folder.join("lock"));
    let file = file.map_err(|error| unusable(folder, error))?;
    let begin = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if begin.elapsed() < LOCK_TIMEOUT => sleep(RETRY_DELAY),
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::unavailable(format!(
                    "{} is in use by another store, in this process or in another one",
                    folder.display()
                )));
            }
            Err(TryLockError::Error(error)) => return Err(unusable(folder, error)),
        }
    }
}

fn unusable(folder: &Path, error: io::Error) -> StoreError {
    StoreError::unavailable(format!("{} cannot be used", folder.display())).with_source(error)
}

fn remove_folder(path: &Path) -> io::Result<()> {
    if path.exists() { fs::remove_dir_all(path) } else { Ok(()) }
}
