use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::private;

/// A file that holds the sequence of the last frame that anybody was told of.
///
/// The end of a journal looks the same whether a frame was never finished or was damaged later. What is less than the
/// witness saw is damage. It is written after the frame is on the disk, and not synced: it survives the end of the process,
/// and after a loss of power it tells at worst of an earlier frame.
#[derive(Debug)]
pub(super) struct Witness(File);

const SIZE: usize = 8 + 4;

impl Witness {
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = private::options().read(true).write(true).create(true).truncate(false).open(path)?;
        Ok(Self(file))
    }

    /// `None` when what stands there was not written by [`write`](Self::write).
    pub(super) fn read(&mut self) -> io::Result<Option<u64>> {
        let mut content = Vec::new();
        self.0.seek(SeekFrom::Start(0))?;
        (&self.0).take(SIZE as u64 + 1).read_to_end(&mut content)?;
        let Some((sequence, checksum)) = content.split_first_chunk::<8>() else { return Ok(None) };
        let is_whole = checksum == crc32fast::hash(sequence).to_le_bytes();
        Ok(is_whole.then(|| u64::from_le_bytes(*sequence)))
    }

    pub(super) fn write(&mut self, sequence: u64) -> io::Result<()> {
        let sequence = sequence.to_le_bytes();
        let mut content = [0; SIZE];
        let fields = sequence.into_iter().chain(crc32fast::hash(&sequence).to_le_bytes());
        for (place, byte) in content.iter_mut().zip(fields) {
            *place = byte;
        }
        self.0.seek(SeekFrom::Start(0))?;
        self.0.write_all(&content)
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.0.sync_all()
    }
}
