use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::super::files;

/// A file with the LSN of the last acknowledged frame.
///
/// At the end of a log, a frame that was never completed looks like one that was damaged later. If the log ends
/// before the durable LSN, frames are lost. The file is written after the frame is on disk and is not synced: it
/// survives a crash of the process, and after a loss of power it holds an earlier LSN at worst.
#[derive(Debug)]
pub(crate) struct DurableLsn(File);

const SIZE: usize = 8 + 4;

impl DurableLsn {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        let file = files::private_options().read(true).write(true).create(true).truncate(false).open(path)?;
        Ok(Self(file))
    }

    /// Returns the LSN, or `None` if the content was not written by [`write`](Self::write).
    pub(crate) fn read(&mut self) -> io::Result<Option<u64>> {
        let mut content = Vec::new();
        self.0.seek(SeekFrom::Start(0))?;
        (&self.0).take(SIZE as u64 + 1).read_to_end(&mut content)?;
        let Some((lsn, checksum)) = content.split_first_chunk::<8>() else { return Ok(None) };
        let is_intact = checksum == crc32fast::hash(lsn).to_le_bytes();
        Ok(is_intact.then(|| u64::from_le_bytes(*lsn)))
    }

    pub(crate) fn write(&mut self, lsn: u64) -> io::Result<()> {
        let lsn = lsn.to_le_bytes();
        let content = [&lsn[..], &crc32fast::hash(&lsn).to_le_bytes()].concat();
        self.0.seek(SeekFrom::Start(0))?;
        self.0.write_all(&content)
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        self.0.sync_all()
    }
}
