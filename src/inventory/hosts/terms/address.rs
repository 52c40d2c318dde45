//! The terms of the addresses of interfaces.
//!
//! Addresses and words are terms of the same name, so that one filter finds the hosts with a word or an address that
//! begins with a word of the search. The first byte of an address is its type: MAC, IPv4, IPv6, or the text of an IPv6
//! address. No word begins with such a byte.

use std::net::IpAddr;

use super::WORD;
use super::words::MAX_WORDS;
use crate::model::{Cidr, Interface, MacAddress, MacPrefix};
use crate::store::{Term, TermRange};

const MAC: u8 = 1;
const IPV4: u8 = 4;
const IPV6: u8 = 6;
const IPV6_TEXT: u8 = 7;

/// Number of hexadecimal digits of a MAC address.
const MAC_DIGITS: usize = 12;

pub(super) fn ip_term(address: IpAddr) -> Term {
    Term::new(WORD, ip_value(address))
}

pub(super) fn mac_term(address: MacAddress) -> Term {
    Term::new(WORD, mac_value(&address.octets()))
}

/// Returns the range of an IP address.
#[cfg(feature = "discovery")]
pub(in crate::inventory) fn ip_range(address: IpAddr) -> TermRange {
    TermRange::exact(ip_value(address))
}

/// Returns the range of a MAC address.
#[cfg(feature = "discovery")]
pub(in crate::inventory) fn mac_range(octets: &[u8]) -> TermRange {
    TermRange::exact(mac_value(octets))
}

/// Returns the range of the IP addresses with a prefix.
pub(in crate::inventory) fn ip_prefix_range(prefix: Cidr) -> TermRange {
    TermRange::between(ip_value(prefix.first_address()), ip_value(prefix.last_address()))
}

pub(super) fn mac_prefix_range(prefix: &MacPrefix) -> TermRange {
    TermRange::prefix(mac_value(prefix.octets()))
}

/// Returns the terms by which the texts of IPv6 addresses are found.
///
/// Addresses whose text begins alike are not one range of bytes, because `::` stands for any number of zeros.
pub(super) fn ipv6_text_terms(interfaces: &[Interface]) -> impl Iterator<Item = Term> {
    let addresses = interfaces.iter().map(|interface| interface.ip_address).filter(IpAddr::is_ipv6);
    addresses.take(MAX_WORDS).map(|address| Term::new(WORD, ipv6_text_value(&address.to_string())))
}

/// Returns the ranges of the addresses whose text begins with a word.
///
/// A separator at the end of the word belongs to the text, but an address is also found by a separator after it.
pub(super) fn text_ranges(word: &str) -> Vec<TermRange> {
    let begun = [mac_text_range(word), ipv6_text_range(word)].into_iter().flatten();
    let whole = word.strip_suffix([':', '-', '.']).and_then(whole_address);
    begun.chain(ipv4_text_ranges(word)).chain(whole.map(TermRange::exact)).collect()
}

/// Encodes an IP or MAC address given by its text.
fn whole_address(text: &str) -> Option<Vec<u8>> {
    let ip = text.parse().ok().map(ip_value);
    ip.or_else(|| Some(mac_value(&text.parse::<MacAddress>().ok()?.octets())))
}

/// Encodes an address so that the addresses of a prefix are one range.
fn ip_value(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => [&[IPV4], &address.octets()[..]].concat(),
        IpAddr::V6(address) => [&[IPV6], &address.octets()[..]].concat(),
    }
}

fn mac_value(octets: &[u8]) -> Vec<u8> {
    [&[MAC], octets].concat()
}

fn ipv6_text_value(text: &str) -> Vec<u8> {
    [&[IPV6_TEXT], text.as_bytes()].concat()
}

/// Returns the range of the IPv6 addresses that begin with a word. `None` if there cannot be any.
fn ipv6_text_range(word: &str) -> Option<TermRange> {
    let is_part = |byte: u8| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.');
    word.bytes().all(is_part).then(|| TermRange::prefix(ipv6_text_value(word)))
}

/// Returns the range of the MAC addresses that begin with a word. The word may have separators.
fn mac_text_range(word: &str) -> Option<TermRange> {
    let digits = mac_digits(word)?;
    let end = |missing: &str| {
        let digits = format!("{digits}{}", missing.repeat(MAC_DIGITS.checked_sub(digits.len())?));
        let number = u64::from_str_radix(&digits, 16).ok()?;
        Some(mac_value(number.to_be_bytes().get(2..)?))
    };
    Some(TermRange::between(end("0")?, end("f")?))
}

