//! The span of each request.

use http::Request;
use http_body_util::BodyExt;
use toposcope::inventory::NewDaemonApiKey;
use toposcope::model::Permission;
use toposcope::service::{Api, RequestId};
use toposcope::store::StoreError;
use tower::ServiceExt;
use tracing::dispatcher::set_default;

use crate::backend::run_with;
use crate::common::{
    Fault, Fixture, Hook, Log, NOBODY, OFFICE, bare, get, host, with_caller, with_header, with_key,
    with_session,
};

/// Sends a request, and returns the fields of its span.
async fn span_of(api: &Api, request: Request<String>) -> String {
    let log = Log::default();
    let _guard = set_default(&log.dispatch_with_spans());
    let response = api.clone().oneshot(request).await.unwrap();
    let _ = response.into_body().collect().await;
    span_in(&log.take()).expect("the span has ended")
}

/// Returns the fields of the span that has ended in a log.
fn span_in(log: &str) -> Option<String> {
    let mut ended = log.lines().filter(|line| line.contains("toposcope::request: close"));
    let line = ended.next()?;
    assert_eq!(ended.next(), None, "a request has one span");
    Some(line.split_once("request{")?.1.split_once("}: toposcope::request: close")?.0.to_owned())
}

#[test]
fn span_has_the_template_of_the_route_the_organization_the_kind_of_caller_and_the_status() {
    run_with(Fixture::new, async |fixture| {
        let api = &fixture.server.api;
        let organization = fixture.home.organization.id;
        let host = format!("/api/v1/hosts/{NOBODY}");
        let user = fixture.user(&fixture.home, Permission::Viewer, &[OFFICE]).await;
        let session = fixture.sign_in(&user).await;
        let by = |caller: &str| format!("organization={organization} caller=\"{caller}\" status=404");
        for (request, fields) in [
            (
                get("/api/version"),
                "method=\"GET\" route=\"/api/version\" caller=\"none\" status=200".to_owned(),
            ),
            (
                get("/a secret path".replace(' ', "-").as_str()),
                "method=\"GET\" route=\"unmatched\" caller=\"none\" status=404".to_owned(),
            ),
            (
                bare("BREW", "/api/version"),
                "method=\"other\" route=\"unmatched\" caller=\"none\" status=405".to_owned(),
            ),
            (get(&host), "method=\"GET\" route=\"/api/v1/hosts/{id}\" caller=\"none\" status=401".to_owned()),
            (
                with_key(get(&host), &fixture.key),
                format!("method=\"GET\" route=\"/api/v1/hosts/{{id}}\" {}", by("user_api_key")),
            ),
            (
                with_session(get(&host), &session),
                format!("method=\"GET\" route=\"/api/v1/hosts/{{id}}\" {}", by("session")),
            ),
            (
                with_caller(get(&host), fixture.viewer()),
                format!("method=\"GET\" route=\"/api/v1/hosts/{{id}}\" {}", by("host_application")),
            ),
        ] {
            assert_eq!(span_of(api, request).await, fields);
        }
        if cfg!(feature = "discovery") {
            let daemon = NewDaemonApiKey::new(OFFICE, "a scanner");
            let key = fixture.inventory.daemon_api_keys().create(&fixture.system(), daemon).await.unwrap();
            let beat = with_key(bare("POST", &format!("/api/daemons/{NOBODY}/heartbeat")), key.plaintext());
            let span = span_of(api, beat).await;
            assert!(
                span.contains(&format!("organization={organization} caller=\"daemon_api_key\"")),
                "{span}"
            );
        }
    });
}

#[test]
fn span_has_the_id_of_the_request_cut_to_a_bounded_length() {
    run_with(Fixture::new, async |fixture| {
        let api = &fixture.server.api;
        let with_id = |id: &[u8]| with_header(get("/api/version"), "x-request-id", id);
        let span = span_of(api, with_id(b"0193-abc")).await;
        assert!(span.contains("request_id=\"0193-abc\""), "{span}");
        let span = span_of(api, with_id(&[b'x'; 10_000])).await;
        assert!(span.contains(&format!("request_id=\"{}\"", "x".repeat(128))), "{span}");
        let span = span_of(api, with_id("ü".as_bytes())).await;
        assert!(!span.contains("request_id"), "{span}");
        let mut request = with_id(b"of a client");
        request.extensions_mut().insert(RequestId::new("of the application"));
        let span = span_of(api, request).await;
        assert!(span.contains("request_id=\"of the application\""), "{span}");
    });
}

