//! The page that opens a share. It is one HTML file that contains its style, its script and, without a password, the
//! picture.
//!
//! A page without a password shows the picture without JavaScript; the script adds what the share's options allow. A
//! page with a password contains nothing of the topology: its script sends the password, and receives the picture and
//! the graph from the API.
//!
//! The page must be served at `…/share/{id}` beside `…/api`, because its script addresses the API relative to the page.
//! It must be served with the header `Content-Security-Policy` that comes with it.

mod escape;
mod policy;
mod source;
mod template;

use crate::invariant::Invariant;
use crate::model::{ShareMetadata, ShareOptions};

pub use self::policy::{FrameAncestors, InvalidFrameAncestors};

use self::escape::{escape_json, escape_text};
use self::source::{SCRIPT, STYLE};
use self::template::fill;

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
        let title = escape_text(&self.share.name);
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
            ("title", &escape_text(&self.share.name)),
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
    fill(DOCUMENT, &[("title", &escape_text(title)), ("style", STYLE.as_str()), ("body", body)])
}

fn script() -> String {
    format!("<script type=\"module\">{}</script>", *SCRIPT)
}

/// Returns the picture without its XML declaration, which HTML does not know.
fn without_declaration(svg: &str) -> &str {
    svg.find("<svg").and_then(|start| svg.get(start..)).asserted_or_default()
}
