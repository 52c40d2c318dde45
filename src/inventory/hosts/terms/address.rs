//! The terms of the addresses of interfaces.
//!
//! Addresses and words are terms of the same name, so that one filter finds the hosts with a word or an address that
//! begins with a word of the search. The first byte of an address is its type: MAC, the digits of a MAC address from the
//! last to the first, IPv4, IPv6, or the text of an IPv6 address. No word begins with such a byte.
//!
//! An IPv4-mapped IPv6 address, such as `::ffff:192.0.2.1`, has the terms of both of its forms.

use std::net::IpAddr;

use super::WORD;
use super::words::MAX_WORDS;
use crate::model::{Cidr, Interface, MacAddress, MacPrefix, mac_digits};
use crate::store::{Term, TermRange};

const MAC: u8 = 1;
const MAC_END: u8 = 2;
const IPV4: u8 = 4;
const IPV6: u8 = 6;
const IPV6_TEXT: u8 = 7;

/// Minimum number of hexadecimal digits of the end of a MAC address that finds it.
///
/// One of 256 addresses ends with the same two digits, so that fewer digits would find hosts by chance.
const MIN_END: usize = 4;

/// Prefix length of the IPv6 addresses that stand for IPv4 addresses, `::ffff:0:0/96`.
const MAPPED_PREFIX: u8 = 96;

pub(super) fn ip_terms(address: IpAddr) -> impl Iterator<Item = Term> {
    let canonical = address.to_canonical();
    let mapped = (canonical != address).then_some(canonical);
    [address].into_iter().chain(mapped).map(|address| Term::new(WORD, ip_value(address)))
}

