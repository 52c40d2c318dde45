//! Where a batch goes first: when its frame is on the disk, the batch is kept, whatever happens then.
//!
//! Frames are appended to one of [`FILE_COUNT`] files until it is full; then the next is taken, while what stands in the full one
//! is put into the records. When that is done and on the disk, the file is free to be begun anew.

mod durable_lsn;
mod frame;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

pub(super) use self::durable_lsn::DurableLsn;
pub(super) use self::frame::{AcceptedBatch, ReplayedBatch};
use self::frame::{FileHeader, decode_batches, read_frame, write_frame};
use super::codec::Decoder;
use super::files;

/// One that is written, one that is put into the records, and one more, so that a store that was killed finds a free one.
const FILE_COUNT: usize = 3;

/// How long a file becomes, but for one frame that may stand out. It bounds the memory for what is not in the records yet.
const FILE_BYTES: u64 = 32 << 20;

/// Above this the buffer of a frame is not kept for the next.
const MAX_BUFFER_BYTES: usize = 4 << 20;

/// The number of a file whose frames are not in the records yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SealedFile(usize);

/// The files and the offset for the next frame.
#[derive(Debug)]
pub(super) struct Wal {
    files: Vec<WalFile>,
    /// Which files hold frames that are not in the records.
    sealed: Vec<SealedFile>,
    active: Option<ActiveFile>,
    generation: u64,
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
    /// `syncs`: whether a frame is on the disk when it was appended, or only with the operating system.
    pub(super) fn open(folder: &Path, syncs: bool) -> io::Result<Self> {
        let mut options = files::private_options();
        options.read(true).write(true).create(true);
        let open = |number| WalFile::new(options.open(folder.join(format!("journal.{number}")))?);
        let files = (0..FILE_COUNT).map(open).collect::<io::Result<_>>()?;
        Ok(Self { files, sealed: Vec::new(), active: None, generation: 0, syncs, buffer: Vec::new() })
    }

    /// Appends a frame. After an error the frame may be there or not, and the next takes its offset, or stands in another file.
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

    /// Whether the next frame should go to another file, if one is free.
    pub(super) fn is_full(&self) -> bool {
        let is_poisoned = |file: &WalFile| file.is_poisoned();
        self.active.is_some_and(|active| {
            active.offset >= FILE_BYTES || self.files.get(active.file).is_some_and(is_poisoned)
        })
    }

    /// Whether a file is begun.
    pub(super) const fn has_active_file(&self) -> bool {
        self.active.is_some()
    }

    /// Whether a file is free to be begun.
    pub(super) fn has_free_file(&self) -> bool {
        self.free_file().is_some()
    }

    /// Ends the file that was written so far, and tells which it is and how it is synced; `None` when nothing was.
    pub(super) fn seal(&mut self) -> io::Result<Option<(SealedFile, File)>> {
        let Some(ActiveFile { file: number, .. }) = self.active else { return Ok(None) };
        let file = self.files.get(number).ok_or(io::ErrorKind::NotFound)?.file_handle()?;
        self.active = None;
        self.sealed.push(SealedFile(number));
        Ok(Some((SealedFile(number), file)))
    }

    /// Removes what must not be taken for a part of what is written from now on.
    pub(super) fn discard(&mut self, discardable: &[SealedFile]) -> io::Result<()> {
        for SealedFile(number) in discardable {
            if let Some(file) = self.files.get_mut(*number) {
                file.clear()?;
            }
        }
        Ok(())
    }

    /// Frees a file whose frames are in the records, on the disk.
    pub(super) fn release(&mut self, released: SealedFile) {
        self.sealed.retain(|sealed| *sealed != released);
    }

