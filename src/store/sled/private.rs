//! Files and folders that only their owner may read, where the system knows owners.
//!
//! What the store makes has the modes 0600 and 0700 from the start. What is there already keeps its mode: it may have been
//! chosen. sled makes its files with the usual modes, so each of its folders is made beforehand with the mode 0700, and its
//! files get theirs afterwards; those that it makes in between and later are protected by the folder.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
#[cfg(unix)]
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

#[cfg(unix)]
const FILE: u32 = 0o600;
#[cfg(unix)]
const FOLDER: u32 = 0o700;

/// What a mode gives to users other than the owner.
#[cfg(unix)]
const OTHERS: u32 = 0o077;

/// Returns options to open a file with; a file that is made by them is private.
pub(super) fn options() -> OpenOptions {
    #[allow(unused_mut, reason = "other systems have no mode to set")]
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    options.mode(FILE);
    options
}

/// Makes a private file, or empties the one that is there.
pub(super) fn create(path: &Path) -> io::Result<File> {
    options().write(true).create(true).truncate(true).open(path)
}

/// Makes a private folder, unless it is there. Folders above it that are missing get the usual mode.
pub(super) fn create_folder(path: &Path) -> io::Result<()> {
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
pub(super) fn restrict(folder: &Path) -> io::Result<()> {
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
    if kind.is_dir() { restrict(&path) } else { Ok(()) }
}

/// Gives a file the mode of another, in whose place it is put.
#[cfg(unix)]
pub(super) fn copy_mode(from: &File, to: &File) -> io::Result<()> {
    to.set_permissions(from.metadata()?.permissions())
}

/// Logs a warning when users other than the owner may read or enter the folder of a store.
#[cfg(unix)]
pub(super) fn warn_if_open_to_others(folder: &Path) {
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
pub(super) fn restrict(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(not(unix))]
pub(super) fn warn_if_open_to_others(_: &Path) {}
