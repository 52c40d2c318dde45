//! Faults of requests.
//!
//! A damaged request begins as a valid one, to which faults are added one by one. Its body arrives at once, in pieces,
//! or incompletely.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use fastrand::Rng;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, COOKIE, HOST, ORIGIN};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use http_body::{Body as HttpBody, Frame, SizeHint};
use serde_json::Value;
use toposcope::access::Caller;
use toposcope::service::ClientAddr;
use uuid::Uuid;

use crate::requests::author::Author;
use crate::requests::bodies::VALUES;
use crate::requests::request::{ApiRequest, BODY_LIMIT, Body, FETCH_SITE};
use crate::requests::{Choose, Generator};

/// Valid and invalid values of headers, separated by `|`.
const HEADERS: [(HeaderName, &str); 9] = [
    (AUTHORIZATION, "|Bearer|Bearer |bearer  x|Basic dXNlcjpwYXNz|Béarer"),
    (COOKIE, "|session_id|session_id=|a=b; session_id=0; session_id=1|=;=;;|é=é"),
    (
        CONTENT_TYPE,
        "application/json; charset=utf-8|APPLICATION/JSON|application/merge-patch+json|text/plain|\
         multipart/form-data; boundary=\"|application/|/json|+json|",
    ),
    (CONTENT_LENGTH, "0|1|-1|99999999999999999999|1, 1|x"),
    (ORIGIN, "https://app.example.net|https://inventory.example|http://evil.example|null|://|https://|"),
    (HOST, "inventory.example|inventory.example:443|[::1]:80|evil.example||é"),
    (FETCH_SITE, "same-origin|same-site|none|cross-site|CROSS-SITE|x"),
    (HeaderName::from_static("transfer-encoding"), "chunked|gzip, chunked|identity"),
    (HeaderName::from_static("x-forwarded-for"), "192.0.2.1|::1|unknown"),
];

const METHODS: &str = "GET|HEAD|POST|PUT|DELETE|PATCH|OPTIONS|TRACE|CONNECT|get|M-SEARCH";

/// Further values for fields, in addition to [`VALUES`]. They are invalid for most fields, or at least unusual.
const ODD_VALUES: &str = r#"false|-0|1|65535|1e400|-1e-400|1E5|18446744073709551616|01|1.|--1|NaN|'x'|tru|
    |""|" "|"\u0000"|"\ud800"|"\x"|"é"|"a|[[]]|[null]|[1,2]|{"a":1}|{"Tcp":null}|{"Owner":[]}|"Udp"|
    |"2026-08-14T12:00:00Z"|"9999-12-31T23:59:60Z"|"0000-01-01T00:00:00+23:59"|"+10000-01-01T00:00:00Z"|
    |"00000000-0000-0000-0000-000000000000""#;

/// Parts of targets.
const PIECES: &str = "/|/|api|v1|hosts|version|ports|auth|keys|login|logout|/api/v1/hosts|/api/v1/hosts|\
    /api/version|/api/v1/ports/|/api/v1/auth/keys/|/api/v1/auth/daemon|/api/auth/logout|?|?|&|&|=|=|,|limit|\
    offset|ids|tag_ids|network_id|order_by|group_by|order_direction|name|desc|interface_ip|0|1|1000|1001|-1|\
    99999999999999999999|%00|%FF|%|%2|%2F|..|+|;|null|é|00000000-0000-0000-0000-000000000001|\
    00000000000040008000000000001000";

/// A source of ids and credentials for faults.
pub(super) trait Source {
    fn random(&mut self) -> &mut Rng;

    /// Returns the id of any record, or one that is likely to be special.
    fn any_id(&mut self) -> Uuid;

    /// Returns a request with only credentials, valid or not.
    fn any_credentials(&mut self) -> ApiRequest;
}

impl Source for Generator<'_> {
    fn random(&mut self) -> &mut Rng {
        self.random
    }

    fn any_id(&mut self) -> Uuid {
        self.any_id()
    }

    fn any_credentials(&mut self) -> ApiRequest {
        self.any_credentials()
    }
}

impl Source for Author<'_> {
    fn random(&mut self) -> &mut Rng {
        self.random
    }

    fn any_id(&mut self) -> Uuid {
        self.any_id()
    }

    fn any_credentials(&mut self) -> ApiRequest {
        self.credentials()
    }
}

