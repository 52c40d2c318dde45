//! Where a batch goes first: when its frame is on the disk, the batch is kept, whatever happens then.
//!
//! Frames are appended to one of [`FILES`] files until it is full; then the next is taken, while what stands in the full one
//! is put into the records. When that is done and on the disk, the file is free to be begun anew.

mod file;
mod frame;
mod recover;

use std::fs::File;
use std::io;
use std::path::Path;

use self::file::{Header, JournalFile};
use self::frame::decode;
pub(super) use self::frame::{Accepted, Change, Replayed};
pub(super) use self::recover::{Recovered, first_sequence, recover};
use super::private;

/// One that is written, one that is put into the records, and one more, so that a store that was killed finds a free one.
const FILES: usize = 3;

/// How long a file becomes, but for one frame that may stand out. It bounds the memory for what is not in the records yet.
const FULL: u64 = 32 << 20;

/// Above this the buffer of a frame is not kept for the next.
const BUFFER: usize = 4 << 20;

/// The number of a file whose frames are not in the records yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sealed(usize);

/// The files and the place for the next frame.
#[derive(Debug)]
pub(super) struct Journal {
    files: Vec<JournalFile>,
    /// Which files hold frames that are not in the records.
    sealed: Vec<Sealed>,
    active: Option<Active>,
    number: u64,
    syncs: bool,
    buffer: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Active {
    file: usize,
    place: u64,
    salt: u64,
}

impl Journal {
    /// `syncs`: whether a frame is on the disk when it was appended, or only with the operating system.
    pub(super) fn open(folder: &Path, syncs: bool) -> io::Result<Self> {
        let mut options = private::options();
        options.read(true).write(true).create(true);
        let open = |number| JournalFile::new(options.open(folder.join(format!("journal.{number}")))?);
        let files = (0..FILES).map(open).collect::<io::Result<_>>()?;
        Ok(Self { files, sealed: Vec::new(), active: None, number: 0, syncs, buffer: Vec::new() })
    }

    /// Appends a frame. After an error the frame may be there or not, and the next takes its place, or stands in another file.
    pub(super) fn append(&mut self, sequence: u64, group: &[Accepted]) -> io::Result<()> {
        self.buffer.clear();
        let mut active = match self.active {
            Some(active) => active,
            None => self.begin(sequence)?,
        };
        frame::write(&mut self.buffer, active.salt, sequence, group);
        let file = self.files.get_mut(active.file).ok_or(io::ErrorKind::NotFound)?;
        let written = file.write(active.place, &self.buffer);
        let length = self.buffer.len() as u64;
        self.buffer.shrink_to(BUFFER);
        written?;
        if self.syncs {
            file.sync()?;
        }
        active.place += length;
        self.active = Some(active);
        Ok(())
    }

    /// Whether the next frame should go to another file, if one is free.
    pub(super) fn is_full(&self) -> bool {
        let is_spoiled = |file: &JournalFile| file.is_spoiled();
        self.active
            .is_some_and(|active| active.place >= FULL || self.files.get(active.file).is_some_and(is_spoiled))
    }

    /// Whether a file is begun.
    pub(super) const fn is_active(&self) -> bool {
        self.active.is_some()
    }

    /// Whether a file is free to be begun.
    pub(super) fn has_free_file(&self) -> bool {
        self.free_file().is_some()
    }

    /// Ends the file that was written so far, and tells which it is and how it is synced; `None` when nothing was.
    pub(super) fn seal(&mut self) -> io::Result<Option<(Sealed, File)>> {
        let Some(Active { file: number, .. }) = self.active else { return Ok(None) };
        let file = self.files.get(number).ok_or(io::ErrorKind::NotFound)?.handle()?;
        self.active = None;
        self.sealed.push(Sealed(number));
        Ok(Some((Sealed(number), file)))
    }

    /// Removes what must not be taken for a part of what is written from now on.
    pub(super) fn discard(&mut self, unreached: &[Sealed]) -> io::Result<()> {
        for Sealed(number) in unreached {
            if let Some(file) = self.files.get_mut(*number) {
                file.clear()?;
            }
        }
        Ok(())
    }

    /// Frees a file whose frames are in the records, on the disk.
    pub(super) fn release(&mut self, released: Sealed) {
        self.sealed.retain(|sealed| *sealed != released);
    }

    /// Gives the room of all files back. Only when nothing is sealed, and nothing was appended since.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        self.files.iter_mut().try_for_each(JournalFile::clear)
    }

    /// Puts the beginning of a file into the buffer. It is written together with the first frame.
    fn begin(&mut self, first: u64) -> io::Result<Active> {
        let file = self.free_file().ok_or_else(|| io::Error::other("no journal is free"))?;
        if let Some(spoiled) = self.files.get_mut(file).filter(|file| file.is_spoiled()) {
            spoiled.clear()?;
        }
        let mut salt = [0; 8];
        getrandom::fill(&mut salt).map_err(io::Error::other)?;
        let salt = u64::from_le_bytes(salt);
        self.number += 1;
        Header { number: self.number, first, salt, is_synced: self.syncs }.write(&mut self.buffer);
        Ok(Active { file, place: 0, salt })
    }

    fn free_file(&self) -> Option<usize> {
        let busy = |file: &usize| {
            self.sealed.contains(&Sealed(*file)) || self.active.is_some_and(|active| active.file == *file)
        };
        (0..self.files.len()).find(|file| !busy(file))
    }
}
