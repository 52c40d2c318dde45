//! Random requests: to every endpoint, from all callers, about every kind of record.

mod bodies;
mod credentials;
mod ids;
mod queries;
mod spoil;

use serde_json::json;
use toposcope::access::RandomSource;
use uuid::Uuid;

use super::ask::{ALLOWED_ORIGIN, Ask, Body, OWN_ORIGIN};
use super::oracle::identify;
use super::records::{Caller, Model};
use crate::common::SplitMix64;

/// Generates requests.
pub(crate) struct Asker<'a> {
    pub(crate) random: &'a mut SplitMix64,
    pub(crate) model: &'a Model,
    /// Keys and session ids that were valid once.
    pub(crate) lost: &'a [String],
    pub(crate) secrets: &'a dyn RandomSource,
    /// Caller of the request; most of the requested records are close to it.
    caller: Option<Caller>,
}

/// A field of a body, with the literal text of its value.
type Field = (&'static str, String);

impl<'a> Asker<'a> {
    pub(crate) fn new(
        random: &'a mut SplitMix64,
        model: &'a Model,
        lost: &'a [String],
        secrets: &'a dyn RandomSource,
    ) -> Self {
        Self { random, model, lost, secrets, caller: None }
    }

    /// Returns what is sent next: usually one request, sometimes the same one several times or several logins
    /// at one address.
    pub(crate) fn asks(mut self) -> Vec<Ask> {
        match self.random.below(60) {
            0 => self.guesses(),
            1..4 => {
                let ask = self.ask();
                vec![ask; 2 + self.random.below(6)]
            }
            _ => vec![self.ask()],
        }
    }

    /// Logins with a password that is sometimes right.
    fn guesses(&mut self) -> Vec<Ask> {
        let user = self.model.users[self.random.below(self.model.users.len())].clone();
        let guess = |_| {
            let wrong = "wrong password".to_owned();
            let right = user.password.clone().filter(|_| self.random.once_in(3));
            let mut ask = Ask::new("POST", "/api/auth/login");
            ask.content_type = Some("application/json");
            let password = json!(right.unwrap_or(wrong)).to_string();
            ask.body = Body::Fields(vec![("email", json!(user.email).to_string()), ("password", password)]);
            ask
        };
        (0..9).map(guess).collect()
    }

    fn ask(&mut self) -> Ask {
        let mut ask = Ask::new("GET", "");
        self.add_credentials(&mut ask);
        self.caller = identify(self.model, &ask).0.ok();
        match self.random.below(100) {
            0..26 => {
                ask.path = "/api/v1/hosts".to_owned();
                self.add_hosts_query(&mut ask);
            }
            26..50 => {
                let id = self.port();
                ask.path = format!("/api/v1/ports/{}", self.segment(id));
                let fields = self.port_fields(id);
                self.send(&mut ask, "PUT", fields);
            }
            50..60 => {
                ask.path = "/api/v1/auth/daemon".to_owned();
                let fields = self.daemon_key_fields();
                self.send(&mut ask, "POST", fields);
            }
            60..75 => {
                let id = self.user_key();
                ask.path = format!("/api/v1/auth/keys/{}", self.segment(id));
                let fields = self.user_key_fields(id);
                self.send(&mut ask, "PUT", fields);
            }
            75..77 => {
                ask.method = "DELETE";
                let id = self.user_key();
                ask.path = format!("/api/v1/auth/keys/{}", self.segment(id));
            }
            77..82 => {
                let id = self.share();
                ask.path = format!("/api/v1/shares/public/{}", self.segment(id));
            }
            82..87 => {
                ask.path = "/api/v1/organizations/referral-source".to_owned();
                let fields = self.referral_fields();
                self.send(&mut ask, "POST", fields);
            }
            87..94 => {
                ask.path = "/api/auth/login".to_owned();
                let fields = self.login_fields();
                self.send(&mut ask, "POST", fields);
            }
            94..96 => (ask.method, ask.path) = ("POST", "/api/auth/logout".to_owned()),
            96..98 => ask.path = "/api/version".to_owned(),
            _ => self.go_astray(&mut ask),
        }
        self.add_particulars(&mut ask);
        ask
    }

    /// Replaces the path by an unknown one, or the method by one that the path does not support.
    fn go_astray(&mut self, ask: &mut Ask) {
        let id = self.port();
        ask.path = match self.random.below(10) {
            0 => "/api/v1/hosts/".to_owned(),
            1 => format!("/api/v1/hosts/{id}"),
            2 => format!("/api/v1/ports/{id}/"),
            3 => "/api/v1/ports".to_owned(),
            4 => format!("/api/v1/networks/{id}"),
            5 => format!("/api/v1/ports/{id}"),
            6 => format!("/api/v1/auth/keys/{id}"),
            7 => "/api/v1/auth/daemon".to_owned(),
            8 => "/api/auth/login".to_owned(),
            _ => "/api/v1/hosts".to_owned(),
        };
        ask.method = self.random.choose(&["GET", "POST", "PATCH", "DELETE", "OPTIONS"]);
    }

    /// Adds optional parts that any request may have.
    fn add_particulars(&mut self, ask: &mut Ask) {
        if ask.method == "GET" && self.random.once_in(8) {
            ask.method = "HEAD";
        }
        if self.random.once_in(40) {
            ask.query.push((self.random.choose(&["networkid", "organization_id", "token"]), "1".to_owned()));
        }
        if self.random.once_in(5) {
            let origins = [OWN_ORIGIN, ALLOWED_ORIGIN, "https://evil.example", "null"];
            ask.origin = Some(self.random.choose(&origins));
        }
        if self.random.once_in(8) {
            ask.fetch_site = Some(self.random.choose(&["same-origin", "same-site", "cross-site"]));
        }
    }

    /// Returns an id in one of the ways in which a client may write it, or text that is not an id.
    fn segment(&mut self, id: Uuid) -> String {
        match self.random.below(40) {
            0 => id.to_string().to_uppercase(),
            1 => id.simple().to_string(),
            2 => id.urn().to_string(),
            3 => format!("{id}0"),
            4 => "1".to_owned(),
            _ => id.to_string(),
        }
    }

    /// Sends the fields as the body, or occasionally a malformed body.
    fn send(&mut self, ask: &mut Ask, method: &'static str, fields: Vec<Field>) {
        ask.method = method;
        let types = ["application/json; charset=utf-8", "application/merge-patch+json", "text/plain"];
        ask.content_type = match self.random.below(40) {
            0..3 => Some(self.random.choose(&types)),
            3 => None,
            _ => Some("application/json"),
        };
        ask.body = if self.random.once_in(40) {
            let bodies = ["", "[]", "null", "{", "{\"name\":}", "{\"name\":\"x\"", "name=x", "{} {}"];
            Body::Malformed(self.random.choose(&bodies))
        } else {
            Body::Fields(fields)
        };
    }
}
