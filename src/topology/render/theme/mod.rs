//! The look of pictures and pages: colors, fonts and icons.

mod builder;
mod icon_path;
mod palette;
mod rgb;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use base64ct::{Base64, Encoding};

pub use self::builder::{Icon, InvalidTheme, MAX_THEME, ThemeBuilder};
pub(super) use self::palette::Palette;
use self::palette::built_in_role;
pub use self::palette::{ThemeColor, ThemeColorError};
pub(super) use self::rgb::Rgb;
use super::page::style_of_page;
use super::svg::css;
use crate::model::HostRole;
use crate::sha256::sha256;
use crate::text_enum::{listed, text_enum};

text_enum! {
    /// Whether a picture is light or dark.
    #[derive(Default, PartialOrd, Ord)]
    #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub enum ColorScheme {
        /// Light or dark, as the reader prefers.
        #[default]
        Auto = "auto",
        /// Dark on light.
        Light = "light",
        /// Light on dark.
        Dark = "dark",
    }

    /// The error for text that names no color scheme.
    #[error("not one of {}", listed(ColorScheme::TEXTS))]
    pub struct ColorSchemeError;
}

/// The colors, the fonts and the icons of pictures and pages.
///
/// The default is the theme of the crate. A theme of the host application replaces parts of it; [`ThemeBuilder`] checks
/// them, so that text stays readable and only a path becomes an icon. Copies share their content.
///
/// ```
/// use toposcope::model::HostRole;
/// use toposcope::topology::render::{ColorScheme, Icon, Theme, ThemeColor};
///
/// let theme = Theme::builder()
///     .fonts(["Inter", "sans-serif"])
///     .light(ThemeColor::Accent, "#8a1c5b")
///     .dark(ThemeColor::Accent, "#f2a6d0")
///     .role_color(HostRole::Switch, "#8a1c5b")
///     .icon(HostRole::Switch, Icon::new("M2 6H22V18H2Z").pictogram("M6 12H18"))
///     .build()?;
/// assert!(theme.style_source(ColorScheme::Auto).starts_with("'sha256-"));
///
/// let unreadable = Theme::builder().light(ThemeColor::Muted, "#999").build().unwrap_err();
/// assert_eq!(
///     unreadable.to_string(),
///     "The color #999999 of `light.muted` has a contrast of 2.84 on #ffffff, the color of `light.ground`. Text needs at least 4.5."
/// );
/// # Ok::<(), toposcope::topology::render::InvalidTheme>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Theme(Arc<Content>);

/// The parts of a theme, and the texts that follow from them.
#[derive(Debug, Default, PartialEq, Eq)]
struct Content {
    look: Look,
    auto: Style,
    light: Style,
    dark: Style,
    page: Style,
    fingerprint: String,
}

/// The content of a `<style>` element.
#[derive(Debug, Default, PartialEq, Eq)]
struct Style {
    text: String,
    /// The source by which a Content-Security-Policy allows it.
    source: String,
}

/// The colors, the fonts and the icons of a theme. Those of the crate are not in it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Look {
    fonts: Vec<String>,
    light: Palette,
    dark: Palette,
    roles: BTreeMap<HostRole, Rgb>,
    icons: BTreeMap<HostRole, IconPaths>,
}

/// The paths of an icon, relative to its corner: the filled badge, and the lines of the pictogram on it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct IconPaths {
    pub(super) badge: String,
    pub(super) pictogram: Option<String>,
}

impl Default for Theme {
    fn default() -> Self {
        static BUILT_IN: LazyLock<Theme> = LazyLock::new(|| {
            Theme::of(Look { dark: Palette { is_dark: true, ..Palette::default() }, ..Look::default() })
        });
        BUILT_IN.clone()
    }
}

impl Theme {
    /// Begins a theme. Parts that it does not set are those of the default theme.
    #[must_use]
    pub fn builder() -> ThemeBuilder {
        ThemeBuilder::default()
    }

    /// Reads a theme from JSON. Its members are those of a [`ThemeBuilder`], with the texts of [`ThemeColor`] and of roles.
    ///
    /// ```
    /// use toposcope::topology::render::Theme;
    ///
    /// let theme = Theme::from_json(
    ///     r##"{
    ///         "fonts": ["Inter", "sans-serif"],
    ///         "light": {"accent": "#8a1c5b"},
    ///         "dark": {"accent": "#f2a6d0"},
    ///         "roles": {"switch": "#8a1c5b"},
    ///         "icons": {"switch": {"badge": "M2 6H22V18H2Z", "pictogram": "M6 12H18", "size": 24}}
    ///     }"##,
    /// )?;
    /// assert_ne!(theme, Theme::default());
    /// # Ok::<(), toposcope::topology::render::InvalidTheme>(())
    /// ```
    ///
    /// # Errors
    /// [`InvalidTheme`] names the fault. A text may have [`MAX_THEME`] bytes.
    pub fn from_json(json: &str) -> Result<Self, InvalidTheme> {
        ThemeBuilder::from_json(json)?.build()
    }

