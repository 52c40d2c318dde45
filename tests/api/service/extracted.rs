//! Rejections of axum's extractors at endpoints of the host application.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::routing::{get as reads, post as writes};
use axum::{Json, Router};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::BodyExt;
use serde::Deserialize;
use serde_json::{Value, json};
use toposcope::model::HostId;
use toposcope::service::{Admitted, Api, Extract, ResponseBody, Served};
use toposcope::wire::{ErrorCode, Failure};
use tower::ServiceExt;
use uuid::Uuid;

use crate::backend::run_with;
use crate::common::{Fixture, get, send_json, with_header, with_key};

#[derive(Debug, Deserialize)]
struct Rack {
    name: String,
    units: Vec<Unit>,
}

#[derive(Debug, Deserialize)]
struct Unit {
    number: u16,
}

#[derive(Debug, Deserialize)]
struct Numbered {
    unit: u16,
    id: Uuid,
}

#[derive(Debug, Deserialize)]
struct Filter {
    limit: u8,
}

async fn one(State(api): State<Api>, admitted: Admitted, Extract(Path(unit)): Extract<Path<u16>>) -> Answer {
    api.respond(&admitted, Ok(unit))
}

type Answer = Response<ResponseBody>;

async fn id(State(api): State<Api>, admitted: Admitted, Extract(Path(id)): Extract<Path<HostId>>) -> Answer {
    api.respond(&admitted, Ok(id))
}

async fn two(
    State(api): State<Api>,
    admitted: Admitted,
    Extract(Path((unit, id))): Extract<Path<(u16, Uuid)>>,
) -> Answer {
    api.respond(&admitted, Ok(json!([unit, id])))
}

async fn named(
    State(api): State<Api>,
    admitted: Admitted,
    Extract(Path(path)): Extract<Path<Numbered>>,
) -> Answer {
    api.respond(&admitted, Ok(json!([path.unit, path.id])))
}

/// Its path has one parameter.
async fn misfit(
    State(api): State<Api>,
    admitted: Admitted,
    Extract(Path(path)): Extract<Path<(u16, u16)>>,
) -> Answer {
    api.respond(&admitted, Ok(path.0))
}

async fn filtered(
    State(api): State<Api>,
    admitted: Admitted,
    Extract(Query(filter)): Extract<Query<Filter>>,
) -> Answer {
    api.respond(&admitted, Ok(filter.limit))
}

async fn rack(
    State(api): State<Api>,
    admitted: Admitted,
    Extract(Json(rack)): Extract<Json<Rack>>,
) -> Answer {
    let numbers: Vec<u16> = rack.units.iter().map(|unit| unit.number).collect();
    api.respond(&admitted, Ok(json!([rack.name, numbers])))
}

async fn text(State(api): State<Api>, admitted: Admitted, Extract(text): Extract<String>) -> Answer {
    api.respond(&admitted, Ok(text))
}

async fn bytes(State(api): State<Api>, admitted: Admitted, Extract(bytes): Extract<Bytes>) -> Answer {
    api.respond(&admitted, Ok(bytes.len()))
}

async fn stream(State(api): State<Api>, admitted: Admitted, Extract(body): Extract<Body>) -> Answer {
    let read = body.collect().await.map(|body| body.to_bytes().len());
    api.respond(&admitted, Ok(read.ok()))
}

/// The path comes before the credential.
async fn careless(Extract(Path(unit)): Extract<Path<u16>>) -> String {
    unit.to_string()
}

fn application(api: &Api) -> Router {
    Router::new()
        .route("/one/{unit}", reads(one))
        .route("/ids/{id}", reads(id))
        .route("/two/{unit}/{id}", reads(two))
        .route("/named/{unit}/{id}", reads(named))
        .route("/misfit/{unit}", reads(misfit))
        .route("/filtered", reads(filtered))
        .route("/racks", writes(rack))
        .route("/text", writes(text))
        .route("/bytes", writes(bytes))
        .route("/stream", writes(stream))
        .route("/careless/{unit}", reads(careless))
        .layer(DefaultBodyLimit::max(1_000))
        .with_state(api.clone())
}

struct Reply {
    head: http::response::Parts,
    json: Value,
}

async fn ask(application: &Router, request: Request<impl Into<Body>>) -> Reply {
    let (head, body) = application.clone().oneshot(request.map(Into::into)).await.unwrap().into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    let json = serde_json::from_slice(&body).unwrap_or_else(|_| panic!("{body:?}"));
    Reply { head, json }
}

