//! Documents within a recording of a terminal: prompts, commands and messages precede them, and follow those of JSON.

use std::io::{self, BufRead, Read};

use super::detect;
use super::encoding::Utf8Input;
use super::meter::Meter;
use super::nesting::{Nesting, up_to_bracket};
use super::terminal;
use crate::discovery::report::{Report, Warning, WarningCode};
use crate::invariant::Invariant;
use crate::printable::printable;

/// The characters of a line that are shown in a warning.
const MAX_EXAMPLE: usize = 80;

/// A reader of the documents of a recording, without the lines between them.
pub(super) struct Capture<'r> {
    reader: &'r mut dyn BufRead,
    /// Whether the documents are JSON, of which several may follow. XML is the rest of the input.
    is_json: bool,
    nesting: Nesting,
    /// The number of further bytes that are handed out before the next search for a closing bracket.
    ahead: usize,
    /// Whether a document has ended, so that its line and those before the next one are skipped.
    is_between: bool,
    /// The number of lines that are no documents, and the first of them.
    skipped: u64,
    example: Option<String>,
}

impl<'r> Capture<'r> {
    /// Skips the lines before the first document of a recording. Returns `None` for other input, of which nothing is
    /// skipped.
    pub(super) fn begin(input: &'r mut Utf8Input<'_>, meter: &mut Meter) -> Option<Self> {
        let length = detect::before_document(input.head())?;
        let is_json = input.head().get(length) != Some(&b'<');
        let before = input.head().get(..length).asserted_or_default().to_vec();
        let lines = before.split_inclusive(|byte| *byte == b'\n');
        let lines: Vec<&[u8]> = lines.inspect(|_| meter.begin_line()).collect();
        meter.add_bytes(length);
        input.consume(length);
        let mut capture = Self {
            reader: input,
            is_json,
            nesting: Nesting::default(),
            ahead: 0,
            is_between: false,
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

    /// Skips the rest of the line behind a document, and all lines up to the next one.
    fn skip_lines(&mut self) -> io::Result<()> {
        let (mut line, mut is_at_start) = (Vec::new(), false);
        loop {
            let chunk = self.reader.fill_buf()?;
            if chunk.is_empty() {
                break;
            }
            let controls = if is_at_start { terminal::controls_before(chunk) } else { 0 };
            let is_document = is_at_start && begins_document(chunk.get(controls..).asserted_or_default());
            if is_document {
                self.reader.consume(controls);
                break;
            }
            let newline = memchr::memchr(b'\n', chunk);
            let part = chunk.get(..newline.unwrap_or(chunk.len())).asserted_or_default();
            let room = (4 * MAX_EXAMPLE).saturating_sub(line.len());
            line.extend_from_slice(part.get(..part.len().min(room)).asserted_or_default());
            let length = part.len() + usize::from(newline.is_some());
            self.reader.consume(length);
            is_at_start = newline.is_some();
            if is_at_start {
                self.skip(&std::mem::take(&mut line));
            }
        }
        self.skip(&line);
        self.is_between = false;
        Ok(())
    }
}

/// Returns whether a line begins a document. Some prompts begin with a bracket, too.
fn begins_document(line: &[u8]) -> bool {
    match line {
        [b'[', next, ..] => matches!(next, b'{' | b'[' | b']' | b'"' | b' ' | b'\r' | b'\n'),
        [b'{', next, ..] => matches!(next, b'"' | b'}' | b' ' | b'\r' | b'\n'),
        _ => false,
    }
}

impl Read for Capture<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(buffer)?;
        if self.is_json {
            self.is_between |= self.nesting.note(buffer.get(..length).asserted_or_default());
            self.ahead = self.ahead.saturating_sub(length);
        }
        self.reader.consume(length);
        Ok(length)
    }
}

impl BufRead for Capture<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.is_between {
            self.skip_lines()?;
        }
        let chunk = self.reader.fill_buf()?;
        if !self.is_json {
            return Ok(chunk);
        }
        if self.ahead == 0 {
            // The end of a document may be any of its closing brackets.
            self.ahead = up_to_bracket(chunk);
        }
        Ok(chunk.get(..self.ahead.min(chunk.len())).asserted_or_default())
    }

    fn consume(&mut self, amount: usize) {
        if self.is_json
            && let Ok(chunk) = self.reader.fill_buf()
        {
            self.is_between |= self.nesting.note(chunk.get(..amount).unwrap_or(chunk));
            self.ahead = self.ahead.saturating_sub(amount);
        }
        self.reader.consume(amount);
    }
}
