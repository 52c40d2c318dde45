//! Themes of host applications, and their validation.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::palette::{Palette, TEXT_PAIRS, ThemeColor};
use super::rgb::Rgb;
use super::{IconPaths, Look, Theme, icon_path};
use crate::model::HostRole;

/// Maximum size of a theme as JSON, in bytes.
pub const MAX_THEME: usize = 128 * 1024;

/// Maximum number of fonts.
const MAX_FONTS: usize = 8;
/// Longest name of a font, in characters.
const MAX_FONT: usize = 64;
/// Least contrast of text, as WCAG 2.2 asks of it.
const MIN_CONTRAST: f64 = 4.5;
/// The names of font families that every browser has.
pub(super) const GENERIC_FONTS: [&str; 6] =
    ["sans-serif", "serif", "monospace", "system-ui", "ui-sans-serif", "ui-monospace"];

/// A theme that is not complete yet. [`Theme::builder`] begins one.
///
/// Colors are written `#rrggbb` or `#rgb`. A method that is called again for the same thing replaces it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ThemeBuilder {
    fonts: Vec<String>,
    light: BTreeMap<ThemeColor, String>,
    dark: BTreeMap<ThemeColor, String>,
    roles: BTreeMap<HostRole, String>,
    icons: BTreeMap<HostRole, Icon>,
}

/// The icon of a role: a filled badge, and a pictogram of lines on it.
///
/// Both are path data of SVG for a square. An icon that consists of filled shapes alone has all of them in the badge.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Icon {
    /// The path data of the badge, which has the color of the role.
    pub badge: String,
    /// The path data of the pictogram. Default: none.
    #[serde(default)]
    pub pictogram: Option<String>,
    /// The length of the side of the square. Default: 24.
    #[serde(default = "usual_size")]
    pub size: f64,
}

const fn usual_size() -> f64 {
    24.0
}

impl Icon {
    /// Creates an icon without a pictogram, whose square has sides of 24.
    #[must_use]
    pub fn new(badge: impl Into<String>) -> Self {
        Self { badge: badge.into(), pictogram: None, size: usual_size() }
    }

    /// Sets the pictogram.
    #[must_use]
    pub fn pictogram(self, data: impl Into<String>) -> Self {
        Self { pictogram: Some(data.into()), ..self }
    }

    /// Sets the length of the side of the square, from 1 to 10,000.
    #[must_use]
    pub fn size(self, size: f64) -> Self {
        Self { size, ..self }
    }
}

/// The error for a theme that is not valid. Its text names the part and the fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidTheme(String);

impl ThemeBuilder {
    /// Reads a theme from JSON. Its values are checked when the theme is built.
    pub(super) fn from_json(json: &str) -> Result<Self, InvalidTheme> {
        if json.len() > MAX_THEME {
            return Err(InvalidTheme(format!("The theme is larger than {MAX_THEME} bytes.")));
        }
        // The sequence of the members would be accepted too.
        if !json.trim_start().starts_with('{') {
            return Err(InvalidTheme("The theme is not a JSON object.".to_owned()));
        }
        serde_json::from_str(json)
            .map_err(|error| InvalidTheme(format!("The theme is not valid JSON of a theme: {error}.")))
    }

    /// Sets the families of fonts, the preferred one first; at most 8. The text of pictures is measured for a font that is as wide as
    /// Helvetica.
    #[must_use]
    pub fn fonts(mut self, families: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.fonts = families.into_iter().map(Into::into).collect();
        self
    }

    /// Sets a color of light pictures and pages, and of files that have no dark variant.
    #[must_use]
    pub fn light(mut self, of: ThemeColor, color: impl Into<String>) -> Self {
        self.light.insert(of, color.into());
        self
    }

    /// Sets a color of dark pictures and pages.
    #[must_use]
    pub fn dark(mut self, of: ThemeColor, color: impl Into<String>) -> Self {
        self.dark.insert(of, color.into());
        self
    }

    /// Sets the color of the badge of a role. Roles of host applications have the color of [`HostRole::Unknown`].
    #[must_use]
    pub fn role_color(mut self, role: HostRole, color: impl Into<String>) -> Self {
        self.roles.insert(role, color.into());
        self
    }

