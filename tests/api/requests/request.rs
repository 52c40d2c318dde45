//! A request, in the parts that the oracle examines.

use http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, HOST, ORIGIN};
use http::request::Builder;
use http::{HeaderName, Request};
use toposcope::access::{Caller as ApiCaller, Scope};
use toposcope::model::NetworkId;

use crate::isolation::model::Caller;

/// The host that requests are sent to. The two origins are those whose pages may use a session.
pub(crate) const SITE: &str = "inventory.example";
pub(crate) const OWN_ORIGIN: &str = "https://inventory.example";
pub(crate) const ALLOWED_ORIGIN: &str = "https://app.example.net";

pub(crate) const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The body limit, in bytes.
pub(crate) const BODY_LIMIT: usize = 2048;

/// A well-formed HTTP request to the API.
#[derive(Clone, Debug)]
pub(crate) struct ApiRequest {
    pub(crate) method: &'static str,
    pub(crate) path: String,
    pub(crate) query: Vec<(&'static str, String)>,
    pub(crate) authorization: Vec<String>,
    pub(crate) cookies: Vec<(&'static str, String)>,
    /// The caller supplied by the host application.
    pub(crate) supplied_caller: Option<Caller>,
    pub(crate) origin: Option<&'static str>,
    pub(crate) fetch_site: Option<&'static str>,
    pub(crate) content_type: Option<&'static str>,
    /// Headers that the oracle does not examine.
    pub(crate) further_headers: Vec<(HeaderName, String)>,
    pub(crate) body: Body,
}

#[derive(Clone, Debug)]
pub(crate) enum Body {
    Nothing,
    /// A body that is not a JSON object.
    Malformed(&'static str),
    /// A list, or JSON Lines.
    Text(String),
    /// The fields of an object, each with the literal text of its value.
    Fields(Vec<(&'static str, String)>),
}

impl ApiRequest {
    /// A request without credentials, query and body.
    pub(crate) fn new(method: &'static str, path: impl Into<String>) -> Self {
        Self {
            method,
            path: path.into(),
            query: vec![],
            authorization: vec![],
            cookies: vec![],
            supplied_caller: None,
            origin: None,
            fetch_site: None,
            content_type: None,
            further_headers: vec![],
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
            Body::Text(text) => text.clone(),
            Body::Fields(fields) => {
                let fields = fields.iter().map(|(name, value)| format!("\"{name}\":{value}"));
                format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
            }
        }
    }

    /// Returns everything that the client itself has sent, in lower case and without hyphens. Ids are then found in any
    /// spelling.
    pub(crate) fn sent(&self) -> String {
        format!("{} {}", self.target(), self.body_text()).to_lowercase().replace('-', "")
    }

    pub(crate) fn headers(&self) -> Vec<(HeaderName, String)> {
        let mut headers = vec![(HOST, SITE.to_owned())];
        headers.extend(self.authorization.iter().map(|value| (AUTHORIZATION, value.clone())));
        if !self.cookies.is_empty() {
            let cookies = self.cookies.iter().map(|(name, value)| format!("{name}={value}"));
            headers.push((COOKIE, cookies.collect::<Vec<_>>().join("; ")));
        }
        let optional =
            [(ORIGIN, self.origin), (FETCH_SITE, self.fetch_site), (CONTENT_TYPE, self.content_type)];
        let optional = optional.into_iter().filter_map(|(name, value)| Some((name, value?.to_owned())));
        headers.extend(optional);
        headers.extend(self.further_headers.iter().cloned());
        headers
    }

    /// Returns the caller that the host application supplies.
    pub(crate) fn caller(&self) -> Option<ApiCaller> {
        let caller = self.supplied_caller.as_ref()?;
        let scope = caller
            .networks
            .clone()
            .map_or(Scope::all(), |ids| Scope::only(ids.into_iter().map(NetworkId::new)));
        Some(ApiCaller::new(caller.organization.into(), caller.user.into(), caller.level, scope))
    }

    pub(crate) fn to_http(&self) -> Request<String> {
        let mut request = Builder::new().method(self.method).uri(self.target());
        for (name, value) in self.headers() {
            request = request.header(name, value);
        }
        if let Some(caller) = self.caller() {
            request = request.extension(caller);
        }
        request.body(self.body_text()).unwrap()
    }
}
