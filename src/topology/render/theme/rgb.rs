//! Colors, and the contrast between them.

use std::fmt;

/// An opaque color.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::topology::render) struct Rgb(pub(super) u32);

impl Rgb {
    pub(in crate::topology::render) const BLACK: Self = Self(0x00_0000);
    pub(in crate::topology::render) const WHITE: Self = Self(0xff_ffff);

    /// Reads `#rrggbb` or `#rgb`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let digits =
            text.strip_prefix('#').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        let number = u32::from_str_radix(digits, 16).ok()?;
        match digits.len() {
            6 => Some(Self(number)),
            // Each digit stands for two equal ones.
            3 => Some(Self(((number & 0xf00) << 8 | (number & 0xf0) << 4 | number & 0xf) * 0x11)),
            _ => None,
        }
    }

    /// Returns the ratio of luminances by which WCAG 2.2 measures contrast, from 1 to 21.
    pub(in crate::topology::render) fn contrast(self, other: Self) -> f64 {
        let (one, other) = (self.luminance(), other.luminance());
        (one.max(other) + 0.05) / (one.min(other) + 0.05)
    }

    /// Returns black or white, whichever is easier to read on the color. Its contrast is at least 4.5.
    pub(in crate::topology::render) fn text_on(self) -> Self {
        if self.contrast(Self::WHITE) >= self.contrast(Self::BLACK) { Self::WHITE } else { Self::BLACK }
    }

    fn luminance(self) -> f64 {
        let linear = |shift: u32| {
            let share = f64::from(self.0 >> shift & 0xff) / 255.0;
            if share <= 0.040_45 { share / 12.92 } else { ((share + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(16) + 0.7152 * linear(8) + 0.0722 * linear(0)
    }
}

impl fmt::Display for Rgb {
    /// Writes all six digits: not every program knows the short form.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "#{:06x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Rgb;

    #[test]
    fn colors_are_read_in_both_forms_and_written_in_the_long_one() {
        for (text, written) in
            [("#FFF", "#ffffff"), ("#ffffff", "#ffffff"), ("#0072b2", "#0072b2"), ("#a0c", "#aa00cc")]
        {
            assert_eq!(Rgb::parse(text).unwrap().to_string(), written);
        }
        for text in ["", "#", "fff", "#ffff", "#+12345", "#12345g", "red", "#fff;", "#é12"] {
            assert_eq!(Rgb::parse(text), None, "{text}");
        }
    }

    #[test]
    fn contrast_is_that_of_wcag() {
        let contrast = |one: &str, other: &str| {
            let hundredths = Rgb::parse(one).unwrap().contrast(Rgb::parse(other).unwrap()) * 100.0;
            hundredths.round()
        };
        assert_eq!(contrast("#000", "#fff"), 2_100.0);
        assert_eq!(contrast("#777777", "#fff"), 448.0);
        assert_eq!(contrast("#fff", "#767676"), 454.0);
    }

    #[test]
    fn text_on_any_color_is_readable() {
        for number in (0..=0xff_ffff).step_by(0x1_0307) {
            let color = Rgb(number);
            assert!(color.contrast(color.text_on()) >= 4.5, "{color}");
        }
    }
}
