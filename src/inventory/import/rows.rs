//! The rows of an import, each with one host.

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncRead, BufReader};

#[cfg(feature = "csv")]
use super::csv::{Cells, CsvRows};
#[cfg(feature = "csv")]
use super::encoding::Utf8Text;
use super::row_fields::RowFields;
#[cfg(feature = "csv")]
use crate::inventory::Error;
use crate::lines::{Line, Lines};
#[cfg(feature = "csv")]
use crate::model::NetworkId;
use crate::wire::Refusal;

/// Size of the buffer through which input is read, in bytes.
const BUFFER: usize = 64 * 1024;

/// The input of an import, row by row.
#[derive(Debug)]
pub(super) enum ImportRows<R> {
    Lines(Lines<BufReader<R>>),
    #[cfg(feature = "csv")]
    Csv(CsvRows<Utf8Text<R>>),
}

/// A row that is not parsed yet.
#[derive(Debug)]
pub(super) enum ImportRow {
    /// A line of JSON. It may be blank.
    Json(Vec<u8>),
    #[cfg(feature = "csv")]
    Cells(Cells),
    /// A row that cannot be read.
    Refused(Refusal),
}

impl<R: AsyncRead + Unpin> ImportRows<R> {
    /// Begins with JSON lines.
    pub(super) fn of_lines(input: R, max_length: usize) -> Self {
        Self::Lines(Lines::new(BufReader::with_capacity(BUFFER, input), max_length))
    }

    /// Begins with a CSV, whose header is read. Rows without a network are on the given one.
    #[cfg(feature = "csv")]
    pub(super) async fn of_csv(
        input: R,
        max_length: usize,
        network: Option<NetworkId>,
    ) -> Result<Self, Error> {
        let input = Utf8Text::new(BufReader::with_capacity(BUFFER, input));
        CsvRows::begin(input, max_length, network).await.map(Self::Csv)
    }

    /// Returns the fields that rows have; `None` for lines of JSON.
    pub(super) fn fields(&self) -> Option<Arc<RowFields>> {
        match self {
            Self::Lines(_) => None,
            #[cfg(feature = "csv")]
            Self::Csv(rows) => Some(rows.fields()),
        }
    }

    /// Returns the number of lines read so far.
    pub(super) const fn count(&self) -> u64 {
        match self {
            Self::Lines(lines) => lines.count,
            #[cfg(feature = "csv")]
            Self::Csv(rows) => rows.lines(),
        }
    }

    /// Returns the number of bytes read so far.
    pub(super) const fn bytes(&self) -> u64 {
        match self {
            Self::Lines(lines) => lines.bytes,
            #[cfg(feature = "csv")]
            Self::Csv(rows) => rows.bytes(),
        }
    }

    /// Returns the next row and the number of its first line; `None` at the end.
    pub(super) async fn next(&mut self) -> io::Result<Option<(u64, ImportRow)>> {
        match self {
            Self::Lines(lines) => {
                let Some(line) = lines.next().await? else { return Ok(None) };
                let number = lines.count;
                Ok(Some((
                    number,
                    match line {
                        Line::Whole(bytes) => ImportRow::Json(bytes),
                        Line::TooLong => {
                            let reason = format!("the line is longer than {} bytes", lines.max_length);
                            ImportRow::Refused(Refusal { line: number, field: None, reason, code: None })
                        }
                    },
                )))
            }
            #[cfg(feature = "csv")]
            Self::Csv(rows) => rows.next().await,
        }
    }
}

impl ImportRow {
    /// Returns about how many bytes the row has as a line of JSON.
    pub(super) fn likely_length(&self) -> usize {
        match self {
            Self::Json(bytes) => bytes.len(),
            #[cfg(feature = "csv")]
            Self::Cells(cells) => cells.likely_length(),
            Self::Refused(_) => 0,
        }
    }

    /// Returns the host as a line of JSON; `None` for a blank line.
    pub(super) fn into_json(self) -> Result<Option<Vec<u8>>, Refusal> {
        match self {
            Self::Json(bytes) if bytes.trim_ascii().is_empty() => Ok(None),
            Self::Json(bytes) => Ok(Some(bytes)),
            #[cfg(feature = "csv")]
            Self::Cells(cells) => cells.to_json().map(Some),
            Self::Refused(refusal) => Err(refusal),
        }
    }
}
