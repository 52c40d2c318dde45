//! File system helpers: private modes, preallocation, and directory syncs.
//!
//! On Unix, files are created with mode 0600 and folders with mode 0700. Existing ones keep their mode, which may be
//! deliberate. sled creates its files with default modes; therefore each of its folders is created beforehand with
//! mode 0700, and the mode of its files is restricted afterwards. Until then the folder protects them.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
#[cfg(unix)]
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use fs2::FileExt;

use crate::invariant::Invariant;
use crate::store::StoreError;

#[cfg(unix)]
const FILE: u32 = 0o600;
#[cfg(unix)]
const FOLDER: u32 = 0o700;

/// Mode bits for users other than the owner.
#[cfg(unix)]
const GROUP_AND_OTHERS: u32 = 0o077;

/// Returns options to open a file, with mode 0600 if it is created.
pub(super) fn private_options() -> OpenOptions {
    #[allow(unused_mut, reason = "only Unix has modes")]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    options.mode(FILE);
    options
}

/// Creates a file with mode 0600, or truncates an existing one.
pub(super) fn create_private(path: &Path) -> io::Result<File> {
    private_options().write(true).create(true).truncate(true).open(path)
}

/// Creates a folder with mode 0700 if it does not exist. Missing parent folders get the default mode.
pub(super) fn create_private_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        fs::create_dir_all(parent)?;
    }
    #[allow(unused_mut, reason = "only Unix has modes")]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    builder.mode(FOLDER);
    match builder.create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        made => made,
    }
}

/// Restricts the modes of everything in a private folder. Does nothing if other users can access the folder itself.
#[cfg(unix)]
pub(super) fn restrict_permissions(folder: &Path) -> io::Result<()> {
    if fs::metadata(folder)?.permissions().mode() & GROUP_AND_OTHERS != 0 {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        match restrict_entry(&entry?) {
            // sled removes its own files at any time.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            restricted => restricted?,
        }
    }
    Ok(())
}

#[cfg(unix)]
fn restrict_entry(entry: &fs::DirEntry) -> io::Result<()> {
    let (path, kind) = (entry.path(), entry.file_type()?);
    if kind.is_symlink() {
        return Ok(());
    }
    if entry.metadata()?.permissions().mode() & GROUP_AND_OTHERS != 0 {
        let mode = if kind.is_dir() { FOLDER } else { FILE };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
    }
    if kind.is_dir() { restrict_permissions(&path) } else { Ok(()) }
}

/// Gives a file the mode of the file that it replaces.
#[cfg(unix)]
pub(super) fn copy_mode(from: &File, to: &File) -> io::Result<()> {
    to.set_permissions(from.metadata()?.permissions())
}

/// Logs a warning if users other than the owner can access a store's folder.
#[cfg(unix)]
pub(super) fn warn_if_readable_by_others(folder: &Path) {
    let Ok(metadata) = fs::metadata(folder) else { return };
    let mode = metadata.permissions().mode() & 0o777;
    if mode & GROUP_AND_OTHERS != 0 {
        tracing::warn!(
            folder = %folder.display(),
            mode = %format_args!("{mode:03o}"),
            "other users of this machine can read the folder of the store: set its mode to 700"
        );
    }
}

#[cfg(not(unix))]
pub(super) fn copy_mode(_: &File, _: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
pub(super) fn restrict_permissions(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
pub(super) fn warn_if_readable_by_others(_: &Path) {}

/// Returns the size of the files in a folder and its subfolders, in bytes.
pub(super) fn size_of(folder: &Path) -> io::Result<u64> {
    let mut size = 0;
    for entry in fs::read_dir(folder)? {
        let (entry, kind) = entry.and_then(|entry| entry.file_type().map(|kind| (entry, kind)))?;
        size += if kind.is_dir() { size_of(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(size)
}

/// Bytes that sled writes to disk for each byte of a change to one copy.
const WRITE_AMPLIFICATION: u64 = 4;
const SPACE_MARGIN: u64 = 2 << 20;

/// Size of the changes for which space is checked at once, in bytes. Larger pieces would demand space that sled has freed
/// again by the time it needs it.
const BYTES_PER_WRITE: usize = 4 << 20;

/// Written to reserve space where the file system cannot allocate it.
static ZEROS: [u8; 256 << 10] = [0; 256 << 10];

/// Checks, piece by piece, that the disk has space for changes.
///
/// sled must not run out of space itself: it would not write again until it is reopened.
#[derive(Debug)]
pub(super) struct SpaceCheck<'f> {
    folder: &'f Path,
    /// Size of the changes for which there is space, in bytes.
    left: usize,
}

impl<'f> SpaceCheck<'f> {
    /// Checks the space for the first changes.
    ///
    /// # Errors
    /// `Unavailable` when there is not enough space.
    pub(super) fn begin(folder: &'f Path) -> Result<Self, StoreError> {
        preallocate(folder, BYTES_PER_WRITE)?;
        Ok(Self { folder, left: BYTES_PER_WRITE })
    }

    /// Counts a change of this size, and checks the space for further ones if necessary.
    ///
    /// # Errors
    /// `Unavailable` when there is not enough space.
    pub(super) fn take(&mut self, size: usize) -> Result<(), StoreError> {
        if size > self.left {
            self.left = size.max(BYTES_PER_WRITE);
            preallocate(self.folder, self.left)?;
        }
        self.left -= size;
        Ok(())
    }
}

fn preallocate(folder: &Path, size: usize) -> Result<(), StoreError> {
    let path = folder.join("room");
    let needed = (size as u64).saturating_mul(WRITE_AMPLIFICATION).saturating_add(SPACE_MARGIN);
    let taken = create_private(&path).and_then(|file| allocate(file, needed));
    // Removed before it is written back, so that the file system reserves the space without writing to disk.
    let removed = fs::remove_file(&path);
    taken.and(removed).map_err(|error| {
        let free =
            fs2::available_space(folder).map_or_else(|_| "unknown".to_owned(), |free| free.to_string());
        StoreError::unavailable(format!(
            "there is not enough disk space in {}: the next step needs {needed} bytes, free are {free}",
            folder.display()
        ))
        .with_source(error)
    })
}

/// Allocates space for a file. Writes zeros if the file system cannot allocate or refuses to.
fn allocate(mut file: File, size: u64) -> io::Result<()> {
    if FileExt::allocate(&file, size).is_ok() {
        return Ok(());
    }
    let mut left = size;
    while left > 0 {
        let piece = usize::try_from(left).unwrap_or(usize::MAX).min(ZEROS.len());
        file.write_all(ZEROS.get(..piece).asserted_or_default())?;
        left -= piece as u64;
    }
    Ok(())
}

/// Makes the names in a directory durable.
pub(super) fn sync_directory(path: &Path) -> io::Result<()> {
    // `File::open` opens directories only on Unix. Elsewhere, the durability of names is left to the file system.
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}
