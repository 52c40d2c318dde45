//! Room on the disk, asked for before it is needed. sled must not find out by itself that there is none: it would not write
//! any more until it is opened anew.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use fs2::FileExt;

use super::private;
use crate::store::StoreError;

/// How much more is written to the disk than is put into the records: into each of two copies.
const GROWTH: u64 = 2 * 4;
const MARGIN: u64 = 2 << 20;

/// What room is taken with where it cannot be asked for.
static ZEROS: [u8; 256 << 10] = [0; 256 << 10];

/// Fails when the disk has no room for what is to be put into the records.
pub(super) fn require_room(folder: &Path, size: usize) -> Result<(), StoreError> {
    let path = folder.join("room");
    let needed = (size as u64).saturating_mul(GROWTH).saturating_add(MARGIN);
    let taken = private::create(&path).and_then(|file| take_room(file, needed));
    // Before it has reached the disk: the file system gives the room, and is spared the writing.
    let removed = fs::remove_file(&path);
    taken.and(removed).map_err(|error| {
        StoreError::unavailable(format!("there is no room for records in {}", folder.display()))
            .with_source(error)
    })
}

/// Where the file system refuses to tell, or has none, it is found out by taking it.
fn take_room(mut file: File, size: u64) -> io::Result<()> {
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
