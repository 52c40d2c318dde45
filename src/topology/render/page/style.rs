//! The style of pages.

use std::sync::LazyLock;

use super::compact;
use crate::topology::render::theme::{Look, Palette, ThemeColor};

/// The style of all pages in the default theme.
static STYLE: LazyLock<String> = LazyLock::new(|| {
    compact::style(&[include_str!("page.css"), include_str!("tools.css"), include_str!("print.css")])
});

/// The variables of the style, and the colors of a theme that they take.
const VARIABLES: [(&str, ThemeColor); 7] = [
    ("ground", ThemeColor::Ground),
    ("surface", ThemeColor::Card),
    ("text", ThemeColor::Text),
    ("muted", ThemeColor::Muted),
    ("line", ThemeColor::FrameBorder),
    ("accent", ThemeColor::Accent),
    ("problem", ThemeColor::Down),
];

/// Returns the text of the `<style>` element of pages.
pub(in crate::topology::render) fn style_of_page(look: &Look) -> String {
    let mut style = STYLE.clone();
    if look.has_own_colors() {
        let [light, dark] = [false, true].map(|is_dark| variables(look.palette(is_dark)));
        style.push_str(&format!("{light}@media screen and (prefers-color-scheme:dark){{{dark}}}"));
    }
    if let Some(families) = look.font_families() {
        style.push_str(&format!("body{{font-family:{families}}}"));
    }
    style
}

fn variables(palette: &Palette) -> String {
    let variables = VARIABLES.map(|(name, color)| format!("--{name}:{};", palette.color(color)));
    let on_accent = palette.color(ThemeColor::Accent).text_on();
    format!(":root{{{}--accent-text:{on_accent}}}", variables.concat())
}
