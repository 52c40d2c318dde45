//! A server that checks its answers, requests for it, and the log.

use std::error::Error;
use std::future::poll_fn;
use std::io::{self, Write};
use std::num::NonZeroU32;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use http::header::CONTENT_TYPE;
use http::request::Builder;
use http::{HeaderMap, HeaderValue, Request, StatusCode};
use http_body::Body;
use serde_json::{Value, json};
use toposcope::access::Caller;
use toposcope::inventory::Inventory;
use toposcope::service::{Api, ApiBuilder, ClientAddr, RateLimit, ResponseBody, Served};
use toposcope::wire::ErrorCode;
use tower::ServiceExt;
use tracing::Dispatch;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt::format::FmtSpan;

use super::asked::{Asked, Form};
use super::check::{check_response, contract_code};

/// The version that the servers of the tests report.
pub(crate) const VERSION: &str = "7.1.0-\"test\"";

/// A rate limit that no test reaches by accident. It is enabled, so that every test checks its headers.
pub(crate) fn ample() -> RateLimit {
    limit(1_000_000, 1_000_000)
}

pub(crate) fn limit(per_minute: u32, burst: u32) -> RateLimit {
    RateLimit::new(NonZeroU32::new(per_minute).unwrap(), NonZeroU32::new(burst).unwrap())
}

/// An [`Api`] that checks each of its answers.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) api: Api,
    /// Another API on the same records, which answers every second request.
    other: Option<Api>,
    requests: Arc<AtomicUsize>,
    limit: Option<RateLimit>,
}

/// A complete answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    /// The lengths of the frames of the body.
    pub(crate) frames: Vec<usize>,
    /// The body as JSON; null if there is none, or if it is no envelope.
    pub(crate) json: Value,
}

impl Server {
    pub(crate) fn new(inventory: Inventory, limit: impl Into<Option<RateLimit>>) -> Self {
        Self::built(Api::builder(inventory), limit)
    }

    /// Creates a server with further options than its rate limit.
    pub(crate) fn built(builder: ApiBuilder, limit: impl Into<Option<RateLimit>>) -> Self {
        let limit = limit.into();
        let api = builder.server_version(VERSION).rate_limit(limit).build();
        Self { api, other: None, requests: Arc::default(), limit }
    }

    /// Lets another server, with an inventory of its own, answer every second request.
    pub(crate) fn in_turn_with(self, other: Self) -> Self {
        Self { other: Some(other.api), ..self }
    }

    /// Returns the first of the servers, which answers all requests.
    pub(crate) fn alone(self) -> Self {
        Self { other: None, ..self }
    }

    fn next(&self) -> Api {
        let number = self.requests.fetch_add(1, Ordering::Relaxed);
        self.other.as_ref().filter(|_| number % 2 == 1).unwrap_or(&self.api).clone()
    }

    /// Sends a request, and checks the conditions that every answer must satisfy.
    pub(crate) async fn send<B>(&self, request: Request<B>) -> Reply
    where
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let asked = Asked::of(&request);
        let response = self.next().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let served =
            parts.extensions.get::<Served>().expect("every response tells how it was served").clone();
        let form = asked.form(parts.status.as_u16());
        let is_stream = form == Form::Events;
        let (body, frames) = if is_stream { first_frame(body).await } else { read(body).await };
        let has_no_envelope = asked.is_head() || form != Form::Json;
        let json = if has_no_envelope || parts.status == StatusCode::NOT_MODIFIED {
            Value::Null
        } else {
            serde_json::from_slice(&body).unwrap_or_else(|error| panic!("{asked:?}: {error}: {body:?}"))
        };
        let reply = Reply { status: parts.status, headers: parts.headers, body, frames, json };
        let code = served.error_code.map(ErrorCode::as_str);
        if !reply.json.is_null() {
            assert_eq!(code, reply.json["code"].as_str().map(contract_code), "{asked:?}");
        }
        check_response(&asked, &reply, self.limit);
        reply
    }

    /// Sends a `GET` without credentials.
    pub(crate) async fn get(&self, target: &str) -> Reply {
        self.send(get(target)).await
    }

    /// Sends a `GET` with this key.
    pub(crate) async fn get_with(&self, key: &str, target: &str) -> Reply {
        self.send(with_key(get(target), key)).await
    }
}

impl Reply {
    /// Asserts that this is an error with this status and code; returns its `params`.
    #[track_caller]
    pub(crate) fn refuses(&self, status: u16, code: &str) -> &Value {
        assert_eq!((self.status.as_u16(), &self.json["code"]), (status, &Value::from(code)), "{}", self.json);
        &self.json["params"]
    }

    /// Asserts that this is a success; returns its `data`.
    #[track_caller]
    pub(crate) fn data(&self) -> &Value {
        assert_eq!(self.status, 200, "{}", self.json);
        &self.json["data"]
    }

    /// Returns the numbers of the hosts of a list, in order.
    #[track_caller]
    pub(crate) fn ids(&self) -> Vec<u128> {
        assert_eq!(self.status, 200, "{}", self.json);
        let hosts = self.json["data"].as_array().unwrap();
        hosts
            .iter()
            .map(|host| host["id"].as_str().unwrap().parse::<uuid::Uuid>().unwrap().as_u128())
            .collect()
    }

