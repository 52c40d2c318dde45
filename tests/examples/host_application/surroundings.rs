//! The parts of the application around the API: its 404, metrics, layers and
//! shutdown.

use std::fs;
use std::io;
use std::path::Path;
use std::time::Duration;

use axum::body::Body;
use futures_util::stream::{self, StreamExt};
use http::Request;
use http::header::{
    ACCEPT_ENCODING, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD,
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, ORIGIN, RETRY_AFTER,
};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::task::{JoinHandle, yield_now};
use tokio::time::{Instant, timeout};
use toposcope::figures;
use toposcope::model::Permission;
use tower::ServiceExt;
use tower_http::decompression::Decompression;

use super::{Answer, HOSTS, Site, asset, request};
use crate::host_app::application::{ACME, GLOBEX, PAGES};

const STREAM: &str = "/inventory/api/v1/discoveries/stream";

#[tokio::test]
async fn own_answer_to_unknown_paths_stays() {
    for site in Site::both().await {
        let member = site.log_in(ACME, Permission::Member).await;
        for target in
            ["/", "/api/v1/hosts", "/metrics", "/inventory/api/auth/login", "/inventory/api/v1/users"]
        {
            let answer = site.get(target, &member).await;
            assert_eq!(
                (answer.status.as_u16(), &answer.body[..]),
                (404, &b"There is nothing here."[..]),
                "{target}"
            );
        }
    }
}

#[tokio::test]
async fn metrics_have_the_requests_of_each_tenant_and_the_figures_of_the_api() {
    for site in Site::both().await {
        let host = site.host().await;
        let [own, foreign] =
            [site.log_in(ACME, Permission::Member).await, site.log_in(GLOBEX, Permission::Member).await];
        for credential in [&own, &own, &foreign, ""] {
            site.get(&host, credential).await;
        }
        site.ask("PUT", &asset("A-17", &host), &own, &Value::Null).await;
        site.get("/nothing", &own).await;
        let metrics = site.metrics().await;
        assert_eq!(metrics.headers[CONTENT_TYPE], figures::CONTENT_TYPE);
        let text = String::from_utf8(metrics.body.to_vec()).unwrap();
        for (tenant, operation, status, count) in [
            (ACME.to_string(), "get_host_by_id", 200, 2),
            (GLOBEX.to_string(), "get_host_by_id", 404, 1),
            (String::new(), "get_host_by_id", 401, 1),
            (ACME.to_string(), "own", 200, 1),
            (ACME.to_string(), "create_host", 200, 1),
        ] {
            let line = format!(
                "app_answers_total{{tenant=\"{tenant}\",operation=\"{operation}\",status=\"{status}\"}} {count}"
            );
            assert!(text.lines().any(|found| found == line), "{line}\n{text}");
        }
        let line = "toposcope_requests_total{method=\"GET\",route=\"/api/v1/hosts/{id}\",status=\"200\"} 2";
        assert!(text.lines().any(|found| found == line), "{text}");
        assert!(text.ends_with("\n# EOF\n") && text.matches("# EOF").count() == 1, "{text}");
    }
}

#[tokio::test]
async fn pages_of_the_other_origin_may_send_requests_and_read_headers() {
    for site in Site::both().await {
        let preflight = |origin: &str| {
            let request = Request::options(HOSTS).header(ORIGIN, origin);
            let request = request.header(ACCESS_CONTROL_REQUEST_METHOD, "PATCH");
            let headers = "authorization,content-type,if-match";
            request.header(ACCESS_CONTROL_REQUEST_HEADERS, headers).body(Body::empty()).unwrap()
        };
        let allowed = site.send(preflight(PAGES)).await;
        assert_eq!(allowed.status, 200);
        allowed.has(&ACCESS_CONTROL_ALLOW_ORIGIN, PAGES);
        allowed.has(&ACCESS_CONTROL_ALLOW_METHODS, "patch");
        for name in ["authorization", "content-type", "if-match"] {
            allowed.has(&ACCESS_CONTROL_ALLOW_HEADERS, name);
        }
        let foreign = site.send(preflight("https://elsewhere.example")).await;
        assert_ne!(foreign.headers.get(ACCESS_CONTROL_ALLOW_ORIGIN).unwrap(), "https://elsewhere.example");

        let mut list = request("GET", HOSTS, &site.log_in(ACME, Permission::Viewer).await, &Value::Null);
        list.headers_mut().insert(ORIGIN, PAGES.parse().unwrap());
        let answer = site.send(list).await;
        assert_eq!(answer.data(), json!([]));
        answer.has(&ACCESS_CONTROL_ALLOW_ORIGIN, PAGES);
        for name in ["etag", "location", "retry-after", "x-ratelimit-remaining"] {
            answer.has(&ACCESS_CONTROL_EXPOSE_HEADERS, name);
        }
    }
}

