//! Files and folders that only their owner may read, where the system knows owners.
//!
//! What the store makes has the modes 0600 and 0700 from the start. What is there already keeps its mode: it may have been
//! chosen. sled makes its files with the usual modes, so each of its folders is made beforehand with the mode 0700, and its
//! files get theirs afterwards; those that it makes in between and later are protected by the folder.
//! Room on the disk, asked for before it is needed. sled must not find out by itself that there is none: it would not write
//! any more until it is opened anew.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
#[cfg(unix)]
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use fs2::FileExt;

use crate::store::StoreError;

#[cfg(unix)]
const FILE: u32 = 0o600;
#[cfg(unix)]
const FOLDER: u32 = 0o700;

/// What a mode gives to users other than the owner.
#[cfg(unix)]
const OTHERS: u32 = 0o077;

/// Returns options to open a file with; a file that is made by them is private.
pub(super) fn private_options() -> OpenOptions {
    #[allow(unused_mut, reason = "other systems have no mode to set")]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    options.mode(FILE);
    options
}

/// Makes a private file, or empties the one that is there.
pub(super) fn create_private(path: &Path) -> io::Result<File> {
    private_options().write(true).create(true).truncate(true).open(path)
}

/// Makes a private folder, unless it is there. Folders above it that are missing get the usual mode.
pub(super) fn create_private_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        fs::create_dir_all(parent)?;
    }
    #[allow(unused_mut, reason = "other systems have no mode to set")]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    builder.mode(FOLDER);
    match builder.create(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        made => made,
    }
}

/// Makes everything in a private folder private. A folder that others may read was made by its owner and stays as it is.
#[cfg(unix)]
pub(super) fn restrict_permissions(folder: &Path) -> io::Result<()> {
    if fs::metadata(folder)?.permissions().mode() & OTHERS != 0 {
        return Ok(());
    }
    for entry in fs::read_dir(folder)? {
        match restrict_entry(&entry?) {
            // sled removes files of its own at any time.
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
    if entry.metadata()?.permissions().mode() & OTHERS != 0 {
        let mode = if kind.is_dir() { FOLDER } else { FILE };
        fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
    }
    if kind.is_dir() { restrict_permissions(&path) } else { Ok(()) }
}

/// Gives a file the mode of another, in whose place it is put.
#[cfg(unix)]
pub(super) fn copy_mode(from: &File, to: &File) -> io::Result<()> {
    to.set_permissions(from.metadata()?.permissions())
}

/// Logs a warning when users other than the owner may read or enter the folder of a store.
#[cfg(unix)]
pub(super) fn warn_if_readable_by_others(folder: &Path) {
    let Ok(metadata) = fs::metadata(folder) else { return };
    let mode = metadata.permissions().mode() & 0o777;
    if mode & OTHERS != 0 {
        tracing::warn!(
            folder = %folder.display(),
            mode = %format_args!("{mode:03o}"),
            "other users of this machine may read the folder of the store: its mode should be 700"
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

/// How much more is written to the disk than is put into the records: into each of two copies.
const GROWTH: u64 = 2 * 4;
const MARGIN: u64 = 2 << 20;

/// What room is taken with where it cannot be asked for.
static ZEROS: [u8; 256 << 10] = [0; 256 << 10];

/// Fails when the disk has no room for what is to be put into the records.
pub(super) fn preallocate(folder: &Path, size: usize) -> Result<(), StoreError> {
    let path = folder.join("room");
    let needed = (size as u64).saturating_mul(GROWTH).saturating_add(MARGIN);
    let taken = create_private(&path).and_then(|file| allocate(file, needed));
    // Before it has reached the disk: the file system gives the room, and is spared the writing.
    let removed = fs::remove_file(&path);
    taken.and(removed).map_err(|error| {
        StoreError::unavailable(format!("there is no room for records in {}", folder.display()))
            .with_source(error)
    })
}

/// Where the file system refuses to tell, or has none, it is found out by taking it.
fn allocate(mut file: File, size: u64) -> io::Result<()> {
    if FileExt::allocate(&file, size).is_ok() {
        return Ok(());
    }
    let mut left = size;
    while left > 0 {
        let piece = usize::try_from(left).unwrap_or(usize::MAX).min(ZEROS.len());
        file.write_all(ZEROS.get(..piece).unwrap_or_default())?;
        left -= piece as u64;
    }
    Ok(())
}

/// Makes the names in a directory as lasting as the files.
pub(super) fn sync_directory(path: &Path) -> io::Result<()> {
    // Only there can a directory be opened as a file; elsewhere its names need no syncing.
    if cfg!(unix) { File::open(path)?.sync_all() } else { Ok(()) }
}
