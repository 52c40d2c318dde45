//! Output of net-snmp's `snmpwalk`, numeric or symbolic.

mod agents;
mod layout;
mod message;
mod oid;
mod session;
mod symbols;
mod syntax;
mod value;

use std::borrow::Cow;

use super::lines::{BoundedLine, BoundedLines};
use super::meter::Meter;
use super::mib::Mib;
use super::{ParseError, ParseErrorKind, terminal};
use crate::discovery::report::WarningCode;
use crate::printable::printable;
use agents::Agents;
use layout::Layout;
use message::{Message, message};
use oid::{Resolution, resolve};
use session::{Command, is_heading, is_session};

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
        let line = &*match as_shown(line) {
            // A pager alone is no blank line of a value.
            Cow::Owned(shown) if shown.trim_ascii().is_empty() => continue,
            line => line,
        };
        layout = layout.or_else(|| Layout::detect(line));
        let content = layout.map_or(line, |layout| layout.content(line));
        let is_quoted = variable.is_quote_open;
        let known_message = message(content, is_quoted);
        let mut begun = layout
            .filter(|layout| known_message.is_none() && layout.begins_variable(content, || is_quoted))
            .map(|layout| (layout, content));
        if begun.is_none() && known_message.is_none() && !is_quoted && variable.started {
            let other = Layout::detect_behind(line);
            begun = other.map(|layout| (layout, layout.content(line)));
            layout = other.or(layout);
        }
        if let Some((quick, content)) = begun
            && let Some(signed) = variable.layout_behind(quick, content)
        {
            begun = Some((signed, content));
            layout = Some(signed);
        }
        // A value that is not read may have any lines, unless the input ends.
        let is_text = is_quoted || (variable.passes_over_lines() && has_newline);
        let is_entered = |command: &Command<'_>| !is_text || command.is_entered(is_quoted);
        let command = if begun.is_some() { None } else { Command::find(content).filter(is_entered) };
        let is_beside = || command.is_some() || (!is_text && is_session(content));
        let message = known_message.or_else(|| (begun.is_none() && is_beside()).then_some(Message::Notice));
        if let Some((layout, content)) = begun {
            variable.flush(mib, meter);
            check(mib, meter)?;
            agents.answer(mib);
            variable.begin(layout.split(content).unwrap_or((content, b"")), mib, meter);
        } else if let Some(message) = message {
            variable.flush(mib, meter);
            variable.ended |= variable.started || message != Message::Notice;
            if let Some(command) = command {
                agents.ask(command);
            }
            match message {
                Message::Failure => meter.truncate_at(|| shown(content)),
                Message::Notice => meter.skip_of(WarningCode::RowMalformed, || shown(content)),
                Message::End | Message::Detail => {}
            }
        } else if variable.started && !has_newline && !is_quoted {
            // Either the rest of the value or the beginning of another variable.
            variable.flush(mib, meter);
            meter.truncate();
            is_ended = true;
        } else if variable.takes_line(content) {
            variable.extend(content, meter);
        } else if !content.trim_ascii().is_empty() {
            if !is_heading(content) {
                variable.note_loss(mib);
            }
            meter.skip_of(WarningCode::RowMalformed, || shown(content));
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

/// The character with which some pagers erase their text.
const BACKSPACE: u8 = 0x08;

/// Returns a line as a terminal shows it, without the text of a pager before it.
///
/// Escape sequences are the colors of `grep`, for example. No value has such a character: the tools write it in hexadecimal
/// digits. Values may have carriage returns.
fn as_shown(line: &[u8]) -> Cow<'_, [u8]> {
    let line = match str::from_utf8(line) {
        Ok(text) if memchr::memchr(BACKSPACE, line).is_some() => {
            Cow::Owned(terminal::shown(text).into_bytes())
        }
        Ok(_) if memchr::memchr(ESCAPE, line).is_some() => Cow::Owned(plain(line)),
        _ => Cow::Borrowed(line),
    };
    let Ok(text) = str::from_utf8(&line) else { return line };
    let behind = terminal::without_pager(text);
    if behind.len() == text.len() { line } else { Cow::Owned(behind.as_bytes().to_vec()) }
}

/// Returns text without escape sequences.
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
        // A quote that is a part of raw text would hide all lines behind a value that is not read.
        self.is_quote_open = value::has_open_quote(value) && (self.is_read || !value::has_inner_quote(value));
        self.started = true;
        self.ended = false;
        self.cut = false;
    }

    fn extend(&mut self, line: &[u8], meter: &mut Meter) {
        self.is_quote_open = self.is_quote_open && !value::closes_quote(line);
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

    /// Returns whether a variable behind this one is the first of another walk: a walk is in the order of the identifiers.
    fn is_followed_by_walk(&self, name: &[u8]) -> bool {
        let mut arcs = Vec::new();
        let is_resolved = matches!(resolve(name, &mut arcs), Resolution::Complete | Resolution::Lossy);
        self.ended || (is_resolved && arcs <= self.arcs)
    }

    /// Returns the layout with ` = ` if the variable behind this one has it. `None`: its value may begin with the sign.
    fn layout_behind(&mut self, quick: Layout, content: &[u8]) -> Option<Layout> {
        let (name, value) = quick.split_signed(content)?;
        let begins_walk = self.is_followed_by_walk(name);
        // The sign of a value without quotes is known by that of the next one. Types are those of another walk.
        let is_second = !begins_walk && !value::is_typed(value) && self.drop_sign();
        (begins_walk || is_second || layout::follows_sign(value)).then(|| quick.with_signs())
    }

    /// Removes the equals sign that begins the value. Returns `false` if there is none, or another one ends the value, which
    /// then has them as its frame.
    fn drop_sign(&mut self) -> bool {
        let unsigned = layout::without_sign(&self.text).filter(|value| !value.ends_with(b"="));
        let Some(length) = unsigned.map(<[u8]>::len) else { return false };
        self.text.drain(..self.text.len() - length);
        true
    }

    /// Returns whether further lines may belong to a value that no table needs.
    const fn passes_over_lines(&self) -> bool {
        self.started && !self.ended && !self.is_read
    }

    /// Returns whether a line may belong to the value.
    fn takes_line(&self, line: &[u8]) -> bool {
        let takes_line = || value::takes_line(&self.text, self.is_quote_open, &self.arcs, line);
        self.passes_over_lines() || (self.started && !self.ended && takes_line())
    }

    /// Notes that a line behind the value could not be read: either a part of it, or another variable of its table.
    fn note_loss(&self, mib: &mut Mib) {
        if self.started && !self.ended {
            mib.note_loss(&self.arcs);
        }
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
            if !self.is_quote_open {
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
        self.is_quote_open = false;
        self.malformed = false;
    }

    /// Ends the input. The last value is dropped if it may be cut off.
    fn finish(&mut self, has_newline: bool, mib: &mut Mib, meter: &mut Meter) {
        let whole = self.ended || (!self.is_quote_open && (has_newline || value::shows_its_end(&self.text)));
        if whole {
            return self.flush(mib, meter);
        }
        meter.truncate();
        if self.is_read || self.malformed {
            meter.skip_of(WarningCode::RowMalformed, || shown(&self.text));
        }
    }
}
