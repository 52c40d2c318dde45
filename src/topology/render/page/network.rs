//! The page for people who work with a network.

use std::sync::LazyLock;

use super::{
    EXPORT, FAILURE, FrameAncestors, INSPECT, KEYS, MINIMAP, Page, VIEWER, ZOOM, compact, document, fill,
    graph_element, policy, script, without_declaration,
};
use crate::model::{NetworkId, TopologyView};
use crate::topology::graph::Detail;
use crate::topology::render::xml::escape;
use crate::topology::render::{Format, Theme, words};

const LOGIN: &str = include_str!("parts/login.html");
static WORK: LazyLock<String> = LazyLock::new(|| compact::markup(include_str!("parts/work.html")));
const EDIT: &str = include_str!("parts/edit.html");
static DIALOGS: LazyLock<String> = LazyLock::new(|| compact::markup(include_str!("parts/dialogs.html")));
static EDIT_DIALOGS: LazyLock<String> =
    LazyLock::new(|| compact::markup(include_str!("parts/edit_dialogs.html")));
const WORK_KEYS: &str = include_str!("parts/work_keys.html");
const EDIT_KEYS: &str = include_str!("parts/edit_keys.html");

/// The page for people who work with a network. It is for readers who have logged in.
///
/// Its script addresses the API at `../api/` with the session of its reader. Pages of the same origin may show it in a
/// frame.
///
/// ```
/// use toposcope::model::{NetworkId, TopologyView};
/// use toposcope::topology::render::page::NetworkPage;
///
/// let page = NetworkPage::new(NetworkId::from_u128(7), "Office", TopologyView::L2);
/// let page = page.open("<svg class=\"topology\"></svg>", r#"{"nodes":[],"edges":[]}"#);
/// assert!(page.content_security_policy.ends_with("frame-ancestors 'self'"));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NetworkPage<'a> {
    /// The network.
    pub network: NetworkId,
    /// The title: the name of the network.
    pub title: &'a str,
    /// The view that the picture shows.
    pub view: TopologyView,
    /// Whether the picture shows devices or the parts of the network. Default: devices.
    pub detail: Detail,
    /// Whether the reader may move nodes, and enter and suppress links. Default: no.
    pub may_edit: bool,
    /// The `ETag` that the page is served with, by which its script checks for changes. Default: none.
    pub tag: Option<&'a str>,
    /// The theme of the page and of the picture. Default: that of the crate.
    pub theme: Theme,
}

impl<'a> NetworkPage<'a> {
    /// Creates the page of a network.
    #[must_use]
    pub fn new(network: NetworkId, title: &'a str, view: TopologyView) -> Self {
        let (detail, theme) = (Detail::default(), Theme::default());
        Self { network, title, view, detail, may_edit: false, tag: None, theme }
    }

    /// Returns the value of the header `Content-Security-Policy` of all these pages in a theme.
    #[must_use]
    pub fn content_security_policy(theme: &Theme) -> String {
        policy::with_script(&script::NETWORK, &FrameAncestors::own_site(), theme)
    }

    /// Returns the page that shows the picture.
    ///
    /// `svg` is the graph as [`Format::Svg`] in the color scheme [`Auto`](crate::topology::render::ColorScheme::Auto),
    /// whose style is the only one that the header allows, and `graph` the graph as [`Format::Json`].
    #[must_use]
    pub fn open(&self, svg: &str, graph: &str) -> Page {
        let Self { network, title, view, detail, may_edit, tag, ref theme } = *self;
        let when_editing = |part: &'static str| if may_edit { part } else { "" };
        let work = fill(
            &WORK,
            &[
                ("views", &views(view)),
                ("formats", &formats(network, view, detail)),
                ("detail", &other_detail(view, detail)),
                ("save", EXPORT),
                ("edit", when_editing(EDIT)),
            ],
        );
        let state = format!(
            " data-network-id=\"{network}\" data-view=\"{}\" data-tag=\"{}\"{}",
            view.as_str(),
            escape(tag.unwrap_or_default()),
            if may_edit { " data-edits" } else { "" },
        );
        let values = [
            ("hidden", state.as_str()),
            ("title", &escape(title)),
            ("picture", without_declaration(svg)),
            ("work", &work),
            ("keys", &[KEYS, WORK_KEYS, when_editing(EDIT_KEYS)].concat()),
            ("inspect", INSPECT),
            ("minimap", MINIMAP),
            ("zoom", ZOOM),
            ("dialogs", &fill(&DIALOGS, &[("edit", when_editing(&EDIT_DIALOGS))])),
        ];
        let body = fill(&VIEWER, &values) + &graph_element(graph) + &script::NETWORK.element();
        Page {
            html: document(title, "", &body, theme),
            content_security_policy: Self::content_security_policy(theme),
        }
    }
}