#[tokio::test]
async fn answers_are_compressed_but_streams_of_events_are_not() {
    for site in Site::both().await {
        let host = site.host().await;
        let member = site.log_in(ACME, Permission::Member).await;
        let gzip = |target: &str| {
            let mut request = request("GET", target, &member, &Value::Null);
            request.headers_mut().insert(ACCEPT_ENCODING, "gzip".parse().unwrap());
            request
        };
        let plain = site.get(&host, &member).await;
        let compressed = site.send(gzip(&host)).await;
        assert_eq!(compressed.headers[CONTENT_ENCODING], "gzip");
        assert!(compressed.body.len() < plain.body.len() / 10);
        let stream = site.way.send(gzip(STREAM)).await;
        assert_eq!(stream.headers()[CONTENT_TYPE], "text/event-stream");
        assert!(!stream.headers().contains_key(CONTENT_ENCODING));
        let mut events = stream.into_body();
        assert!(events.frame().await.unwrap().unwrap().into_data().unwrap().starts_with(b"retry:"));
    }
    let site = Site::in_process().await;
    let (host, member) = (site.host().await, site.log_in(ACME, Permission::Member).await);
    let plain = site.get(&host, &member).await.body;
    let request = request("GET", &host, &member, &Value::Null);
    let decoded = Decompression::new(site.application.router()).oneshot(request).await.unwrap();
    assert_eq!(decoded.into_body().collect().await.unwrap().to_bytes(), plain);
}

/// Opens a stream of events, and an upload whose end does not arrive.
async fn with_stream_and_upload(site: &Site) -> (Body, JoinHandle<Answer>) {
    let host = site.host().await;
    let member = site.log_in(ACME, Permission::Member).await;
    let network = site.get(&host, &member).await.data()["network_id"].clone();
    let stream = site.way.send(request("GET", STREAM, &member, &Value::Null)).await;
    let mut events = stream.into_body();
    events.frame().await.unwrap().unwrap();

    let line = format!("{}\n", json!({"name": "imported", "network_id": network}));
    let body = stream::iter([Ok::<_, io::Error>(line)]).chain(stream::pending());
    let import = Request::post(format!("{HOSTS}/import")).header(AUTHORIZATION, &member);
    let import = import.header(CONTENT_TYPE, "application/x-ndjson").body(Body::from_stream(body)).unwrap();
    let way = site.way.clone();
    let upload = tokio::spawn(async move { Answer::of(way.send(import).await).await });
    let imports = || {
        site.application.api.figures().slots.iter().any(|slots| slots.name == "imports" && slots.used == 1)
    };
    while !imports() {
        yield_now().await;
    }
    (events, upload)
}

#[tokio::test(start_paused = true)]
async fn shutdown_with_an_open_stream_and_an_open_upload_takes_less_than_a_second() {
    let site = Site::in_process().await;
    let (events, upload) = with_stream_and_upload(&site).await;
    site.stop.send_replace(true);
    let begin = Instant::now();
    let (rest, refused) = tokio::join!(events.collect(), upload);
    site.application.api.drained().await;
    let took = begin.elapsed();
    assert!(took < Duration::from_secs(1), "{took:?}");
    assert_eq!(rest.unwrap().to_bytes(), "");
    let refused = refused.unwrap();
    refused.refuses(503, "server_stopping");
    refused.has(&RETRY_AFTER, "1");
}

#[tokio::test]
async fn server_stops_while_a_stream_and_an_upload_are_open() {
    let site = Site::over_loopback().await;
    let (events, upload) = with_stream_and_upload(&site).await;
    site.stop.send_replace(true);
    let begin = Instant::now();
    // It takes half a second; a machine with busy neighbors may take longer.
    timeout(Duration::from_secs(20), site.server.unwrap()).await.expect("the server stops").unwrap().unwrap();
    println!("stopped after {:?}", begin.elapsed());
    events.collect().await.unwrap();
    upload.await.unwrap().refuses(503, "server_stopping");
}

#[test]
fn application_has_at_most_250_lines_of_code_and_its_endpoint_15() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/host_app");
    let files = fs::read_dir(folder).unwrap().map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    let code: Vec<String> = files.collect();
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
    let lines: usize = code.iter().map(|file| file.lines().filter(is_code).count()).sum();
    assert!((100..=250).contains(&lines), "{lines}");
    let endpoint = code.iter().find_map(|file| file.split_once("pub(crate) async fn tag_host")).unwrap().1;
    let lines = endpoint.split_once("\n}\n").unwrap().0.lines().count() + 1;
    assert!(lines <= 15, "{lines}");
}
