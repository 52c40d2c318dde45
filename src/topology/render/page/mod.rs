//! The page that opens a share. It is one HTML file that contains its style, its script and, without a password, the
//! picture.
//!
//! A page without a password shows the picture without JavaScript; the script adds what the share's options allow. A
//! page with a password contains nothing of the topology: its script sends the password, and receives the picture and
//! the graph from the API.
//!
//! The page must be served at `…/share/{id}` beside `…/api`, because its script addresses the API relative to the page.
//! It must be served with the header `Content-Security-Policy` that comes with it.

mod policy;

use std::sync::LazyLock;

pub use self::policy::{FrameAncestors, InvalidFrameAncestors};
use crate::invariant::Invariant;
use crate::model::{ShareMetadata, ShareOptions};
use crate::topology::render::xml::escape;

const DOCUMENT: &str = include_str!("parts/document.html");
const VIEWER: &str = include_str!("parts/viewer.html");
const EXPORT: &str = include_str!("parts/export.html");
const INSPECT: &str = include_str!("parts/inspect.html");
const MINIMAP: &str = include_str!("parts/minimap.html");
const ZOOM: &str = include_str!("parts/zoom.html");
const PASSWORD: &str = include_str!("parts/password.html");
const FAILURE: &str = include_str!("parts/failure.html");

/// A page, and the header that it must be served with.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Page {
    /// The HTML document, for `Content-Type: text/html; charset=utf-8`.
    pub html: String,
    /// The value of the header `Content-Security-Policy`.
    pub content_security_policy: String,
}

/// The page of a share.
#[derive(Clone, Copy, Debug)]
pub struct SharePage<'a> {
    share: &'a ShareMetadata,
    frame_ancestors: &'a FrameAncestors,
}

impl<'a> SharePage<'a> {
    /// Creates the page of a share.
    #[must_use]
    pub const fn new(share: &'a ShareMetadata, frame_ancestors: &'a FrameAncestors) -> Self {
        Self { share, frame_ancestors }
    }

    /// Returns the page that shows the picture.
    ///
    /// `svg` is the graph as [`Format::Svg`](super::Format::Svg) in the theme [`Auto`](super::Theme::Auto), whose style
    /// is the only one that the header allows, and `graph` the graph as [`Format::Json`](super::Format::Json).
    #[must_use]
    pub fn open(&self, svg: &str, graph: &str) -> Page {
        let data =
            format!("<script type=\"application/json\" id=\"graph\">{}</script>\n", escape_json(graph));
        let body = self.viewer("", without_declaration(svg)) + &data + &script();
        self.page(&body)
    }

    /// Returns the page that asks for the password. It contains nothing of the topology.
    #[must_use]
    pub fn protected(&self) -> Page {
        let title = escape(&self.share.name);
        let form = fill(PASSWORD, &[("title", &title), ("id", &self.share.id.to_string())]);
        let body = form + &self.viewer(" hidden", "") + &script();
        self.page(&body)
    }

    fn viewer(&self, hidden: &str, picture: &str) -> String {
        let ShareOptions { show_export_button, show_inspect_panel, show_minimap, show_zoom_controls } =
            self.share.options;
        let part = |is_shown: bool, part: &'static str| if is_shown { part } else { "" };
        let values = [
            ("hidden", hidden),
            ("title", &escape(&self.share.name)),
            ("picture", picture),
            ("export", part(show_export_button, EXPORT)),
            ("inspect", part(show_inspect_panel, INSPECT)),
            ("minimap", part(show_minimap, MINIMAP)),
            ("zoom", part(show_zoom_controls, ZOOM)),
        ];
        fill(VIEWER, &values)
    }

    fn page(&self, body: &str) -> Page {
        Page {
            html: document(&self.share.name, body),
            content_security_policy: policy::with_script(self.frame_ancestors),
        }
    }
}

/// The reason why a share cannot be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShareFailure {
    /// There is no such share, or it is disabled or has expired. The page does not say which.
    NotFound,
    /// The server cannot answer at present.
    Unavailable,
}

impl ShareFailure {
    /// Returns a page that explains the failure. It has no script.
    #[must_use]
    pub fn page(self, frame_ancestors: &FrameAncestors) -> Page {
        let (title, explanation) = match self {
            Self::NotFound => (
                "This page is not available",
                "The link is wrong, or the page is no longer shared. Ask the person who sent you the link.",
            ),
            Self::Unavailable => (
                "This page is not available now",
                "The server cannot answer at present. Try again in a minute.",
            ),
        };
        let body = fill(FAILURE, &[("title", title), ("explanation", explanation)]);
        Page {
            html: document(title, &body),
            content_security_policy: policy::without_script(frame_ancestors),
        }
    }
}

fn document(title: &str, body: &str) -> String {
    fill(DOCUMENT, &[("title", &escape(title)), ("style", STYLE.as_str()), ("body", body)])
}

fn script() -> String {
    format!("<script type=\"module\">{}</script>", *SCRIPT)
}

/// Returns the picture without its XML declaration, which HTML does not know.
fn without_declaration(svg: &str) -> &str {
    svg.find("<svg").and_then(|start| svg.get(start..)).asserted_or_default()
}

/// Returns the JSON for use in a `<script>` element. Only the element's own end tag may end it.
///
/// In JSON, the characters escaped here occur in strings only, where the escape means the same character.
fn escape_json(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '<' => escaped.push_str("\\u003c"),
            '>' => escaped.push_str("\\u003e"),
            '&' => escaped.push_str("\\u0026"),
            '\u{2028}' => escaped.push_str("\\u2028"),
            '\u{2029}' => escaped.push_str("\\u2029"),
            character => escaped.push(character),
        }
    }
    escaped
}

/// Returns the template with each `{{name}}` replaced by the value of this name.
///
/// Values are not searched for names, so that no value can bring in another one. A name without a value is left out.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let length = values.iter().map(|(_, value)| value.len()).sum::<usize>();
    let mut filled = String::with_capacity(template.len().saturating_add(length));
    let mut parts = template.split("{{");
    filled.push_str(parts.next().asserted_or_default());
    for part in parts {
        let (name, rest) = part.split_once("}}").unwrap_or(("", part));
        let value = values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value);
        filled.push_str(value);
        filled.push_str(rest);
    }
    filled
}

/// The style of all pages.
static STYLE: LazyLock<String> = LazyLock::new(|| compact(&[include_str!("page.css")]));

/// The script of pages that show a picture. Its last part starts the others.
static SCRIPT: LazyLock<String> = LazyLock::new(|| {
    compact(&[
        include_str!("script/document.js"),
        include_str!("script/words.js"),
        include_str!("script/network.js"),
        include_str!("script/camera.js"),
        include_str!("script/selection.js"),
        include_str!("script/panel.js"),
        include_str!("script/pointer.js"),
        include_str!("script/keyboard.js"),
        include_str!("script/search.js"),
        include_str!("script/minimap.js"),
        include_str!("script/files.js"),
        include_str!("script/tables.js"),
        include_str!("script/start.js"),
        include_str!("script/password.js"),
    ])
});

/// Joins the parts without indentation and comments, which only developers need.
///
/// A comment takes whole lines, and no string in the parts reaches over several lines.
fn compact(parts: &[&str]) -> String {
    let lines = parts.iter().flat_map(|part| part.lines()).map(str::trim);
    let is_comment = |line: &&str| line.starts_with("//") || (line.starts_with("/*") && line.ends_with("*/"));
    let mut compacted = String::new();
    for line in lines.filter(|line| !line.is_empty() && !is_comment(line)) {
        compacted.push_str(line);
        compacted.push('\n');
    }
    compacted
}