    /// Returns the source expression that allows the styles of a picture in a Content-Security-Policy.
    ///
    /// ```
    /// use toposcope::topology::render::{ColorScheme, Theme};
    ///
    /// let theme = Theme::default();
    /// let source = theme.style_source(ColorScheme::Auto);
    /// let policy = format!("default-src 'none'; style-src {source}; sandbox");
    /// assert!(policy.contains("style-src 'sha256-"));
    /// ```
    #[must_use]
    pub fn style_source(&self, scheme: ColorScheme) -> &str {
        &self.style(scheme).source
    }

    /// Returns the text of the `<style>` element of a picture.
    pub(super) fn css(&self, scheme: ColorScheme) -> &str {
        &self.style(scheme).text
    }

    fn style(&self, scheme: ColorScheme) -> &Style {
        match scheme {
            ColorScheme::Auto => &self.0.auto,
            ColorScheme::Light => &self.0.light,
            ColorScheme::Dark => &self.0.dark,
        }
    }

    /// Returns the text of the `<style>` element of pages.
    pub(super) fn page_style(&self) -> &str {
        &self.0.page.text
    }

    /// Returns the source expression that allows the style of pages.
    pub(super) fn page_style_source(&self) -> &str {
        &self.0.page.source
    }

    pub(super) fn look(&self) -> &Look {
        &self.0.look
    }

    /// Returns a text that differs from those of all other themes, for the tags of files; `None` for the default theme.
    #[cfg(feature = "service")]
    pub(crate) fn fingerprint(&self) -> Option<&str> {
        (*self != Self::default()).then_some(&self.0.fingerprint)
    }

    fn of(look: Look) -> Self {
        let style = |text: String| {
            let source = format!("'sha256-{}'", Base64::encode_string(&sha256(text.as_bytes())));
            Style { text, source }
        };
        let [auto, light, dark] = [ColorScheme::Auto, ColorScheme::Light, ColorScheme::Dark]
            .map(|scheme| style(css(&look, scheme)));
        let page = style(style_of_page(&look));
        // Icons are no part of the styles.
        let fingerprint = Base64::encode_string(&sha256(format!("{look:?}").as_bytes()));
        Self(Arc::new(Content { look, auto, light, dark, page, fingerprint }))
    }
}

/// The color of pictograms on badges that are too light for white.
const DARK_PICTOGRAM: Rgb = Rgb(0x16_202b);

/// Least contrast of a white pictogram to its badge. On lighter badges, a dark one is easier to recognize.
const WHITE_PICTOGRAM: f64 = 3.2;

impl Look {
    pub(super) const fn palette(&self, is_dark: bool) -> &Palette {
        if is_dark { &self.dark } else { &self.light }
    }

    /// Returns a color for files that have no dark variant.
    pub(super) fn color(&self, of: ThemeColor) -> Rgb {
        self.light.color(of)
    }

    /// Returns whether the colors of pages are not all those of the crate.
    pub(super) fn has_own_colors(&self) -> bool {
        !self.light.own.is_empty() || !self.dark.own.is_empty()
    }

    /// Returns the color of a role.
    pub(super) fn role(&self, role: HostRole) -> Rgb {
        let role = if matches!(role, HostRole::Other(_)) { HostRole::Unknown } else { role };
        self.roles.get(&role).copied().unwrap_or_else(|| built_in_role(role))
    }

    /// Returns the color of the pictogram on the badge of a role.
    pub(super) fn pictogram(&self, role: HostRole) -> Rgb {
        let badge = self.role(role);
        if badge.contrast(Rgb::WHITE) >= WHITE_PICTOGRAM { Rgb::WHITE } else { DARK_PICTOGRAM }
    }

    /// Returns the icon that replaces that of the crate.
    pub(super) fn icon(&self, role: HostRole) -> Option<&IconPaths> {
        self.icons.get(&role)
    }

    /// Returns the families of fonts for a style sheet; `None` for those of the crate.
    pub(super) fn font_families(&self) -> Option<String> {
        let quoted = |family: &String| {
            if builder::GENERIC_FONTS.contains(&family.as_str()) {
                family.clone()
            } else {
                format!("'{family}'")
            }
        };
        let families: Vec<String> = self.fonts.iter().map(quoted).collect();
        (!families.is_empty()).then(|| families.join(","))
    }

    /// Returns the first family of fonts, for programs that know a single one.
    pub(super) fn font(&self) -> &str {
        let is_named = |family: &&String| !builder::GENERIC_FONTS.contains(&family.as_str());
        self.fonts.iter().find(is_named).map_or("Helvetica", String::as_str)
    }
}
