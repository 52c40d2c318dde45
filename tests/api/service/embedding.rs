//! Embedding the service: bodies, executors, and callers set by the application.

use std::cell::Cell;
use std::convert::Infallible;
use std::error::Error;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::combinators::{BoxBody, UnsyncBoxBody};
use http_body_util::{BodyExt, Empty, Full};
use toposcope::access::{Caller, Scope};
use toposcope::model::{Permission, UserApiKeyId};
use toposcope::service::{Api, ApiBuilder, BodyError, ClientAddr, RateLimit, ResponseBody, ResponseFuture};
use tower::{Service, ServiceExt};

use crate::backend::{run_on_threads, run_with};
use crate::common::{
    ELSEWHERE, Fixture, LAB, LEVELS, NOBODY, OFFICE, Server, VAULT, get, host, send_json, with_caller,
    with_header, with_key,
};

const fn is_shared<T: Clone + Send + Sync + 'static>() {}
const fn is_sent<T: Send + 'static>() {}
const fn is_response_body<T: Body<Data = Bytes, Error = BodyError> + Send + Sync + 'static>() {}
const fn serves<B>()
where
    Api: Service<Request<B>, Response = Response<ResponseBody>, Error = Infallible, Future = ResponseFuture>,
{
}

const _: () = {
    is_shared::<Api>();
    is_shared::<ApiBuilder>();
    is_shared::<RateLimit>();
    is_shared::<ClientAddr>();
    is_sent::<ResponseFuture>();
    is_response_body::<ResponseBody>();
    serves::<String>();
    serves::<Full<Bytes>>();
    serves::<Empty<Bytes>>();
    serves::<BoxBody<Bytes, Box<dyn Error + Send + Sync>>>();
    // The type inside `axum::body::Body`.
    serves::<UnsyncBoxBody<Bytes, Box<dyn Error + Send + Sync>>>();
    serves::<Odd>();
};

/// A body that is neither `Sync` nor `Unpin` and panics when it is read.
struct Odd(PhantomData<Cell<()>>, std::marker::PhantomPinned);

impl Body for Odd {
    type Data = std::collections::VecDeque<u8>;
    type Error = std::io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        panic!("this body must not be read")
    }
}

fn list<B>(fixture: &Fixture, body: B) -> Request<B> {
    with_key(get("/api/v1/hosts"), &fixture.key).map(|_| body)
}

#[test]
fn every_body_type_is_accepted() {
    run_with(Fixture::with_one_host, async |fixture| {
        let server = &fixture.server;
        assert_eq!(server.send(list(&fixture, String::new())).await.ids(), [1]);
        assert_eq!(server.send(list(&fixture, Full::new(Bytes::from_static(b"{}")))).await.ids(), [1]);
        assert_eq!(server.send(list(&fixture, Empty::<Bytes>::new())).await.ids(), [1]);
        assert_eq!(server.send(list(&fixture, Full::new(Bytes::new()).boxed())).await.ids(), [1]);
        assert_eq!(server.send(list(&fixture, Full::new(Bytes::new()).boxed_unsync())).await.ids(), [1]);
        // The body of a GET is never read.
        let odd = Odd(PhantomData, std::marker::PhantomPinned);
        assert_eq!(server.send(list(&fixture, odd)).await.ids(), [1]);
    });
}

#[test]
fn service_is_always_ready_and_answers_many_requests() {
    run_with(Fixture::with_one_host, async |fixture| {
        let mut api = fixture.server.api.clone();
        for _ in 0..3 {
            let ready = ServiceExt::<Request<String>>::ready(&mut api).await.unwrap();
            let (first, second) =
                (ready.call(list(&fixture, String::new())), ready.call(list(&fixture, String::new())));
            // The order in which the futures are awaited does not matter.
            assert_eq!(second.await.unwrap().status(), 200);
            assert_eq!(first.await.unwrap().status(), 200);
        }
    });
}

#[test]
fn service_runs_on_any_executor() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let fixture = runtime.block_on(Fixture::with([host(1, OFFICE)]));
    drop(runtime);
    let request = list(&fixture, String::new());
    let send = fixture.send(request);
    let waker = std::task::Waker::noop();
    match std::pin::pin!(send).poll(&mut Context::from_waker(waker)) {
        Poll::Ready(reply) => assert_eq!(reply.ids(), [1]),
        Poll::Pending => panic!("a memory store has nothing to wait for"),
    }
}

#[test]
fn dropped_request_affects_no_other() {
    run_with(Fixture::with_one_host, async |fixture| {
        let mut api = fixture.server.api.clone();
        drop(api.call(list(&fixture, String::new())));
        let response = api.call(list(&fixture, String::new())).await.unwrap();
        drop(response);
        assert_eq!(fixture.ids("").await, [1]);
    });
}

#[test]
fn concurrent_requests_get_their_own_answers() {
    run_on_threads(async || {
        let fixture = Fixture::with((1..=30).map(|id| host(id, OFFICE))).await;
        let tasks = (0..60_u128).map(|number| {
            let server: Server = fixture.server.clone();
            let request =
                with_key(get(&format!("/api/v1/hosts?limit=1&offset={}", number % 30)), &fixture.key);
            tokio::spawn(async move { (number % 30 + 1, server.send(request).await.ids()) })
        });
        for task in tasks.collect::<Vec<_>>() {
            let (expected, ids) = task.await.unwrap();
            assert_eq!(ids, [expected]);
        }
    });
}

#[test]
fn debug_output_contains_no_secret() {
    run_with(Fixture::new, async |fixture| {
        let shown = format!("{:?} {:?}", fixture.server.api, fixture.inventory);
        assert!(!shown.contains(&fixture.key) && !shown.contains("example.net"), "{shown}");
    });
}