/// Returns a request with faults. Returns `None` if a server could not read its target or headers.
pub(super) fn damaged(
    request: &ApiRequest,
    faults: usize,
    source: &mut impl Source,
) -> Option<Request<Delivery>> {
    let mut draft = Draft::new(request);
    for _ in 0..faults {
        draft.damage(source);
    }
    draft.build(source.random())
}

/// A request whose parts may be invalid.
struct Draft {
    method: Method,
    target: Vec<u8>,
    headers: Vec<(HeaderName, Vec<u8>)>,
    /// The fields of the body, each with the text of its value.
    fields: Vec<(String, String)>,
    /// The body if it is not an object.
    malformed: String,
    /// Number of times that the text of the body is damaged.
    damages: usize,
    caller: Option<Caller>,
}

impl Draft {
    fn new(request: &ApiRequest) -> Self {
        let (fields, malformed) = match &request.body {
            Body::Fields(fields) => (fields.clone(), String::new()),
            _ => (vec![], request.body_text()),
        };
        Self {
            method: request.method.parse().unwrap(),
            target: request.target().into_bytes(),
            headers: request.headers().into_iter().map(|(name, value)| (name, value.into())).collect(),
            fields: fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            malformed,
            damages: 0,
            caller: request.caller(),
        }
    }

    /// Adds one fault.
    fn damage(&mut self, generator: &mut impl Source) {
        let random = generator.random();
        match random.usize(..20) {
            0 => self.method = random.choose_part(METHODS).parse().unwrap(),
            1 => self.target = any_target(random),
            2 if random.bool() => damage_bytes(&mut self.target, random),
            2 => truncate(&mut self.target, random),
            3 | 4 => self.change_target(generator),
            5 | 6 => self.replace_credentials(generator),
            7 | 8 if !self.headers.is_empty() => self.damage_header(random),
            9 if !self.headers.is_empty() => self.repeat_header(random),
            10 | 11 => {
                let (name, values) = random.choose(&HEADERS);
                let is_credential = |name: &HeaderName| [AUTHORIZATION, COOKIE].contains(name);
                self.headers
                    .retain(|(other, _)| *other != name && !(is_credential(&name) && is_credential(other)));
                self.headers.push((name, random.choose_part(values).into()));
            }
            12 | 13 => self.damages += 1,
            _ => self.damage_fields(generator),
        }
    }

    /// Names another record, or adds a query that the endpoint does not accept.
    fn change_target(&mut self, generator: &mut impl Source) {
        if generator.random().once_in(3) {
            self.target.extend(generator.random().choose_part("?|?limit=1|&x|?\u{e9}=%FF|/|//|#a").bytes());
        } else if let Some(place) = self.target.iter().rposition(|byte| *byte == b'/') {
            self.target.truncate(place + 1);
            self.target.extend(generator.any_id().to_string().bytes());
        }
    }

    /// Takes the credentials of another request.
    fn replace_credentials(&mut self, generator: &mut impl Source) {
        let other = generator.any_credentials();
        let is_credential = |name: &HeaderName| [AUTHORIZATION, COOKIE].contains(name);
        self.headers.retain(|(name, _)| !is_credential(name));
        let credentials = other.headers().into_iter().filter(|(name, _)| is_credential(name));
        self.headers.extend(credentials.map(|(name, value)| (name, value.into())));
        self.caller = other.caller();
    }

    fn damage_header(&mut self, random: &mut Rng) {
        let place = random.usize(..self.headers.len());
        if random.once_in(4) {
            self.headers.remove(place);
        } else {
            damage_bytes(&mut self.headers[place].1, random);
        }
    }

    /// Repeats a header, with the same value or another one.
    fn repeat_header(&mut self, random: &mut Rng) {
        let mut again = random.choose(&self.headers);
        if random.bool() {
            damage_bytes(&mut again.1, random);
        }
        self.headers.insert(random.usize(..=self.headers.len()), again);
    }

