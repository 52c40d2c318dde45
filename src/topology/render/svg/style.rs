//! The styles of pictures.

use std::collections::BTreeMap;

use crate::model::HostRole;
use crate::topology::render::theme::{ColorScheme, Look, Palette, Rgb, ThemeColor};
use crate::topology::render::words::role_class;

/// The fonts of the crate.
const FONTS: &str = "'Helvetica Neue',Helvetica,Arial,'Liberation Sans',sans-serif";

/// The part of the style that is independent of fonts and colors.
///
/// Browsers lay text out only once at all scales if it is to be geometrically precise, and they need no layer for nodes
/// that are faded by the opacity of their colors. Text is faded less, so that its contrast stays at least 4.5.
const COMMON_STYLE: &str = "\
.topology text{font-size:13px;text-rendering:geometricPrecision;unicode-bidi:isolate}\
.topology .title{font-size:20px;font-weight:600}\
.topology .subtitle,.topology .detail,.topology .legend text,.topology .note,.topology .segment text{font-size:11px}\
.topology .port,.topology .speed{font-size:11px}\
.topology .port,.topology .speed,.topology .titles text{stroke-width:3px;stroke-linejoin:round;paint-order:stroke}\
.topology .speed{font-weight:600;text-anchor:middle}\
.topology .heading{font-weight:600}\
.topology .line,.topology .core{fill:none;stroke-linejoin:round}\
.topology .parallel .core{stroke-dasharray:6 3}\
.topology .reported .line{stroke-dasharray:9 4}\
.topology .inferred .line{stroke-dasharray:2 4}\
.topology .conflicting .line{stroke-dasharray:9 3 2 3}\
.topology .state-dormant .line{stroke-dasharray:18 9}\
.topology .state-testing .line{stroke-dasharray:2 3 2 3 2 10}\
.topology .state-degraded .line{stroke-dasharray:20 4 5 4 5 4}\
.topology .state-down .line{stroke-dasharray:6 8}\
.topology .state-disabled .line{stroke-dasharray:1.5 9}\
.topology .with-states .state-unknown.confirmed .line,.topology .with-states.state-unknown .line{stroke-dasharray:26 2}\
.topology .change-added .line,.topology .change-moved .line,\
.topology .edges .edge.change-added .line,.topology .edges .edge.change-moved .line{stroke-dasharray:none}\
.topology .change-removed .line,.topology .edges .edge.change-removed .line{stroke-dasharray:8 5}\
.topology .card,.topology .frame{stroke-width:1.25px}\
.topology .node.change-added .card,.topology .node.change-moved .card,.topology .node.change-removed .card,\
.topology .container.change-added .frame,.topology .container.change-removed .frame,\
.topology .container.change-moved .frame{stroke-width:2.5px}\
.topology .node.change-removed .card,.topology .container.change-removed .frame{stroke-dasharray:7 4}\
.topology .node.state-down .card{stroke-width:2.5px}\
.topology .sign{fill:none;stroke-width:1.75px;stroke-linecap:round}\
.topology .stub .card,.topology .implied .frame,.topology .legend .unscanned{stroke-dasharray:4 3}\
.topology .stub .label{font-style:italic}\
.topology .stub,.topology .stale{fill-opacity:.62;stroke-opacity:.62}\
.topology .stub text,.topology .stale text{fill-opacity:.88}\
.topology .pictogram{fill:none;stroke:#fff;stroke-width:1.75px;stroke-linecap:round;stroke-linejoin:round}";

