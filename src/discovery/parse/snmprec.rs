//! Recordings of snmpsim.

use std::borrow::Cow;

use super::lines::{BoundedLine, BoundedLines};
use super::meter::Meter;
use super::mib::{Mib, VariableValue};
use super::walk::{check, parse_numeric};
use super::{ParseError, ParseErrorKind};
use crate::discovery::report::WarningCode;
use crate::printable::printable;

const EXPECTED: &str = "an snmpsim recording: no line has the form `OID|TAG|value`";
/// The lines without any variable after which the input counts as another format.
const MAX_LEADING_LINES: u64 = 1_000;
/// The characters of a line that are shown in a warning.
const MAX_EXAMPLE: usize = 80;

/// Reads all variables of a recording.
pub(super) fn read(lines: &mut BoundedLines<'_>, mib: &mut Mib, meter: &mut Meter) -> Result<(), ParseError> {
    let mut arcs = Vec::new();
    let mut found = false;
    while let Some(BoundedLine { bytes: line, has_newline }) = lines.next(meter)? {
        if line.trim_ascii().is_empty() || line.starts_with(b"#") {
            continue;
        }
        let is_tagged = |rest: &[u8]| rest.first().is_some_and(u8::is_ascii_digit);
        let is_variable = |(oid, rest): &(&[u8], &[u8])| parse_numeric(oid, &mut arcs) && is_tagged(rest);
        let Some((oid, rest)) = split(line).filter(is_variable) else {
            let example = || printable(&String::from_utf8_lossy(line), MAX_EXAMPLE);
            meter.skip_of(WarningCode::RowMalformed, example);
            if !found && meter.line() > MAX_LEADING_LINES {
                return Err(meter.error(ParseErrorKind::WrongFormat(EXPECTED)));
            }
            continue;
        };
        meter.add_steps(oid.len());
        found = true;
        if !has_newline {
            // The last value may be cut off.
            meter.truncate();
            meter.skip(WarningCode::RowMalformed);
        } else if Mib::covers(&arcs) {
            accept(&arcs, rest, mib, meter);
            check(mib, meter)?;
        } else {
            mib.pass_over(&arcs, meter);
        }
    }
    if !found {
        return Err(meter.error(ParseErrorKind::WrongFormat(EXPECTED)));
    }
    meter.check()
}

fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let separator = memchr::memchr(b'|', line)?;
    Some((line.get(..separator)?, line.get(separator + 1..)?))
}

fn accept(arcs: &[u64], rest: &[u8], mib: &mut Mib, meter: &mut Meter) {
    meter.add_steps(rest.len().saturating_mul(2) + arcs.len());
    let Some((tag, text)) = split(rest) else {
        mib.note_loss(arcs);
        let example = || printable(&String::from_utf8_lossy(rest), MAX_EXAMPLE);
        return meter.skip_of(WarningCode::RowMalformed, example);
    };
    match value(tag, text) {
        Some(Some(value)) => mib.accept(arcs, false, &value, meter),
        Some(None) => {}
        None => {
            meter.warn_of(WarningCode::ValueInvalid, || {
                printable(&String::from_utf8_lossy(rest), MAX_EXAMPLE)
            });
        }
    }
}

/// Parses a value. Returns `None` if it is invalid, and `Some(None)` if it has no meaning here.
fn value<'t>(tag: &[u8], text: &'t [u8]) -> Option<Option<VariableValue<'t>>> {
    let (tag, is_hex) = tag.strip_suffix(b"x").map_or((tag, false), |tag| (tag, true));
    // The backslashes of escaped text stay, as names have none.
    let tag = tag.strip_suffix(b"e").unwrap_or(tag);
    let bytes = |text: &'t [u8]| {
        if is_hex { super::text::hex_digits(text).map(Cow::Owned) } else { Some(Cow::Borrowed(text)) }
    };
    let value = match tag {
        b"2" | b"65" | b"66" | b"67" | b"70" => {
            VariableValue::Integer(str::from_utf8(text).ok()?.trim().parse().ok()?)
        }
        b"4" => VariableValue::Bytes(bytes(text)?),
        b"6" => {
            let mut arcs = Vec::new();
            if !parse_numeric(text.trim_ascii(), &mut arcs) {
                return None;
            }
            VariableValue::Oid(Cow::Owned(arcs))
        }
        // Four bytes that can be printed stand as they are. No address in decimal numbers is as short.
        b"64" if is_hex || text.len() == 4 => VariableValue::Bytes(bytes(text)?),
        b"64" => {
            let address: std::net::Ipv4Addr = str::from_utf8(text).ok()?.trim().parse().ok()?;
            VariableValue::Bytes(Cow::Owned(address.octets().to_vec()))
        }
        // Null, opaque values, and the simulator's own ways to compute a value.
        _ => return Some(None),
    };
    Some(Some(value))
}
