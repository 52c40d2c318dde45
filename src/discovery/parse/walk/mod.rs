//! Output of net-snmp's `snmpwalk`, numeric or symbolic.

mod oid;
mod symbols;
mod value;

use memchr::memmem;

use super::lines::{Line, Lines};
use super::meter::Meter;
use super::mib::Mib;
use super::{ParseError, ParseErrorKind};
use crate::discovery::report::WarningCode;
use oid::{Resolution, resolve};

pub(super) use oid::parse_numeric;

/// The longest variable with all its lines. Further lines are cut off.
const MAX_VARIABLE: usize = 256 * 1024;
/// The lines without any variable after which the input counts as another format.
const MAX_LEADING_LINES: u64 = 1_000;
const EXPECTED: &str = "an SNMP walk: no line has the form `OID = TYPE: value`";

/// Reads all variables of a walk.
pub(super) fn read(lines: &mut Lines<'_>, mib: &mut Mib, meter: &mut Meter) -> Result<(), ParseError> {
    let mut variable = Variable::default();
    let mut is_ended = true;
    while let Some(Line { bytes: line, has_newline }) = lines.next(meter)? {
        is_ended = has_newline;
        let marker = marker(line);
        if marker.is_none() && begins_variable(line) {
            variable.flush(mib, meter);
            variable.begin(line);
        } else if let Some(marker) = marker {
            variable.flush(mib, meter);
            variable.ended = true;
            if marker == Marker::Failure {
                meter.truncate();
            }
        } else if variable.started && !has_newline && !variable.has_open_quote() {
            // Either the rest of the value or the beginning of another variable.
            variable.flush(mib, meter);
            meter.truncate();
            is_ended = true;
        } else if variable.started {
            variable.extend(line, meter);
        } else if !line.trim_ascii().is_empty() {
            meter.skip(WarningCode::RowMalformed);
            if meter.line() > MAX_LEADING_LINES {
                return Err(meter.error(ParseErrorKind::WrongFormat(EXPECTED)));
            }
        }
    }
    if !variable.started && !variable.ended {
        return Err(meter.error(ParseErrorKind::WrongFormat(EXPECTED)));
    }
    variable.finish(is_ended, mib, meter);
    meter.check()
}

/// A variable, with the further lines of its value.
#[derive(Default)]
struct Variable {
    text: Vec<u8>,
    arcs: Vec<u64>,
    /// Whether any variable was begun.
    started: bool,
    /// Whether the walk stated its own end.
    ended: bool,
    is_read: bool,
    malformed: bool,
    lossy: bool,
    cut: bool,
}

impl Variable {
    /// Begins a variable. Only the first line is kept of one that no table needs.
    fn begin(&mut self, line: &[u8]) {
        let (name, value) = split(line).unwrap_or((line, b""));
        let resolution = resolve(name, &mut self.arcs);
        self.is_read =
            matches!(resolution, Resolution::Complete | Resolution::Lossy) && Mib::covers(&self.arcs);
        self.malformed = resolution == Resolution::Malformed;
        self.lossy = resolution == Resolution::Lossy;
        self.text.clear();
        self.text.extend_from_slice(value);
        self.started = true;
        self.ended = false;
        self.cut = false;
    }

    fn extend(&mut self, line: &[u8], meter: &mut Meter) {
        if !self.is_read {
            return;
        }
        let room = MAX_VARIABLE.saturating_sub(self.text.len());
        self.cut |= line.len() >= room;
        if !self.cut {
            self.text.push(b'\n');
            self.text.extend_from_slice(line);
            meter.add_steps(line.len());
        }
    }

    fn has_open_quote(&self) -> bool {
        self.is_read && value::has_open_quote(&self.text)
    }

    fn flush(&mut self, mib: &mut Mib, meter: &mut Meter) {
        if self.malformed {
            meter.skip(WarningCode::RowMalformed);
        }
        if self.is_read {
            meter.add_steps(self.text.len().saturating_mul(4) + self.arcs.len());
            if self.cut {
                meter.warn(WarningCode::ValueTruncated);
            }
            match value::parse(&self.text) {
                Ok(Some(value)) => mib.accept(&self.arcs, self.lossy, &value, meter),
                Ok(None) => {}
                Err(value::Invalid) => meter.warn(WarningCode::ValueInvalid),
            }
        }
        self.is_read = false;
        self.malformed = false;
    }

    /// Ends the input. The last value is dropped if it may be cut off.
    fn finish(&mut self, has_newline: bool, mib: &mut Mib, meter: &mut Meter) {
        let whole =
            self.ended || (!self.has_open_quote() && (has_newline || value::shows_its_end(&self.text)));
        if whole {
            return self.flush(mib, meter);
        }
        meter.truncate();
        if self.is_read || self.malformed {
            meter.skip(WarningCode::RowMalformed);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Marker {
    End,
    Failure,
}

/// Recognizes the lines in which net-snmp states how a walk ended.
fn marker(line: &[u8]) -> Option<Marker> {
    let failures: [&[u8]; 3] = [b"Timeout: No Response", b"Error in packet", b"Error: OID not increasing"];
    if line.starts_with(b"End of MIB") {
        Some(Marker::End)
    } else if failures.iter().any(|failure| line.starts_with(failure)) {
        Some(Marker::Failure)
    } else {
        None
    }
}

/// Splits a line at its ` = `.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let separator = memmem::find(line, b" =")?;
    let (name, rest) = line.split_at_checked(separator)?;
    let value = rest.get(2..)?;
    (value.is_empty() || value.starts_with(b" ")).then(|| (name, value.trim_ascii_start()))
}

/// Returns whether a line begins a variable. Other lines continue the value of the variable before.
fn begins_variable(line: &[u8]) -> bool {
    let first = line.first().copied().unwrap_or_default();
    if first != b'.' && !first.is_ascii_alphanumeric() {
        return false;
    }
    let Some((name, value)) = split(line) else { return false };
    if name.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.') {
        return name.contains(&b'.');
    }
    let plain = name.iter().position(|byte| matches!(byte, b'"' | b'\'')).unwrap_or(name.len());
    let head = name.get(..plain).unwrap_or_default();
    if head.contains(&b' ') {
        return false;
    }
    first == b'.'
        || name.starts_with(b"iso.")
        || memmem::find(head, b"::").is_some()
        || value::is_typed(value)
}
