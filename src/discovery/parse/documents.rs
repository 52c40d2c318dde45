//! JSON documents of several commands in one input, of which each kind has its own parser.

use std::io::{self, BufRead, Read};

use super::encoding::HEAD;
use super::meter::Meter;
use super::nesting::{Nesting, up_to_bracket};
use super::peek_buffer::PeekBuffer;
use super::{Format, detect};
use crate::invariant::Invariant;

/// Characters that programs and terminals leave behind a document: NUL and the end of a file of DOS.
const FILLERS: [u8; 2] = [0, 0x1A];

/// A reader of a run of documents: of those that follow one another and have the same format.
///
/// A document whose format is not recognized, such as an empty list, belongs to the run before it.
pub(super) struct DocumentRun<'r> {
    input: PeekBuffer<'r>,
    format: Format,
    /// The format that the first document of the run looks like. Further documents of that look are of the stated format, too.
    look: Option<Format>,
    /// The format of the document behind the run.
    next: Option<Format>,
    /// Whether the place is behind a document, or before the first one of the run.
    is_between: bool,
    /// Whether the format of the document at the place is known.
    is_known: bool,
    nesting: Nesting,
    /// The number of further bytes that are handed out before the next search for a bracket or the end of white space.
    ahead: usize,
    /// The number of lines before the place.
    lines: u64,
}

impl<'r> DocumentRun<'r> {
    /// Reads the first run, whose format is given. A number of lines precedes it.
    pub(super) fn new(reader: &'r mut dyn BufRead, format: Format, lines: u64) -> Self {
        Self {
            input: PeekBuffer::new(reader),
            format,
            look: None,
            next: None,
            is_between: true,
            is_known: true,
            nesting: Nesting::default(),
            ahead: 0,
            lines,
        }
    }

    /// Begins the next run. Returns its format; `None` at the end of the input.
    pub(super) fn begin_next(&mut self, meter: &mut Meter) -> Option<Format> {
        meter.pass_lines(self.lines);
        self.format = self.next.take()?;
        self.is_known = true;
        Some(self.format)
    }

    /// Returns the number of bytes that can be handed out behind a document, and begins the next one.
    fn begin_document(&mut self) -> io::Result<usize> {
        self.input.fill(1)?;
        let mut blank = 0;
        for byte in self.input.rest_mut() {
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
        self.input.fill(HEAD)?;
        let format = detect::of_document(self.input.rest()).filter(|format| format.has_documents());
        if std::mem::take(&mut self.is_known) {
            self.look = format;
        } else {
            self.next = format.filter(|format| ![Some(self.format), self.look].contains(&Some(*format)));
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
            self.input.fill(1)?;
            self.ahead = up_to_bracket(self.input.rest());
        }
        let rest = self.input.rest();
        Ok(rest.get(..self.ahead.min(rest.len())).asserted_or_default())
    }

    fn consume(&mut self, amount: usize) {
        let consumed = self.input.consume(amount);
        self.lines = self.lines.saturating_add(memchr::memchr_iter(b'\n', consumed).count() as u64);
        self.is_between |= self.nesting.note(consumed);
        self.ahead = self.ahead.saturating_sub(consumed.len());
    }
}
