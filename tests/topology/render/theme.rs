//! Themes: their effects, and refusals.

use toposcope::model::{HostRole, ShareId, ShareMetadata, ShareOptions, TopologyView};
use toposcope::topology::graph::{Graph, Positions, lay_out};
use toposcope::topology::render::page::{FrameAncestors, NetworkFailure, ShareFailure, SharePage};
use toposcope::topology::render::{
    ColorScheme, Format, Icon, MAX_THEME, Picture, Theme, ThemeBuilder, ThemeColor,
};

use super::check::assert_xml;
use crate::graph::support::Fixture;

fn graph() -> Graph {
    let mut network = Fixture::default();
    let [router, switch] = ["router", "switch"].map(|kind| network.host(kind, kind, &[]));
    network.link((router, "1"), (switch, "2"), "Confirmed");
    let mut graph = network.graph(TopologyView::L2);
    lay_out(&mut graph, &Positions::default());
    graph
}

fn own() -> ThemeBuilder {
    Theme::builder()
        .fonts(["Inter", "Noto Sans", "sans-serif"])
        .light(ThemeColor::Ground, "#fffdf5")
        .dark(ThemeColor::Ground, "#101418")
        .light(ThemeColor::Accent, "#8A1C5B")
        .role_color(HostRole::Switch, "#8a1c5b")
        .icon(HostRole::Router, Icon::new("M0 0H24V24H0Z").pictogram("M4 12H20"))
}

fn rendered(theme: &Theme, scheme: ColorScheme, format: Format) -> String {
    let graph = graph();
    let mut picture = Picture::new(&graph, "Network");
    (picture.theme, picture.scheme) = (theme.clone(), scheme);
    picture.render(format).unwrap()
}

#[test]
fn colors_fonts_and_icons_of_a_theme_are_in_the_picture() {
    let theme = own().build().unwrap();
    let svg = rendered(&theme, ColorScheme::Auto, Format::Svg);
    assert_xml(&svg);
    for part in [
        ".ground{fill:#fffdf5}",
        "@media screen and (prefers-color-scheme:dark){.topology .ground{fill:#101418}",
        "font-family:'Inter','Noto Sans',sans-serif}",
        ".topology .switch .badge{fill:#8a1c5b}",
        "m0 0h28v28h-28z\"",
        "m4.67 14h18.66\"",
    ] {
        assert!(svg.contains(part), "{part}: {svg}");
    }
    let default = rendered(&Theme::default(), ColorScheme::Auto, Format::Svg);
    assert!(!default.contains("Inter") && !default.contains("#fffdf5"));
    let dark = rendered(&theme, ColorScheme::Dark, Format::Svg);
    assert!(dark.contains("#101418") && !dark.contains("#fffdf5"));
}

#[test]
fn other_formats_have_the_light_colors_the_fonts_and_the_icons() {
    let theme = own().build().unwrap();
    for (format, parts) in [
        (Format::Dot, &["fontname=\"Inter\"", "fillcolor=\"#8a1c5b\", fontcolor=\"#ffffff\""][..]),
        (Format::Mermaid, &["classDef role-switch fill:#8a1c5b,color:#ffffff"]),
        (Format::GraphMl, &["fontFamily=\"Inter\"", "<y:Fill color=\"#8a1c5b\""]),
        (
            Format::DrawIo,
            &[
                "fontFamily=Inter;",
                "fillColor=#8a1c5b",
                "background=\"#fffdf5\"",
                "image=data:image/svg+xml,",
            ],
        ),
    ] {
        let file = rendered(&theme, ColorScheme::Auto, format);
        for part in parts {
            assert!(file.contains(part), "{format}: {part}: {file}");
        }
        assert!(!file.contains("#101418"), "{format}");
    }
}

#[test]
fn image_of_an_own_icon_in_draw_io_is_a_picture_of_paths() {
    use base64ct::{Base64, Encoding};
    let file = rendered(&own().build().unwrap(), ColorScheme::Auto, Format::DrawIo);
    let data = file.split("image=data:image/svg+xml,").nth(1).unwrap().split(';').next().unwrap();
    let svg = String::from_utf8(Base64::decode_vec(data).unwrap()).unwrap();
    assert_xml(&svg);
    assert!(svg.contains("m0 0h28v28h-28z"), "{svg}");
}

#[test]
fn style_source_is_the_digest_of_the_style_of_a_theme() {
    use base64ct::{Base64, Encoding};
    use sha2::{Digest, Sha256};
    let theme = own().build().unwrap();
    for scheme in ColorScheme::ALL {
        let svg = rendered(&theme, *scheme, Format::Svg);
        let style = svg.split("<style>").nth(1).unwrap().split("</style>").next().unwrap();
        let digest = Base64::encode_string(&Sha256::digest(style));
        assert_eq!(theme.style_source(*scheme), format!("'sha256-{digest}'"));
        assert_ne!(theme.style_source(*scheme), Theme::default().style_source(*scheme));
    }
}

#[test]
fn pages_of_a_theme_have_its_colors_and_allow_its_styles() {
    use base64ct::{Base64, Encoding};
    use sha2::{Digest, Sha256};
    let theme = own().build().unwrap();
    let svg = rendered(&theme, ColorScheme::Auto, Format::Svg);
    let options = ShareOptions {
        show_export_button: true,
        show_inspect_panel: true,
        show_minimap: true,
        show_zoom_controls: true,
    };
    let share = ShareMetadata {
        id: ShareId::from_u128(7),
        name: "Office".to_owned(),
        requires_password: false,
        options,
    };
    let ancestors = FrameAncestors::default();
    let pages = [
        SharePage::new(&share, &ancestors).theme(theme.clone()).open(&svg, "{}"),
        ShareFailure::NotFound.page(&ancestors, &theme),
        NetworkFailure::LoginRequired.page(&theme),
        NetworkFailure::NotFound.page(&theme),
    ];
    for page in pages {
        let styles = page.html.split("<style>").skip(1).map(|part| part.split("</style>").next().unwrap());
        for style in styles {
            let digest = Base64::encode_string(&Sha256::digest(style));
            assert!(page.content_security_policy.contains(&digest), "{}", page.content_security_policy);
        }
        let style = page.html.split("<style>").nth(1).unwrap();
        assert!(style.contains("--accent:#8a1c5b") && style.contains("--accent-text:#ffffff"), "{style}");
        assert!(style.contains("body{font-family:'Inter','Noto Sans',sans-serif}"));
    }
}

