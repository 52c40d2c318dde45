//! Lines of bounded length from a reader.

use std::io::BufRead;

use memchr::memchr;

use super::meter::Meter;
use super::{ParseError, ParseErrorKind};
use crate::discovery::report::WarningCode;
use crate::fair_threads::yield_turn;
use crate::invariant::Invariant;

/// The longest line that is kept whole. SNMP values have at most 64 KiB, which a walk writes as 192 KiB of digits.
const MAX_LINE: usize = 256 * 1024;

/// Reads lines into one buffer.
pub(super) struct BoundedLines<'r> {
    reader: &'r mut dyn BufRead,
    line: Vec<u8>,
}

/// A line without its end.
#[derive(Clone, Copy)]
pub(super) struct BoundedLine<'l> {
    pub(super) bytes: &'l [u8],
    /// Whether a newline follows. Without one, the input may be cut off within the line.
    pub(super) has_newline: bool,
}

impl<'r> BoundedLines<'r> {
    pub(super) fn new(reader: &'r mut dyn BufRead) -> Self {
        Self { reader, line: Vec::new() }
    }

    /// Reads the next line. Returns `None` at the end of the input.
    pub(super) fn next(&mut self, meter: &mut Meter) -> Result<Option<BoundedLine<'_>>, ParseError> {
        yield_turn();
        self.line.clear();
        let (mut begun, mut has_newline) = (false, false);
        let mut cut = false;
        loop {
            let chunk = match self.reader.fill_buf() {
                Ok(chunk) => chunk,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(meter.error(ParseErrorKind::Io(error))),
            };
            if chunk.is_empty() {
                break;
            }
            if !begun {
                meter.begin_line();
                begun = true;
            }
            let newline = memchr(b'\n', chunk);
            let content = chunk.get(..newline.unwrap_or(chunk.len())).asserted_or_default();
            let kept = content.len().min(MAX_LINE.saturating_sub(self.line.len()));
            cut |= kept < content.len();
            self.line.extend_from_slice(content.get(..kept).asserted_or_default());
            let consumed = newline.map_or(content.len(), |position| position + 1);
            self.reader.consume(consumed);
            meter.add_bytes(consumed);
            meter.add_steps(consumed + kept);
            if newline.is_some() {
                has_newline = true;
                break;
            }
        }
        if !begun {
            return Ok(None);
        }
        if cut {
            meter.warn(WarningCode::ValueTruncated);
        }
        meter.check()?;
        // Recordings of terminals have several carriage returns at the end of a line.
        let end = self.line.iter().rposition(|byte| *byte != b'\r').map_or(0, |last| last + 1);
        Ok(Some(BoundedLine { bytes: self.line.get(..end).asserted_or_default(), has_newline }))
    }
}
