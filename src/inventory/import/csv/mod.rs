//! Rows of a CSV.

mod columns;

use std::io::{self, Cursor};
use std::sync::Arc;

use csv_core::{ReadFieldResult, Reader, ReaderBuilder};
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, Chain};

use self::columns::Columns;
use super::row_fields::RowFields;
use super::rows::ImportRow;
use crate::invariant::Invariant;
use crate::inventory::Error;
use crate::model::NetworkId;
use crate::wire::Refusal;

/// Maximum length of a header, in bytes.
const MAX_HEADER: usize = 64 * 1024;

/// The bytes that may separate cells. Spreadsheets write semicolons where a comma separates decimals, and tabs in their texts.
const DELIMITERS: [u8; 3] = *b",;\t";

/// Maximum number of cells of a record that are kept. More cells are too many anyway, because hosts have
/// fewer fields.
const MAX_CELLS: usize = 1_000;

/// A CSV of which the header was read.
#[derive(Debug)]
pub(in crate::inventory::import) struct CsvRows<R> {
    records: Records<Chain<Cursor<Vec<u8>>, R>>,
    max_length: usize,
    columns: Arc<Columns>,
}

/// The cells of one row.
#[derive(Debug)]
pub(in crate::inventory::import) struct Cells {
    line: u64,
    record: Record,
    columns: Arc<Columns>,
    /// Maximum length of the host as JSON, in bytes.
    max_length: usize,
}

/// The cells of a record, one behind the other, without their quotes.
#[derive(Debug, Default)]
struct Record {
    text: Vec<u8>,
    /// Where each cell ends in the text.
    ends: Vec<usize>,
}

/// Splits input into records.
#[derive(Debug)]
struct Records<R> {
    reader: R,
    splitter: Box<Reader>,
    /// Number of line breaks read.
    breaks: u64,
    /// Number of lines read.
    lines: u64,
    bytes: u64,
}

/// The reason why no record was read.
#[derive(Debug)]
enum Fault {
    TooLong,
    /// The input ends within quotes.
    Unclosed,
}

impl<R: AsyncBufRead + Unpin> CsvRows<R> {
    /// Reads the header.
    pub(super) async fn begin(
        mut reader: R,
        max_length: usize,
        network: Option<NetworkId>,
    ) -> Result<Self, Error> {
        let max_header = MAX_HEADER.min(max_length);
        let first_line = first_line(&mut reader, max_header).await.map_err(Error::unreadable)?;
        let splitter = Box::new(ReaderBuilder::new().delimiter(delimiter(&first_line)).build());
        let reader = Cursor::new(first_line).chain(reader);
        let mut records = Records { reader, splitter, breaks: 0, lines: 0, bytes: 0 };
        records.skip_byte_order_mark().await.map_err(Error::unreadable)?;
        let header = records.next(max_header).await.map_err(Error::unreadable)?;
        let header = match header {
            Some((_, Ok(header))) => header,
            // The input is probably not a CSV: report its missing columns.
            Some((_, Err(_))) | None => Record::default(),
        };
        let columns = Arc::new(Columns::read(header.cells(), network)?);
        Ok(Self { records, max_length, columns })
    }

    /// Returns the next row that is not blank.
    pub(super) async fn next(&mut self) -> io::Result<Option<(u64, ImportRow)>> {
        while let Some((line, record)) = self.records.next(self.max_length).await? {
            let reason = match record {
                Ok(record) if record.text.is_empty() => continue,
                Ok(record) => {
                    let (columns, max_length) = (Arc::clone(&self.columns), self.max_length);
                    return Ok(Some((line, ImportRow::Cells(Cells { line, record, columns, max_length }))));
                }
                Err(Fault::TooLong) => format!("the row is longer than {} bytes", self.max_length),
                Err(Fault::Unclosed) => "the row ends within quotes".to_owned(),
            };
            return Ok(Some((line, ImportRow::Refused(Refusal { line, field: None, reason, code: None }))));
        }
        Ok(None)
    }
}

/// Reads the first line that is not blank, with its line break, or more than `max_length` bytes.
async fn first_line<R: AsyncBufRead + Unpin>(reader: &mut R, max_length: usize) -> io::Result<Vec<u8>> {
    let is_break = |byte: &u8| matches!(byte, b'\r' | b'\n');
    let mut line = Vec::new();
    let mut is_begun = false;
    while line.len() <= max_length {
        let input = reader.fill_buf().await?;
        let breaks = if is_begun { 0 } else { input.iter().take_while(|byte| is_break(byte)).count() };
        let end = input.iter().skip(breaks).position(is_break);
        let taken = end.map_or(input.len(), |end| breaks + end + 1);
        if taken == 0 {
            break;
        }
        is_begun |= breaks < input.len();
        line.extend_from_slice(input.get(..taken).asserted_or_default());
        reader.consume(taken);
        if end.is_some() {
            break;
        }
    }
    Ok(line)
}