    /// Changes one field: its name, its value, or its number of occurrences.
    fn damage_fields(&mut self, generator: &mut impl Source) {
        let odd = odd_value(generator);
        let random = generator.random();
        if self.fields.is_empty() {
            return self.fields.push(("name".to_owned(), odd));
        }
        let place = random.usize(..self.fields.len());
        match random.usize(..8) {
            0 => drop(self.fields.remove(place)),
            1 => {
                let again = self.fields[place].clone();
                self.fields.insert(random.usize(..=self.fields.len()), again);
            }
            2 => {
                let mut name = std::mem::take(&mut self.fields[place].0).into_bytes();
                damage_bytes(&mut name, random);
                self.fields[place].0 = String::from_utf8_lossy(&name).into_owned();
            }
            3 => self.fields.push(("unknown".to_owned(), odd)),
            _ => self.fields[place].1 = odd,
        }
    }

    fn build(self, random: &mut Rng) -> Option<Request<Delivery>> {
        let mut request = Request::builder().method(self.method).uri(Uri::try_from(self.target).ok()?);
        for (name, value) in self.headers {
            request = request.header(name, HeaderValue::from_bytes(&value).ok()?);
        }
        let mut body = if self.fields.is_empty() {
            self.malformed.as_bytes().to_vec()
        } else {
            object_text(&self.fields, random)
        };
        for _ in 0..self.damages {
            damage_text(&mut body, random);
        }
        let mut request = request.body(Delivery::new(body, random)).ok()?;
        if !random.once_in(8) {
            request.extensions_mut().insert(any_address(random));
        }
        if let Some(caller) = self.caller {
            request.extensions_mut().insert(caller);
        }
        Some(request)
    }
}

fn any_address(random: &mut Rng) -> ClientAddr {
    let last = random.u8(..40);
    ClientAddr(if random.once_in(4) {
        [0, 0, 0, 0, 0, 0xffff, 0xc000, last.into()].into()
    } else {
        [192, 0, 2, last].into()
    })
}

fn any_target(random: &mut Rng) -> Vec<u8> {
    let mut target = random.choose_part("/|/|/api/v1/hosts?|/api/v1/||http://h.example").to_owned();
    for _ in 0..random.usize(..10) {
        if random.once_in(8) {
            target.push(char::from(random.u8(0x21..0x7f)));
        }
        target.push_str(random.choose_part(PIECES));
    }
    target.into_bytes()
}

fn odd_value(generator: &mut impl Source) -> String {
    let (id, other) = (generator.any_id(), generator.any_id());
    let random = generator.random();
    match random.usize(..14) {
        0..=3 => format!("\"{id}\""),
        4 => format!("[\"{id}\",\"{other}\"]"),
        5 | 6 => format!("\"{}\"", "ä".repeat(random.choose(&[0, 1, 2, 9, 100, 101, 501, 1001]))),
        7 => {
            let depth = random.choose(&[1, 127, 128, 129, 2000]);
            let (open, inner, close) = random.choose(&[("[", "", "]"), ("{\"a\":", "0", "}")]);
            // Mostly cut off at the body limit.
            [&*open.repeat(depth), inner, &*close.repeat(depth)].concat()
        }
        8 => "9".repeat(random.usize(1..=400)),
        9 => random.choose_part("0|-1|65535|65536").to_owned(),
        _ => any_text(random).to_owned(),
    }
}

/// Returns the text of a value, which may be invalid JSON.
fn any_text(random: &mut Rng) -> &'static str {
    let texts = random.choose(&[VALUES, ODD_VALUES, ODD_VALUES]);
    random.choose_part(texts).trim()
}

/// Returns the text of an object with these fields.
fn object_text(fields: &[(String, String)], random: &mut Rng) -> Vec<u8> {
    let space = random.choose(&["", "", "", " ", "\n", "\r\n\t"]);
    let fields: Vec<String> =
        fields.iter().map(|(name, value)| format!("{}:{space}{value}", Value::from(&**name))).collect();
    format!("{{{space}{}{space}}}", fields.join(&format!(",{space}"))).into_bytes()
}

/// Changes a complete body: its tokens, its bytes, or its size.
fn damage_text(body: &mut Vec<u8>, random: &mut Rng) {
    match random.usize(..10) {
        0..=2 => damage_tokens(body, random),
        3..=5 => damage_bytes(body, random),
        6 => truncate(body, random),
        7 => {
            let size = BODY_LIMIT + random.usize(..3) - 1;
            body.resize(size.max(body.len()), b' ');
        }
        8 => *body = any_text(random).into(),
        _ => body.clear(),
    }
}

