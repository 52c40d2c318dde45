//! Object identifiers as net-snmp prints them.

use super::symbols;

use crate::invariant::Invariant;

/// The longest object identifier that SNMP allows.
const MAX_ARCS: usize = 128;

/// The result of resolving the text of an object identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resolution {
    /// The numbers are those that the device sent.
    Complete,
    /// The index has text in which net-snmp writes all unprintable bytes as dots.
    Lossy,
    /// The object has a name that no table needs.
    Unknown,
    /// The text is not an object identifier.
    Malformed,
}

/// Parses a numeric object identifier, with or without a leading dot. Returns whether it is one.
pub(in crate::discovery::parse) fn parse_numeric(text: &[u8], arcs: &mut Vec<u64>) -> bool {
    arcs.clear();
    let text = text.strip_prefix(b".").unwrap_or(text);
    for part in text.split(|byte| *byte == b'.') {
        match number(part) {
            Some(arc) if arcs.len() < MAX_ARCS => arcs.push(arc),
            _ => return false,
        }
    }
    true
}

/// Resolves an object identifier, numeric or symbolic, into numbers.
pub(super) fn resolve(text: &[u8], arcs: &mut Vec<u64>) -> Resolution {
    if text.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.') {
        return if parse_numeric(text, arcs) { Resolution::Complete } else { Resolution::Malformed };
    }
    arcs.clear();
    let text =
        memchr::memmem::find(text, b"::").and_then(|position| text.get(position + 2..)).unwrap_or(text);
    let mut rest = text.strip_prefix(b".").unwrap_or(text);
    let (mut lossy, mut known) = (false, false);
    // The rest behind brackets, while their content is read.
    let mut outside: &[u8] = b"";
    let mut is_index = false;
    while !rest.is_empty() {
        if outside.is_empty()
            && let Some(bracketed) = rest.strip_prefix(b"[")
        {
            is_index = true;
            let Some((inside, behind)) = take_bracketed(bracketed) else { return Resolution::Malformed };
            if let Some(octets) = mac(inside).map(Vec::from).or_else(|| ipv6(inside)) {
                arcs.extend(octets.into_iter().map(u64::from));
                rest = behind;
            } else if let Some(identifier) = identifier(inside) {
                arcs.push(identifier.len() as u64);
                arcs.extend(identifier);
                rest = behind;
            } else {
                (rest, outside) = (inside, behind);
            }
            if arcs.len() > MAX_ARCS {
                return Resolution::Malformed;
            }
            continue;
        }
        let Some((part, further)) = take_part(rest) else { return Resolution::Malformed };
        rest = if further.is_empty() { std::mem::take(&mut outside) } else { further };
        match part {
            IndexPart::Number(arc) => arcs.push(arc),
            IndexPart::Name(name) => match symbols::resolve(name) {
                Some(symbols::Symbol::Object(oid)) => {
                    arcs.clear();
                    arcs.extend_from_slice(oid);
                    known = true;
                }
                Some(symbols::Symbol::Value(value)) => arcs.push(value),
                None if known && is_index => return Resolution::Malformed,
                // A name above the one that counts, if the whole path is printed.
                None => known = false,
            },
            IndexPart::Mac(octets) => arcs.extend(octets.map(u64::from)),
            IndexPart::Quoted(text) => lossy |= push_quoted(text, arcs),
        }
        if arcs.len() > MAX_ARCS {
            return Resolution::Malformed;
        }
    }
    match (known, lossy) {
        (false, _) => Resolution::Unknown,
        (true, false) => Resolution::Complete,
        (true, true) => Resolution::Lossy,
    }
}

