//! The parts of a request that determine the form of its answer.

use std::any::Any;

use http::{Method, Request};

/// The paths of lists.
const LISTS: &[&str] = &[
    "/api/hosts",
    "/api/v1/hosts",
    "/api/v1/interfaces",
    "/api/v1/ports",
    "/api/v1/services",
    "/api/v1/if-entries",
    "/api/v1/organizations",
    "/api/v1/users",
    "/api/v1/networks",
    "/api/v1/subnets",
    "/api/v1/tags",
    "/api/v1/shares",
    "/api/v1/auth/keys",
    "/api/v1/auth/daemon",
    "/api/v1/daemons",
    "/api/v1/discoveries",
    "/api/v1/topology/links",
];

/// The parts of a request that determine the form of its answer.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) query: String,
    accepts_json: bool,
    /// Whether a daemon of the product with these headers asks, which gets the form of its version. The document
    /// describes the form that clients without a version get.
    #[cfg_attr(not(feature = "openapi"), allow(dead_code, reason = "compared with the OpenAPI document"))]
    pub(super) is_versioned: bool,
    /// Whether the credential is a daemon's key.
    #[cfg_attr(not(feature = "openapi"), allow(dead_code, reason = "compared with the OpenAPI document"))]
    pub(super) is_by_daemon: bool,
    /// The body, of a request that is sent as text.
    #[cfg_attr(not(feature = "openapi"), allow(dead_code, reason = "compared with the OpenAPI document"))]
    pub(super) body: Option<String>,
}

/// The form of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Json,
    Events,
    /// A topology with this media type.
    File(&'static str),
    /// The picture of a share.
    Picture,
    /// The page of a share, or why there is none.
    Page,
}

impl Form {
    pub(super) fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Events => "text/event-stream",
            Self::File(media_type) => media_type,
            Self::Picture => SVG,
            Self::Page => "text/html; charset=utf-8",
        }
    }
}

/// The media type of pictures.
pub(super) const SVG: &str = "image/svg+xml";

