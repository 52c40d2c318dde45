use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::text::deserialize_text;

use crate::invariant::Invariant;

/// A hardware address: a MAC address of 6 bytes, an EUI-64 of 8, or an InfiniBand address of 20.
///
/// Parsing accepts either case, no separators, and the notations of the vendors: `:` or `-` after every two digits, `.` or
/// `-` after every four, `-` after six. Formatting writes upper case with colons.
///
/// ```
/// use toposcope::model::MacAddress;
///
/// let address: MacAddress = "00-1b-21-3c-4d-5e".parse()?;
/// assert_eq!(address.to_string(), "00:1B:21:3C:4D:5E");
/// assert_eq!("001b.213c.4d5e".parse(), Ok(address));
/// assert_eq!("00:1b:21:ff:fe:3c:4d:5e".parse::<MacAddress>()?.octets().len(), 8);
/// assert!("00:1b:21:3c:4d".parse::<MacAddress>().is_err());
/// # Ok::<(), toposcope::model::MacAddressError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", schemars(inline, try_from = "String", into = "String", extend("pattern" = Self::PATTERN)))]
pub struct MacAddress {
    /// The bytes, followed by zeros.
    octets: [u8; Self::MAX_LENGTH],
    length: Length,
}

/// The number of bytes of an address. Its unused values are where `Option<MacAddress>` has its `None`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
enum Length {
    Mac48 = 6,
    Eui64 = 8,
    InfiniBand = 20,
}

impl Length {
    const fn of(bytes: usize) -> Option<Self> {
        match bytes {
            6 => Some(Self::Mac48),
            8 => Some(Self::Eui64),
            20 => Some(Self::InfiniBand),
            _ => None,
        }
    }
}

/// The error for text, or a number of bytes, that is not a MAC address.
///
/// MAC addresses have 6, 8 or 20 hexadecimal bytes, and separators in equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a MAC address of 6, 8 or 20 bytes")]
#[non_exhaustive]
pub struct MacAddressError;

impl MacAddress {
    /// The regular expression of an address as it is formatted.
    #[cfg(feature = "openapi")]
    pub(crate) const PATTERN: &str = "^[0-9A-F]{2}(:[0-9A-F]{2}){5}((:[0-9A-F]{2}){2}|(:[0-9A-F]{2}){14})?$";
    /// The least and the largest number of characters that are parsed.
    pub(crate) const TEXT_LENGTHS: (usize, usize) = (12, 59);

    /// Maximum number of bytes of an address.
    pub const MAX_LENGTH: usize = Length::InfiniBand as usize;

    /// Creates an address from its 6 bytes, most significant first.
    #[must_use]
    pub const fn new([a, b, c, d, e, f]: [u8; 6]) -> Self {
        Self { octets: [a, b, c, d, e, f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], length: Length::Mac48 }
    }

    /// Returns the 6, 8 or 20 bytes, most significant first.
    #[must_use]
    pub fn octets(&self) -> &[u8] {
        self.octets.get(..self.length as usize).asserted_or_default()
    }

    /// Returns whether all bytes are zero, which stands for no address.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.octets == [0; Self::MAX_LENGTH]
    }

    /// Returns whether the address is one of a group, by the lowest bit of its first byte.
    ///
    /// InfiniBand addresses have no such bit.
    #[must_use]
    pub fn is_group(&self) -> bool {
        self.length != Length::InfiniBand && self.octets.first().is_some_and(|first| first & 1 == 1)
    }
}

/// Creates an address from its 6, 8 or 20 bytes, most significant first.
impl TryFrom<&[u8]> for MacAddress {
    type Error = MacAddressError;

    fn try_from(bytes: &[u8]) -> Result<Self, MacAddressError> {
        let length = Length::of(bytes.len()).ok_or(MacAddressError)?;
        let mut octets = [0; Self::MAX_LENGTH];
        octets.iter_mut().zip(bytes).for_each(|(octet, byte)| *octet = *byte);
        Ok(Self { octets, length })
    }
}