enum IndexPart<'t> {
    Number(u64),
    Name(&'t [u8]),
    Mac([u8; 6]),
    Quoted(&'t [u8]),
}

/// Splits behind a closing bracket outside of quotes. `-OX` puts each part of an index in brackets.
fn take_bracketed(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut is_quoted = false;
    let end = text.iter().position(|byte| {
        is_quoted ^= *byte == b'"';
        *byte == b']' && !is_quoted
    })?;
    let inside = text.get(..end).filter(|inside| !inside.is_empty())?;
    let behind = text.get(end + 1..).asserted_or_default();
    Some((inside, behind.strip_prefix(b".").unwrap_or(behind)))
}

/// Reads a MAC address in brackets: `STRING: 0:1b:21:2:0:1`, or without the type.
fn mac(text: &[u8]) -> Option<[u8; 6]> {
    let text = str::from_utf8(text).ok()?;
    let text = text.strip_prefix("STRING: ").unwrap_or(text).trim_matches('"');
    let octets: Option<Vec<u8>> = text.split(':').map(|part| u8::from_str_radix(part, 16).ok()).collect();
    octets?.try_into().ok()
}

/// Reads an IPv6 address of fixed length in brackets, as IPV6-MIB has it: `STRING: 2001:db8:0:0:0:0:0:9`.
fn ipv6(text: &[u8]) -> Option<Vec<u8>> {
    let text = str::from_utf8(text).ok()?.strip_prefix("STRING: ")?;
    let is_whole = text.matches(':').count() == 7 && !text.contains("::");
    let address: std::net::Ipv6Addr = text.parse().ok().filter(|_| is_whole)?;
    Some(address.octets().to_vec())
}

/// Reads an object identifier within an index: `SNMPv2-SMI::zeroDotZero.7`. Its length precedes it in the index.
fn identifier(text: &[u8]) -> Option<Vec<u64>> {
    let text = memchr::memmem::find(text, b"::").and_then(|place| text.get(place + 2..)).unwrap_or(text);
    let mut parts = text.split(|byte| *byte == b'.');
    let symbols::Symbol::Object(root) = symbols::resolve(parts.next()?)? else { return None };
    let mut arcs = root.to_vec();
    for part in parts.take(MAX_ARCS + 1) {
        arcs.push(number(part)?);
    }
    Some(arcs)
}

/// Takes the part before the next dot or bracket. Dots within quotes belong to their part.
fn take_part(text: &[u8]) -> Option<(IndexPart<'_>, &[u8])> {
    // `-OE` writes backslashes before the quotes.
    let unescaped = text.strip_prefix(b"\\").unwrap_or(text);
    if let [quote @ (b'"' | b'\''), rest @ ..] = unescaped {
        let end = (0..rest.len()).find(|index| {
            rest.get(*index) == Some(quote) && matches!(rest.get(index + 1), None | Some(b'.'))
        })?;
        let quoted = rest.get(..end)?;
        let quoted = quoted.strip_suffix(b"\\").unwrap_or(quoted);
        return Some((IndexPart::Quoted(quoted), rest.get(end + 2..).unwrap_or(&[])));
    }
    let end = memchr::memchr2(b'.', b'[', text).unwrap_or(text.len());
    let part = text.get(..end)?;
    let is_bracket = text.get(end) == Some(&b'[');
    let rest = text.get(if is_bracket { end } else { end + 1 }..).unwrap_or(&[]);
    let part = match number(part) {
        Some(number) => IndexPart::Number(number),
        None if let Some(octets) = mac(part) => IndexPart::Mac(octets),
        None if part.first()?.is_ascii_alphabetic() => IndexPart::Name(part),
        None => return None,
    };
    Some((part, rest))
}

/// Appends a quoted index. Returns whether bytes are lost.
///
/// An IP address is appended as its bytes behind their number, a MAC address as its bytes, and any other text as its
/// characters.
fn push_quoted(text: &[u8], arcs: &mut Vec<u64>) -> bool {
    if let Some(octets) = mac(text) {
        arcs.extend(octets.map(u64::from));
        return false;
    }
    if text.is_empty() {
        arcs.push(0);
        return false;
    }
    if let Some(octets) = address(text) {
        arcs.push(octets.len() as u64);
        arcs.extend(octets.iter().map(|octet| u64::from(*octet)));
        return false;
    }
    arcs.extend(text.iter().take(MAX_ARCS + 1).map(|byte| u64::from(*byte)));
    true
}

/// Reads an address in the form in which net-snmp quotes it.
///
/// The form is `192.0.2.1`, or the 4 or 16 bytes: `20:01:0d:b8:…`, or `C0 00 02 01 `. A zone of 4 bytes follows `%`.
fn address(text: &[u8]) -> Option<Vec<u8>> {
    let text = str::from_utf8(text).ok()?.trim_end();
    if text.len() > 64 {
        return None;
    }
    let (text, zone) = match text.split_once('%') {
        Some((text, zone)) => (text, Some(zone.parse::<u32>().ok()?)),
        None => (text, None),
    };
    let mut octets = match text.parse::<std::net::Ipv4Addr>() {
        Ok(address) => address.octets().to_vec(),
        Err(_) => octets(text)?,
    };
    octets.extend(zone.into_iter().flat_map(u32::to_be_bytes));
    Some(octets)
}

/// Reads the bytes of an address in hexadecimal digits.
fn octets(text: &str) -> Option<Vec<u8>> {
    let octet = |part: &str| u8::from_str_radix(part, 16).ok().filter(|_| part.len() <= 2);
    let octets: Option<Vec<u8>> = text.split([':', ' ']).map(octet).collect();
    octets.filter(|octets| matches!(octets.len(), 4 | 16))
}

fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 19 {
        return None;
    }
    text.iter()
        .try_fold(0_u64, |number, byte| byte.is_ascii_digit().then(|| number * 10 + u64::from(byte - b'0')))
}
