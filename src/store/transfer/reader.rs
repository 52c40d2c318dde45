//! Reading of an export in chunks.

use bytes::Bytes;
use crc32fast::Hasher;
use serde_json::Value;
use tokio::io::{AsyncRead, BufReader};
use tokio::task::spawn_blocking;
use uuid::Uuid;

use super::line::{self, Header, Trailer};
use super::{CHUNK_RECORDS, MAX_LINE, TransferError, TransferErrorKind, TransferReport};
use crate::lines::{Line, Lines};
use crate::store::{Facets, Key};

/// Size at which a chunk that is being restored ends, in bytes. The line that reaches it is the last of the chunk.
const CHUNK_BYTES: usize = 4 * 1024 * 1024;

/// A record of an export.
pub(crate) struct ExportedRecord {
    pub(crate) key: Key,
    pub(crate) facets: Facets,
    pub(crate) body: Bytes,
    /// The number of its line.
    pub(crate) line: u64,
}

/// Records that are restored in one commit.
pub(crate) struct ExportedRecords {
    pub(crate) records: Vec<ExportedRecord>,
    /// Whether the export ends with them. It has then been verified.
    pub(crate) is_last: bool,
}

/// Lines that are restored in one commit.
#[derive(Default)]
struct Chunk {
    first_line: u64,
    lines: Vec<Vec<u8>>,
    /// The last line of the export, if it follows these lines.
    trailer: Option<Vec<u8>>,
}

/// Reads an export in chunks.
pub(crate) struct ExportReader<R> {
    lines: Lines<BufReader<R>>,
    /// The organization whose records it has, and the form of their facets; `None`: those of all.
    organization: Option<(Uuid, Value)>,
    /// Checksum of all lines read so far.
    checksum: Hasher,
    /// Number of records among them.
    records: u64,
}

impl<R: AsyncRead + Unpin> ExportReader<R> {
    /// Reads and checks the header.
    pub(crate) async fn begin(reader: R) -> Result<Self, TransferError> {
        let lines = Lines::new(BufReader::with_capacity(64 * 1024, reader), MAX_LINE);
        let mut input = Self { lines, organization: None, checksum: Hasher::new(), records: 0 };
        let line = input.line().await?.unwrap_or_default();
        input.organization = Header::check(&line).map_err(|error| error.with_line(1))?;
        input.add(&line);
        Ok(input)
    }

    /// Returns the organization whose records the export has, and the form of their facets, or `None` for those of all.
    pub(crate) fn organization(&self) -> Option<(Uuid, &Value)> {
        self.organization.as_ref().map(|(id, form)| (*id, form))
    }

    /// Returns the number of records and bytes read so far.
    pub(crate) fn report(&self) -> TransferReport {
        TransferReport { records: self.records, bytes: self.lines.bytes }
    }

    /// Reads the next records. The checksum is verified with the last of them.
    pub(crate) async fn records(&mut self) -> Result<ExportedRecords, TransferError> {
        let Chunk { first_line, lines, trailer } = self.chunk().await?;
        let records = spawn_blocking(move || records_of(first_line, &lines)).await??;
        if let Some(trailer) = &trailer {
            self.finish(trailer).await?;
        }
        Ok(ExportedRecords { records, is_last: trailer.is_some() })
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

fn records_of(first_line: u64, lines: &[Vec<u8>]) -> Result<Vec<ExportedRecord>, TransferError> {
    let parse = |(number, line): (u64, &Vec<u8>)| {
        let (key, facets, body) = line::parse(line).map_err(|error| error.with_line(number))?;
        Ok(ExportedRecord { key, facets, body, line: number })
    };
    (first_line..).zip(lines).map(parse).collect()
}
