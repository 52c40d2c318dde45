//! Write-ahead log (WAL) of commit groups. Once the frame of a group is on disk, its batches survive any crash.
//!
//! Frames are appended to one of [`FILE_COUNT`] files until it is full. Then the next file is written, while a
//! checkpoint applies the full one to the trees. Once that is on disk, the full file can be reused.

mod durable_lsn;
mod frame;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

pub(super) use self::durable_lsn::DurableLsn;
use self::frame::{FileHeader, read_frame, write_frame};
use super::files;
use crate::store::log::batch::{AcceptedBatch, Bodies, ReplayedBatch, decode_batches};
use crate::store::log::codec::Decoder;

/// Number of log files. One is being written, one is being applied, and one is a spare for a store that restarts
/// after a crash.
const FILE_COUNT: usize = 3;

/// Size at which a file is full, in bytes; the last frame may exceed it. It bounds the memory for unapplied commits.
const FILE_BYTES: u64 = 32 << 20;

/// A frame buffer larger than this, in bytes, is not kept for the next frame.
const MAX_BUFFER_BYTES: usize = 4 << 20;

/// Index of a file whose frames are not applied yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SealedFile(usize);

/// The log files and the position of the next frame.
#[derive(Debug)]
pub(super) struct Wal {
    files: Vec<WalFile>,
    /// The files with frames that are not applied yet.
    sealed: Vec<SealedFile>,
    active: Option<ActiveFile>,
    /// Generation of the file that was started last.
    generation: u64,
    /// Whether `append` syncs the file.
    syncs: bool,
    buffer: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct ActiveFile {
    file: usize,
    offset: u64,
    salt: u64,
}

impl Wal {
    /// Opens the log. `syncs` is whether `append` syncs, or leaves the frame to the operating system.
    pub(super) fn open(folder: &Path, syncs: bool) -> io::Result<Self> {
        let mut options = files::private_options();
        options.read(true).write(true).create(true);
        let open = |index| WalFile::new(options.open(folder.join(format!("journal.{index}")))?);
        let files = (0..FILE_COUNT).map(open).collect::<io::Result<_>>()?;
        Ok(Self { files, sealed: Vec::new(), active: None, generation: 0, syncs, buffer: Vec::new() })
    }

    /// Appends a frame.
    ///
    /// After an error the frame may be present or not; the next one overwrites it, or is written to another file.
    pub(super) fn append(&mut self, lsn: u64, group: &[AcceptedBatch]) -> io::Result<()> {
        self.buffer.clear();
        let mut active = match self.active {
            Some(active) => active,
            None => self.start_file(lsn)?,
        };
        write_frame(&mut self.buffer, active.salt, lsn, group);
        let file = self.files.get_mut(active.file).ok_or(io::ErrorKind::NotFound)?;
        let written = file.write(active.offset, &self.buffer);
        let length = self.buffer.len() as u64;
        self.buffer.shrink_to(MAX_BUFFER_BYTES);
        written?;
        if self.syncs {
            file.sync()?;
        }
        active.offset += length;
        self.active = Some(active);
        Ok(())
    }

    /// Returns whether the next frame should go to another file, if one is free.
    pub(super) fn is_full(&self) -> bool {
        self.active.is_some_and(|active| {
            let is_poisoned = self.files.get(active.file).is_some_and(|file| file.is_poisoned);
            active.offset >= FILE_BYTES || is_poisoned
        })
    }

    /// Returns whether a file is being written.
    pub(super) const fn has_active_file(&self) -> bool {
        self.active.is_some()
    }

    /// Returns whether a file is free to be written.
    pub(super) fn has_free_file(&self) -> bool {
        self.free_file().is_some()
    }

    /// Ends the active file, and returns it with a handle to sync it. Returns `None` if nothing was written.
    pub(super) fn seal(&mut self) -> io::Result<Option<(SealedFile, File)>> {
        let Some(ActiveFile { file: index, .. }) = self.active else { return Ok(None) };
        let file = self.files.get(index).ok_or(io::ErrorKind::NotFound)?.file.try_clone()?;
        self.active = None;
        self.sealed.push(SealedFile(index));
        Ok(Some((SealedFile(index), file)))
    }

    /// Clears files whose frames must not be mistaken for later ones.
    pub(super) fn discard(&mut self, discardable: &[SealedFile]) -> io::Result<()> {
        for SealedFile(index) in discardable {
            if let Some(file) = self.files.get_mut(*index) {
                file.clear()?;
            }
        }
        Ok(())
    }

    /// Frees a file whose frames are applied and on disk.
    pub(super) fn release(&mut self, released: SealedFile) {
        self.sealed.retain(|sealed| *sealed != released);
    }

    /// Truncates all files. Allowed only when no file is sealed and nothing was appended since.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        self.files.iter_mut().try_for_each(WalFile::clear)
    }

    /// Puts a file header into the buffer, to be written together with the first frame.
    fn start_file(&mut self, first_lsn: u64) -> io::Result<ActiveFile> {
        let file = self.free_file().ok_or_else(|| io::Error::other("no log file is free"))?;
        if let Some(poisoned) = self.files.get_mut(file).filter(|file| file.is_poisoned) {
            poisoned.clear()?;
        }
        let mut salt = [0; 8];
        getrandom::fill(&mut salt).map_err(io::Error::other)?;
        let salt = u64::from_le_bytes(salt);
        self.generation += 1;
        FileHeader { generation: self.generation, first_lsn, salt, is_synced: self.syncs }
            .write(&mut self.buffer);
        Ok(ActiveFile { file, offset: 0, salt })
    }

