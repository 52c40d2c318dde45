use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::text::deserialize_text;

/// A color: red, green and blue.
///
/// The text form is `#rrggbb`, in lower case. Parsing accepts either case.
///
/// ```
/// use toposcope::model::Color;
///
/// let color: Color = "#FF8000".parse()?;
/// assert_eq!(color.to_string(), "#ff8000");
/// assert!("orange".parse::<Color>().is_err());
/// # Ok::<(), toposcope::model::ColorError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", schemars(inline, try_from = "String", into = "String", extend("pattern" = "^#[0-9a-f]{6}$")))]
pub struct Color([u8; 3]);

/// The error for text that is not of the form `#rrggbb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a color of the form #rrggbb")]
#[non_exhaustive]
pub struct ColorError;

impl Color {
    /// Creates a color from the intensities of red, green and blue.
    #[must_use]
    pub const fn new(red: u8, green: u8, blue: u8) -> Self {
        Self([red, green, blue])
    }
}

impl FromStr for Color {
    type Err = ColorError;

    fn from_str(text: &str) -> Result<Self, ColorError> {
        let digits = text.strip_prefix('#').ok_or(ColorError)?;
        if digits.len() != 6 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(ColorError);
        }
        let [_, red, green, blue] = u32::from_str_radix(digits, 16).map_err(|_| ColorError)?.to_be_bytes();
        Ok(Self([red, green, blue]))
    }
}

impl fmt::Display for Color {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(formatter, "#{red:02x}{green:02x}{blue:02x}")
    }
}

impl fmt::Debug for Color {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl Serialize for Color {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Color {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize_text(deserializer, "a color of the form #rrggbb")
    }
}