fn damage_tokens(body: &mut Vec<u8>, random: &mut Rng) {
    let is_end = |byte: &u8| b"{}[]:,".contains(byte);
    let mut tokens: Vec<Vec<u8>> = body.split_inclusive(is_end).map(<[u8]>::to_vec).collect();
    if tokens.is_empty() {
        return;
    }
    let (place, other) = (random.usize(..tokens.len()), random.usize(..tokens.len()));
    match random.usize(..4) {
        0 => drop(tokens.remove(place)),
        1 => tokens.swap(place, other),
        2 => tokens.insert(place, tokens[other].clone()),
        _ => tokens[place] = any_text(random).into(),
    }
    *body = tokens.concat();
}

/// Changes a few bytes of a text at random positions.
fn damage_bytes(text: &mut Vec<u8>, random: &mut Rng) {
    for _ in 0..=random.usize(..3) {
        let place = random.usize(..=text.len());
        match random.usize(..5) {
            0 if place < text.len() => text[place] = odd_byte(random),
            1 if place < text.len() => drop(text.remove(place)),
            2 => {
                let end = (place + random.usize(..16)).min(text.len());
                let piece = text[place..end].to_vec();
                text.splice(place..place, piece);
            }
            3 if place < text.len() => text[place] ^= 1 << random.usize(..8),
            _ => text.insert(place, odd_byte(random)),
        }
    }
}

fn truncate(text: &mut Vec<u8>, random: &mut Rng) {
    text.truncate(random.usize(..=text.len()));
}

/// Returns a random byte, more often one with a meaning in JSON, URIs or headers.
fn odd_byte(random: &mut Rng) -> u8 {
    if random.once_in(3) {
        random.u8(..)
    } else {
        random.choose(b"\0\t\n \"\\/{}[]:,;=&?%+-._@#\x7f\x80\xc3\xff0129aAeE")
    }
}

/// A request body as a connection delivers it.
#[derive(Clone, Debug)]
pub(super) struct Delivery {
    steps: VecDeque<Step>,
    /// Whether the client announces the length.
    is_length_known: bool,
}

#[derive(Clone, Debug)]
enum Step {
    Data(Bytes),
    /// The connection is idle for a moment.
    Wait,
    Trailers,
    BreakOff,
}

impl Delivery {
    /// Delivers these bytes at once or in pieces, sometimes incompletely.
    fn new(bytes: Vec<u8>, random: &mut Rng) -> Self {
        if random.bool() {
            let steps = if bytes.is_empty() { VecDeque::new() } else { [Step::Data(bytes.into())].into() };
            return Self { steps, is_length_known: true };
        }
        let mut rest = Bytes::from(bytes);
        let mut steps = VecDeque::new();
        while !rest.is_empty() {
            let length = random.usize(..=rest.len()).max(rest.len() / 8);
            steps.push_back(Step::Data(rest.split_to(length)));
            if random.once_in(4) {
                steps.push_back(Step::Wait);
            }
        }
        if random.bool() {
            // Later, more has been done of what the body asks for.
            steps.truncate(random.usize(steps.len() / 2..=steps.len()));
            steps.push_back(Step::BreakOff);
        } else if random.once_in(8) {
            steps.push_back(Step::Trailers);
        }
        Self { steps, is_length_known: false }
    }

    fn length(&self) -> u64 {
        let length = |step: &Step| if let Step::Data(bytes) = step { bytes.len() as u64 } else { 0 };
        self.steps.iter().map(length).sum()
    }
}

impl HttpBody for Delivery {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        Poll::Ready(match self.steps.pop_front() {
            Some(Step::Wait) => {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            Some(Step::Data(bytes)) => Some(Ok(Frame::data(bytes))),
            Some(Step::Trailers) => Some(Ok(Frame::trailers(HeaderMap::new()))),
            Some(Step::BreakOff) => Some(Err(io::ErrorKind::ConnectionReset.into())),
            None => None,
        })
    }

    fn is_end_stream(&self) -> bool {
        self.is_length_known && self.steps.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        if self.is_length_known { SizeHint::with_exact(self.length()) } else { SizeHint::default() }
    }
}