    /// Gives the room of all files back. Only when nothing is sealed, and nothing was appended since.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        self.files.iter_mut().try_for_each(WalFile::clear)
    }

    /// Puts the beginning of a file into the buffer. It is written together with the first frame.
    fn start_file(&mut self, first_lsn: u64) -> io::Result<ActiveFile> {
        let file = self.free_file().ok_or_else(|| io::Error::other("no journal is free"))?;
        if let Some(poisoned) = self.files.get_mut(file).filter(|file| file.is_poisoned()) {
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

/// Room is taken in steps, in zeros that are on the disk before they are needed: a file that grows with every write would
/// have its length and its blocks written with every write too, which takes half as long again.
const PREALLOCATION_STEP: u64 = 1 << 20;

/// One of the files that the journal goes round in.
#[derive(Debug)]
pub(super) struct WalFile {
    file: File,
    /// How far the file is known to reach.
    length: u64,
    /// Whether it could not be synced once. What is written to the same offset from then on may never reach the disk,
    /// whatever a later sync says.
    is_poisoned: bool,
}

impl WalFile {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { file, length, is_poisoned: false })
    }

    pub(super) fn read(&mut self) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        self.file.seek(SeekFrom::Start(0))?;
        self.file.read_to_end(&mut content)?;
        Ok(content)
    }

    /// Writes at a offset, in one go.
    pub(super) fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.write_all(bytes)?;
        let end = offset + bytes.len() as u64;
        if end > self.length {
            // Only to be faster: where there is no room for zeros there may still be some for records.
            let _ = self.preallocate_zeros(end);
            self.length = self.file.metadata()?.len();
        }
        Ok(())
    }

    fn preallocate_zeros(&mut self, end: u64) -> io::Result<()> {
        let room = end.next_multiple_of(PREALLOCATION_STEP) - end;
        io::copy(&mut io::repeat(0).take(room), &mut self.file)?;
        Ok(())
    }

    pub(super) fn file_handle(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    pub(super) fn sync(&mut self) -> io::Result<()> {
        let synced = self.file.sync_data();
        self.is_poisoned |= synced.is_err();
        synced
    }

    pub(super) const fn is_poisoned(&self) -> bool {
        self.is_poisoned
    }

    /// Gives the room back to the file system.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.length = 0;
        self.file.sync_all()?;
        self.is_poisoned = false;
        Ok(())
    }
}

/// What the journal holds beyond the records.
#[derive(Debug, Default)]
pub(super) struct Recovered {
    pub(super) batches: Vec<ReplayedBatch>,
    /// The lsn of the last frame, or of the last that is in the records already.
    pub(super) last_lsn: u64,
    /// The greatest version that was given, and the greatest number of a body, among the batches.
    pub(super) last_version: u64,
    pub(super) last_body_id: u64,
    /// The files that the batches stand in.
    pub(super) sealed: Vec<SealedFile>,
    /// Whether frames that were on the disk once are missing before others.
    pub(super) has_gap: bool,
    /// The files with frames that follow others which are missing, and of which nobody was promised that they would be there.
    pub(super) discardable: Vec<SealedFile>,
}

/// The lsn of the first frame in the file that was begun first; `None` when none was begun.
pub(super) fn first_lsn(wal: &mut Wal) -> io::Result<Option<u64>> {
    let mut headers = Vec::new();
    for file in &mut wal.files {
        headers.extend(FileHeader::read(&mut Decoder(&file.read()?)));
    }
    Ok(headers.iter().min_by_key(|header| header.generation).map(|header| header.first_lsn))
}

/// Reads what was appended after the lsn up to which everything is in the records. What is given back is on the disk:
/// it may be of one who was killed before it was, or who never asked for that.
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
        // A frame that failed may be there whole although its writer was refused. The next frame has its lsn then,
        // in its index or, where the file was changed meanwhile, at the beginning of the next.
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

/// Reads the frames of a file that are not in the records. Whether they follow what was read before.
fn replay_file(header: FileHeader, content: &[u8], until: u64, recovered: &mut Recovered) -> bool {
    let mut decoder = Decoder(content);
    let _ = FileHeader::read(&mut decoder);
    let mut lsn = header.first_lsn;
    while lsn < until
        && let Some(payload) = read_frame(&mut decoder, header.salt, lsn)
    {
        if lsn > recovered.last_lsn {
            let batches = decode_batches(payload).filter(|_| lsn == recovered.last_lsn + 1);
            let Some(batches) = batches else { return false };
            for replayed in batches {
                recovered.last_version = recovered.last_version.max(replayed.accepted.version.0);
                recovered.last_body_id = recovered.last_body_id.max(replayed.accepted.last_body_id());
                recovered.batches.push(replayed);
            }
            recovered.last_lsn = lsn;
        }
        lsn += 1;
    }
    true
}
