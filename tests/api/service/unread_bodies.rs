//! Responses that are sent before the body of their request was read.

use http::{Request, Version};

use crate::backend::run;
use crate::common::{Fixture, bare};

/// Sends a request with a body, and returns the status and the `Connection` of the response.
async fn send(fixture: &Fixture, version: Version, path: &str, body: &'static str) -> (u16, String) {
    let request = Request::post(path).version(version).header("content-type", "application/json");
    let reply = fixture.server.send(request.body(body.to_owned()).unwrap()).await;
    let connection = reply.headers.get("connection").map(|value| value.to_str().unwrap().to_owned());
    (reply.status.as_u16(), connection.unwrap_or_default())
}

#[test]
fn refusal_before_the_body_was_read_closes_the_connection() {
    run(async || {
        let fixture = Fixture::new().await;
        let close = "close".to_owned();
        for version in [Version::HTTP_10, Version::HTTP_11] {
            assert_eq!(send(&fixture, version, "/api/v1/hosts", "{}").await, (401, close.clone()));
        }
        // HTTP/2 has no such header, and ends only the stream.
        assert_eq!(send(&fixture, Version::HTTP_2, "/api/v1/hosts", "{}").await, (401, String::new()));
    });
}

#[test]
fn response_to_a_body_that_was_read_or_is_empty_keeps_the_connection() {
    run(async || {
        let fixture = Fixture::new().await;
        let login = send(&fixture, Version::HTTP_11, "/api/auth/login", "{}").await;
        assert_eq!(login, (400, String::new()));
        let empty = send(&fixture, Version::HTTP_11, "/api/v1/hosts", "").await;
        assert_eq!(empty, (401, String::new()));
        let reply = fixture.server.send(bare("GET", "/api/v1/hosts")).await;
        assert_eq!((reply.status.as_u16(), reply.headers.get("connection")), (401, None));
    });
}