impl Reply {
    #[track_caller]
    fn refuses(&self, status: u16, code: &str, params: &Value) {
        let actual = (self.head.status.as_u16(), &self.json["code"], &self.json["params"]);
        assert_eq!(actual, (status, &Value::from(code), params), "{}", self.json);
        serde_json::from_value::<Failure>(self.json.clone()).unwrap();
        let text = self.json["error"].as_str().unwrap();
        assert!(text.ends_with('.') && text.contains(' '), "no sentence: {text:?}");
        let served: &Served = self.head.extensions.get().unwrap();
        assert_eq!(served.error_code.map(ErrorCode::as_str), Some(code));
        assert_eq!(self.head.headers["content-type"], "application/json");
    }
}

const ID: Uuid = Uuid::from_u128(7);

#[test]
fn rejected_path_and_query_name_their_parameter() {
    run_with(Fixture::new, async |fixture| {
        let application = application(&fixture.limited(60, 60).api);
        let ask = async |target: &str| ask(&application, with_key(get(target), &fixture.key)).await;
        for (target, data) in [
            ("/one/7".to_owned(), json!(7)),
            (format!("/two/7/{ID}"), json!([7, ID])),
            (format!("/named/7/{ID}"), json!([7, ID])),
            ("/filtered?limit=3".to_owned(), json!(3)),
        ] {
            assert_eq!(ask(&target).await.json["data"], data, "{target}");
        }
        for (target, field) in [
            ("/one/x".to_owned(), "unit"),
            ("/one/70000".to_owned(), "unit"),
            ("/one/%FF".to_owned(), "unit"),
            (format!("/two/x/{ID}"), "unit"),
            ("/two/7/x".to_owned(), "id"),
            (format!("/named/x/{ID}"), "unit"),
            ("/named/7/x".to_owned(), "id"),
            ("/ids/x".to_owned(), "id"),
            ("/filtered?limit=x".to_owned(), "limit"),
            ("/filtered?limit=256".to_owned(), "limit"),
        ] {
            let refused = ask(&target).await;
            refused.refuses(400, "validation_invalid_format", &json!({"field": field}));
        }
        ask("/filtered").await.refuses(400, "validation_required", &json!({"field": "limit"}));
        // The handler does not fit its route, and the client cannot help it.
        ask("/misfit/7").await.refuses(500, "internal_error", &json!({}));
    });
}

