//! Values as net-snmp prints them.

use std::borrow::Cow;

use super::super::mib::VariableValue;
use super::oid::{Resolution, resolve};
use super::syntax;
use crate::invariant::Invariant;

/// The error for a value that does not have the form of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Invalid;

#[rustfmt::skip]
const TYPES: &[&[u8]] = &[
    b"INTEGER", b"Integer32", b"Gauge32", b"Counter32", b"Counter64", b"UInteger32", b"Unsigned32", b"Timeticks",
    b"STRING", b"Hex-STRING", b"BITS", b"OID", b"IpAddress", b"Network Address", b"OPAQUE", b"Opaque", b"NULL",
    b"Wrong Type (should be", b"OCTET STRING", b"OBJECT IDENTIFIER", b"Hex", b"Gauge", b"Counter",
    b"OctetString", b"ObjectIdentifier",
];
/// The textual conventions that pysnmp prints in place of the types. The syntax follows from the object.
#[rustfmt::skip]
const CONVENTIONS: &[&[u8]] = &[
    b"DisplayString", b"SnmpAdminString", b"PhysAddress", b"MacAddress", b"IANAifType", b"InterfaceIndex",
    b"InterfaceIndexOrZero", b"ObjectIdentity", b"AutonomousType", b"TimeTicks", b"TimeStamp", b"Integer",
    b"TruthValue", b"RowStatus",
];
const ABSENT: &[&[u8]] = &[b"No Such Object", b"No Such Instance", b"No more variables left", b"NULL"];

/// Returns whether a value states its type, or that there is none.
pub(super) fn is_typed(value: &[u8]) -> bool {
    let typed = |name: &&[u8]| {
        let rest = strip_prefix_ignoring_case(value, name);
        rest.is_some_and(|rest| rest.starts_with(b":") || name.ends_with(b"be"))
    };
    value == b"\"\"" || TYPES.iter().any(typed) || ABSENT.iter().any(|text| value.starts_with(text))
}

/// Parses the value of an object. Returns `None` if the device has none.
pub(super) fn parse<'t>(text: &'t [u8], oid: &[u64]) -> Result<Option<VariableValue<'t>>, Invalid> {
    if ABSENT.iter().any(|absent| text.starts_with(absent)) {
        return Ok(None);
    }
    let text = without_wrong_type(text);
    let Some((kind, rest)) = split_type(text) else {
        return Ok(Some(untyped(without_convention(text), oid)));
    };
    let value = match kind {
        b"STRING" => VariableValue::Bytes(string(rest)),
        b"Hex-STRING" | b"BITS" => VariableValue::Bytes(Cow::Owned(hex(rest, kind == b"BITS")?)),
        b"OID" => {
            let mut arcs = Vec::new();
            match resolve(rest.trim_ascii(), &mut arcs) {
                Resolution::Complete => VariableValue::Oid(Cow::Owned(arcs)),
                _ => return Err(Invalid),
            }
        }
        b"IpAddress" => VariableValue::Bytes(Cow::Owned(dotted(rest)?)),
        b"Network Address" => {
            let octets = rest.trim_ascii().split(|byte| *byte == b':').map(hex_number);
            VariableValue::Bytes(Cow::Owned(octets.collect::<Option<_>>().ok_or(Invalid)?))
        }
        b"Opaque" | b"NULL" => return Ok(None),
        _ => VariableValue::Integer(integer(rest).ok_or(Invalid)?),
    };
    Ok(Some(value))
}

/// Returns whether a value is a MAC address of six characters with a dot among them.
///
/// With `-Oa`, net-snmp prints all bytes as text, and a dot for those that cannot be printed. A device may have such an
/// address, but hardly such addresses alone.
pub(super) fn is_mac_with_dots(text: &[u8], oid: &[u64]) -> bool {
    let is_mac = matches!(
        oid,
        [1, 3, 6, 1, 2, 1, 2, 2, 1, 6, ..]
            | [1, 3, 6, 1, 2, 1, 3, 1, 1, 2, ..]
            | [1, 3, 6, 1, 2, 1, 4, 22, 1, 2, ..]
            | [1, 3, 6, 1, 2, 1, 4, 35, 1, 4, ..]
            | [1, 3, 6, 1, 2, 1, 17, 1, 1, ..]
            | [1, 3, 6, 1, 2, 1, 17, 4, 3, 1, 1, ..]
    );
    if !is_mac {
        return false;
    }
    let text = match split_type(text) {
        Some((b"STRING", text)) => text,
        None => text,
        Some(_) => return false,
    };
    matches!(&*string(text), bytes @ [_, _, _, _, _, _] if bytes.contains(&b'.'))
}

/// Returns whether a value is bytes as hexadecimal digits.
pub(super) fn is_hex(text: &[u8]) -> bool {
    match split_type(text) {
        Some((kind, _)) => kind == b"Hex-STRING",
        None => quoted_hex(text).is_some(),
    }
}