/// Returns the links to the views. They work without JavaScript.
fn views(shown: TopologyView) -> String {
    let link = |view: &TopologyView| {
        let mark = if *view == shown { " aria-current=\"page\"" } else { "" };
        let name = view.as_str();
        format!("<a href=\"?view={name}\" data-view=\"{name}\"{mark}>{}</a>", words::view(*view))
    };
    TopologyView::ALL.iter().map(link).collect()
}

/// Returns the link to the overview, or from the overview to the devices. It works without JavaScript.
fn other_detail(view: TopologyView, shown: Detail) -> String {
    let (other, text) = match shown {
        Detail::Devices => (Detail::Overview, "Overview"),
        Detail::Overview => (Detail::Devices, "All devices"),
    };
    let (shown, other, view) = (shown.as_str(), other.as_str(), view.as_str());
    format!("<a id=\"detail\" data-detail=\"{shown}\" href=\"?detail={other}&view={view}\">{text}</a>")
}

/// Returns the links to the files. They work without JavaScript.
///
/// In HTML, an ampersand that no semicolon follows is one.
fn formats(network: NetworkId, view: TopologyView, detail: Detail) -> String {
    let link = |format: &Format| {
        let name = format.as_str();
        format!(
            "<li><a href=\"../api/v1/topology/export?network_id={network}&view={}&detail={}&format={name}\" \
             download>{}</a></li>",
            view.as_str(),
            detail.as_str(),
            words::format(*format),
        )
    };
    Format::ALL.iter().map(link).collect()
}

/// The reason why a network cannot be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NetworkFailure<'a> {
    /// The reader has not logged in, or the session has ended. The page has the form.
    LoginRequired,
    /// The reader has not logged in, and the host application has a login of its own.
    NotAuthenticated,
    /// There is no such network in the organization of the reader.
    NotFound,
    /// The reader may not see the network.
    AccessDenied,
    /// The request is wrong, as this sentence explains.
    Refused(&'a str),
    /// The server cannot answer at present.
    Unavailable,
}

impl NetworkFailure<'_> {
    /// Returns a page that explains the failure.
    #[must_use]
    pub fn page(self, theme: &Theme) -> Page {
        let ancestors = FrameAncestors::own_site();
        let (title, explanation) = match self {
            Self::LoginRequired => {
                let body = LOGIN.to_owned() + &script::LOGIN.element();
                let content_security_policy = policy::with_script(&script::LOGIN, &ancestors, theme);
                return Page { html: document("Log in", "", &body, theme), content_security_policy };
            }
            Self::NotAuthenticated => (
                "You are not logged in",
                "Log in to the application that this page is a part of, then load the page again.",
            ),
            Self::NotFound => (
                "This network does not exist",
                "The link is wrong, the network was deleted, or it belongs to another organization than your login.",
            ),
            Self::AccessDenied => (
                "You may not see this network",
                "Ask an administrator of your organization for access to the network.",
            ),
            Self::Refused(explanation) => ("This address does not work", explanation),
            Self::Unavailable => (
                "This page is not available now",
                "The server cannot answer at present. Try again in a minute.",
            ),
        };
        let body = fill(FAILURE, &[("title", title), ("explanation", &escape(explanation))]);
        let content_security_policy = policy::without_script(&ancestors, theme);
        Page { html: document(title, "", &body, theme), content_security_policy }
    }
}
