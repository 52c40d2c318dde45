//! Output of net-snmp's `snmpwalk`, numeric or symbolic.

mod agents;
mod layout;
mod oid;
mod symbols;
mod syntax;
mod value;

use super::lines::{BoundedLine, BoundedLines};
use super::meter::Meter;
use super::mib::Mib;
use super::{ParseError, ParseErrorKind, terminal};
use crate::discovery::report::WarningCode;
use crate::printable::printable;
use agents::Agents;
use layout::{Layout, Message, agent, is_command, message};
use oid::{Resolution, resolve};

pub(super) use oid::parse_numeric;

/// The longest variable with all its lines. Further lines are cut off.
const MAX_VARIABLE: usize = 256 * 1024;
/// The lines without any variable after which the input counts as another format.
const MAX_LEADING_LINES: u64 = 1_000;
/// The characters of a line that are shown in a warning.
const MAX_EXAMPLE: usize = 80;
const EXPECTED: &str = "an SNMP walk: no line has the form `OID = TYPE: value` (values without identifiers, as \
                        `-Ov` prints them, cannot be read)";
const EXPECTED_BYTES: &str = "an SNMP walk with all bytes: MAC addresses have dots in place of bytes, as `-Oa` prints them; \
                              print it without that option";

/// Reads all variables of a walk.
pub(super) fn read(lines: &mut BoundedLines<'_>, mib: &mut Mib, meter: &mut Meter) -> Result<(), ParseError> {
    let mut variable = Variable::default();
    let (mut layout, mut agents) = (None, Agents::default());
    let mut is_ended = true;
    while let Some(BoundedLine { bytes: line, has_newline }) = lines.next(meter)? {
        is_ended = has_newline;
        // Colors of `grep`, for example. No value has such a character: the tools write it in hexadecimal digits.
        let colored = memchr::memchr(ESCAPE, line).map(|_| plain(line));
        let line = colored.as_deref().unwrap_or(line);
        layout = layout.or_else(|| Layout::detect(line));
        let line = layout.map_or(line, |layout| layout.content(line));
        let message = message(line, variable.has_open_quote());
        let begun = layout
            .filter(|layout| message.is_none() && layout.begins_variable(line, || variable.has_open_quote()));
        if let Some(layout) = begun {
            variable.flush(mib, meter);
            check(mib, meter)?;
            agents.answer(mib);
            variable.begin(layout.split(line).unwrap_or((line, b"")), mib, meter);
        } else if let Some(message) = message {
            variable.flush(mib, meter);
            variable.ended |= variable.started || message != Message::Notice;
            if is_command(line) {
                agents.asked = agent(line);
            }
            match message {
                Message::Failure => meter.truncate_at(|| shown(line)),
                Message::Notice => meter.skip_of(WarningCode::RowMalformed, || shown(line)),
                Message::End | Message::Detail => {}
            }
        } else if variable.started && !has_newline && !variable.has_open_quote() {
            // Either the rest of the value or the beginning of another variable.
            variable.flush(mib, meter);
            meter.truncate();
            is_ended = true;
        } else if variable.takes_lines() {
            variable.extend(line, meter);
        } else if !line.trim_ascii().is_empty() {
            meter.skip_of(WarningCode::RowMalformed, || shown(line));
            if !variable.started && meter.line() > MAX_LEADING_LINES {
                return Err(meter.error(ParseErrorKind::WrongFormat(EXPECTED)));
            }
        }
    }
    if !variable.started && !variable.ended {
        return Err(meter.error(ParseErrorKind::WrongFormat(EXPECTED)));
    }
    variable.finish(is_ended, mib, meter);
    check(mib, meter)?;
    if variable.has_dots && !variable.has_hex {
        return Err(meter.error(ParseErrorKind::WrongFormat(EXPECTED_BYTES)));
    }
    let agents = agents.finish(mib);
    agents.map_err(|conflict| meter.error(ParseErrorKind::SeveralDevices(conflict)))?;
    meter.check()
}

/// The character that begins the escape sequences of terminals.
const ESCAPE: u8 = 0x1B;

/// Returns a line as a terminal shows it.
pub(super) fn plain(line: &[u8]) -> Vec<u8> {
    match str::from_utf8(line) {
        Ok(text) => terminal::without_colors(text).into_bytes(),
        Err(_) => line.to_vec(),
    }
}