/// Returns the delimiter of a file with this header. The names of columns have none, so that the first one is that of all cells.
fn delimiter(header: &[u8]) -> u8 {
    let found = header.iter().find(|byte| DELIMITERS.contains(byte));
    found.copied().unwrap_or(b',')
}

impl<R> CsvRows<R> {
    pub(super) fn fields(&self) -> Arc<RowFields> {
        Arc::new(self.columns.fields())
    }

    pub(super) const fn lines(&self) -> u64 {
        self.records.lines
    }

    pub(super) const fn bytes(&self) -> u64 {
        self.records.bytes
    }
}

impl Cells {
    /// Returns about how long the host is as JSON, in bytes.
    pub(super) fn likely_length(&self) -> usize {
        self.columns.likely_length(self.record.cells())
    }

    /// Returns the host as JSON.
    pub(super) fn to_json(&self) -> Result<Vec<u8>, Refusal> {
        self.columns.host(self.line, self.record.cells(), self.max_length)
    }
}

impl Record {
    fn cells(&self) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let cell = self.text.get(start..*end).asserted_or_default();
            start = *end;
            cell
        })
    }
}

impl<R: AsyncBufRead + Unpin> Records<R> {
    /// Some editors begin UTF-8 files with a byte order mark.
    async fn skip_byte_order_mark(&mut self) -> io::Result<()> {
        for expected in *b"\xEF\xBB\xBF" {
            // A file with only a part of the mark is not UTF-8, and its header will be refused.
            if self.reader.fill_buf().await?.first() != Some(&expected) {
                return Ok(());
            }
            self.consume(1);
        }
        Ok(())
    }

    /// Returns the next record and the number of its first line; `None` at the end.
    async fn next(&mut self, max_length: usize) -> io::Result<Option<(u64, Result<Record, Fault>)>> {
        if !self.skip_breaks().await? {
            return Ok(None);
        }
        let line = self.breaks + 1;
        let mut record = Record::default();
        let (mut length, mut last) = (0, 0);
        let mut output = [0; 1024];
        loop {
            let input = self.reader.fill_buf().await?;
            let is_end = input.is_empty();
            // At the end, a line break is added, which completes the last cell unless it has an open
            // quote.
            let (result, read, written) =
                self.splitter.read_field(if is_end { b"\n" } else { input }, &mut output);
            if !is_end {
                let taken = input.get(..read).asserted_or_default();
                self.breaks += memchr::memchr_iter(b'\n', taken).count() as u64;
                last = taken.last().copied().unwrap_or(last);
                length += read;
                self.consume(read);
            }
            // Beyond the limit, the rest of the record is skipped.
            let is_too_long = length > max_length;
            if is_too_long {
                record = Record::default();
            } else {
                record.text.extend_from_slice(output.get(..written).asserted_or_default());
            }
            let is_field = matches!(result, ReadFieldResult::Field { .. });
            if is_field && !is_too_long && record.ends.len() < MAX_CELLS {
                record.ends.push(record.text.len());
            }
            if is_end || matches!(result, ReadFieldResult::Field { record_end: true }) {
                self.lines = self.breaks + u64::from(last != b'\n');
                let fault = match () {
                    () if is_too_long => Some(Fault::TooLong),
                    () if !is_field => Some(Fault::Unclosed),
                    () => None,
                };
                return Ok(Some((line, fault.map_or(Ok(record), Err))));
            }
        }
    }

    /// Skips line breaks. Returns whether more input follows.
    async fn skip_breaks(&mut self) -> io::Result<bool> {
        loop {
            let input = self.reader.fill_buf().await?;
            let breaks = input.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            let (is_end, is_begun) = (input.is_empty(), breaks < input.len());
            self.breaks +=
                memchr::memchr_iter(b'\n', input.get(..breaks).asserted_or_default()).count() as u64;
            self.lines = self.lines.max(self.breaks);
            self.consume(breaks);
            if is_end || is_begun {
                return Ok(is_begun);
            }
        }
    }

    fn consume(&mut self, bytes: usize) {
        self.reader.consume(bytes);
        self.bytes += bytes as u64;
    }
}
