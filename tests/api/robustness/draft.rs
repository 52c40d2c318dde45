//! A request: valid at first, then with more and more faults.

use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HOST, ORIGIN};
use http::{HeaderName, HeaderValue, Method, Request, Uri};
use toposcope::access::Caller;
use toposcope::service::ClientAddr;

use super::body::{Fields, render, right_fields, spoil_fields, spoil_text};
use super::endpoint::Endpoint;
use super::ground::{FRIEND, Ground, Person};
use super::sent::Sent;
use super::spoil::{cut_somewhere, spoil_bytes};
use super::target::{any_target, misdirect, right_target};
use crate::common::SplitMix64;

const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Values of headers, valid and invalid.
const VALUES: [(HeaderName, &[&str]); 9] = [
    (AUTHORIZATION, &["", "Bearer", "Bearer ", "bearer  x", "Basic dXNlcjpwYXNz", "Béarer"]),
    (COOKIE, &["", "session_id", "session_id=", "a=b; session_id=0; session_id=1", "=;=;;", "é=é"]),
    (
        CONTENT_TYPE,
        &[
            "application/json; charset=utf-8",
            "APPLICATION/JSON",
            "application/merge-patch+json",
            "text/plain",
            "multipart/form-data; boundary=\"",
            "application/",
            "/json",
            "+json",
            "",
        ],
    ),
    (CONTENT_LENGTH, &["0", "1", "-1", "99999999999999999999", "1, 1", "x"]),
    (ORIGIN, &[FRIEND, "https://home.example", "http://evil.example", "null", "://", "https://", ""]),
    (HOST, &["home.example", "home.example:443", "[::1]:80", "evil.example", "", "é"]),
    (SITE, &["same-origin", "same-site", "none", "cross-site", "CROSS-SITE", "x"]),
    (HeaderName::from_static("transfer-encoding"), &["chunked", "gzip, chunked", "identity"]),
    (HeaderName::from_static("x-forwarded-for"), &["192.0.2.1", "::1", "unknown"]),
];

pub(super) struct Draft {
    method: Method,
    target: Vec<u8>,
    headers: Vec<(HeaderName, Vec<u8>)>,
    fields: Fields,
    /// Number of times that the text of the body is corrupted.
    spoilt: usize,
    caller: Option<Caller>,
    address: Option<ClientAddr>,
}

impl Draft {
    /// Returns a request that should succeed with the current records.
    pub(super) fn right(ground: &Ground, random: &mut SplitMix64) -> Self {
        let endpoints = if random.once_in(2) { &Endpoint::ALL[..] } else { &Endpoint::WITH_BODY };
        let endpoint = random.choose(endpoints);
        let person = &ground.people[[0, 0, 0, 1, 2, 2, 3, 4, 5][random.below(9)]];
        let mut draft = Self {
            method: endpoint.method(),
            target: right_target(endpoint, ground, person, random),
            headers: vec![(HOST, b"home.example".to_vec())],
            fields: right_fields(endpoint, ground, person, random),
            spoilt: 0,
            caller: None,
            address: (!random.once_in(8)).then(|| address(random)),
        };
        if !draft.fields.is_empty() {
            draft.headers.push((CONTENT_TYPE, b"application/json".to_vec()));
        }
        let in_person = if endpoint.takes_session() { !random.once_in(12) } else { random.once_in(4) };
        draft.headers.push(if in_person { cookie(&person.session) } else { bearer(&person.key) });
        draft
    }

    /// Adds one fault.
    pub(super) fn spoil(&mut self, ground: &Ground, random: &mut SplitMix64) {
        match random.below(20) {
            0 => self.method = any_method(random),
            1 => self.target = any_target(random),
            2 if random.once_in(2) => spoil_bytes(&mut self.target, random),
            2 => cut_somewhere(&mut self.target, random),
            3 | 4 => misdirect(&mut self.target, ground, random),
            5 | 6 => self.replace(any_credential(ground, random)),
            7 => self.caller = Some(random.choose(&ground.callers)),
            8 if !self.headers.is_empty() => self.spoil_header(random),
            9 if !self.headers.is_empty() => self.repeat_header(random),
            10 | 11 => {
                let (name, values) = random.choose(&VALUES);
                self.replace((name, random.choose(values).as_bytes().to_vec()));
            }
            12 | 13 => self.spoilt += 1,
            _ => spoil_fields(&mut self.fields, ground, random),
        }
    }

    fn replace(&mut self, (name, value): (HeaderName, Vec<u8>)) {
        let is_credential = |name: &HeaderName| [AUTHORIZATION, COOKIE].contains(name);
        self.headers.retain(|(other, _)| *other != name && !(is_credential(&name) && is_credential(other)));
        self.headers.push((name, value));
    }

    fn spoil_header(&mut self, random: &mut SplitMix64) {
        let place = random.below(self.headers.len());
        if random.once_in(4) {
            self.headers.remove(place);
        } else {
            spoil_bytes(&mut self.headers[place].1, random);
        }
    }

    /// Repeats a header, with the same value or another one.
    fn repeat_header(&mut self, random: &mut SplitMix64) {
        let mut again = random.choose(&self.headers);
        if random.once_in(2) {
            spoil_bytes(&mut again.1, random);
        }
        self.headers.insert(random.below(self.headers.len() + 1), again);
    }

    /// Builds the request; `None` if a server could not read its URI or headers.
    pub(super) fn request(self, random: &mut SplitMix64) -> Option<Request<Sent>> {
        let mut request = Request::builder().method(self.method).uri(Uri::try_from(self.target).ok()?);
        for (name, value) in self.headers {
            request = request.header(name, HeaderValue::from_bytes(&value).ok()?);
        }
        let mut body = if self.fields.is_empty() { Vec::new() } else { render(&self.fields, random) };
        for _ in 0..self.spoilt {
            spoil_text(&mut body, random);
        }
        let mut request = request.body(Sent::new(body, random)).ok()?;
        if let Some(address) = self.address {
            request.extensions_mut().insert(address);
        }
        if let Some(caller) = self.caller {
            request.extensions_mut().insert(caller);
        }
        Some(request)
    }
}

fn any_method(random: &mut SplitMix64) -> Method {
    let names =
        ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get", "M-SEARCH"];
    random.choose(&names).parse().unwrap()
}

fn address(random: &mut SplitMix64) -> ClientAddr {
    let last = u8::try_from(random.below(40)).unwrap();
    ClientAddr(if random.once_in(4) {
        [0, 0, 0, 0, 0, 0xffff, 0xc000, last.into()].into()
    } else {
        [192, 0, 2, last].into()
    })
}

fn bearer(key: &str) -> (HeaderName, Vec<u8>) {
    (AUTHORIZATION, format!("Bearer {key}").into_bytes())
}

fn cookie(session: &str) -> (HeaderName, Vec<u8>) {
    (COOKIE, format!("theme=dark; session_id={session}").into_bytes())
}

fn any_credential(ground: &Ground, random: &mut SplitMix64) -> (HeaderName, Vec<u8>) {
    let person: &Person = &ground.people[random.below(ground.people.len())];
    match random.below(4) {
        0 => bearer(&person.key),
        1 => cookie(&person.session),
        2 => bearer(&random.choose(&ground.bad_keys)),
        _ => cookie(&random.choose(&ground.bad_sessions)),
    }
}