async fn fixture() -> Fixture {
    let fixture = Fixture::with([host(1, OFFICE), host(2, LAB), host(3, VAULT)]).await;
    fixture.put_abroad(host(9, ELSEWHERE)).await;
    fixture
}

fn by(caller: Caller) -> Request<String> {
    with_caller(get("/api/v1/hosts"), caller)
}

#[test]
fn scope_of_a_trusted_caller_alone_determines_its_networks() {
    run_with(fixture, async |fixture| {
        for (scope, expected) in [
            (Scope::all(), &[1, 2, 3][..]),
            (Scope::only([OFFICE, VAULT]), &[1, 3]),
            (Scope::only([LAB]), &[2]),
            (Scope::only([]), &[]),
            (Scope::only([NOBODY.into()]), &[]),
            (Scope::only([ELSEWHERE]), &[]),
            (Scope::only([LAB, ELSEWHERE]), &[2]),
        ] {
            for level in LEVELS {
                let caller = Caller::new(fixture.home.organization.id, NOBODY.into(), level, scope.clone());
                assert_eq!(fixture.send(by(caller)).await.ids(), expected, "{level} {scope:?}");
            }
        }
        let unknown = Caller::new(NOBODY.into(), NOBODY.into(), Permission::Owner, Scope::all());
        let reply = fixture.send(by(unknown)).await;
        let params = reply.refuses(404, "entity_not_found");
        assert_eq!(*params, serde_json::json!({"entity": "Organization", "id": NOBODY}));
        let site = fixture.free_site().await;
        fixture
            .inventory
            .hosts()
            .put(&Caller::system(site.organization.id), host(7, site.networks[0]))
            .await
            .unwrap();
        let free = Caller::new(site.organization.id, NOBODY.into(), Permission::Viewer, Scope::all());
        assert_eq!(fixture.send(by(free)).await.ids(), [7], "without API access");
    });
}

#[test]
fn credentials_beside_a_trusted_caller_are_ignored() {
    run_with(fixture, async |fixture| {
        let abroad = fixture.owner_key(&fixture.abroad).await;
        let caller =
            Caller::new(fixture.home.organization.id, NOBODY.into(), Permission::Viewer, Scope::only([LAB]));
        for authorization in
            ["", "Bearer nonsense", &format!("Bearer {}", fixture.key), &format!("Bearer {abroad}")]
        {
            let request = with_header(by(caller.clone()), "authorization", authorization);
            assert_eq!(fixture.send(request).await.ids(), [2]);
        }
    });
}

#[test]
fn trusted_caller_may_list_whatever_its_credential() {
    run_with(fixture, async |fixture| {
        let caller = fixture.viewer();
        assert_eq!(fixture.send(by(caller.clone().through_session())).await.ids(), [1, 2, 3]);
        let through_key = caller.through_key(UserApiKeyId::nil(), Permission::Owner, [VAULT, ELSEWHERE]);
        assert_eq!(fixture.send(by(through_key)).await.ids(), [3]);
    });
}

#[test]
fn trusted_caller_through_a_session_writes_from_pages_of_its_own_site_alone() {
    run_with(Fixture::new, async |fixture| {
        let own = fixture.configured(|builder| builder.allowed_origins(["https://app.example.net"]));
        let caller =
            Caller::new(fixture.home.organization.id, NOBODY.into(), Permission::Owner, Scope::all());
        let send = async |caller: &Caller, origin: &str, name: &str| {
            let write = send_json("POST", "/api/v1/tags", &serde_json::json!({"name": name}));
            own.send(with_header(with_caller(write, caller.clone()), "origin", origin)).await
        };
        let session = caller.clone().through_session();
        send(&session, "https://elsewhere.example", "a").await.refuses(403, "auth_cross_site_request");
        assert_eq!(send(&session, "https://app.example.net", "b").await.status, 200);
        // A token in a header is no cookie: no page of another site has it.
        assert_eq!(send(&caller, "https://elsewhere.example", "c").await.status, 200);
    });
}

#[test]
fn location_of_a_created_record_has_the_path_prefix() {
    run_with(Fixture::new, async |fixture| {
        for (prefix, path) in [
            ("", ""),
            ("/", ""),
            ("/netinv", "/netinv"),
            ("/netinv/", "/netinv"),
            ("netinv", "/netinv"),
            ("//netinv/lab//", "/netinv/lab"),
            ("net inv\r\n?", "/net%20inv%0D%0A%3F"),
        ] {
            let server = fixture.configured(|builder| builder.path_prefix(prefix));
            let body = serde_json::json!({"name": format!("below {prefix}")});
            let request = with_key(send_json("POST", "/api/v1/tags", &body), &fixture.key);
            let response = server.api.clone().oneshot(request).await.unwrap();
            let location = response.headers()["location"].to_str().unwrap().to_owned();
            let expected = format!("{path}/api/v1/tags/");
            assert!(location.starts_with(&expected), "{prefix}: {location}");
        }
    });
}

#[test]
fn request_with_the_system_as_its_caller_is_refused() {
    run_with(Fixture::with_one_host, async |fixture| {
        let system = Caller::system(fixture.home.organization.id);
        for target in ["/api/v1/hosts", "/api/v1/auth/keys"] {
            let reply = fixture.send(with_caller(get(target), system.clone())).await;
            reply.refuses(401, "auth_not_authenticated");
        }
        let (parts, _) = with_caller(get("/own"), system).into_parts();
        assert_eq!(fixture.server.api.admit(&parts).await.unwrap_err().status(), 401);
    });
}
