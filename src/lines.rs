use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

use crate::invariant::Invariant;

/// Returns whether a text that should begin with an ASCII character is UTF-16 or UTF-32.
pub(crate) fn is_utf_16(text: &[u8]) -> bool {
    matches!(text, [0, ..] | [_, 0, ..] | [0xFE, 0xFF, ..] | [0xFF, 0xFE, ..])
}

/// A line of the input.
#[derive(Debug)]
pub(crate) enum Line {
    /// Its bytes, without the end of the line.
    Whole(Vec<u8>),
    /// It was longer than allowed; its bytes were skipped.
    TooLong,
}

/// Reads lines of bounded length from any input.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: R,
    pub(crate) max_length: usize,
    /// Lines read.
    pub(crate) count: u64,
    /// Bytes taken from the reader.
    pub(crate) bytes: u64,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(crate) const fn new(reader: R, max_length: usize) -> Self {
        Self { reader, max_length, count: 0, bytes: 0 }
    }

    /// The next line; `None` at the end. The last line need not be ended.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line>> {
        let mut line = Vec::new();
        let mut too_long = false;
        let mut begun = false;
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                self.count += u64::from(begun);
                return Ok(begun.then(|| finish(line, too_long)));
            }
            begun = true;
            let end = memchr::memchr(b'\n', available);
            let part = available.get(..end.unwrap_or(available.len())).asserted_or_default();
            too_long |= line.len() + part.len() > self.max_length;
            if too_long {
                line = Vec::new();
            } else {
                line.extend_from_slice(part);
            }
            let taken = part.len() + usize::from(end.is_some());
            self.reader.consume(taken);
            self.bytes += taken as u64;
            if end.is_some() {
                self.count += 1;
                return Ok(Some(finish(line, too_long)));
            }
        }
    }
}

fn finish(line: Vec<u8>, too_long: bool) -> Line {
    if too_long { Line::TooLong } else { Line::Whole(line) }
}
