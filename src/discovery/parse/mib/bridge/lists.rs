//! Lists of ports, as VLANs have them.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::discovery::parse::text;

/// The form in which a device sends its lists of ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListForm {
    /// A bit string, as the MIB says. Port 1 is the most significant bit of the first byte.
    Bits,
    /// The hexadecimal digits of a bit string.
    HexDigits,
    /// Decimal numbers and ranges of them with commas.
    Numbers,
}

/// A set of ports.
#[derive(Debug)]
pub(super) enum PortList<'l> {
    Bits(Cow<'l, [u8]>),
    Numbers(BTreeSet<i64>),
}

impl ListForm {
    /// Recognizes the form of all lists of a device.
    ///
    /// Text is only taken for one if all ports that it names are known, which those of the bit string are not.
    pub(super) fn of<'l>(
        lists: impl Iterator<Item = &'l [u8]> + Clone,
        is_known: impl Fn(i64) -> bool,
    ) -> Self {
        let lists = lists.filter(|list| !list.is_empty());
        let fits = |form: Self| {
            lists.clone().all(|list| form.read(list).is_some_and(|list| list.ports().all(&is_known)))
        };
        if !Self::may_be_text(lists.clone()) {
            return Self::Bits;
        }
        let has_separator = lists.clone().any(|list| list.iter().any(|byte| matches!(byte, b',' | b'-')));
        if fits(Self::Numbers) && (has_separator || !fits(Self::Bits)) {
            Self::Numbers
        } else if !fits(Self::Bits) && fits(Self::HexDigits) {
            Self::HexDigits
        } else {
            Self::Bits
        }
    }

    /// Returns whether all lists of a device have only characters of text.
    pub(super) fn may_be_text<'l>(lists: impl Iterator<Item = &'l [u8]>) -> bool {
        let mut lists = lists.filter(|list| !list.is_empty()).peekable();
        lists.peek().is_some() && lists.all(|list| list.iter().all(|byte| is_text(*byte)))
    }

    /// Reads a list. Returns `None` if it does not have the form.
    pub(super) fn read(self, list: &[u8]) -> Option<PortList<'_>> {
        match self {
            Self::Bits => Some(PortList::Bits(Cow::Borrowed(list))),
            Self::HexDigits => hex(list).map(|octets| PortList::Bits(Cow::Owned(octets))),
            Self::Numbers => numbers(list).map(PortList::Numbers),
        }
    }
}

const fn is_text(byte: u8) -> bool {
    byte.is_ascii_hexdigit() || matches!(byte, 0 | b' ' | b',' | b'-' | b':' | b'x' | b'\n' | b'\r')
}

/// Reads hexadecimal digits, with or without separators.
fn hex(list: &[u8]) -> Option<Vec<u8>> {
    let list = list.strip_prefix(b"0x").unwrap_or(list);
    let is_separator = |byte: &u8| matches!(byte, 0 | b' ' | b':' | b'\n' | b'\r');
    let digits: Vec<u8> = list.iter().copied().filter(|byte| !is_separator(byte)).collect();
    text::hex_digits(&digits)
}

/// The most ports of ranges in one list. A short text can state thousands.
const MAX_PORTS_OF_RANGES: i64 = 1_024;

/// Reads decimal numbers and ranges, such as `514,515` and `1-24,49`.
fn numbers(list: &[u8]) -> Option<BTreeSet<i64>> {
    let list = str::from_utf8(list).ok()?;
    let parts = list.split([',', ' ', '\0', '\n', '\r']).filter(|part| !part.is_empty());
    let (mut numbers, mut room) = (BTreeSet::new(), MAX_PORTS_OF_RANGES);
    for part in parts {
        let Some((first, last)) = part.split_once('-') else {
            numbers.insert(part.parse().ok()?);
            continue;
        };
        let (first, last): (i64, i64) = (first.parse().ok()?, last.parse().ok()?);
        room -= last.checked_sub(first).filter(|length| (0..room).contains(length))? + 1;
        numbers.extend(first..=last);
    }
    Some(numbers)
}

/// Returns the ports that are in any of the lists.
pub(super) fn union<'l>(lists: impl Iterator<Item = &'l PortList<'l>>) -> BTreeSet<i64> {
    let mut octets: Vec<u8> = Vec::new();
    let mut ports = BTreeSet::new();
    for list in lists {
        match list {
            PortList::Bits(bits) => {
                octets.resize(octets.len().max(bits.len()), 0);
                octets.iter_mut().zip(bits.iter()).for_each(|(octet, bits)| *octet |= bits);
            }
            PortList::Numbers(numbers) => ports.extend(numbers),
        }
    }
    ports.extend(PortList::Bits(Cow::Owned(octets)).ports());
    ports
}

impl PortList<'_> {
    /// Returns the ports, counted from 1, in ascending order.
    pub(super) fn ports(&self) -> Box<dyn Iterator<Item = i64> + '_> {
        match self {
            Self::Bits(bits) => {
                let octets = bits.iter().enumerate().filter(|(_, octet)| **octet != 0);
                Box::new(octets.flat_map(|(index, octet)| {
                    (0..8)
                        .filter(move |bit| octet & (0x80 >> bit) != 0)
                        .map(move |bit| index as i64 * 8 + bit + 1)
                }))
            }
            Self::Numbers(numbers) => Box::new(numbers.iter().copied()),
        }
    }

    pub(super) fn contains(&self, port: i64) -> bool {
        match self {
            Self::Bits(bits) => {
                let Ok(bit) = usize::try_from(port - 1) else { return false };
                bits.get(bit / 8).is_some_and(|octet| octet & (0x80 >> (bit % 8)) != 0)
            }
            Self::Numbers(numbers) => numbers.contains(&port),
        }
    }
}
