//! Errors: of the API, of other servers, and of the way to them.

use std::error::Error;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use serde_json::json;
use toposcope::client::{Client, ClientError, ClientErrorKind, HttpService, RequestBody};
use toposcope::inventory::ListQuery;
use toposcope::model::Tag;
use toposcope::wire::ErrorCode;
use tower::service_fn;

use super::{Canned, answered_by, canned, client_of, owner, success};

async fn error_of(response: Canned) -> ClientError {
    answered_by(move |_| response.clone()).version().await.unwrap_err()
}

#[tokio::test]
async fn api_error_has_status_code_params_and_message() {
    let (_, client) = owner().await;
    let error = client.create(&Tag::new("x".repeat(101))).await.unwrap_err();
    assert_eq!((error.kind(), error.status().unwrap().as_u16()), (ClientErrorKind::Api, 400));
    assert_eq!(error.code(), Some(ErrorCode::ValidationMaxLength));
    assert_eq!(serde_json::to_value(error.params()).unwrap(), json!({"field": "name", "max": 100}));
    assert_eq!(error.to_string(), format!("{} (validation_max_length, status 400)", error.message()));
    assert!(error.retry_after().is_none() && error.source().is_none());
}

#[tokio::test]
async fn rate_limit_says_when_to_retry() {
    let (fixture, _) = owner().await;
    let client = client_of(&fixture.limited(6, 1), &fixture.key);
    client.list::<Tag>(&ListQuery::default()).await.unwrap();
    let error = client.list::<Tag>(&ListQuery::default()).await.unwrap_err();
    assert_eq!((error.status().unwrap().as_u16(), error.code()), (429, Some(ErrorCode::RateLimitExceeded)));
    assert_eq!(error.retry_after(), Some(Duration::from_secs(10)));
}

#[tokio::test]
async fn code_of_a_newer_server_is_kept_as_text() {
    let body =
        json!({"success": false, "error": "Not today.", "code": "too_late", "params": {"a": 1}, "meta": {}});
    let error = error_of(canned(409, "application/json", body.to_string())).await;
    assert_eq!(
        (error.kind(), error.code(), error.code_text()),
        (ClientErrorKind::Api, None, Some("too_late"))
    );
    assert_eq!(
        (error.params()["a"].as_u64(), error.to_string().as_str()),
        (Some(1), "Not today. (too_late, status 409)")
    );
}