/// The elements with a color: their selectors within the picture, the property, and the color. Later entries win.
const COLORED: [(&str, &str, ThemeColor); 35] = [
    (".ground", "fill", ThemeColor::Ground),
    ("text", "fill", ThemeColor::Text),
    (".subtitle,.detail,.port,.speed", "fill", ThemeColor::Muted),
    (".port,.speed", "stroke", ThemeColor::Ground),
    (".titles text", "stroke", ThemeColor::Frame),
    (".line", "stroke", ThemeColor::Line),
    (".member .line", "stroke", ThemeColor::Member),
    (".conflicting .line", "stroke", ThemeColor::Conflicting),
    (".state-dormant .line", "stroke", ThemeColor::Dormant),
    (".state-testing .line", "stroke", ThemeColor::Testing),
    (".state-degraded .line", "stroke", ThemeColor::Degraded),
    (".state-down .line", "stroke", ThemeColor::Down),
    (".state-disabled .line", "stroke", ThemeColor::Disabled),
    (".change-added .line", "stroke", ThemeColor::Added),
    (".change-removed .line", "stroke", ThemeColor::Removed),
    (".change-moved .line", "stroke", ThemeColor::Moved),
    (".change-moved .arrow", "fill", ThemeColor::Moved),
    (".changed .speed", "fill", ThemeColor::Text),
    (".core", "stroke", ThemeColor::Ground),
    (".card", "fill", ThemeColor::Card),
    (".card", "stroke", ThemeColor::CardBorder),
    (".node.state-down .card", "stroke", ThemeColor::Down),
    (".state-degraded .mark", "fill", ThemeColor::Degraded),
    (".state-down .mark", "fill", ThemeColor::Down),
    (".state-disabled .mark", "fill", ThemeColor::Line),
    (".change-added .change", "fill", ThemeColor::Added),
    (".change-removed .change", "fill", ThemeColor::Removed),
    (".change-moved .change", "fill", ThemeColor::Moved),
    (".sign", "stroke", ThemeColor::Ground),
    (".frame", "fill", ThemeColor::Frame),
    (".frame", "stroke", ThemeColor::FrameBorder),
    (".segment .card", "fill", ThemeColor::Segment),
    (".node.change-added .card,.container.change-added .frame", "stroke", ThemeColor::Added),
    (".node.change-removed .card,.container.change-removed .frame", "stroke", ThemeColor::Removed),
    (".node.change-moved .card,.container.change-moved .frame", "stroke", ThemeColor::Moved),
];

/// Returns the text of a picture's `<style>` element. It is for a page that contains the picture.
pub(in crate::topology::render) fn css(look: &Look, scheme: ColorScheme) -> String {
    let fonts = look.font_families();
    let fonts = fonts.as_deref().unwrap_or(FONTS);
    let common = format!("{COMMON_STYLE}.topology text{{font-family:{fonts}}}{}", roles(look));
    let [light, dark] = [false, true].map(|is_dark| colors(look.palette(is_dark)));
    match scheme {
        ColorScheme::Light => common + &light,
        ColorScheme::Dark => common + &dark,
        // Programs that ignore media queries show the light colors.
        ColorScheme::Auto => {
            format!("{common}{light}@media screen and (prefers-color-scheme:dark){{{dark}}}")
        }
    }
}

fn colors(palette: &Palette) -> String {
    let rule = |(selectors, property, of): &(&str, &str, ThemeColor)| {
        rule(selectors.split(',').map(str::to_owned), property, palette.color(*of))
    };
    COLORED.iter().map(rule).collect()
}

/// Returns a rule for these selectors within the picture.
fn rule(selectors: impl Iterator<Item = String>, property: &str, color: Rgb) -> String {
    let selectors: Vec<String> = selectors.map(|selector| format!(".topology {selector}")).collect();
    format!("{}{{{property}:{color}}}", selectors.join(","))
}

/// Returns the color of a part of a role's icon.
type ColorOf = fn(&Look, HostRole) -> Rgb;

/// Returns the styles of badges, and of the pictograms that are not white.
fn roles(look: &Look) -> String {
    let parts: [(&str, &str, ColorOf); 2] =
        [("badge", "fill", Look::role), ("pictogram", "stroke", Look::pictogram)];
    let mut css = String::new();
    for (part, property, color) in parts {
        let mut by_color: BTreeMap<Rgb, Vec<HostRole>> = BTreeMap::new();
        for role in HostRole::ALL {
            by_color.entry(color(look, *role)).or_default().push(*role);
        }
        if part == "pictogram" {
            by_color.remove(&Rgb::WHITE);
        }
        for (color, roles) in by_color {
            let selectors = roles.iter().map(|role| format!(".{} .{part}", role_class(*role)));
            css.push_str(&rule(selectors, property, color));
        }
    }
    css
}
