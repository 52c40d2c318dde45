use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use crc32fast::Hasher;

use super::super::codec::Reader;

/// Room is taken in steps, in zeros that are on the disk before they are needed: a file that grows with every write would
/// have its length and its blocks written with every write too, which takes half as long again.
const STEP: u64 = 1 << 20;

const MAGIC: u64 = u64::from_le_bytes(*b"topojrnl");
pub(super) const HEADER: usize = 8 + 8 + 8 + 8 + 8 + 4;

/// One of the files that the journal goes round in.
#[derive(Debug)]
pub(super) struct JournalFile {
    file: File,
    /// How far the file is known to reach.
    length: u64,
    /// Whether it could not be synced once. What is written to the same place from then on may never reach the disk,
    /// whatever a later sync says.
    is_spoiled: bool,
}

/// What a file begins with each time it is begun anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// Which of all files that were ever begun; the last begun has the greatest.
    pub(super) number: u64,
    /// The sequence of the first frame.
    pub(super) first: u64,
    pub(super) salt: u64,
    /// Whether every frame was on the disk before the next was written.
    pub(super) is_synced: bool,
}

impl Header {
    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        let start = bytes.len();
        for number in [MAGIC, self.number, self.first, self.salt, u64::from(self.is_synced)] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        let checksum = checksum(bytes.get(start..).unwrap_or_default());
        bytes.extend_from_slice(&checksum.to_le_bytes());
    }

    /// `None` when the file was not begun, or not far enough for anybody to have been told.
    pub(super) fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let content = Reader(reader.0).take(HEADER - 4)?;
        let magic = reader.u64()?;
        let (number, first, salt) = (reader.u64()?, reader.u64()?, reader.u64()?);
        let header = Self { number, first, salt, is_synced: reader.u64()? != 0 };
        (reader.u32()? == checksum(content) && magic == MAGIC).then_some(header)
    }
}

fn checksum(content: &[u8]) -> u32 {
    let mut hasher = Hasher::new();
    hasher.update(content);
    hasher.finalize()
}

impl JournalFile {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        Ok(Self { file, length, is_spoiled: false })
    }

    pub(super) fn read(&mut self) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        self.file.seek(SeekFrom::Start(0))?;
        self.file.read_to_end(&mut content)?;
        Ok(content)
    }

    /// Writes at a place, in one go.
    pub(super) fn write(&mut self, place: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(place))?;
        self.file.write_all(bytes)?;
        let end = place + bytes.len() as u64;
        if end > self.length {
            // Only to be faster: where there is no room for zeros there may still be some for records.
            let _ = self.take_room(end);
            self.length = self.file.metadata()?.len();
        }
        Ok(())
    }

    fn take_room(&mut self, end: u64) -> io::Result<()> {
        let room = end.next_multiple_of(STEP) - end;
        io::copy(&mut io::repeat(0).take(room), &mut self.file)?;
        Ok(())
    }

    pub(super) fn handle(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    pub(super) fn sync(&mut self) -> io::Result<()> {
        let synced = self.file.sync_data();
        self.is_spoiled |= synced.is_err();
        synced
    }

    pub(super) const fn is_spoiled(&self) -> bool {
        self.is_spoiled
    }

    /// Gives the room back to the file system.
    pub(super) fn clear(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.length = 0;
        self.file.sync_all()?;
        self.is_spoiled = false;
        Ok(())
    }
}