/// Returns the terms by which the beginning and the end of a MAC address are found.
pub(super) fn mac_terms(address: MacAddress) -> [Term; 2] {
    let end: Vec<u8> = address.octets().iter().rev().map(|octet| octet.rotate_left(4)).collect();
    [Term::new(WORD, mac_value(address.octets())), Term::new(WORD, [&[MAC_END], &end[..]].concat())]
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

/// Returns the range of the IP addresses with a prefix, in the form in which the prefix is written.
pub(in crate::inventory) fn ip_prefix_range(prefix: Cidr) -> TermRange {
    TermRange::between(ip_value(prefix.first_address()), ip_value(prefix.last_address()))
}

/// Returns the ranges of the IP addresses with a prefix, in both forms if it is a prefix of IPv4-mapped ones.
pub(super) fn ip_prefix_ranges(prefix: Cidr) -> impl Iterator<Item = TermRange> {
    let mapped = unmapped(prefix).map(ip_prefix_range);
    [ip_prefix_range(prefix)].into_iter().chain(mapped)
}

/// Returns the IPv4 form of a prefix of IPv4-mapped addresses.
fn unmapped(prefix: Cidr) -> Option<Cidr> {
    let first = prefix.first_address();
    let canonical = first.to_canonical();
    let length = prefix.prefix_length().checked_sub(MAPPED_PREFIX).filter(|_| canonical != first)?;
    Cidr::containing(canonical, length).ok()
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
    let begun = [mac_text_range(word), mac_end_range(word), ipv6_text_range(word)].into_iter().flatten();
    let whole = word.strip_suffix([':', '-', '.']).and_then(whole_address);
    let mapped = mapped_text(word).map_or_else(Vec::new, ipv4_text_ranges);
    begun.chain(ipv4_text_ranges(word)).chain(mapped).chain(whole.map(TermRange::exact)).collect()
}

/// Encodes an IP or MAC address given by its text.
fn whole_address(text: &str) -> Option<Vec<u8>> {
    let ip = text.parse().ok().map(ip_value);
    ip.or_else(|| Some(mac_value(text.parse::<MacAddress>().ok()?.octets())))
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
    digits_range(MAC, &mac_digits(word)?)
}

/// Returns the range of the MAC addresses that end with a word of at least four digits.
fn mac_end_range(word: &str) -> Option<TermRange> {
    let is_end = word.ends_with(|character: char| character.is_ascii_hexdigit());
    let reversed: String = word.chars().rev().collect();
    digits_range(MAC_END, &mac_digits(&reversed).filter(|digits| is_end && digits.len() >= MIN_END)?)
}

/// Returns the range of the values of a type that begin with these hexadecimal digits.
fn digits_range(kind: u8, digits: &str) -> Option<TermRange> {
    let value = |last: &str| {
        let pairs = format!("{digits}{}", if digits.len().is_multiple_of(2) { "" } else { last });
        let (pairs, _) = pairs.as_bytes().as_chunks::<2>();
        let octet = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let octets: Option<Vec<u8>> = pairs.iter().map(octet).collect();
        Some([&[kind], &octets?[..]].concat())
    };
    Some(TermRange::new(value("0")?, TermRange::prefix(value("f")?).to))
}

/// Returns the IPv4 part of the text of an IPv4-mapped address, as far as the word has it.
fn mapped_text(word: &str) -> Option<&str> {
    word.strip_prefix("::ffff:").filter(|rest| rest.contains('.'))
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

    /// Asserts that a word finds exactly the addresses whose text begins with it. A separator at the end of the word
    /// may be missing in the text.
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
            let groups =
                |count: usize| -> Vec<String> { octets.chunks(count).map(<[String]>::concat).collect() };
            [(1, ""), (1, ":"), (1, "-"), (2, "."), (2, "-"), (3, "-")]
                .map(|(count, separator)| groups(count).join(separator))
                .to_vec()
        };
        for separated in addresses.into_iter().flat_map(texts) {
            for end in 1..=separated.len() {
                let word = &separated[..end];
                for word in [word.to_owned(), format!("{word}:"), format!("{word}-"), format!("{word}.")] {
                    assert_finds(&word, &addresses, |address| mac_value(&octets(address)), texts);
                }
            }
        }
        for word in [
            "g",
            "00:1g",
            "0000000000000",
            "x0",
            "1-2",
            "0:01",
            "00:1b-20",
            "00-1b:2",
            "001b:20",
            "00:1b20",
            "00.1b",
        ] {
            assert_finds(word, &addresses, |address| mac_value(&octets(address)), texts);
        }
    }

    #[test]
    fn mac_addresses_are_found_by_four_and_more_of_their_last_digits() {
        let address: MacAddress = "00:1b:20:2d:c9:64".parse().unwrap();
        let [_, end] = mac_terms(address);
        let finds = |word: &str| text_ranges(word).iter().any(|range| range.contains(&end.value));
        for word in [
            "c9:64",
            "9:64",
            "2d:c9:64",
            "2dc964",
            "dc964",
            "2d-c9-64",
            "c964",
            "d.c964",
            "202d-c964",
            "2dc964",
        ] {
            let is_short = word.chars().filter(char::is_ascii_hexdigit).count() < MIN_END;
            assert_eq!(finds(word), !is_short, "{word}");
        }
        for word in ["64", "c9:65", "c9:64:", "c964.", "c:964", "1b:20", "g9:64", "00:1b:20:2d:c9:64:00"] {
            assert!(!finds(word), "{word}");
        }
        assert!(finds("001b202dc964"));
    }

    #[test]
    fn a_mapped_address_has_the_terms_of_both_forms() {
        let mapped: IpAddr = "::ffff:192.0.2.1".parse().unwrap();
        let values: Vec<Vec<u8>> = ip_terms(mapped).map(|term| term.value).collect();
        let is_in = |ranges: Vec<TermRange>| {
            ranges.iter().any(|range| values.iter().any(|value| range.contains(value)))
        };
        for prefix in
            ["192.0.2.0/24", "::ffff:192.0.2.0/120", "::ffff:192.0.2.1/128", "::/64", "192.0.2.1/32"]
        {
            assert!(is_in(ip_prefix_ranges(prefix.parse().unwrap()).collect()), "{prefix}");
        }
        assert!(!is_in(ip_prefix_ranges("::ffff:192.0.3.0/120".parse().unwrap()).collect()));
        for word in ["192.0.2.1", "192.0.", "::ffff:192.0.2.1", "::ffff:192.0."] {
            assert!(is_in(text_ranges(word)), "{word}");
        }
        let ipv4: Vec<Vec<u8>> = ip_terms("192.0.2.1".parse().unwrap()).map(|term| term.value).collect();
        let ranges: Vec<TermRange> = ip_prefix_ranges("::ffff:192.0.2.0/120".parse().unwrap()).collect();
        assert!(ranges.iter().any(|range| range.contains(&ipv4[0])));
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
