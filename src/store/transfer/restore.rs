use std::fmt;

use crc32fast::Hasher;
use tokio::io::{AsyncRead, BufReader};
use tokio::task::spawn_blocking;

use super::line::{self, End, Header};
use super::{MAX_LINE, PIECE_BYTES, PIECE_RECORDS, TransferError, TransferErrorKind, TransferReport};
use crate::lines::{Line, Lines};
use crate::store::{Batch, Precondition, Store};

/// Reads an [`Export`](super::Export) into an empty store.
///
/// In the end the store holds the very records that were exported, with the same bodies and facets, under versions of its
/// own: what was found by a key, a unique key, a link or a list is found again, and every API key and password goes on.
/// Sessions that were open when the store was exported are open again, until their time is over.
///
/// **A store of which the restoration failed is to be thrown away**: it holds a part of the records, and only the last
/// line of an export tells whether all lines are as they were written.
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
/// assert_eq!((error.kind(), error.line()), (TransferErrorKind::Cut, Some(2)));
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
    /// The longest line that is read, in bytes; an export writes none that is longer.
    pub const MAX_LINE: usize = MAX_LINE;

    /// Reports no progress.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls this after every piece of at most a thousand records with the report so far.
    #[must_use]
    pub fn on_progress(self, call: impl FnMut(&TransferReport) + Send + 'p) -> Self {
        Self { on_progress: Box::new(call) }
    }

    /// Restores an export. The input is read as it comes, a piece of some megabytes at a time, or a few times the longest
    /// line; records are committed some hundred together. Nobody else should write into the store meanwhile.
    ///
    /// It must be called within a tokio runtime.
    ///
    /// # Errors
    /// `NotEmpty` when the store holds any record: nothing is overwritten, and nothing was read then. `NotAnExport` and
    /// `UnknownVersion`, which leave the store empty, and `Malformed`, `TooLong`, `Cut`, `Damaged`, `Medium`, `Store` and
    /// `Internal`, after which it is to be thrown away.
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
            let Piece { first_line, lines, end } = input.piece().await?;
            let batch = spawn_blocking(move || batch_of(first_line, &lines)).await??;
            if let Some(end) = &end {
                input.finish(end).await?;
            }
            store.commit(batch).await?;
            let report = TransferReport { records: input.records, bytes: input.lines.bytes };
            on_progress(&report);
            if end.is_some() {
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

/// Lines that are restored together.
#[derive(Default)]
struct Piece {
    first_line: u64,
    lines: Vec<Vec<u8>>,
    /// The last line of the export, when it follows these.
    end: Option<Vec<u8>>,
}

struct Input<R> {
    lines: Lines<BufReader<R>>,
    /// Over all lines that were read.
    sum: Hasher,
    /// How many of them are records.
    records: u64,
}

impl<R: AsyncRead + Unpin> Input<R> {
    /// Reads the first line.
    async fn begin(reader: R) -> Result<Self, TransferError> {
        let lines = Lines::new(BufReader::with_capacity(64 * 1024, reader), MAX_LINE);
        let mut input = Self { lines, sum: Hasher::new(), records: 0 };
        let line = input.line().await?.unwrap_or_default();
        Header::check(&line).map_err(|error| error.with_line(1))?;
        input.add(&line);
        Ok(input)
    }

    /// The next lines; they end with the last one of the export, or others follow them.
    async fn piece(&mut self) -> Result<Piece, TransferError> {
        let mut piece = Piece { first_line: self.lines.count + 1, ..Piece::default() };
        let mut size = 0;
        while piece.lines.len() < PIECE_RECORDS && size < PIECE_BYTES {
            let line = self.line().await?;
            let line = line.ok_or_else(|| TransferError::at(TransferErrorKind::Cut, self.lines.count))?;
            if End::begins(&line) {
                piece.end = Some(line);
                break;
            }
            self.add(&line);
            self.records += 1;
            size += line.len();
            piece.lines.push(line);
        }
        Ok(piece)
    }

    /// Finds out whether a line tells of all that was read before it, and is the last.
    async fn finish(&mut self, line: &[u8]) -> Result<(), TransferError> {
        let number = self.lines.count;
        let end = End::parse(line).map_err(|error| error.with_line(number))?;
        if end != (End { records: self.records, crc32: self.sum.clone().finalize() }) {
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
        self.sum.update(line);
        self.sum.update(b"\n");
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