#[test]
fn own_endpoint_of_the_host_application_has_a_span_from_its_admission_to_its_body() {
    run_with(Fixture::new, async |fixture| {
        let api = &fixture.server.api;
        let log = Log::default();
        let _guard = set_default(&log.dispatch_with_spans());
        let (request, _) =
            with_key(with_header(get("/racks/7"), "x-request-id", "r-7"), &fixture.key).into_parts();
        let admitted = api.admit(&request).await.unwrap();
        admitted.within(async { tracing::info!("counting racks") }).await;
        let response = api.respond(&admitted, Ok(7));
        drop(admitted);
        let logged = log.take();
        assert_eq!(span_in(&logged), None);
        let line = logged.lines().find(|line| line.contains("counting racks")).expect(&logged);
        assert!(line.contains("request{method=\"GET\" route=\"own\" request_id=\"r-7\""), "{line}");
        drop(response);
        let span = span_in(&log.take()).expect("the span has ended");
        let organization = fixture.home.organization.id;
        let fields = format!("organization={organization} caller=\"user_api_key\" status=200");
        assert!(span.ends_with(&fields), "{span}");

        let (anonymous, _) = get("/racks/7").into_parts();
        drop(api.admit(&anonymous).await.unwrap_err());
        let span = span_in(&log.take()).expect("the span has ended");
        assert_eq!(span, "method=\"GET\" route=\"own\" caller=\"none\" status=401");
    });
}

#[test]
fn span_ends_with_the_body() {
    run_with(Fixture::with_one_host, async |fixture| {
        let log = Log::default();
        let _guard = set_default(&log.dispatch_with_spans());
        let request = with_key(get("/api/v1/hosts?limit=0"), &fixture.key);
        let response = fixture.server.api.clone().oneshot(request).await.unwrap();
        let (_, body) = response.into_parts();
        assert_eq!(span_in(&log.take()), None);
        drop(body);
        assert!(span_in(&log.take()).is_some());
    });
}

#[test]
fn what_is_logged_while_a_body_is_sent_is_in_the_span() {
    run_with(
        async || Fixture::with((1..=400).map(|id| host(id, OFFICE))).await,
        async |fixture| {
            let store = Hook::new();
            let server = fixture.server_with(&store);
            let log = Log::default();
            let _guard = set_default(&log.dispatch());
            let request = with_key(get("/api/v1/hosts?limit=0"), &fixture.key);
            let response = server.api.clone().oneshot(request).await.unwrap();
            log.take();
            store.set_fault(Fault::List(|| StoreError::unavailable("down")));
            response.into_body().collect().await.unwrap_err();
            let logged = log.take();
            let line = logged.lines().find(|line| line.contains("a list was aborted")).expect(&logged);
            assert!(line.contains("request{method=\"GET\" route=\"/api/v1/hosts\""), "{line}");
            assert!(line.contains("status=200"), "{line}");
        },
    );
}

#[test]
fn request_that_is_dropped_ends_its_span_without_a_status() {
    run_with(Fixture::new, async |fixture| {
        let log = Log::default();
        let _guard = set_default(&log.dispatch_with_spans());
        let server = fixture.server_with(&Hook::yielding());
        let request = with_key(get("/api/v1/hosts"), &fixture.key);
        let mut answer = Box::pin(server.api.clone().oneshot(request));
        assert!(futures_poll(answer.as_mut()).is_pending());
        assert_eq!(span_in(&log.take()), None);
        drop(answer);
        let span = span_in(&log.take()).unwrap();
        assert!(!span.contains("status"), "{span}");
        assert_eq!(server.api.figures().dropped, 1);
    });
}

fn futures_poll<F: Future>(future: std::pin::Pin<&mut F>) -> std::task::Poll<F::Output> {
    future.poll(&mut std::task::Context::from_waker(std::task::Waker::noop()))
}
