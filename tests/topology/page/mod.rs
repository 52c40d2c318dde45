//! The page of a share.
//!
//! The tests are about its forms, its options, its header, and names that look like markup.

mod html;

use base64ct::{Base64, Encoding};
use sha2::{Digest, Sha256};
use toposcope::model::{NetworkId, ShareId, ShareMetadata, ShareOptions, TopologyView};
use toposcope::topology::graph::Detail;
use toposcope::topology::render::page::{
    FrameAncestors, NetworkFailure, NetworkPage, Page, ShareFailure, SharePage,
};
use toposcope::topology::render::{ColorScheme, Theme};

use self::html::Document;

const SVG: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"topology\" role=\"img\" viewBox=\"0 0 9 7\">\
                   <title>Net</title><g class=\"nodes\"><g class=\"node\" data-id=\"one\"><rect x=\"1\"/></g></g></svg>";
const GRAPH: &str = r#"{"view":"l2","nodes":[{"id":"one","label":"core-1"}],"edges":[]}"#;
/// Maximum size of a page without the picture and its graph, in bytes.
const MAX_BYTES: usize = 90_000;
const HOSTILE: &str =
    "</title></script><img src=x onerror=alert(1)>\"' style=x {{style}} &lt; \u{202e}\u{0}\u{7}]]>";

fn share(name: &str, is_on: bool) -> ShareMetadata {
    let options = ShareOptions {
        show_export_button: is_on,
        show_inspect_panel: is_on,
        show_minimap: is_on,
        show_zoom_controls: is_on,
    };
    ShareMetadata { id: ShareId::from_u128(7), name: name.to_owned(), requires_password: false, options }
}

fn open(name: &str, graph: &str) -> Page {
    SharePage::new(&share(name, true), &FrameAncestors::default()).open(SVG, graph)
}

fn protected(name: &str) -> Page {
    SharePage::new(&share(name, true), &FrameAncestors::default()).protected()
}

fn network(name: &str, may_edit: bool) -> Page {
    network_in(Detail::Devices, name, may_edit)
}

fn network_in(detail: Detail, name: &str, may_edit: bool) -> Page {
    let mut page = NetworkPage::new(NetworkId::from_u128(9), name, TopologyView::L3);
    page.detail = detail;
    page.may_edit = may_edit;
    page.tag = Some("W/\"tag\"");
    page.open(SVG, GRAPH)
}

fn every_form(name: &str) -> Vec<Page> {
    let ancestors = FrameAncestors::default();
    let failures = [ShareFailure::NotFound, ShareFailure::Unavailable];
    let mut pages = vec![open(name, GRAPH), protected(name)];
    pages.extend(failures.map(|failure| failure.page(&ancestors, &Theme::default())));
    pages.extend([network(name, true), network(name, false)]);
    let failures = [
        NetworkFailure::LoginRequired,
        NetworkFailure::NotAuthenticated,
        NetworkFailure::NotFound,
        NetworkFailure::AccessDenied,
        NetworkFailure::Refused(name),
        NetworkFailure::Unavailable,
    ];
    pages.extend(failures.map(|failure| failure.page(&Theme::default())));
    pages
}

