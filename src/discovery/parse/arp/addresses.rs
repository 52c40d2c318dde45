//! The addresses of a table, in the notations of all devices.

use std::net::IpAddr;

use crate::model::MacAddress;

/// Reads an IP address, without parentheses and without the zone that follows `%`.
pub(super) fn ip_address(word: &str) -> Option<IpAddr> {
    word.trim_matches(['(', ')', ',']).split('%').next()?.parse().ok()
}

/// The characters of the shortest and of the longest MAC address of six bytes.
pub(super) const MIN_MAC_ADDRESS: usize = 11;
const MAX_MAC_ADDRESS: usize = 17;

/// Reads a MAC address in the form of any vendor: hexadecimal digits in equal groups. Of 12 digits, groups of two may
/// lack a leading zero. Brackets may surround it, and a note such as `(S)` may follow.
pub(super) fn mac_address(word: &str) -> Option<MacAddress> {
    let word = without_note(word.trim_matches([',', '"']));
    if let Ok(address) = word.parse() {
        return Some(address);
    }
    if !(MIN_MAC_ADDRESS..=MAX_MAC_ADDRESS).contains(&word.len()) {
        return None;
    }
    let separator = word.chars().find(|character| matches!(character, ':' | '-' | '.'));
    let groups: Vec<&str> = match separator {
        Some(separator) => word.split(separator).collect(),
        None => vec![word],
    };
    let width = match groups.len() {
        1 => 12,
        2 => 6,
        3 => 4,
        6 => 2,
        _ => return None,
    };
    let is_group = |group: &&str| {
        let is_whole = group.len() == width || (width == 2 && group.len() == 1);
        is_whole && group.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    if !groups.iter().all(is_group) {
        return None;
    }
    let digits: String = groups.iter().map(|group| format!("{group:0>width$}")).collect();
    let mut octets = [0; 6];
    for (place, octet) in octets.iter_mut().enumerate() {
        *octet = u8::from_str_radix(digits.get(place * 2..place * 2 + 2)?, 16).ok()?;
    }
    Some(MacAddress::new(octets))
}

/// Returns a word without the brackets around it, or the note in brackets behind it.
fn without_note(word: &str) -> &str {
    let bracketed = word.strip_suffix(')').and_then(|word| word.split_once('('));
    bracketed.map_or(word, |(address, inner)| if address.is_empty() { inner } else { address })
}

/// The most bytes of a hardware address that is read, apart from those of IP over InfiniBand, which have 20.
const MAX_BYTES: usize = 8;

/// Returns whether a text in place of a MAC address is an address of another link layer of which bytes are missing, such as one of IP
/// over InfiniBand that Linux shortens.
pub(super) fn is_shortened_address(text: &str) -> bool {
    let groups = || text.split([':', '-']);
    let is_byte = |group: &str| group.len() == 2 && group.bytes().all(|byte| byte.is_ascii_hexdigit());
    groups().count() > MAX_BYTES && groups().all(is_byte) && mac_address(text).is_none()
}

/// Returns whether a text in place of a MAC address may be one in an unknown notation.
///
/// The words for none have no digits, in any language. Tunnels have IP addresses there.
pub(super) fn may_be_mac_address(text: &str) -> bool {
    let has_digits = text.contains(|character: char| character.is_ascii_digit() || character == ':');
    has_digits && mac_address(text).is_none() && ip_address(text).is_none()
}
