use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::text::deserialize_text;

/// A color: red, green and blue.
///
/// The text form is `#rrggbb`, in lower case. Parsing accepts either case, and the names of the common web palette:
/// `slate`, `gray`, `zinc`, `neutral`, `stone`, `red`, `orange`, `amber`, `yellow`, `lime`, `green`, `emerald`, `teal`,
/// `cyan`, `sky`, `blue`, `indigo`, `violet`, `purple`, `fuchsia`, `pink` and `rose`.
///
/// ```
/// use toposcope::model::Color;
///
/// let color: Color = "#FF8000".parse()?;
/// assert_eq!(color.to_string(), "#ff8000");
/// assert_eq!("Orange".parse::<Color>()?.to_string(), "#f97316");
/// assert!("orangeish".parse::<Color>().is_err());
/// # Ok::<(), toposcope::model::ColorError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", schemars(inline, try_from = "String", into = "String", extend("pattern" = "^#[0-9a-f]{6}$")))]
pub struct Color([u8; 3]);

/// The error for text that is neither of the form `#rrggbb` nor the name of a color.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("neither a color of the form #rrggbb nor the name of one")]
#[non_exhaustive]
pub struct ColorError;

impl Color {
    /// Creates a color from the intensities of red, green and blue.
    #[must_use]
    pub const fn new(red: u8, green: u8, blue: u8) -> Self {
        Self([red, green, blue])
    }
}

/// The named colors.
const NAMES: &[(&str, Color)] = &[
    ("slate", Color::new(0x64, 0x74, 0x8b)),
    ("gray", Color::new(0x6b, 0x72, 0x80)),
    ("zinc", Color::new(0x71, 0x71, 0x7a)),
    ("neutral", Color::new(0x73, 0x73, 0x73)),
    ("stone", Color::new(0x78, 0x71, 0x6c)),
    ("red", Color::new(0xef, 0x44, 0x44)),
    ("orange", Color::new(0xf9, 0x73, 0x16)),
    ("amber", Color::new(0xf5, 0x9e, 0x0b)),
    ("yellow", Color::new(0xea, 0xb3, 0x08)),
    ("lime", Color::new(0x84, 0xcc, 0x16)),
    ("green", Color::new(0x22, 0xc5, 0x5e)),
    ("emerald", Color::new(0x10, 0xb9, 0x81)),
    ("teal", Color::new(0x14, 0xb8, 0xa6)),
    ("cyan", Color::new(0x06, 0xb6, 0xd4)),
    ("sky", Color::new(0x0e, 0xa5, 0xe9)),
    ("blue", Color::new(0x3b, 0x82, 0xf6)),
    ("indigo", Color::new(0x63, 0x66, 0xf1)),
    ("violet", Color::new(0x8b, 0x5c, 0xf6)),
    ("purple", Color::new(0xa8, 0x55, 0xf7)),
    ("fuchsia", Color::new(0xd9, 0x46, 0xef)),
    ("pink", Color::new(0xec, 0x48, 0x99)),
    ("rose", Color::new(0xf4, 0x3f, 0x5e)),
];

impl FromStr for Color {
    type Err = ColorError;

    fn from_str(text: &str) -> Result<Self, ColorError> {
        let Some(digits) = text.strip_prefix('#') else {
            let named = NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
            return named.map(|(_, color)| *color).ok_or(ColorError);
        };
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
        deserialize_text(deserializer, "a color of the form #rrggbb or its name")
    }
}
