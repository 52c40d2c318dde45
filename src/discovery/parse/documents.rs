//! JSON documents of several commands in one input, of which each kind has its own parser.

use std::io::{self, BufRead, Read};

use super::encoding::HEAD;
use super::meter::Meter;
use super::nesting::{Nesting, up_to_bracket};
use super::{Format, detect};
use crate::invariant::Invariant;

/// Characters that programs and terminals leave behind a document: NUL and the end of a file of DOS.
const FILLERS: [u8; 2] = [0, 0x1A];

/// A reader of a run of documents: of those that follow one another and have the same format.
///
/// A document whose format is not recognized, such as an empty list, belongs to the run before it.
pub(super) struct DocumentRun<'r> {
    reader: &'r mut dyn BufRead,
    /// The bytes that were read ahead, from `position` on.
    buffer: Vec<u8>,
    position: usize,
    format: Format,
    /// The format of the document behind the run.
    next: Option<Format>,
    /// Whether the place is behind a document, or before the first one of the run.
    is_between: bool,
    /// Whether the format of the document at the place is known.
    is_known: bool,
    nesting: Nesting,
    /// The number of further bytes that are handed out before the next search for a bracket or the end of white space.
    ahead: usize,
    /// The line breaks of the run.
    lines: u64,
}

impl<'r> DocumentRun<'r> {
    /// Reads the first run, whose format is given.
    pub(super) fn new(reader: &'r mut dyn BufRead, format: Format) -> Self {
        Self {
            reader,
            buffer: Vec::new(),
            position: 0,
            format,
            next: None,
            is_between: true,
            is_known: true,
            nesting: Nesting::default(),
            ahead: 0,
            lines: 0,
        }
    }

    /// Begins the next run. Returns its format; `None` at the end of the input.
    pub(super) fn begin_next(&mut self, meter: &mut Meter) -> Option<Format> {
        (0..std::mem::take(&mut self.lines)).for_each(|_| meter.begin_line());
        self.format = self.next.take()?;
        self.is_known = true;
        Some(self.format)
    }

    /// Reads further bytes. Returns whether there are any.
    fn read_chunk(&mut self) -> io::Result<bool> {
        let chunk = match self.reader.fill_buf() {
            Ok(chunk) => chunk.get(..chunk.len().min(HEAD)).asserted_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(true),
            Err(error) => return Err(error),
        };
        // The bytes that were handed out are dropped once they are the larger part, so that each is moved about once.
        if self.position > self.buffer.len() / 2 {
            self.buffer.drain(..self.position);
            self.position = 0;
        }
        self.buffer.extend_from_slice(chunk);
        let length = chunk.len();
        self.reader.consume(length);
        Ok(length > 0)
    }

    fn rest(&self) -> &[u8] {
        self.buffer.get(self.position..).asserted_or_default()
    }

    /// Returns the number of bytes that can be handed out behind a document, and begins the next one.
    fn begin_document(&mut self) -> io::Result<usize> {
        while self.rest().is_empty() && self.read_chunk()? {}
        let rest = self.buffer.get_mut(self.position..).unwrap_or_default();
        let mut blank = 0;
        for byte in rest {
            if FILLERS.contains(byte) {
                *byte = b' ';
            }
            if !byte.is_ascii_whitespace() {
                break;
            }
            blank += 1;
        }
        if blank > 0 {
            return Ok(blank);
        }
        if !std::mem::take(&mut self.is_known) {
            while self.rest().len() < HEAD && self.read_chunk()? {}
            let format = detect::of_document(self.rest()).filter(|format| format.has_documents());
            self.next = format.filter(|format| *format != self.format);
        }
        self.is_between = self.next.is_some();
        Ok(0)
    }
}

impl Read for DocumentRun<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(buffer)?;
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for DocumentRun<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.next.is_some() {
            return Ok(&[]);
        }
        if self.ahead == 0 && self.is_between {
            self.ahead = self.begin_document()?;
            if self.next.is_some() {
                return Ok(&[]);
            }
        }
        if self.ahead == 0 {
            while self.rest().is_empty() && self.read_chunk()? {}
            self.ahead = up_to_bracket(self.rest());
        }
        let rest = self.rest();
        Ok(rest.get(..self.ahead.min(rest.len())).asserted_or_default())
    }

    fn consume(&mut self, amount: usize) {
        let end = self.position.saturating_add(amount).min(self.buffer.len());
        let consumed = self.buffer.get(self.position..end).asserted_or_default();
        self.lines = self.lines.saturating_add(memchr::memchr_iter(b'\n', consumed).count() as u64);
        self.is_between |= self.nesting.note(consumed);
        self.ahead = self.ahead.saturating_sub(consumed.len());
        self.position = end;
    }
}