#[test]
fn json_gives_the_same_theme_as_the_builder() {
    let json = r##"{
        "fonts": ["Inter", "Noto Sans", "sans-serif"],
        "light": {"ground": "#fffdf5", "accent": "#8a1c5b"},
        "dark": {"ground": "#101418"},
        "roles": {"switch": "#8a1c5b"},
        "icons": {"router": {"badge": "M0 0H24V24H0Z", "pictogram": "M4 12H20"}}
    }"##;
    assert_eq!(Theme::from_json(json).unwrap(), own().build().unwrap());
    assert_eq!(Theme::from_json("{}").unwrap(), Theme::default());
}

fn refused(builder: ThemeBuilder, reason: &str) {
    let refusal = builder.build().unwrap_err().to_string();
    assert!(refusal.contains(reason), "{refusal}");
    assert!(refusal.ends_with('.'), "{refusal}");
}

#[test]
fn unreadable_text_is_refused_by_the_name_of_its_color() {
    refused(
        Theme::builder().light(ThemeColor::Text, "#777"),
        "#777777 of `light.text` has a contrast of 4.47 on #ffffff, the color of `light.ground`",
    );
    refused(Theme::builder().light(ThemeColor::Muted, "#fff"), "`light.muted` has a contrast of 1 on");
    refused(Theme::builder().dark(ThemeColor::Ground, "#fff"), "`dark.text`");
    refused(Theme::builder().dark(ThemeColor::Accent, "#333"), "`dark.accent`");
    refused(Theme::builder().light(ThemeColor::Card, "#46535f"), "`light.card`");
    refused(Theme::builder().light(ThemeColor::Down, "#fcc"), "`light.down`");
    // A dark ground under "light" is fine if everything on it is light.
    let all_dark = Theme::builder()
        .light(ThemeColor::Ground, "#000")
        .light(ThemeColor::Card, "#111")
        .light(ThemeColor::Frame, "#111")
        .light(ThemeColor::Segment, "#222")
        .light(ThemeColor::Text, "#fff")
        .light(ThemeColor::Muted, "#ccc")
        .light(ThemeColor::Accent, "#9cf")
        .light(ThemeColor::Down, "#f88");
    assert!(all_dark.build().is_ok());
}

#[test]
fn values_that_are_no_fonts_colors_and_icons_are_refused() {
    for color in ["", "red", "#12345", "#fff;}body{display:none", "url(x)", "#GGG", "</style>"] {
        refused(Theme::builder().light(ThemeColor::Line, color), "`light.line` is");
        refused(Theme::builder().role_color(HostRole::AccessPoint, color), "`roles.access_point` is");
    }
    for font in ["", " ", "a;b", "a'b", "a\"b", "a}b", "</style>", "a\\b", "a,b", "a&b", &"x".repeat(65)] {
        refused(Theme::builder().fonts([font]), "`fonts` has");
    }
    refused(Theme::builder().fonts(["a"; 9]), "`fonts` has more than 8 families");
    for path in
        ["", "x", "M1 1\"/><script>alert(1)</script>", "M1 1 L 100 1", "M1 1 url(#a)", &"M1 1".repeat(600)]
    {
        refused(Theme::builder().icon(HostRole::Iot, Icon::new(path)), "The path of `icons.iot.badge`");
        refused(
            Theme::builder().icon(HostRole::Iot, Icon::new("M1 1H2").pictogram(path)),
            "The path of `icons.iot.pictogram`",
        );
    }
    for size in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e9] {
        refused(
            Theme::builder().icon(HostRole::Iot, Icon::new("M0 0H1").size(size)),
            "`icons.iot.size` must be between 1 and 10000",
        );
    }
}

#[test]
fn json_that_is_no_theme_is_refused() {
    for (json, reason) in [
        ("", "not a JSON object"),
        ("{", "not valid JSON of a theme"),
        ("[]", "not a JSON object"),
        (r#"{"colour": 1}"#, "unknown field `colour`"),
        (r##"{"light": {"paper": "#fff"}}"##, "unknown variant `paper`"),
        (r##"{"roles": {"toaster": "#fff"}}"##, "neither a known role"),
        (r##"{"roles": {"x.toaster": "#fff"}}"##, "have that of `roles.unknown`"),
        (r#"{"icons": {"iot": {"pictogram": "M0 0"}}}"#, "missing field `badge`"),
        (r#"{"icons": {"iot": {"badge": "M0 0", "script": "x"}}}"#, "unknown field `script`"),
    ] {
        let refusal = Theme::from_json(json).unwrap_err().to_string();
        assert!(refusal.contains(reason), "{json}: {refusal}");
    }
    let large = format!("{{\"fonts\": [\"{}\"]}}", "x".repeat(MAX_THEME));
    assert!(Theme::from_json(&large).unwrap_err().to_string().contains("larger than 131072 bytes"));
    let nested = "[".repeat(100_000);
    assert!(Theme::from_json(&format!("{{\"fonts\": {nested}")).is_err());
}