/// Returns whether a line is a variable by its name: one that a table needs, or one with a space before its value, as
/// `-Oq` prints them.
pub(super) fn is_named_variable(line: &[u8]) -> bool {
    Layout::detect(line).is_some_and(|layout| {
        let is_known = |(name, _)| layout::is_known(name);
        layout.is_quick() || layout.split(layout.content(line)).is_some_and(is_known)
    })
}

/// Fails if the variables are those of two devices.
pub(super) fn check(mib: &Mib, meter: &Meter) -> Result<(), ParseError> {
    match mib.conflict() {
        Some(conflict) => Err(meter.error(ParseErrorKind::SeveralDevices(conflict.to_owned()))),
        None => Ok(()),
    }
}

fn shown(line: &[u8]) -> String {
    printable(&String::from_utf8_lossy(line), MAX_EXAMPLE)
}

/// A variable, with the further lines of its value.
#[derive(Default)]
struct Variable {
    text: Vec<u8>,
    arcs: Vec<u64>,
    /// Whether any variable was begun.
    started: bool,
    /// Whether a message of the tool ended the value.
    ended: bool,
    is_read: bool,
    /// Whether the closing quote is missing so far.
    is_quote_open: bool,
    malformed: bool,
    lossy: bool,
    cut: bool,
    /// Whether a MAC address has been read that may have lost bytes.
    has_dots: bool,
    /// Whether bytes have been read as hexadecimal digits.
    has_hex: bool,
}

impl Variable {
    /// Begins a variable. Only the first line is kept of one that no table needs.
    fn begin(&mut self, (name, value): (&[u8], &[u8]), mib: &mut Mib, meter: &Meter) {
        let resolution = resolve(name, &mut self.arcs);
        let is_resolved = matches!(resolution, Resolution::Complete | Resolution::Lossy);
        self.is_read = is_resolved && Mib::covers(&self.arcs);
        if is_resolved && !self.is_read {
            mib.pass_over(&self.arcs, meter);
        } else if resolution == Resolution::Unknown {
            mib.pass_over_name(name, meter);
        }
        self.malformed = resolution == Resolution::Malformed;
        self.lossy = resolution == Resolution::Lossy;
        self.text.clear();
        self.text.extend_from_slice(value);
        self.is_quote_open = value::has_open_quote(value);
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
            // Blank lines change nothing, and the search for the quote would pass over all of them each time.
            if !line.trim_ascii().is_empty() {
                self.is_quote_open = value::has_open_quote(&self.text);
            }
        }
    }

    const fn has_open_quote(&self) -> bool {
        self.is_read && self.is_quote_open
    }

    /// Returns whether further lines may belong to the value.
    fn takes_lines(&self) -> bool {
        self.started && !self.ended && (!self.is_read || value::takes_lines(&self.text, self.is_quote_open))
    }

    fn flush(&mut self, mib: &mut Mib, meter: &mut Meter) {
        if self.malformed {
            mib.note_loss(&self.arcs);
            meter.skip_of(WarningCode::RowMalformed, || shown(&self.text));
        }
        if self.is_read {
            meter.add_steps(self.text.len().saturating_mul(4) + self.arcs.len());
            if self.cut {
                meter.warn(WarningCode::ValueTruncated);
            }
            // Blank lines between variables are no part of a value, unless quotes surround it.
            if !self.has_open_quote() {
                let last = self.text.iter().rposition(|byte| !b"\r\n".contains(byte));
                self.text.truncate(last.map_or(0, |last| last + 1));
            }
            self.has_dots = self.has_dots || value::is_mac_with_dots(&self.text, &self.arcs);
            self.has_hex = self.has_hex || value::is_hex(&self.text);
            match value::parse(&self.text, &self.arcs) {
                Ok(Some(value)) => mib.accept(&self.arcs, self.lossy, &value, meter),
                Ok(None) => {}
                Err(value::Invalid) => meter.warn_of(WarningCode::ValueInvalid, || shown(&self.text)),
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
            meter.skip_of(WarningCode::RowMalformed, || shown(&self.text));
        }
    }
}