/// Returns whether a string's closing quote is missing.
pub(super) fn has_open_quote(text: &[u8]) -> bool {
    quoted(text).is_some_and(|content| !closes_quote(content))
}

/// Returns whether a string that begins with a quote has another one within. net-snmp puts a backslash before those of strings
/// that it quotes.
pub(super) fn has_inner_quote(text: &[u8]) -> bool {
    let Some(content) = quoted(text) else { return false };
    memchr::memchr_iter(b'"', content).any(|place| content.get(..=place).is_some_and(closes_quote))
}

/// Returns what follows the quote at the beginning of a string.
fn quoted(text: &[u8]) -> Option<&[u8]> {
    split_type(text).map_or(text, |(_, rest)| rest).strip_prefix(b"\"")
}

/// Returns whether a value may go on in a line: text of an object that may have several lines, a string whose quote is open,
/// and bytes if the line has more of them.
pub(super) fn takes_line(text: &[u8], is_quote_open: bool, oid: &[u64], line: &[u8]) -> bool {
    let text = without_wrong_type(text);
    let (kind, rest) = split_type(text).unwrap_or((b"STRING", text));
    match kind {
        b"STRING" if rest.starts_with(b"\"") => is_quote_open,
        b"STRING" => syntax::may_have_lines(oid) && !ABSENT.iter().any(|absent| rest.starts_with(absent)),
        b"Hex-STRING" | b"BITS" | b"Opaque" => {
            let has_bytes = || hex(line, kind == b"BITS").is_ok_and(|octets| !octets.is_empty());
            line.trim_ascii().is_empty() || has_open_bracket(text) || has_bytes()
        }
        _ => false,
    }
}

/// Returns whether the last character of a value can only be its end.
pub(super) fn shows_its_end(text: &[u8]) -> bool {
    let text = text.trim_ascii_end();
    match split_type(text) {
        Some((b"STRING", rest)) => rest.starts_with(b"\""),
        Some((b"INTEGER", _)) => text.ends_with(b")"),
        Some(_) => false,
        None => text == b"\"\"" || text.ends_with(b"MIB tree)"),
    }
}

/// Returns whether text ends with a quote that no odd number of backslashes precedes.
pub(super) fn closes_quote(text: &[u8]) -> bool {
    let Some(content) = text.trim_ascii_end().strip_suffix(b"\"") else { return false };
    content.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0
}

/// Removes the note of net-snmp that the type is not the one of the MIB.
fn without_wrong_type(text: &[u8]) -> &[u8] {
    if !text.starts_with(b"Wrong Type (should be") {
        return text;
    }
    memchr::memmem::find(text, b"): ").and_then(|end| text.get(end + 3..)).unwrap_or(text)
}

/// Removes the name of a textual convention.
fn without_convention(text: &[u8]) -> &[u8] {
    let rest = |name: &&[u8]| text.strip_prefix(*name)?.strip_prefix(b": ");
    CONVENTIONS.iter().find_map(rest).unwrap_or(text)
}

/// Splits a value into its type, by the name that net-snmp prints now, and the rest.
fn split_type(text: &[u8]) -> Option<(&'static [u8], &[u8])> {
    TYPES.iter().find_map(|kind| {
        let rest = strip_prefix_ignoring_case(text, kind)?.strip_prefix(b":")?;
        let kind: &[u8] = match *kind {
            b"OCTET STRING" | b"OctetString" => b"STRING",
            b"OBJECT IDENTIFIER" | b"ObjectIdentifier" => b"OID",
            b"Hex" => b"Hex-STRING",
            b"OPAQUE" => b"Opaque",
            kind => kind,
        };
        Some((kind, rest.strip_prefix(b" ").unwrap_or(rest)))
    })
}

fn strip_prefix_ignoring_case<'t>(text: &'t [u8], prefix: &[u8]) -> Option<&'t [u8]> {
    let (head, rest) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// Reads a value whose type net-snmp was told not to print.
fn untyped<'t>(text: &'t [u8], oid: &[u64]) -> VariableValue<'t> {
    if let Some(value) = syntax::convert(oid, without_quotes(text.trim_ascii())) {
        return value;
    }
    match integer(text) {
        Some(number) if text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'-') => {
            VariableValue::Integer(number)
        }
        _ => quoted_hex(text).map_or_else(
            || VariableValue::Bytes(string(text)),
            |bytes| VariableValue::Bytes(Cow::Owned(bytes)),
        ),
    }
}

/// Removes the single quotes that programs in Python print around the names of numbers.
fn without_quotes(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"'").and_then(|text| text.strip_suffix(b"'")).unwrap_or(text)
}