impl FromStr for MacAddress {
    type Err = MacAddressError;

    fn from_str(text: &str) -> Result<Self, MacAddressError> {
        let bytes = hexadecimal_bytes(text).ok_or(MacAddressError)?;
        Self::try_from(bytes.as_slice())
    }
}

/// Maximum length of the text of an address: two digits and a separator for each byte.
const MAX_TEXT: usize = 3 * MacAddress::MAX_LENGTH;

/// Returns the hexadecimal digits of the beginning of an address, in any notation. The last group may be incomplete.
pub(crate) fn mac_digits(text: &str) -> Option<String> {
    if text.len() > MAX_TEXT {
        return None;
    }
    let separator = text.chars().find(|character| matches!(character, ':' | '-' | '.'));
    let mut digits = String::with_capacity(text.len());
    match separator {
        None => digits.push_str(text),
        Some(separator) => {
            let mut groups = text.split(separator).peekable();
            let width = groups.peek().map_or(0, |group| group.len());
            let widths: &[usize] = match separator {
                ':' => &[2],
                '.' => &[4],
                _ => &[2, 4, 6],
            };
            if !widths.contains(&width) {
                return None;
            }
            while let Some(group) = groups.next() {
                if group.len() > width || (group.len() < width && groups.peek().is_some()) {
                    return None;
                }
                digits.push_str(group);
            }
        }
    }
    let is_beginning = digits.len() <= 2 * MacAddress::MAX_LENGTH;
    (is_beginning && digits.bytes().all(|digit| digit.is_ascii_hexdigit())).then_some(digits)
}

/// Returns the whole bytes that a text in any notation consists of.
fn hexadecimal_bytes(text: &str) -> Option<Vec<u8>> {
    let is_complete = text.ends_with(|character: char| character.is_ascii_hexdigit());
    let digits = mac_digits(text).filter(|_| is_complete)?;
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else { return None };
    pairs.iter().map(|[high, low]| Some((nibble(*high)? << 4) | nibble(*low)?)).collect()
}

const fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

/// The first 1 to 20 bytes of MAC addresses. They are a vendor's prefix or a whole address.
///
/// ```
/// use toposcope::model::MacPrefix;
///
/// let vendor: MacPrefix = "00:1b:21".parse()?;
/// assert_eq!(vendor.octets(), [0x00, 0x1b, 0x21]);
/// # Ok::<(), toposcope::model::MacPrefixError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacPrefix(Vec<u8>);

/// The error for text that is not the beginning of a MAC address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a prefix of 1 to 20 bytes of a MAC address")]
#[non_exhaustive]
pub struct MacPrefixError;

impl MacPrefix {
    /// Returns the bytes, most significant first.
    #[must_use]
    pub fn octets(&self) -> &[u8] {
        &self.0
    }
}

impl From<MacAddress> for MacPrefix {
    fn from(address: MacAddress) -> Self {
        Self(address.octets().to_vec())
    }
}

/// Accepts whole bytes, in the notations of [`MacAddress`].
impl FromStr for MacPrefix {
    type Err = MacPrefixError;

    fn from_str(text: &str) -> Result<Self, MacPrefixError> {
        hexadecimal_bytes(text).filter(|bytes| !bytes.is_empty()).map(Self).ok_or(MacPrefixError)
    }
}

impl fmt::Display for MacPrefix {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_octets(&self.0, formatter)
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_octets(self.octets(), formatter)
    }
}

fn write_octets(octets: &[u8], formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (index, octet) in octets.iter().enumerate() {
        let separator = if index == 0 { "" } else { ":" };
        write!(formatter, "{separator}{octet:02X}")?;
    }
    Ok(())
}

impl fmt::Debug for MacAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl Serialize for MacAddress {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for MacAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_text(deserializer, "a MAC address")
    }
}