#[test]
fn every_form_is_well_formed_html_without_inline_styles_and_handlers() {
    for name in ["Campus", HOSTILE, "", &"x".repeat(10_000)] {
        for page in every_form(name) {
            let document = Document::parse(&page.html);
            assert!(page.html.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
            for element in &document.elements {
                for (attribute, _) in &element.attributes {
                    assert!(attribute != "style" && !attribute.starts_with("on"), "{element:?}");
                }
            }
            assert!(document.find("img").is_none() && document.find("base").is_none());
        }
    }
}

#[test]
fn no_form_names_another_server() {
    for page in every_form("Campus") {
        let html = page.html.replace("http://www.w3.org/2000/svg", "");
        assert!(!html.contains("//") || !html.contains("http"), "an absolute address");
        for element in Document::parse(&html).elements {
            for (attribute, value) in &element.attributes {
                let is_address = ["src", "href", "action", "srcset", "data"].contains(&attribute.as_str());
                let is_own =
                    ["data:", "?view=", "?detail=", "../api/"].iter().any(|start| value.starts_with(start));
                assert!(!is_address || is_own, "{attribute} is {value}");
            }
        }
    }
}

#[test]
fn policy_allows_the_script_and_the_styles_of_the_page_by_their_hashes() {
    let hash = |text: &str| format!("'sha256-{}'", Base64::encode_string(&Sha256::digest(text)));
    let own = "'self'";
    for (page, ancestors) in [
        (open("Campus", GRAPH), "'none'"),
        (protected("Campus"), "'none'"),
        (network("Campus", true), own),
        (NetworkFailure::LoginRequired.page(&Theme::default()), own),
    ] {
        let document = Document::parse(&page.html);
        let script =
            document.elements.iter().find(|element| element.attribute("type") == Some("module")).unwrap();
        let expected = format!(
            "default-src 'none'; script-src {}; style-src {} {}; img-src data: blob:; connect-src 'self'; \
             base-uri 'none'; form-action 'self'; frame-ancestors {ancestors}",
            hash(&script.text),
            hash(&document.find("style").unwrap().text),
            Theme::default().style_source(ColorScheme::Auto),
        );
        assert_eq!(page.content_security_policy, expected);
    }
}

#[test]
fn policy_of_an_error_allows_the_style_only() {
    let page = ShareFailure::NotFound.page(&FrameAncestors::default(), &Theme::default());
    let document = Document::parse(&page.html);
    let hash = Base64::encode_string(&Sha256::digest(&document.find("style").unwrap().text));
    assert!(page.content_security_policy.contains(&format!("style-src 'sha256-{hash}';")));
    assert!(!page.content_security_policy.contains("script-src"));
    assert!(document.find("script").is_none());
}

#[test]
fn frame_ancestors_reach_the_policy() {
    let ancestors: FrameAncestors = "'self' https://intranet.example".parse().unwrap();
    let page = SharePage::new(&share("Campus", true), &ancestors).protected();
    assert!(page.content_security_policy.ends_with("; frame-ancestors 'self' https://intranet.example"));
}

#[test]
fn frame_ancestors_that_would_end_the_directive_are_rejected() {
    for sources in ["", " ", "a  b", "'self'; script-src *", "a, b", "a\r\nb", "a\tb", "b\u{fc}cher.example"]
    {
        assert!(sources.parse::<FrameAncestors>().is_err(), "{sources:?}");
    }
}

#[test]
fn hostile_names_stay_text() {
    for page in [open(HOSTILE, GRAPH), protected(HOSTILE), network(HOSTILE, true)] {
        let document = Document::parse(&page.html);
        let expected = HOSTILE.replace(['\u{0}', '\u{7}', '\u{202e}'], "\u{fffd}");
        assert_eq!(document.find("title").unwrap().text, expected);
        assert_eq!(document.find("h1").unwrap().text, expected);
    }
}

#[test]
fn embedded_graph_is_the_same_json_without_characters_of_markup() {
    let graph = serde_json::json!({"label": "</script><!--<script>&\u{2028}\u{2029}\"\\", "more": HOSTILE})
        .to_string();
    let page = open("Campus", &graph);
    let document = Document::parse(&page.html);
    let data = document.with_id("graph").unwrap();
    assert_eq!(data.attribute("type"), Some("application/json"));
    assert!(!data.text.contains(['<', '>', '&', '\u{2028}', '\u{2029}']));
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(read(&data.text), read(&graph));
}

#[test]
fn open_page_contains_the_picture_as_it_is() {
    assert!(open("Campus", GRAPH).html.contains(SVG));
    let declared = format!("<?xml version=\"1.0\"?>\n{SVG}");
    let page = SharePage::new(&share("Campus", true), &FrameAncestors::default()).open(&declared, GRAPH);
    assert_eq!(page, open("Campus", GRAPH));
}

#[test]
fn protected_page_contains_a_form_and_nothing_of_the_graph() {
    let page = protected("Campus");
    let document = Document::parse(&page.html);
    assert_eq!(document.with_id("password").unwrap().attribute("type"), Some("password"));
    assert_eq!(document.with_id("password-form").unwrap().attribute("method"), Some("post"));
    assert!(document.with_id("viewer").unwrap().attribute("hidden").is_some());
    assert!(document.with_id("graph").is_none());
    for element in &document.elements {
        assert!(
            element.attribute("data-id").is_none() && element.attribute("viewBox").is_none(),
            "{element:?}"
        );
    }
}

#[test]
fn options_switch_each_part_on_and_off() {
    let parts = |options: ShareOptions| {
        let metadata = ShareMetadata { options, ..share("Campus", false) };
        let page = SharePage::new(&metadata, &FrameAncestors::default()).open(SVG, GRAPH);
        let document = Document::parse(&page.html);
        ["save-svg", "save-png", "panel", "minimap", "zoom"].map(|id| document.with_id(id).is_some())
    };
    let off = share("Campus", false).options;
    assert_eq!(parts(off), [false; 5]);
    assert_eq!(parts(ShareOptions { show_export_button: true, ..off }), [true, true, false, false, false]);
    assert_eq!(parts(ShareOptions { show_inspect_panel: true, ..off }), [false, false, true, false, false]);
    assert_eq!(parts(ShareOptions { show_minimap: true, ..off }), [false, false, false, true, false]);
    assert_eq!(parts(ShareOptions { show_zoom_controls: true, ..off }), [false, false, false, false, true]);
    assert_eq!(parts(share("Campus", true).options), [true; 5]);
}

#[test]
fn page_of_a_network_works_without_a_script_as_far_as_links_go() {
    let document = Document::parse(&network("Campus", false).html);
    let links = document.elements.iter().filter(|element| element.name == "a");
    let addresses: Vec<&str> = links.filter_map(|link| link.attribute("href")).collect();
    assert_eq!(
        addresses.iter().filter(|address| address.starts_with("?view=")).count(),
        TopologyView::ALL.len()
    );
    let id = NetworkId::from_u128(9);
    assert!(addresses.contains(&&*format!(
        "../api/v1/topology/export?network_id={id}&view=l3&detail=devices&format=drawio"
    )));
    let shown = document.elements.iter().find(|element| element.attribute("aria-current").is_some()).unwrap();
    assert_eq!(shown.attribute("data-view"), Some("l3"));
}

#[test]
fn page_of_a_network_leads_to_the_overview_and_back() {
    for (shown, other) in [(Detail::Devices, "overview"), (Detail::Overview, "devices")] {
        let document = Document::parse(&network_in(shown, "Campus", false).html);
        let link = document.with_id("detail").unwrap();
        assert_eq!(link.attribute("href"), Some(&*format!("?detail={other}&view=l3")));
        assert_eq!(link.attribute("data-detail"), Some(shown.as_str()));
        let files = document.elements.iter().filter_map(|element| element.attribute("href"));
        let part = format!("&detail={shown}&");
        assert_eq!(files.filter(|file| file.contains(&part)).count(), 6);
    }
}

#[test]
fn page_of_a_network_has_what_the_reader_may_do() {
    for may_edit in [false, true] {
        let document = Document::parse(&network("Campus", may_edit).html);
        let viewer = document.with_id("viewer").unwrap();
        assert_eq!(viewer.attribute("data-edits").is_some(), may_edit);
        assert_eq!(viewer.attribute("data-tag"), Some("W/\"tag\""));
        for id in ["undo", "links", "add-link"] {
            assert_eq!(document.with_id(id).is_some(), may_edit, "{id}");
        }
        assert!(document.with_id("blind-spots").is_some() && document.with_id("export").is_some());
    }
}

#[test]
fn page_takes_at_most_90_kilobytes_beside_the_picture() {
    let open = open("Campus", GRAPH).html.len() - SVG.len() - GRAPH.len();
    let protected = protected("Campus").html.len();
    let of_network = |detail| network_in(detail, "Campus", true).html.len() - SVG.len() - GRAPH.len();
    let network = of_network(Detail::Devices).max(of_network(Detail::Overview));
    println!(
        "{open} bytes beside the picture, {protected} bytes with the form, {network} bytes of a network"
    );
    let largest = open.max(protected).max(network);
    assert!(largest <= MAX_BYTES, "{largest} bytes");
}

#[test]
fn page_contains_no_comments_of_its_sources() {
    for page in [open("Campus", GRAPH), network("Campus", true)] {
        let document = Document::parse(&page.html);
        let is_source =
            |element: &&html::Element| element.name == "style" || element.attribute("type") == Some("module");
        let sources = document.elements.iter().filter(is_source);
        for line in sources.flat_map(|source| source.text.lines()) {
            assert!(!line.starts_with([' ', '/']), "{line}");
        }
    }
}

#[test]
fn errors_of_unknown_expired_and_disabled_shares_read_the_same() {
    let page = ShareFailure::NotFound.page(&FrameAncestors::default(), &Theme::default());
    assert!(page.html.contains("no longer shared"));
    assert_ne!(page, ShareFailure::Unavailable.page(&FrameAncestors::default(), &Theme::default()));
}