/// Reads bytes as they are printed without their type: `"00 1B 21 "`, or `0x001b21` by other tools.
fn quoted_hex(text: &[u8]) -> Option<Vec<u8>> {
    let is_digit = |byte: &u8| byte.is_ascii_hexdigit();
    if let Some(digits) = text.strip_prefix(b"0x") {
        let is_bytes = digits.len() >= 8 && digits.len().is_multiple_of(2) && digits.iter().all(is_digit);
        return is_bytes.then(|| digits.chunks_exact(2).map(hex_number).collect()).flatten();
    }
    let content = text.trim_ascii_end().strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if content.ends_with(b"]") {
        return hex_with_text(content);
    }
    let digits = content.strip_suffix(b" ")?;
    let mut pairs = digits.split(u8::is_ascii_whitespace).filter(|pair| !pair.is_empty()).peekable();
    // Blanks alone are bytes that can be printed.
    let is_bytes = pairs.peek().is_some() && pairs.all(|pair| pair.len() == 2 && pair.iter().all(is_digit));
    is_bytes.then(|| hex(digits, false).ok()).flatten()
}

/// Removes quotes and the backslashes that net-snmp puts before quotes and backslashes.
fn string(text: &[u8]) -> Cow<'_, [u8]> {
    let Some(content) = text.strip_prefix(b"\"") else { return Cow::Borrowed(text) };
    let content = content.trim_ascii_end();
    let content = content.strip_suffix(b"\"").unwrap_or(content);
    if memchr::memchr(b'\\', content).is_none() {
        return Cow::Borrowed(content);
    }
    let mut unescaped = Vec::with_capacity(content.len());
    let mut bytes = content.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        let escaped = (byte == b'\\').then(|| bytes.next_if(|next| matches!(next, b'"' | b'\\'))).flatten();
        unescaped.push(escaped.unwrap_or(byte));
    }
    Cow::Owned(unescaped)
}

/// Reads bytes of one or two hexadecimal digits. Names follow the digits of `BITS`.
///
/// With `-OT`, each line ends with the same bytes as text in brackets, which go on in the next line behind a newline.
fn hex(text: &[u8], is_bits: bool) -> Result<Vec<u8>, Invalid> {
    let mut octets = Vec::with_capacity(text.len() / 3 + 1);
    let is_separator = |byte: &u8| byte.is_ascii_whitespace() || *byte == b':';
    let mut is_text = false;
    for line in text.split(|byte| *byte == b'\n') {
        let bracket = if is_text { Some(0) } else { memchr::memchr(b'[', line) };
        let digits = bracket.and_then(|end| line.get(..end)).unwrap_or(line);
        is_text = bracket.is_some() && !line.trim_ascii_end().ends_with(b"]");
        for digits in digits.split(is_separator).filter(|digits| !digits.is_empty()) {
            match hex_number(digits) {
                Some(octet) => octets.push(octet),
                None if is_bits => return Ok(octets),
                None => return Err(Invalid),
            }
        }
    }
    Ok(octets)
}

/// Reads lines of bytes as digits, each with as many characters of text in brackets behind them, as `-OT` prints them.
fn hex_with_text(content: &[u8]) -> Option<Vec<u8>> {
    let (mut octets, mut rest) = (Vec::new(), content);
    while !rest.is_empty() {
        let (digits, behind) = rest.split_at_checked(memchr::memmem::find(rest, b"   [")?)?;
        let line = hex(digits, false).ok().filter(|line| digits.len() + 1 == 3 * line.len())?;
        let (_, behind) = behind.get(b"   [".len()..)?.split_at_checked(line.len())?;
        rest = behind.strip_prefix(b"]")?.trim_ascii_start();
        octets.extend(line);
    }
    Some(octets)
}

/// Returns whether the last line has a bracket that is not closed at its end.
fn has_open_bracket(text: &[u8]) -> bool {
    let start = memchr::memrchr(b'\n', text).map_or(0, |newline| newline + 1);
    let line = text.get(start..).asserted_or_default();
    memchr::memchr(b'[', line).is_some() && !line.trim_ascii_end().ends_with(b"]")
}

fn hex_number(text: &[u8]) -> Option<u8> {
    let text = str::from_utf8(text).ok()?;
    text.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u8::from_str_radix(text, 16).ok()).flatten()
}

fn dotted(text: &[u8]) -> Result<Vec<u8>, Invalid> {
    let text = str::from_utf8(text.trim_ascii()).map_err(|_| Invalid)?;
    text.parse::<std::net::Ipv4Addr>().map(|address| address.octets().to_vec()).map_err(|_| Invalid)
}

/// Reads `6`, `ethernetCsmacd(6)`, `(6) 0:00:00.06`, or a number with a unit.
fn integer(text: &[u8]) -> Option<i64> {
    let text = str::from_utf8(text.trim_ascii()).ok()?;
    let digits = |text: &str| -> Option<i64> {
        let negative = text.starts_with('-');
        let text = text.strip_prefix('-').unwrap_or(text);
        let end = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
        let number: i64 = text.get(..end)?.parse().ok()?;
        Some(if negative { -number } else { number })
    };
    digits(text).or_else(|| digits(text.split_once('(')?.1))
}
