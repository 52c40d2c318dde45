use std::fmt;

use crc32fast::Hasher;
use tokio::io::{AsyncRead, BufReader};
use tokio::task::spawn_blocking;

use super::line::{self, Header, Trailer};
use super::{CHUNK_BYTES, CHUNK_RECORDS, MAX_LINE, TransferError, TransferErrorKind, TransferReport};
use crate::lines::{Line, Lines};
use crate::store::{Batch, Precondition, Store};

/// Reads an [`Export`](super::Export) into an empty store.
///
/// Afterwards the store holds the exported records with the same bodies and facets, under new versions. API keys and
/// passwords remain valid, and sessions that were open at the time of the export are open again until they expire.
///
/// **Discard a store whose restoration failed.** It holds only some of the records, and these are unverified: the checksum
/// is in the last line of the export.
///
/// ```
/// use toposcope::store::{Export, MemoryStore, Restore, TransferErrorKind};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut file = Vec::new();
/// Export::new().write(&MemoryStore::new(), &mut file).await?;
///
/// let report = Restore::new().read(&MemoryStore::new(), &file[..]).await?;
/// assert_eq!(report.bytes, file.len() as u64);
///
/// let cut = &file[..file.len() - 10];
/// let error = Restore::new().read(&MemoryStore::new(), cut).await.unwrap_err();
/// assert_eq!((error.kind(), error.line()), (TransferErrorKind::Truncated, Some(2)));
/// # Ok(())
/// # }
/// ```
pub struct Restore<'p> {
    on_progress: Box<dyn FnMut(&TransferReport) + Send + 'p>,
}

impl Default for Restore<'_> {
    fn default() -> Self {
        Self { on_progress: Box::new(|_| {}) }
    }
}

impl<'p> Restore<'p> {
    /// Maximum length of a line, in bytes, for exports and restorations.
    pub const MAX_LINE: usize = MAX_LINE;

    /// Creates a restoration that reports no progress.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a callback for progress, called after every chunk of at most 1,000 records.
    #[must_use]
    pub fn on_progress(self, call: impl FnMut(&TransferReport) + Send + 'p) -> Self {
        Self { on_progress: Box::new(call) }
    }

    /// Restores an export into an empty store.
    ///
    /// The input is read in chunks, one commit per chunk. Memory use is a few megabytes, or a few times the longest line.
    /// Nothing else should write to the store during the restoration. Requires a tokio runtime.
    ///
    /// # Errors
    /// - [`NotEmpty`](TransferErrorKind::NotEmpty) if the store holds any record. Nothing is read or overwritten.
    /// - [`NotAnExport`](TransferErrorKind::NotAnExport) or [`UnknownVersion`](TransferErrorKind::UnknownVersion). The store
    ///   is still empty.
    /// - Any other kind. Discard the store.
    pub async fn read<S, R>(self, store: &S, input: R) -> Result<TransferReport, TransferError>
    where
        S: Store + ?Sized,
        R: AsyncRead + Unpin + Send,
    {
        let Self { mut on_progress } = self;
        if !store.snapshot().await?.next(1).await?.is_empty() {
            return Err(TransferError::new(TransferErrorKind::NotEmpty));
        }
        let mut input = Input::begin(input).await?;
        loop {
            let Chunk { first_line, lines, trailer } = input.chunk().await?;
            let batch = spawn_blocking(move || batch_of(first_line, &lines)).await??;
            if let Some(trailer) = &trailer {
                input.finish(trailer).await?;
            }
            store.commit(batch).await?;
            let report = TransferReport { records: input.records, bytes: input.lines.bytes };
            on_progress(&report);
            if trailer.is_some() {
                return Ok(report);
            }
        }
    }
}

impl fmt::Debug for Restore<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Restore").finish_non_exhaustive()
    }
}

/// Lines that are restored in one commit.
#[derive(Default)]
struct Chunk {
    first_line: u64,
    lines: Vec<Vec<u8>>,
    /// The last line of the export, if it follows these lines.
    trailer: Option<Vec<u8>>,
}

struct Input<R> {
    lines: Lines<BufReader<R>>,
    /// Checksum of all lines read so far.
    checksum: Hasher,
    /// Number of records among them.
    records: u64,
}

impl<R: AsyncRead + Unpin> Input<R> {
    /// Reads and checks the header.
    async fn begin(reader: R) -> Result<Self, TransferError> {
        let lines = Lines::new(BufReader::with_capacity(64 * 1024, reader), MAX_LINE);
        let mut input = Self { lines, checksum: Hasher::new(), records: 0 };
        let line = input.line().await?.unwrap_or_default();
        Header::check(&line).map_err(|error| error.with_line(1))?;
        input.add(&line);
        Ok(input)
    }

    /// Reads the next chunk.
    async fn chunk(&mut self) -> Result<Chunk, TransferError> {
        let mut chunk = Chunk { first_line: self.lines.count + 1, ..Chunk::default() };
        let mut size = 0;
        while chunk.lines.len() < CHUNK_RECORDS && size < CHUNK_BYTES {
            let line = self.line().await?;
            let line =
                line.ok_or_else(|| TransferError::at(TransferErrorKind::Truncated, self.lines.count))?;
            if Trailer::is(&line) {
                chunk.trailer = Some(line);
                break;
            }
            self.add(&line);
            self.records += 1;
            size += line.len();
            chunk.lines.push(line);
        }
        Ok(chunk)
    }

    /// Checks the trailer against the lines read before it, and that no line follows it.
    async fn finish(&mut self, line: &[u8]) -> Result<(), TransferError> {
        let number = self.lines.count;
        let trailer = Trailer::parse(line).map_err(|error| error.with_line(number))?;
        if trailer != (Trailer { records: self.records, crc32: self.checksum.clone().finalize() }) {
            return Err(TransferError::at(TransferErrorKind::Damaged, number));
        }
        match self.line().await? {
            None => Ok(()),
            Some(_) => Err(TransferError::at(TransferErrorKind::Malformed, self.lines.count)),
        }
    }

    async fn line(&mut self) -> Result<Option<Vec<u8>>, TransferError> {
        match self.lines.next().await? {
            None => Ok(None),
            Some(Line::Whole(line)) => Ok(Some(line)),
            Some(Line::TooLong) => Err(TransferError::at(TransferErrorKind::TooLong, self.lines.count)),
        }
    }

    fn add(&mut self, line: &[u8]) {
        self.checksum.update(line);
        self.checksum.update(b"\n");
    }
}

fn batch_of(first_line: u64, lines: &[Vec<u8>]) -> Result<Batch, TransferError> {
    let mut batch = Batch::new();
    for (number, line) in (first_line..).zip(lines) {
        let (key, facets, body) = line::parse(line).map_err(|error| error.with_line(number))?;
        batch.put(key, Precondition::Absent, facets, body);
    }
    Ok(batch)
}
