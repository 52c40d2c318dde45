//! Random requests: to every endpoint, from all callers, about every kind of record.
//!
//! They are mostly valid. Where one has a fault, it has a single fault, because the API does not specify the order in
//! which it reports several.

pub(crate) mod author;
pub(crate) mod bodies;
mod fields;
#[cfg(feature = "discovery")]
mod reports;
pub(crate) mod request;
pub(crate) mod routes;
mod selection;
pub(crate) mod tenant;

use fastrand::Rng;
use serde_json::json;
use uuid::Uuid;

use self::request::{ALLOWED_ORIGIN, ApiRequest, Body, OWN_ORIGIN};
use self::routes::routes;
use crate::isolation::model::{Caller, Model};
use crate::isolation::oracle::{identify, is_foreseen};

/// Random choices.
pub(crate) trait Choose {
    /// Returns true once in `times` calls on average.
    fn once_in(&mut self, times: usize) -> bool;

    /// Returns one of these values, of which there is at least one.
    fn choose<T: Clone>(&mut self, from: &[T]) -> T;

    /// Returns one of the parts of a text that are separated by `|`.
    fn choose_part<'t>(&mut self, parts: &'t str) -> &'t str;

    /// Returns a subset that contains each value with a probability of one half.
    fn some_of<T: Copy>(&mut self, from: &[T]) -> Vec<T>;
}

impl Choose for Rng {
    fn once_in(&mut self, times: usize) -> bool {
        self.usize(..times) == 0
    }

    fn choose<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.usize(..from.len())].clone()
    }

    fn choose_part<'t>(&mut self, parts: &'t str) -> &'t str {
        self.choice(parts.split('|').collect::<Vec<_>>()).unwrap()
    }

    fn some_of<T: Copy>(&mut self, from: &[T]) -> Vec<T> {
        from.iter().copied().filter(|_| self.bool()).collect()
    }
}

/// Generates requests.
pub(crate) struct Generator<'a> {
    pub(crate) random: &'a mut Rng,
    model: &'a Model,
    /// Keys and session ids that were valid once.
    lost: &'a [String],
    /// Caller of the request; most of the requested records are close to it.
    caller: Option<Caller>,
    /// Whether every caller is authenticated and every request is well-formed.
    is_careful: bool,
}

