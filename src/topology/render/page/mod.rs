//! Pages that show a picture: the page of a share, and the page of a network. Each is one HTML file that contains its
//! style, its script and the picture.
//!
//! A page shows the picture without JavaScript; the script adds the controls that the share's options allow, or the
//! operations that the reader may perform. The page of a share with a password contains nothing of the topology: its
//! script sends the password, and receives the picture and the graph from the API.
//!
//! The pages must be served at `…/share/{id}` and `…/topology/{network_id}` beside `…/api`, because their scripts
//! address the API relative to the page. They must be served with the header `Content-Security-Policy` that comes with
//! them.

mod compact;
mod network;
mod policy;
mod script;
mod style;

use std::sync::LazyLock;

pub use self::network::{NetworkFailure, NetworkPage};
pub use self::policy::{FrameAncestors, InvalidFrameAncestors};
pub(super) use self::style::style_of_page;
use crate::invariant::Invariant;
use crate::model::{ShareMetadata, ShareOptions};
use crate::topology::render::Theme;
use crate::topology::render::xml::escape;

const DOCUMENT: &str = include_str!("parts/document.html");
static VIEWER: LazyLock<String> = LazyLock::new(|| compact::markup(include_str!("parts/viewer.html")));
const EXPORT: &str = include_str!("parts/export.html");
const INSPECT: &str = include_str!("parts/inspect.html");
const MINIMAP: &str = include_str!("parts/minimap.html");
const ZOOM: &str = include_str!("parts/zoom.html");
const PASSWORD: &str = include_str!("parts/password.html");
const FAILURE: &str = include_str!("parts/failure.html");
const KEYS: &str = include_str!("parts/keys.html");

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
#[derive(Clone, Debug)]
pub struct SharePage<'a> {
    share: &'a ShareMetadata,
    frame_ancestors: &'a FrameAncestors,
    theme: Theme,
}

impl<'a> SharePage<'a> {
    /// Creates the page of a share, in the default theme.
    #[must_use]
    pub fn new(share: &'a ShareMetadata, frame_ancestors: &'a FrameAncestors) -> Self {
        Self { share, frame_ancestors, theme: Theme::default() }
    }

    /// Sets the theme, which must be that of the picture too.
    #[must_use]
    pub fn theme(self, theme: Theme) -> Self {
        Self { theme, ..self }
    }

    /// Returns the page that shows the picture.
    ///
    /// `svg` is the graph as [`Format::Svg`](super::Format::Svg) in the color scheme
    /// [`Auto`](super::ColorScheme::Auto), whose style is the only one that the header allows, and `graph` the graph as [`Format::Json`](super::Format::Json).
    #[must_use]
    pub fn open(&self, svg: &str, graph: &str) -> Page {
        let body =
            self.viewer("", without_declaration(svg)) + &graph_element(graph) + &script::SHARE.element();
        self.page(&body)
    }

    /// Returns the page that asks for the password. It contains nothing of the topology.
    #[must_use]
    pub fn protected(&self) -> Page {
        let title = escape(&self.share.name);
        let form = fill(PASSWORD, &[("title", &title), ("id", &self.share.id.to_string())]);
        let body = form + &self.viewer(" hidden", "") + &script::SHARE.element();
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
            ("keys", KEYS),
        ];
        fill(&VIEWER, &values)
    }

    /// Returns the elements from which messengers make a preview of the page. A share with a password has none.
    fn preview(&self) -> String {
        if self.share.requires_password {
            return String::new();
        }
        format!(
            "<meta property=\"og:type\" content=\"website\">\n<meta property=\"og:title\" content=\"{}\">\n\
             <meta property=\"og:description\" content=\"The topology of a network\">\n",
            escape(&self.share.name)
        )
    }

    fn page(&self, body: &str) -> Page {
        Page {
            html: document(&self.share.name, &self.preview(), body, &self.theme),
            content_security_policy: policy::with_script(&script::SHARE, self.frame_ancestors, &self.theme),
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
    pub fn page(self, frame_ancestors: &FrameAncestors, theme: &Theme) -> Page {
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
            html: document(title, "", &body, theme),
            content_security_policy: policy::without_script(frame_ancestors, theme),
        }
    }
}

/// Returns the document. `head` is further elements of its head.
fn document(title: &str, head: &str, body: &str, theme: &Theme) -> String {
    fill(
        DOCUMENT,
        &[("title", &escape(title)), ("head", head), ("style", theme.page_style()), ("body", body)],
    )
}

/// Returns the element from which the script reads the graph.
fn graph_element(graph: &str) -> String {
    format!("<script type=\"application/json\" id=\"graph\">{}</script>\n", escape_json(graph))
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