#[test]
fn rejected_body_names_its_field_or_its_place() {
    run_with(Fixture::new, async |fixture| {
        let application = application(&fixture.server.api);
        let post = |target: &str, body: &str| {
            with_key(send_json("POST", target, &Value::Null).map(|_| body.to_owned()), &fixture.key)
        };
        let send = async |body: &str| ask(&application, post("/racks", body)).await;
        let rack = json!({"name": "a", "units": [{"number": 1}, {"number": 2}]}).to_string();
        assert_eq!(send(&rack).await.json["data"], json!(["a", [1, 2]]));
        for (body, code, field) in [
            (r#"{"units": []}"#, "validation_required", "name"),
            (r#"{"name": "a", "units": [{"number": 1}, {}]}"#, "validation_required", "units.1.number"),
            (r#"{"name": 1, "units": []}"#, "validation_invalid_format", "name"),
            (r#"{"name": "a", "units": [{"number": -1}]}"#, "validation_invalid_format", "units.0.number"),
        ] {
            send(body).await.refuses(400, code, &json!({"field": field}));
        }
        for (body, column) in [("", 1), ("{", 1), ("[]x", 3), ("7", 1)] {
            let refused = send(body).await;
            assert_eq!(refused.json["code"], "validation_malformed_json", "{body}: {}", refused.json);
            assert_eq!(refused.head.status, 400);
            assert!(refused.json["params"]["column"].as_u64().is_some_and(|found| found >= 1), "{column}");
        }
        let trailing = send(&format!("{rack}x")).await;
        let column = rack.len() + 1;
        trailing.refuses(400, "validation_malformed_json", &json!({"line": 1, "column": column}));
        let plain = with_header(post("/racks", &rack), "content-type", "text/plain");
        ask(&application, plain).await.refuses(415, "request_unsupported_media_type", &json!({}));
        for target in ["/racks", "/text", "/bytes"] {
            let large = ask(&application, post(target, &"x".repeat(1_001))).await;
            large.refuses(413, "request_too_large", &json!({"limit": null}));
            assert_eq!(large.head.headers["connection"], "close");
        }
        let binary = post("/text", "").map(|_| vec![0xFF_u8]);
        let refused = ask(&application, binary).await;
        refused.refuses(400, "validation_malformed_json", &json!({"line": 1, "column": 1}));
        assert_eq!(ask(&application, post("/text", "text")).await.json["data"], "text");
        assert_eq!(ask(&application, post("/bytes", "text")).await.json["data"], 4);
        assert_eq!(ask(&application, post("/stream", &"x".repeat(5_000))).await.json["data"], 5_000);
        assert_eq!(ask(&application, post("/stream", "")).await.json["data"], 0);
    });
}

/// Returns the bytes of request bodies that are held, and the most that may be.
fn held(api: &Api) -> (u64, u64) {
    let figures = api.figures();
    let bodies = figures.memory.iter().find(|memory| memory.name == "request_bodies").unwrap();
    (bodies.used, bodies.limit)
}

/// Answers how many bytes the bodies hold while a handler has one.
async fn held_meanwhile(State(api): State<Api>, admitted: Admitted, Extract(_): Extract<Bytes>) -> Answer {
    api.respond(&admitted, Ok(held(&api).0))
}

/// A body whose client sends no more after the first bytes.
struct Unfinished(Option<Bytes>);

impl HttpBody for Unfinished {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.take().map_or(Poll::Pending, |bytes| Poll::Ready(Some(Ok(Frame::data(bytes)))))
    }
}

#[test]
fn bodies_that_are_read_as_a_whole_share_the_memory_of_all_bodies() {
    const FREE: u64 = 64 * 1024;
    const SIZE: usize = 1024 * 1024;
    run_with(Fixture::new, async |fixture| {
        let api = &fixture.server.api;
        let application = Router::new()
            .route("/held", writes(held_meanwhile))
            .route("/stream", writes(stream))
            .layer(DefaultBodyLimit::disable())
            .with_state(api.clone());
        let post =
            |target: &str, body: Body| with_key(Request::post(target).body(body).unwrap(), &fixture.key);
        let whole = || Body::from(vec![b'x'; SIZE]);
        let reply = ask(&application, post("/held", whole())).await;
        assert_eq!(reply.json["data"], SIZE as u64 - FREE);
        assert_eq!(held(api).0, 0);

        let limit = held(api).1;
        let large = Bytes::from(vec![b'x'; usize::try_from(limit).unwrap()]);
        let unfinished = Body::new(Unfinished(Some(large)));
        let request = tokio::spawn(application.clone().oneshot(post("/held", unfinished)));
        while held(api).0 == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(held(api).0, limit - FREE);
        let refused = ask(&application, post("/held", whole())).await;
        refused.refuses(429, "rate_limit_exceeded", &json!({"retry_after": 1}));
        // A stream is not held in memory.
        assert_eq!(ask(&application, post("/stream", whole())).await.json["data"], SIZE);
        request.abort();
        request.await.unwrap_err();
        assert_eq!(held(api).0, 0);
        assert_eq!(ask(&application, post("/held", whole())).await.head.status, 200);
    });
}

#[test]
fn rejection_has_the_rate_limit_of_its_sender_and_is_not_seen_without_a_credential() {
    run_with(Fixture::new, async |fixture| {
        let application = application(&fixture.limited(60, 10).api);
        let refused = ask(&application, with_key(get("/one/x"), &fixture.key)).await;
        refused.refuses(400, "validation_invalid_format", &json!({"field": "unit"}));
        assert_eq!(refused.head.headers["x-ratelimit-remaining"], "9");
        let served: &Served = refused.head.extensions.get().unwrap();
        assert_eq!(
            served.caller.as_ref().map(|caller| caller.organization_id()),
            Some(fixture.home.organization.id)
        );
        for (method, target) in [("GET", "/one/x"), ("GET", "/filtered"), ("POST", "/racks")] {
            let request = Request::builder().method(method).uri(target).body("{".to_owned()).unwrap();
            ask(&application, request).await.refuses(401, "auth_not_authenticated", &json!({}));
        }
        let refused = ask(&application, get("/careless/x")).await;
        refused.refuses(400, "validation_invalid_format", &json!({"field": "unit"}));
        assert!(!refused.head.headers.contains_key("x-ratelimit-remaining"));
    });
}