#[tokio::test]
async fn response_of_another_server_is_unexpected() {
    for (status, content_type, body) in [
        (200, "text/html", "<html>Welcome</html>"),
        (502, "text/html", "<html>Bad gateway</html>"),
        (301, "text/plain", ""),
        (204, "application/json", ""),
        (200, "application/json", r#"{"success": true, "data": {"api_version": 1, "server_ver"#),
        (200, "application/json", r#"{"api_version": 1, "server_version": "1"}"#),
        (
            200,
            "application/json",
            r#"{"success": true, "data": {}, "meta": {"api_version": 1, "server_version": "1"}}"#,
        ),
        (
            200,
            "application/json",
            r#"{"success": true, "data": {"api_version": 1, "server_version": "1"}, "meta": {"api_version": 1, "server_version": "1"}} more"#,
        ),
        (404, "application/json", r#"{"message": "no route"}"#),
        (500, "application/json", r#"{"success": true, "error": "confused"}"#),
        (500, "application/octet-stream", "\u{0}\u{1}"),
    ] {
        let error = error_of(canned(status, content_type, body)).await;
        assert_eq!(error.kind(), ClientErrorKind::UnexpectedResponse, "{body}");
        assert_eq!(error.status().unwrap().as_u16(), status, "{body}");
        assert!(error.code_text().is_none(), "{body}");
    }
    let mut unavailable = canned(503, "text/html", "");
    unavailable.headers_mut().insert("retry-after", "120".parse().unwrap());
    assert_eq!(error_of(unavailable.clone()).await.retry_after(), Some(Duration::from_secs(120)));
    unavailable.headers_mut().insert("retry-after", "Fri, 31 Dec 1999 23:59:59 GMT".parse().unwrap());
    assert_eq!(error_of(unavailable).await.retry_after(), None);
}

#[tokio::test]
async fn failure_with_a_successful_status_is_an_error() {
    let body = r#"{"success": false, "data": {}, "error": "No.", "meta": {"api_version": 1, "server_version": "1"}}"#;
    let client = answered_by(move |_| canned(200, "application/json", body));
    let error = client.submit_referral("reddit", None).await.unwrap_err();
    assert_eq!((error.kind(), error.message()), (ClientErrorKind::Api, "No."));
}

/// Returns a client of a service that responds with these frames.
fn framed(frames: fn(usize) -> Option<io::Result<Bytes>>) -> Client<impl HttpService> {
    Client::new(service_fn(move |_: Request<RequestBody>| async move {
        Ok::<_, io::Error>(Response::new(Frames(0, frames)))
    }))
}

/// The frames of a body, from this one on.
struct Frames(usize, fn(usize) -> Option<io::Result<Bytes>>);

impl Body for Frames {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        self.0 += 1;
        Poll::Ready((self.1)(self.0 - 1).map(|frame| frame.map(Frame::data)))
    }
}

#[tokio::test]
async fn response_above_the_limit_is_not_read_further() {
    let endless = framed(|_| Some(Ok(Bytes::from_static(&[b' '; 1_024])))).with_response_limit(100_000);
    assert_eq!(endless.version().await.unwrap_err().kind(), ClientErrorKind::ResponseTooLarge);

    let response = || success(&json!({"api_version": 1, "server_version": "1"}), None);
    let size = usize::try_from(response().body().size_hint().exact().unwrap()).unwrap();
    let client = answered_by(move |_| response());
    client.clone().with_response_limit(size).version().await.unwrap();
    let error = client.with_response_limit(size - 1).version().await.unwrap_err();
    assert_eq!((error.kind(), error.status().unwrap().as_u16()), (ClientErrorKind::ResponseTooLarge, 200));
}

#[tokio::test]
async fn broken_connection_is_a_transport_error_with_its_cause() {
    let broken = framed(|frame| match frame {
        0 => Some(Ok(Bytes::from_static(b"{\"success\": true,"))),
        _ => Some(Err(io::ErrorKind::ConnectionReset.into())),
    });
    let refused = Client::new(service_fn(|_: Request<RequestBody>| async {
        Err::<Canned, _>(io::Error::from(io::ErrorKind::ConnectionReset))
    }));
    for error in [broken.version().await.unwrap_err(), refused.version().await.unwrap_err()] {
        assert_eq!((error.kind(), error.status()), (ClientErrorKind::Transport, None));
        let cause = error.source().unwrap().downcast_ref::<io::Error>().unwrap();
        assert_eq!(cause.kind(), io::ErrorKind::ConnectionReset);
    }
}

#[tokio::test]
async fn base_url_precedes_the_path() {
    let echo = answered_by(|request| {
        success(&json!({"api_version": 1, "server_version": request.uri().to_string()}), None)
    });
    for (base, expected) in [
        ("https://example.net", "https://example.net/api/version"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/api/version"),
        ("http://[::1]:8080/a/b/", "http://[::1]:8080/a/b/api/version"),
    ] {
        let client = echo.clone().with_base_url(base).unwrap();
        assert_eq!(client.version().await.unwrap().server_version, expected);
    }
    assert_eq!(echo.version().await.unwrap().server_version, "/api/version");
    for base in [
        "",
        "/",
        "example.net",
        "example.net:80",
        "http://",
        "http://me:secret@example.net",
        "http://a/?b",
        "http://a b",
    ] {
        let error = echo.clone().with_base_url(base).unwrap_err();
        assert_eq!(error.kind(), ClientErrorKind::Request, "{base}");
    }
}

#[tokio::test]
async fn base_url_of_another_path_gets_the_error_of_the_server() {
    let (_, client) = owner().await;
    let error = client.with_base_url("http://localhost/elsewhere").unwrap().version().await.unwrap_err();
    assert_eq!((error.status().unwrap().as_u16(), error.code()), (404, Some(ErrorCode::RouteNotFound)));
}