/// Returns the hexadecimal digits of a word. The word may have a separator after every two of them.
fn mac_digits(word: &str) -> Option<String> {
    let separator = word.chars().find(|character| matches!(character, ':' | '-'));
    let mut octets = word.split(|character| Some(character) == separator).rev();
    let is_separated = separator.is_none()
        || octets.next().is_some_and(|last| last.len() <= 2) && octets.all(|octet| octet.len() == 2);
    let digits: String = word.chars().filter(|character| Some(*character) != separator).collect();
    Some(digits).filter(|digits| is_separated && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Returns the ranges of the IPv4 addresses that begin with a word.
///
/// The addresses that begin with `10.2` are those of `10.2.0.0/16`, of `10.20.0.0/16` to `10.29.0.0/16`, and of
/// `10.200.0.0/16` to `10.255.0.0/16`. Those that begin with `10.2.` are only those of `10.2.0.0/16`.
fn ipv4_text_ranges(word: &str) -> Vec<TermRange> {
    let (word, is_whole) = word.strip_suffix('.').map_or((word, false), |word| (word, true));
    let octets: Option<Vec<u8>> = word.split('.').map(octet).collect();
    let Some(octets) = octets.filter(|octets| octets.len() + usize::from(is_whole) <= 4) else {
        return Vec::new();
    };
    if is_whole {
        return vec![TermRange::prefix([&[IPV4], &octets[..]].concat())];
    }
    let Some((last, whole)) = octets.split_last() else { return Vec::new() };
    let value = |octet: u8| [&[IPV4], whole, &[octet]].concat();
    let with_more_digits = [1, 10, 100].into_iter().take(if *last == 0 { 1 } else { 3 });
    let octets = with_more_digits.filter_map(|factor| {
        let first = u16::from(*last) * factor;
        Some((u8::try_from(first).ok()?, u8::try_from(first + factor - 1).unwrap_or(u8::MAX)))
    });
    octets.map(|(first, last)| TermRange::new(value(first), TermRange::prefix(value(last)).to)).collect()
}

/// Parses an octet without leading zeros.
fn octet(text: &str) -> Option<u8> {
    text.parse().ok().filter(|octet: &u8| octet.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asserts that of all these addresses, a word finds those whose text begins with it, or is it without a separator
    /// at its end.
    fn assert_finds<A: Copy>(
        word: &str,
        addresses: &[A],
        value: impl Fn(A) -> Vec<u8>,
        texts: impl Fn(A) -> Vec<String>,
    ) {
        let ranges = text_ranges(word);
        for address in addresses {
            let is_found = ranges.iter().any(|range| range.contains(&value(*address)));
            let texts = texts(*address);
            let without = word.strip_suffix([':', '-', '.']);
            let is_expected = |text: &String| text.starts_with(word) || Some(text.as_str()) == without;
            assert_eq!(is_found, texts.iter().any(is_expected), "{word}: {texts:?}");
        }
    }

    #[test]
    fn ipv4_addresses_are_found_by_each_beginning_of_their_text_and_by_no_other() {
        let octets = [0, 1, 2, 9, 10, 12, 19, 20, 25, 29, 99, 100, 109, 120, 199, 200, 249, 250, 255];
        let addresses: Vec<[u8; 4]> = octets
            .iter()
            .flat_map(|first| octets.map(|second| [[*first, second, 0, 1], [*first, 1, second, 10]]))
            .flatten()
            .chain(octets.map(|last| [10, 20, 250, last]))
            .collect();
        let text = |address: [u8; 4]| vec![IpAddr::from(address).to_string()];
        let words: std::collections::BTreeSet<String> = addresses
            .iter()
            .step_by(7)
            .flat_map(|address| {
                let ends = (1..=text(*address)[0].len()).map(|end| text(*address)[0][..end].to_owned());
                ends.flat_map(|word| [format!("{word}."), format!("{word}:"), word])
            })
            .chain(
                ["256", "01", "1.2.3.4.5", "10..1", "1.02", "10.300", "a", "10.a", "ff", "1:2"]
                    .map(str::to_owned),
            )
            .collect();
        for word in words {
            assert_finds(&word, &addresses, |address| ip_value(address.into()), text);
        }
    }

    #[test]
    fn mac_addresses_are_found_by_each_beginning_of_their_text_with_and_without_separators() {
        let addresses = [0, 0x1B20, 0x001B_202D_C964, 0x001B_2FFF_FFFF, 0x001B_3000_0000, 0xFFFF_FFFF_FFFF];
        let octets = |address: u64| address.to_be_bytes()[2..].to_vec();
        let texts = |address: u64| {
            let octets: Vec<String> = octets(address).iter().map(|octet| format!("{octet:02x}")).collect();
            ["", ":", "-"].map(|separator| octets.join(separator)).to_vec()
        };
        for separated in addresses.into_iter().flat_map(texts) {
            for end in 1..=separated.len() {
                let word = &separated[..end];
                for word in [word.to_owned(), format!("{word}:"), format!("{word}-"), format!("{word}.")] {
                    assert_finds(&word, &addresses, |address| mac_value(&octets(address)), texts);
                }
            }
        }
        for word in
            ["g", "00:1g", "0000000000000", "x0", "1-2", "0:01", "00:1b-20", "00-1b:2", "001b:20", "00:1b20"]
        {
            assert_finds(word, &addresses, |address| mac_value(&octets(address)), texts);
        }
    }
    #[test]
    fn ipv6_addresses_are_found_by_each_beginning_of_their_text_and_by_no_other() {
        let texts = [
            "::",
            "::1",
            "2001:db8::",
            "2001:db8::1",
            "2001:db8:1::1",
            "2001:db80::",
            "fe80::1",
            "::ffff:10.1.0.1",
        ];
        for word in texts.iter().flat_map(|text| (1..=text.len()).map(|end| &text[..end])) {
            for word in [word.to_owned(), format!("{word}:"), format!("{word}.")] {
                let ranges = text_ranges(&word);
                for address in texts {
                    let values = [ipv6_text_value(address), ip_value(address.parse().unwrap())];
                    let is_found =
                        ranges.iter().any(|range| values.iter().any(|value| range.contains(value)));
                    let is_whole = word.strip_suffix([':', '.']).is_some_and(|word| word == address);
                    assert_eq!(is_found, address.starts_with(&word) || is_whole, "{word}: {address}");
                }
            }
        }
        assert!(ipv6_text_range("fe80::x").is_none());
    }
}