/// A field of a body, with the literal text of its value.
type Field = (&'static str, String);

impl<'a> Generator<'a> {
    pub(crate) fn new(random: &'a mut Rng, model: &'a Model, lost: &'a [String]) -> Self {
        Self { random, model, lost, caller: None, is_careful: false }
    }

    /// Generates only well-formed requests of authenticated callers.
    pub(crate) const fn careful(mut self) -> Self {
        self.is_careful = true;
        self
    }

    /// Returns true once in `times` calls on average if requests may be malformed.
    fn is_malformed(&mut self, times: usize) -> bool {
        !self.is_careful && self.random.once_in(times)
    }

    /// Returns the next requests to send, which are usually a single one. Sometimes it is the same request several
    /// times, or several logins at one address.
    pub(crate) fn requests(mut self) -> Vec<ApiRequest> {
        match self.random.usize(..60) {
            0 => self.logins(),
            1..4 => {
                let request = self.request();
                vec![request; 2 + self.random.usize(..6)]
            }
            _ => vec![self.request()],
        }
    }

    /// Logins with a password that is rarely right, so that too many fail.
    fn logins(&mut self) -> Vec<ApiRequest> {
        let user = self.random.choose(&self.model.users);
        let guess = |_| {
            let wrong = "wrong password".to_owned();
            let right = user.password.clone().filter(|_| self.random.once_in(6));
            let mut request = ApiRequest::new("POST", "/api/auth/login");
            request.content_type = Some("application/json");
            let password = json!(right.unwrap_or(wrong)).to_string();
            request.body =
                Body::Fields(vec![("email", json!(user.email).to_string()), ("password", password)]);
            request
        };
        (0..9).map(guess).collect()
    }

    fn request(&mut self) -> ApiRequest {
        let mut request = self.credentials();
        self.caller = identify(self.model, &request).0.ok();
        // Damage finds more in endpoints with a body than in lists.
        let first = if self.is_careful { 20 } else { 0 };
        match self.random.usize(first..100) {
            0..26 => {
                request.path = "/api/v1/hosts".to_owned();
                self.add_hosts_query(&mut request);
            }
            26..50 => {
                let id = self.port();
                request.path = format!("/api/v1/ports/{}", self.segment(id));
                let fields = self.port_fields(id);
                self.send(&mut request, "PUT", fields);
            }
            50..60 => {
                request.path = "/api/v1/auth/daemon".to_owned();
                let fields = self.daemon_key_fields();
                self.send(&mut request, "POST", fields);
            }
            60..75 => {
                let id = self.user_key();
                request.path = format!("/api/v1/auth/keys/{}", self.segment(id));
                let fields = self.user_key_fields(id);
                self.send(&mut request, "PUT", fields);
            }
            75..77 => {
                request.method = "DELETE";
                let id = self.user_key();
                request.path = format!("/api/v1/auth/keys/{}", self.segment(id));
            }
            77..82 => {
                let id = self.share();
                request.path = format!("/api/v1/shares/public/{}", self.segment(id));
            }
            82..87 => {
                request.path = "/api/v1/organizations/referral-source".to_owned();
                let fields = self.referral_fields();
                self.send(&mut request, "POST", fields);
            }
            87..94 => {
                request.path = "/api/auth/login".to_owned();
                let fields = self.login_fields();
                self.send(&mut request, "POST", fields);
            }
            94..96 => (request.method, request.path) = ("POST", "/api/auth/logout".to_owned()),
            96..98 => request.path = "/api/version".to_owned(),
            _ => self.misroute(&mut request),
        }
        self.add_particulars(&mut request);
        request
    }

    /// Makes a request that no endpoint answers. It has an unknown path, or a method that its path does not support.
    fn misroute(&mut self, request: &mut ApiRequest) {
        let id = self.port().to_string();
        loop {
            request.method = self.random.choose(&["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
            request.path = if self.random.bool() {
                let unknown =
                    "v1/hosts/|v1/ports/{id}/|v1/network/{id}|v1|hosts/{id}|v1/auth/daemon/{id}/rotat";
                format!("/api/{}", self.random.choose_part(unknown)).replace("{id}", &id)
            } else {
                routes()[self.random.usize(..routes().len())].path_of(&id, &id)
            };
            if is_foreseen(request.method, &request.path) {
                return;
            }
        }
    }

    /// Adds optional parts that any request may have.
    fn add_particulars(&mut self, request: &mut ApiRequest) {
        if request.method == "GET" && self.random.once_in(8) {
            request.method = "HEAD";
        }
        if self.is_malformed(40) {
            let unknown = self.random.choose(&["networkid", "organization_id", "token"]);
            request.query.push((unknown, "1".to_owned()));
        }
        if self.is_malformed(5) {
            let origins = [OWN_ORIGIN, ALLOWED_ORIGIN, "https://evil.example", "null"];
            request.origin = Some(self.random.choose(&origins));
        }
        if self.is_malformed(8) {
            request.fetch_site = Some(self.random.choose(&["same-origin", "same-site", "cross-site"]));
        }
    }

    /// Returns an id in an accepted form, or text that is not an id.
    fn segment(&mut self, id: Uuid) -> String {
        match self.random.usize(..40) {
            0 => id.to_string().to_uppercase(),
            1 => id.simple().to_string(),
            2 => id.urn().to_string(),
            3 if !self.is_careful => format!("{id}0"),
            4 if !self.is_careful => "1".to_owned(),
            _ => id.to_string(),
        }
    }

    /// Sends the fields as the body, or occasionally a malformed body.
    fn send(&mut self, request: &mut ApiRequest, method: &'static str, fields: Vec<Field>) {
        request.method = method;
        let types = ["application/json; charset=utf-8", "application/merge-patch+json", "text/plain"];
        request.content_type = match self.random.usize(..40) {
            _ if self.is_careful => Some("application/json"),
            0..3 => Some(self.random.choose(&types)),
            3 => None,
            _ => Some("application/json"),
        };
        request.body = if self.is_malformed(40) {
            let bodies = ["", "[]", "null", "{", "{\"name\":}", "{\"name\":\"x\"", "name=x", "{} {}"];
            Body::Malformed(self.random.choose(&bodies))
        } else {
            Body::Fields(fields)
        };
    }
}
