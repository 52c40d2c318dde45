//! A request, in the parts that the oracle examines.

use http::Request;
use http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, HOST, ORIGIN};
use http::request::Builder;
use toposcope::access::{Caller as ApiCaller, Scope};

use super::records::Caller;

/// The host that requests are sent to, and the origins whose pages may use a session.
pub(crate) const SITE: &str = "inventory.example";
pub(crate) const OWN_ORIGIN: &str = "https://inventory.example";
pub(crate) const ALLOWED_ORIGIN: &str = "https://app.example.net";

/// The body limit, in bytes.
pub(crate) const BODY_LIMIT: usize = 2048;

#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) query: Vec<(&'static str, String)>,
    pub(crate) authorization: Vec<String>,
    pub(crate) cookies: Vec<(&'static str, String)>,
    /// The caller supplied by the host application.
    pub(crate) vouched_for: Option<Caller>,
    pub(crate) origin: Option<&'static str>,
    pub(crate) fetch_site: Option<&'static str>,
    pub(crate) content_type: Option<&'static str>,
    pub(crate) body: Body,
}

#[derive(Clone, Debug)]
pub(crate) enum Body {
    Nothing,
    /// A body that is not a JSON object.
    Malformed(&'static str),
    /// The fields of an object, each with the literal text of its value.
    Fields(Vec<(&'static str, String)>),
}

impl Ask {
    /// A request without credentials, query and body.
    pub(crate) fn new(method: &'static str, path: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            query: vec![],
            authorization: vec![],
            cookies: vec![],
            vouched_for: None,
            origin: None,
            fetch_site: None,
            content_type: None,
            body: Body::Nothing,
        }
    }

    pub(crate) fn target(&self) -> String {
        let values: Vec<String> = self.query.iter().map(|(name, value)| format!("{name}={value}")).collect();
        if values.is_empty() { self.path.clone() } else { format!("{}?{}", self.path, values.join("&")) }
    }

    pub(crate) fn body_text(&self) -> String {
        match &self.body {
            Body::Nothing => String::new(),
            Body::Malformed(text) => (*text).to_owned(),
            Body::Fields(fields) => {
                let fields = fields.iter().map(|(name, value)| format!("\"{name}\":{value}"));
                format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
            }
        }
    }

    /// Everything that the client itself has sent, in lower case and without hyphens, so that ids are found
    /// in any spelling.
    pub(crate) fn said(&self) -> String {
        format!("{} {}", self.target(), self.body_text()).to_lowercase().replace('-', "")
    }

    pub(crate) fn request(&self) -> Request<String> {
        let mut request = Builder::new().method(self.method).uri(self.target()).header(HOST, SITE);
        for value in &self.authorization {
            request = request.header(AUTHORIZATION, value);
        }
        if !self.cookies.is_empty() {
            let cookies: Vec<String> =
                self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            request = request.header(COOKIE, cookies.join("; "));
        }
        let headers = [(ORIGIN.as_str(), self.origin), ("sec-fetch-site", self.fetch_site)];
        for (name, value) in headers.into_iter().chain([(CONTENT_TYPE.as_str(), self.content_type)]) {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        if let Some(caller) = &self.vouched_for {
            let scope = caller.networks.clone().map_or(Scope::all(), Scope::only);
            request =
                request.extension(ApiCaller::new(caller.organization, caller.user, caller.level, scope));
        }
        request.body(self.body_text()).unwrap()
    }
}