    fn free_file(&self) -> Option<usize> {
        let busy = |file: &usize| {
            self.sealed.contains(&SealedFile(*file)) || self.active.is_some_and(|active| active.file == *file)
        };
        (0..self.files.len()).find(|file| !busy(file))
    }
}

/// Step in which a file grows, in bytes. The file grows by zeros, which are on disk before the space is needed.
///
/// If the file grew with every write, its length and its blocks would be synced with every write too, which takes
/// half as long again.
const PREALLOCATION_STEP: u64 = 1 << 20;

/// One of the log files, which are reused in turn.
#[derive(Debug)]
struct WalFile {
    file: File,
    /// Length of the file, in bytes.
    length: u64,
    /// Whether a sync has failed. Later writes to the same offset may never reach the disk, whatever a later sync
    /// reports.
    is_poisoned: bool,
}

impl WalFile {
    fn new(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { file, length, is_poisoned: false })
    }

    fn read(&mut self) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        self.file.seek(SeekFrom::Start(0))?;
        self.file.read_to_end(&mut content)?;
        Ok(content)
    }

    /// Writes all bytes at an offset.
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.write_all(bytes)?;
        let end = offset + bytes.len() as u64;
        if end > self.length {
            // An optimization: without space for the zeros, there may still be space for frames.
            let _ = self.preallocate_zeros(end);
            self.length = self.file.metadata()?.len();
        }
        Ok(())
    }

    fn preallocate_zeros(&mut self, end: u64) -> io::Result<()> {
        let zeros = end.next_multiple_of(PREALLOCATION_STEP) - end;
        io::copy(&mut io::repeat(0).take(zeros), &mut self.file)?;
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let synced = self.file.sync_data();
        self.is_poisoned |= synced.is_err();
        synced
    }

    /// Truncates the file, which frees its space and clears the poisoned state.
    fn clear(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.length = 0;
        self.file.sync_all()?;
        self.is_poisoned = false;
        Ok(())
    }
}

/// The contents of the log beyond the trees.
#[derive(Debug, Default)]
pub(super) struct Recovered {
    pub(super) batches: Vec<ReplayedBatch>,
    /// LSN of the last frame. It is the applied LSN if there are no frames after that.
    pub(super) last_lsn: u64,
    /// Highest version in the batches.
    pub(super) last_version: u64,
    /// Highest body number in the batches.
    pub(super) last_body_id: u64,
    /// The files that contain the batches.
    pub(super) sealed: Vec<SealedFile>,
    /// Whether synced frames are missing before later ones.
    pub(super) has_gap: bool,
    /// Files whose frames follow missing ones. All of them were written without a sync, so their loss is permitted.
    pub(super) discardable: Vec<SealedFile>,
}

/// Returns the LSN of the first frame in the oldest file. Returns `None` if every file is empty.
pub(super) fn first_lsn(wal: &mut Wal) -> io::Result<Option<u64>> {
    let mut headers = Vec::new();
    for file in &mut wal.files {
        headers.extend(FileHeader::read(&mut Decoder(&file.read()?)));
    }
    Ok(headers.iter().min_by_key(|header| header.generation).map(|header| header.first_lsn))
}

/// Reads the frames after the applied LSN, and syncs the files that contain them.
///
/// The sync is needed because the process may have been killed before its own sync, or never have requested one.
pub(super) fn recover(wal: &mut Wal, applied_lsn: u64) -> io::Result<Recovered> {
    let mut found = Vec::new();
    for (index, file) in wal.files.iter_mut().enumerate() {
        let content = file.read()?;
        if let Some(header) = FileHeader::read(&mut Decoder(&content)) {
            found.push((header, index, content));
        }
    }
    found.sort_unstable_by_key(|(header, ..)| header.generation);
    wal.generation = found.last().map_or(0, |(header, ..)| header.generation);
    let mut recovered = Recovered { last_lsn: applied_lsn, ..Recovered::default() };
    for (position, (header, index, content)) in found.iter().enumerate() {
        // A frame whose write was reported as failed may be complete. The next frame then has the same LSN: in its
        // place, or at the start of the next file if the file was changed meanwhile.
        let until = found.get(position + 1).map_or(u64::MAX, |(next, ..)| next.first_lsn);
        let before = recovered.last_lsn;
        let is_contiguous = replay_file(*header, content, until, &mut recovered);
        let Some(file) = wal.files.get_mut(*index) else { continue };
        if recovered.last_lsn > before {
            recovered.sealed.push(SealedFile(*index));
            file.sync()?;
        }
        if !is_contiguous && header.is_synced {
            recovered.has_gap = true;
        } else if !is_contiguous {
            recovered.discardable.push(SealedFile(*index));
        }
    }
    wal.sealed.clone_from(&recovered.sealed);
    Ok(recovered)
}

/// Reads the unapplied frames of a file. Returns whether they follow the frames read before.
fn replay_file(header: FileHeader, content: &[u8], until: u64, recovered: &mut Recovered) -> bool {
    let mut decoder = Decoder(content);
    let _ = FileHeader::read(&mut decoder);
    let mut lsn = header.first_lsn;
    while lsn < until
        && let Some(payload) = read_frame(&mut decoder, header.salt, lsn)
    {
        if lsn > recovered.last_lsn {
            let batches = decode_batches(payload, Bodies::Inline).filter(|_| lsn == recovered.last_lsn + 1);
            let Some(batches) = batches else { return false };
            for replayed in batches {
                recovered.last_version = recovered.last_version.max(replayed.accepted.version.0);
                let last_body_id = replayed.accepted.body_refs().map(|body_ref| body_ref.id).max();
                recovered.last_body_id = recovered.last_body_id.max(last_body_id.unwrap_or(0));
                recovered.batches.push(replayed);
            }
            recovered.last_lsn = lsn;
        }
        lsn += 1;
    }
    true
}