    #[track_caller]
    pub(crate) fn total(&self) -> u64 {
        assert_eq!(self.status, 200, "{}", self.json);
        self.json["meta"]["pagination"]["total_count"].as_u64().unwrap()
    }

    /// Returns a header that must be present exactly once and be text.
    #[track_caller]
    pub(crate) fn header(&self, name: &str) -> &str {
        let mut values = self.headers.get_all(name).iter();
        let (Some(value), None) = (values.next(), values.next()) else {
            panic!("not exactly one {name}: {:?}", self.headers);
        };
        value.to_str().unwrap()
    }

    /// Returns a header that must be a number in decimal digits.
    #[track_caller]
    pub(crate) fn number(&self, name: &str) -> u64 {
        let text = self.header(name);
        assert!(text.bytes().all(|byte| byte.is_ascii_digit()), "{name}: {text}");
        text.parse().unwrap()
    }
}

pub(crate) fn get(target: &str) -> Request<String> {
    Builder::new().uri(target).body(String::new()).unwrap()
}

/// Returns a request with a JSON body.
pub(crate) fn send_json(method: &str, target: &str, body: &Value) -> Request<String> {
    let request = Builder::new().method(method).uri(target).header(CONTENT_TYPE, "application/json");
    request.body(body.to_string()).unwrap()
}

/// Returns a request without a body.
pub(crate) fn bare(method: &str, target: &str) -> Request<String> {
    Builder::new().method(method).uri(target).body(String::new()).unwrap()
}

/// Adds the cookie of a session to a request.
pub(crate) fn with_session<B>(request: Request<B>, session: &str) -> Request<B> {
    with_header(request, "cookie", format!("session_id={session}"))
}

pub(crate) fn with_key<B>(request: Request<B>, key: &str) -> Request<B> {
    with_header(request, "authorization", format!("Bearer {key}"))
}

/// Sets a caller, as an application does that authenticates its users itself.
pub(crate) fn with_caller<B>(mut request: Request<B>, caller: Caller) -> Request<B> {
    request.extensions_mut().insert(caller);
    request
}

/// Replaces a header.
pub(crate) fn with_header<B>(
    mut request: Request<B>,
    name: &'static str,
    value: impl AsRef<[u8]>,
) -> Request<B> {
    request.headers_mut().insert(name, HeaderValue::from_bytes(value.as_ref()).unwrap());
    request
}

/// Sets the address of the client.
pub(crate) fn from<B>(address: &str, mut request: Request<B>) -> Request<B> {
    request.extensions_mut().insert(ClientAddr(address.parse().unwrap()));
    request
}

pub(crate) fn log_in(email: &str, password: &str) -> Request<String> {
    send_json("POST", "/api/auth/login", &json!({"email": email, "password": password}))
}

/// Reads the first frame of a stream, and then closes it.
async fn first_frame(mut body: ResponseBody) -> (Vec<u8>, Vec<usize>) {
    assert_eq!(body.size_hint().exact(), body.is_end_stream().then_some(0));
    let frame = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await;
    let Some(frame) = frame else { return (vec![], vec![]) };
    let data = frame.unwrap().into_data().expect("a stream is data").to_vec();
    let frames = vec![data.len()];
    (data, frames)
}

/// Reads a body, and asserts that its size hint is right at every frame. The size may become known only after some
/// frames.
async fn read(body: ResponseBody) -> (Vec<u8>, Vec<usize>) {
    let mut total = body.size_hint().exact();
    let mut body = pin!(body);
    let (mut bytes, mut frames) = (Vec::new(), Vec::new());
    loop {
        total = total.or(body.size_hint().exact().map(|left| bytes.len() as u64 + left));
        let left = total
            .map(|total| total.checked_sub(bytes.len() as u64).expect("a body is no longer than it says"));
        assert_eq!(body.size_hint().exact(), left);
        assert_eq!(body.is_end_stream(), left == Some(0));
        let Some(frame) = poll_fn(|context| body.as_mut().poll_frame(context)).await else { break };
        let data = frame.unwrap().into_data().expect("a body is data, without trailers");
        assert!(!data.is_empty(), "an empty frame");
        frames.push(data.len());
        bytes.extend_from_slice(&data);
    }
    assert_eq!(Some(bytes.len() as u64), total, "a body is no shorter than it says");
    assert!(poll_fn(|context| body.as_mut().poll_frame(context)).await.is_none(), "a body ends once");
    (bytes, frames)
}

/// Captures every log line, of any level, while its dispatch is set.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    pub(crate) fn dispatch(&self) -> Dispatch {
        self.dispatch_with(FmtSpan::NONE)
    }

    /// Captures a line at the end of each span, too, with all of its fields.
    pub(crate) fn dispatch_with_spans(&self) -> Dispatch {
        self.dispatch_with(FmtSpan::CLOSE)
    }

    fn dispatch_with(&self, spans: FmtSpan) -> Dispatch {
        let log = self.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(LevelFilter::TRACE)
            .with_ansi(false)
            .without_time()
            .with_span_events(spans)
            .with_writer(move || log.clone());
        Dispatch::new(subscriber.finish())
    }

    /// Returns the text logged since the previous call.
    pub(crate) fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut *self.0.lock().unwrap())).unwrap()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
