use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::text::deserialize_text;

/// A MAC address of 6 bytes.
///
/// Parsing accepts `:`, `-` or no separator, in either case. Formatting writes upper case with colons.
///
/// ```
/// use toposcope::model::MacAddress;
///
/// let address: MacAddress = "00-1b-21-3c-4d-5e".parse()?;
/// assert_eq!(address.to_string(), "00:1B:21:3C:4D:5E");
/// assert!("00:1b:21:3c:4d".parse::<MacAddress>().is_err());
/// # Ok::<(), toposcope::model::MacAddressError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", schemars(inline, try_from = "String", into = "String", extend("pattern" = "^([0-9A-F]{2}:){5}[0-9A-F]{2}$")))]
pub struct MacAddress([u8; 6]);

/// The error for text that is not a MAC address.
///
/// MAC addresses have 6 hexadecimal bytes; separators are all `:`, all `-` or absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a MAC address of 6 bytes")]
#[non_exhaustive]
pub struct MacAddressError;

impl MacAddress {
    /// Creates an address from its bytes, most significant first.
    #[must_use]
    pub const fn new(octets: [u8; 6]) -> Self {
        Self(octets)
    }

    /// Returns the bytes, most significant first.
    #[must_use]
    pub const fn octets(self) -> [u8; 6] {
        self.0
    }
}

impl FromStr for MacAddress {
    type Err = MacAddressError;

    fn from_str(text: &str) -> Result<Self, MacAddressError> {
        let bytes = text.as_bytes();
        let (group_length, separator) = match (bytes.len(), bytes.get(2)) {
            (12, _) => (2, None),
            (17, Some(separator @ (b':' | b'-'))) => (3, Some(separator)),
            _ => return Err(MacAddressError),
        };
        let mut octets = [0; 6];
        for (octet, group) in octets.iter_mut().zip(bytes.chunks(group_length)) {
            let [high, low, rest @ ..] = group else { return Err(MacAddressError) };
            if rest.iter().any(|byte| Some(byte) != separator) {
                return Err(MacAddressError);
            }
            *octet = (nibble(*high)? << 4) | nibble(*low)?;
        }
        Ok(Self(octets))
    }
}

const fn nibble(digit: u8) -> Result<u8, MacAddressError> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'A'..=b'F' => Ok(digit - b'A' + 10),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        _ => Err(MacAddressError),
    }
}

/// The first 1 to 6 bytes of MAC addresses. They are a vendor's prefix or a whole address.
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
#[error("not a prefix of 1 to 6 bytes of a MAC address")]
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

/// Accepts whole bytes, with `:`, `-` or no separator.
impl FromStr for MacPrefix {
    type Err = MacPrefixError;

    fn from_str(text: &str) -> Result<Self, MacPrefixError> {
        // The rest is zeros, in the same form.
        let filled = match text.as_bytes().get(2) {
            Some(b':') => format!("{text}{}", ":00".repeat(6_usize.saturating_sub(text.len().div_ceil(3)))),
            Some(b'-') => format!("{text}{}", "-00".repeat(6_usize.saturating_sub(text.len().div_ceil(3)))),
            _ => format!("{text}{}", "0".repeat(12_usize.saturating_sub(text.len()))),
        };
        let is_whole = if filled.len() == 12 { text.len().is_multiple_of(2) } else { text.len() % 3 == 2 };
        let address: MacAddress = filled.parse().map_err(|_| MacPrefixError)?;
        let length = if filled.len() == 12 { text.len() / 2 } else { text.len().div_ceil(3) };
        if !is_whole || length == 0 {
            return Err(MacPrefixError);
        }
        Ok(Self(address.octets().into_iter().take(length).collect()))
    }
}

impl fmt::Display for MacPrefix {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, octet) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { ":" };
            write!(formatter, "{separator}{octet:02X}")?;
        }
        Ok(())
    }
}

impl fmt::Display for MacAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, f] = self.0;
        write!(formatter, "{a:02X}:{b:02X}:{c:02X}:{d:02X}:{e:02X}:{f:02X}")
    }
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
