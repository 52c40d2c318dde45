//! A plain loop that writes to a file and syncs it, as the disk's limit.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::time::Instant;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Appends to a file that grows with every write.
    Append,
    /// Overwrites preallocated space.
    Overwrite,
}

/// A file with a number of writes per round and a size per write.
#[derive(Debug)]
pub(crate) struct PlainFile {
    path: PathBuf,
    way: Way,
    size: usize,
    count: usize,
    /// Writes per second, of every round.
    pub(crate) rates: Vec<f64>,
}

/// Maximum size of the file, in bytes.
const MAX_FILE: usize = 64 << 20;

impl PlainFile {
    pub(crate) fn new(path: PathBuf, way: Way, size: usize, count: usize) -> Self {
        Self { path, way, size, count: count.min(MAX_FILE / size), rates: Vec::new() }
    }

    pub(crate) fn take_turn(&mut self, counts: bool) -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create(true).truncate(false).open(&self.path)?;
        self.prepare(&mut file)?;
        let bytes = vec![b'.'; self.size];
        let start = Instant::now();
        for _ in 0..self.count {
            file.write_all(&bytes)?;
            file.sync_data()?;
        }
        if counts {
            self.rates.push(self.count as f64 / start.elapsed().as_secs_f64());
        }
        Ok(())
    }

    fn prepare(&self, file: &mut File) -> io::Result<()> {
        match self.way {
            Way::Append => file.set_len(0)?,
            Way::Overwrite if file.metadata()?.len() == 0 => {
                file.write_all(&vec![0; self.size * self.count])?;
            }
            Way::Overwrite => {}
        }
        file.sync_all()?;
        file.seek(SeekFrom::Start(0)).map(|_| ())
    }
}