impl Asked {
    pub(super) fn of<B: 'static>(request: &Request<B>) -> Self {
        let uri = request.uri();
        let query = uri.query().unwrap_or_default().to_owned();
        let accept = request.headers().get_all("accept").iter();
        let mut ranges = accept.flat_map(|header| header.as_bytes().split(|byte| *byte == b','));
        let accepts_json = ranges.any(|range| {
            let mut parts = range.split(|byte| *byte == b';').map(<[u8]>::trim_ascii);
            let is_json = parts.next().is_some_and(|name| name.eq_ignore_ascii_case(b"application/json"));
            // Tests of other weights look at the form themselves.
            is_json && parts.all(|parameter| parameter.eq_ignore_ascii_case(b"q=1"))
        });
        let (method, path) = (request.method().clone(), uri.path().to_owned());
        let body = (request.body() as &dyn Any).downcast_ref::<String>().cloned();
        let is_versioned =
            ["x-daemon-version", "x-daemon-id"].iter().any(|name| request.headers().contains_key(*name));
        let credential = request.headers().get("authorization");
        let is_by_daemon = credential.is_some_and(|value| value.as_bytes().starts_with(b"Bearer topo_d_"));
        Self { method, path, query, accepts_json, is_versioned, is_by_daemon, body }
    }

    /// Returns what a response with this status contains.
    pub(super) fn form(&self, status: u16) -> Form {
        match status {
            304 => Form::Json,
            _ if self.is_page() => Form::Page,
            200 if self.is_stream() => Form::Events,
            200 if self.is_picture() => Form::Picture,
            200 if self.is_export() && !self.accepts_json => Form::File(self.media_type()),
            _ => Form::Json,
        }
    }

    pub(super) fn is_reading(&self) -> bool {
        self.method == Method::GET || self.method == Method::HEAD
    }

    /// Returns whether the answer is a page.
    pub(super) fn is_page(&self) -> bool {
        self.is_reading()
            && ["/share/", "/topology/"].iter().any(|start| {
                self.path.strip_prefix(start).is_some_and(|id| !id.is_empty() && !id.contains('/'))
            })
    }

    /// Returns whether the answer is the page of a network.
    pub(super) fn is_network_page(&self) -> bool {
        self.is_page() && self.path.starts_with("/topology/")
    }

    pub(super) fn is_public_topology(&self) -> bool {
        self.path.starts_with("/api/v1/shares/public/") && self.path.ends_with("/topology")
    }

    pub(super) fn is_picture(&self) -> bool {
        self.path.starts_with("/api/v1/shares/public/") && self.path.ends_with("/topology.svg")
    }

    pub(super) fn is_export(&self) -> bool {
        self.path == "/api/v1/topology/export"
    }

    /// Returns whether successes have weak tags, as a list has.
    pub(super) fn is_view(&self) -> bool {
        const VIEWS: [&str; 8] =
            ["/graph", "/export", "/blind-spots", "/locate", "/path", "/impact", "/fragile", "/vlans"];
        let is_view = VIEWS.iter().any(|name| self.path.ends_with(name));
        let is_of_network = is_view || self.path.starts_with("/api/v1/topology/edges/");
        let is_of_subnet = self.path.starts_with("/api/v1/subnets/") && self.path.ends_with("/addresses");
        self.is_network_page()
            || self.is_picture()
            || is_of_subnet
            || (is_of_network && self.path.starts_with("/api/v1/topology/"))
    }

    /// Returns the media type of the format that is asked for.
    pub(super) fn media_type(&self) -> &'static str {
        let format = form_urlencoded::parse(self.query.as_bytes()).find(|(name, _)| name == "format");
        match format.as_ref().map_or("", |(_, format)| format) {
            "mermaid" => "text/vnd.mermaid; charset=utf-8",
            "dot" => "text/vnd.graphviz; charset=utf-8",
            "graphml" => "application/graphml+xml",
            "drawio" => "application/vnd.jgraph.mxfile",
            "json" => "application/json",
            _ => SVG,
        }
    }

    pub(super) fn is_head(&self) -> bool {
        self.method == Method::HEAD
    }

    pub(super) fn sets_cookie(&self) -> bool {
        matches!(self.path.as_str(), "/api/auth/login" | "/api/auth/logout")
    }

    pub(super) fn is_list(&self) -> bool {
        self.is_reading() && LISTS.contains(&self.path.as_str())
    }

    /// Returns whether a success is a page of the history.
    pub(super) fn is_feed(&self) -> bool {
        self.is_reading() && (self.path == "/api/v1/changes" || self.path.ends_with("/history"))
    }

    /// Returns the path of the collection in which a success creates a record that can be got by its id.
    pub(super) fn creates_in(&self) -> Option<&str> {
        const UNREACHABLE: [&str; 2] = ["/api/v1/daemons", "/api/v1/topology/links"];
        let path = self.path.as_str();
        let is_split = path.starts_with("/api/v1/hosts/") && path.ends_with("/split");
        match path {
            _ if self.method != Method::POST || UNREACHABLE.contains(&path) => None,
            "/api/hosts" => Some("/api/v1/hosts"),
            _ if is_split => Some("/api/v1/hosts"),
            path => LISTS.contains(&path).then_some(path),
        }
    }

    /// Returns whether the answer has no envelope and counts for no rate limit.
    pub(super) fn is_health(&self) -> bool {
        ["/api/health", "/api/health/live"].contains(&self.path.as_str())
            && (self.method == Method::GET || self.is_head())
    }

    /// Returns whether the answer is the OpenAPI document.
    pub(super) fn is_description(&self) -> bool {
        matches!(self.path.as_str(), "/openapi.json" | "/api/openapi.json")
    }

    /// Returns whether a success is a stream of server-sent events.
    pub(super) fn is_stream(&self) -> bool {
        ["/api/v1/changes/stream", "/api/v1/discoveries/stream"].contains(&self.path.as_str())
            && self.is_reading()
    }

    /// Returns whether the body is the output of a scanner or a device.
    pub(super) fn is_report(&self) -> bool {
        self.path == "/api/v1/discovery/import"
    }

    pub(super) fn is_import(&self) -> bool {
        self.path == "/api/v1/hosts/import"
    }

    pub(super) fn is_host_update(&self) -> bool {
        [Method::PUT, Method::PATCH].contains(&self.method) && self.path.starts_with("/api/v1/hosts/")
    }

    pub(super) fn is_bulk(&self) -> bool {
        self.path == "/api/v1/hosts/bulk"
    }

    /// Returns whether the data of a success is a list that has no pages.
    pub(super) fn is_array(&self) -> bool {
        self.path == "/api/v1/hosts/bulk"
            || self.path == "/api/v1/topology/blind-spots"
            || self.path.ends_with("/request-work")
            || (self.path.starts_with("/api/v1/hosts/") && self.path.ends_with("/claims"))
    }

    /// Returns whether the request asks for a list by cursor.
    pub(super) fn is_by_cursor(&self) -> bool {
        self.is_list() && form_urlencoded::parse(self.query.as_bytes()).any(|(name, _)| name == "cursor")
    }

    /// Returns whether the `Accept` header decides about the form of a list.
    pub(super) fn has_other_forms(&self) -> bool {
        let is_of_hosts = self.path.ends_with("/hosts");
        let is_of_parts = ["/interfaces", "/ports", "/services", "/if-entries"]
            .iter()
            .any(|list| self.path.ends_with(list));
        (is_of_hosts && self.is_whole_list()) || (cfg!(feature = "csv") && (is_of_hosts || is_of_parts))
    }

    /// Returns whether the request asks for a list without a limit.
    pub(super) fn is_whole_list(&self) -> bool {
        self.is_list()
            && form_urlencoded::parse(self.query.as_bytes())
                .any(|(name, value)| name == "limit" && value.parse() == Ok(0))
    }
}
