//! Documents within a recording of a terminal: prompts, commands and messages precede them, and follow those of JSON.

use std::io::{self, BufRead, Read};

use super::encoding::Utf8Input;
use super::meter::Meter;
use super::nesting::{Nesting, up_to_bracket};
use super::peek_buffer::PeekBuffer;
use super::{Format, detect, terminal};
use crate::discovery::report::{Report, Warning, WarningCode};
use crate::invariant::Invariant;
use crate::printable::printable;

/// The characters of a line that are shown in a warning.
const MAX_EXAMPLE: usize = 80;

/// The bytes of a line that show whether a document begins there, with the escape sequences before it.
const MAX_BEGINNING: usize = 256;

/// The place in a recording.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Within a document, or at its beginning.
    Document,
    /// Behind a document, on its last line.
    LastLine,
    /// At the beginning or the end of a line between documents.
    Between,
}

/// A reader of the documents of a recording, without the text between them. Its line breaks stay, so that lines keep their
/// numbers.
pub(super) struct Capture<'r> {
    input: PeekBuffer<'r>,
    /// Whether the documents are JSON, of which several may follow. XML is the rest of the input.
    is_json: bool,
    nesting: Nesting,
    /// The number of further bytes that are handed out before the next search for a closing bracket.
    ahead: usize,
    place: Place,
    /// The number of lines that are no documents, and the first of them.
    skipped: u64,
    example: Option<String>,
}

impl<'r> Capture<'r> {
    /// Skips the lines before the first document of a recording. Returns `None` for other input, of which nothing is
    /// skipped.
    pub(super) fn begin(format: Format, input: &'r mut Utf8Input<'_>, meter: &mut Meter) -> Option<Self> {
        let length = detect::before_recorded(format, input.head())?;
        let is_json = input.head().get(length) != Some(&b'<');
        let before = input.head().get(..length).asserted_or_default().to_vec();
        let lines: Vec<&[u8]> = before.split_inclusive(|byte| *byte == b'\n').collect();
        meter.pass_lines(memchr::memchr_iter(b'\n', &before).count() as u64);
        meter.add_bytes(length);
        input.consume(length);
        let mut capture = Self {
            input: PeekBuffer::new(input),
            is_json,
            nesting: Nesting::default(),
            ahead: 0,
            place: Place::Document,
            skipped: 0,
            example: None,
        };
        lines.into_iter().for_each(|line| capture.skip(line));
        Some(capture)
    }

    /// Adds a warning of the lines that were skipped to a report.
    pub(super) fn finish(self, report: &mut Report) {
        if self.skipped > 0 {
            let warning = Warning::new(WarningCode::TextIgnored, self.skipped, None);
            report.warnings.push(warning.with_example(&self.example.asserted_or_default()));
        }
    }

    /// Counts a line that is no document.
    fn skip(&mut self, line: &[u8]) {
        let line = line.trim_ascii();
        if !line.is_empty() {
            self.skipped += 1;
            self.example.get_or_insert_with(|| printable(&String::from_utf8_lossy(line), MAX_EXAMPLE));
        }
    }

    /// Skips text up to the line break, unless a document begins at the place.
    fn skip_line(&mut self) -> io::Result<()> {
        if self.place == Place::Between && self.skip_to_document()? {
            self.place = Place::Document;
            return Ok(());
        }
        let mut line = Vec::new();
        loop {
            self.input.fill(1)?;
            let rest = self.input.rest();
            let length = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let is_end = rest.is_empty() || length < rest.len();
            let room = (4 * MAX_EXAMPLE).saturating_sub(line.len());
            line.extend_from_slice(rest.get(..length.min(room)).asserted_or_default());
            self.input.consume(length);
            if is_end {
                break;
            }
        }
        self.skip(&line);
        Ok(())
    }

    /// Skips the escape sequences before a document. Returns whether one begins there.
    fn skip_to_document(&mut self) -> io::Result<bool> {
        self.input.fill(MAX_BEGINNING)?;
        let rest = self.input.rest();
        let line = rest.get(..rest.len().min(MAX_BEGINNING)).asserted_or_default();
        let controls = terminal::controls_before(line);
        let text = line.get(controls..).asserted_or_default();
        let is_document = matches!(text.first(), Some(b'{' | b'[')) && detect::is_structured(text);
        if is_document {
            self.input.consume(controls);
        }
        Ok(is_document)
    }
}

impl Read for Capture<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(buffer)?;
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for Capture<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.place != Place::Document {
            self.skip_line()?;
        }
        self.input.fill(1)?;
        let rest = self.input.rest();
        if self.place != Place::Document {
            return Ok(rest.get(..rest.len().min(1)).asserted_or_default());
        }
        if !self.is_json {
            return Ok(rest);
        }
        if self.ahead == 0 {
            // The end of a document may be any of its closing brackets.
            self.ahead = up_to_bracket(rest);
        }
        Ok(rest.get(..self.ahead.min(rest.len())).asserted_or_default())
    }

    fn consume(&mut self, amount: usize) {
        let consumed = self.input.consume(amount);
        if self.place != Place::Document {
            // The line break behind skipped text.
            self.place = if consumed.is_empty() { self.place } else { Place::Between };
        } else if self.is_json {
            self.ahead = self.ahead.saturating_sub(consumed.len());
            if self.nesting.note(consumed) {
                self.place = Place::LastLine;
            }
        }
    }
}