    /// Sets the icon of a role.
    #[must_use]
    pub fn icon(mut self, role: HostRole, icon: Icon) -> Self {
        self.icons.insert(role, icon);
        self
    }

    /// Builds the theme.
    ///
    /// # Errors
    /// [`InvalidTheme`] for a font, a color or a path that is none, for a color of a role of the host application, for
    /// an icon that leaves its square, and for text whose contrast to its background is less than 4.5.
    pub fn build(self) -> Result<Theme, InvalidTheme> {
        check_fonts(&self.fonts)?;
        let color = |(role, text): (&HostRole, &String)| Ok((*role, read_role_color(*role, text)?));
        let roles = self.roles.iter().map(color).collect::<Result<_, _>>()?;
        let icon = |(role, icon): (&HostRole, &Icon)| Ok((*role, read_icon(*role, icon)?));
        let icons = self.icons.iter().map(icon).collect::<Result<_, _>>()?;
        let light = read_palette("light", false, &self.light)?;
        let dark = read_palette("dark", true, &self.dark)?;
        Ok(Theme::of(Look { fonts: self.fonts, light, dark, roles, icons }))
    }
}

fn check_fonts(fonts: &[String]) -> Result<(), InvalidTheme> {
    if fonts.len() > MAX_FONTS {
        return Err(InvalidTheme(format!("`fonts` has more than {MAX_FONTS} families.")));
    }
    let is_allowed = |character: char| character.is_alphanumeric() || matches!(character, ' ' | '-' | '_');
    let is_font = |font: &&String| {
        !font.trim().is_empty() && font.chars().count() <= MAX_FONT && font.chars().all(is_allowed)
    };
    match fonts.iter().find(|font| !is_font(font)) {
        Some(font) => Err(InvalidTheme(format!(
            "`fonts` has {font:?}. The name of a family has 1 to {MAX_FONT} letters, digits, spaces, hyphens and underscores."
        ))),
        None => Ok(()),
    }
}

fn read_color(field: &str, text: &str) -> Result<Rgb, InvalidTheme> {
    Rgb::parse(text)
        .ok_or_else(|| InvalidTheme(format!("`{field}` is {text:?}. A color is written as #rrggbb or #rgb.")))
}

/// Reads the color of a role. SVG has one class for all roles of host applications, so that they cannot have colors of their own.
fn read_role_color(role: HostRole, text: &str) -> Result<Rgb, InvalidTheme> {
    match role {
        HostRole::Other(_) => Err(InvalidTheme(format!(
            "`roles.{role}` has no color of its own: roles of the application have that of `roles.unknown`."
        ))),
        _ => read_color(&format!("roles.{role}"), text),
    }
}

fn read_icon(role: HostRole, icon: &Icon) -> Result<IconPaths, InvalidTheme> {
    if !(1.0..=10_000.0).contains(&icon.size) {
        return Err(InvalidTheme(format!("`icons.{role}.size` must be between 1 and 10000.")));
    }
    let read = |part: &str, data: &str| {
        icon_path::relative(data, icon.size)
            .map_err(|problem| InvalidTheme(format!("The path of `icons.{role}.{part}` {problem}.")))
    };
    let pictogram = icon.pictogram.as_deref().map(|data| read("pictogram", data)).transpose()?;
    Ok(IconPaths { badge: read("badge", &icon.badge)?, pictogram })
}

fn read_palette(
    scheme: &str,
    is_dark: bool,
    colors: &BTreeMap<ThemeColor, String>,
) -> Result<Palette, InvalidTheme> {
    let color = |(of, text): (&ThemeColor, &String)| Ok((*of, read_color(&format!("{scheme}.{of}"), text)?));
    let palette = Palette { is_dark, own: colors.iter().map(color).collect::<Result<_, _>>()? };
    for (text, ground) in TEXT_PAIRS {
        let [color, on] = [text, ground].map(|of| palette.color(of));
        let contrast = color.contrast(on);
        if contrast < MIN_CONTRAST {
            // Rounded down: 4.5 would not be understood.
            let contrast = (contrast * 100.0).floor() / 100.0;
            return Err(InvalidTheme(format!(
                "The color {color} of `{scheme}.{text}` has a contrast of {contrast} on {on}, the color of `{scheme}.{ground}`. Text \
                 needs at least {MIN_CONTRAST}."
            )));
        }
    }
    Ok(palette)
}
