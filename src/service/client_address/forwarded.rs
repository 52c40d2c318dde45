//! Client addresses in the headers of reverse proxies.
//!
//! Each proxy appends an entry, so only the last `proxies` entries are trusted; earlier ones may come from an
//! attacker. Both headers are therefore parsed from the end, so that nothing before the trusted entries, such as an
//! unbalanced quote, can change how these are parsed.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::{HeaderMap, HeaderName};

/// Returns the address in the entry that the outermost of `proxies` trusted proxies appended.
pub(super) fn x_forwarded_for(headers: &HeaderMap, name: &HeaderName, proxies: usize) -> Option<IpAddr> {
    node(entry_from_end(headers, name, proxies, |_| false)?.trim())
}

/// Returns the `for` parameter of the entry that the outermost of `proxies` trusted proxies appended.
pub(super) fn forwarded(headers: &HeaderMap, name: &HeaderName, proxies: usize) -> Option<IpAddr> {
    let entry = entry_from_end(headers, name, proxies, |character| character == b'"')?;
    let mut nodes = split_unquoted(entry, b';').filter_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        key.trim().eq_ignore_ascii_case("for").then_some(value.trim())
    });
    match (nodes.next(), nodes.next()) {
        (Some(value), None) => node(unquoted(value)),
        _ => None,
    }
}

/// Returns the entry at `position`, counted from 1 backwards from the last entry.
fn entry_from_end<'h>(
    headers: &'h HeaderMap,
    name: &HeaderName,
    position: usize,
    is_quote: impl Fn(u8) -> bool,
) -> Option<&'h str> {
    let mut skip = position.checked_sub(1)?;
    for line in headers.get_all(name).iter().rev() {
        let mut line = line.as_bytes();
        loop {
            let comma = last_unquoted_comma(line, &is_quote);
            let start = comma.map_or(0, |comma| comma + 1);
            if skip == 0 {
                return std::str::from_utf8(line.get(start..)?).ok();
            }
            skip -= 1;
            let Some(comma) = comma else { break };
            line = line.get(..comma)?;
        }
    }
    None
}

/// Returns the position of the last comma outside of quotes.
///
/// The text after that comma is assumed to be well-formed.
fn last_unquoted_comma(line: &[u8], is_quote: impl Fn(u8) -> bool) -> Option<usize> {
    let mut is_quoted = false;
    for (position, byte) in line.iter().enumerate().rev() {
        if is_quote(*byte) && !is_escaped(line, position) {
            is_quoted = !is_quoted;
        } else if *byte == b',' && !is_quoted {
            return Some(position);
        }
    }
    None
}

/// Returns whether an odd number of backslashes precedes a character of a quoted string.
fn is_escaped(text: &[u8], position: usize) -> bool {
    let before = text.get(..position).unwrap_or_default();
    before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

/// Splits an entry at a separator that is not inside quotes.
fn split_unquoted(text: &str, separator: u8) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let current = rest?;
        let mut is_quoted = false;
        for (position, byte) in current.bytes().enumerate() {
            if byte == b'"' && !is_escaped(current.as_bytes(), position) {
                is_quoted = !is_quoted;
            } else if byte == separator && !is_quoted {
                rest = current.get(position + 1..);
                return current.get(..position);
            }
        }
        rest = None;
        Some(current)
    })
}

/// Strips the quotes around a value. Escapes are not resolved, because no address contains one.
fn unquoted(value: &str) -> &str {
    value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value)
}

/// Parses an IP address with an optional port. An IPv6 address may be in brackets, and must be before a port.
fn node(text: &str) -> Option<IpAddr> {
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    if let Some(text) = text.strip_prefix('[') {
        let (address, port) = text.split_once(']')?;
        let is_valid = port.is_empty() || port.strip_prefix(':').is_some_and(is_port);
        return address.parse().ok().filter(|_: &Ipv6Addr| is_valid).map(IpAddr::V6);
    }
    let (address, port) = text.split_once(':')?;
    address.parse().ok().filter(|_: &Ipv4Addr| is_port(port)).map(IpAddr::V4)
}

/// Returns whether a text is a port number or an obfuscated port (RFC 7239).
fn is_port(text: &str) -> bool {
    let obfuscated = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    };
    text.parse::<u16>().is_ok() || text.strip_prefix('_').is_some_and(obfuscated)
}
