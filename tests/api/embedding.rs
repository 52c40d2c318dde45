//! Guarantees that a host application relies on when it mounts an [`Api`]. Most of them are checked at
//! compile time.

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
use toposcope::service::{Api, ApiBuilder, BodyError, ClientAddr, RateLimit, ResponseBody, ResponseFuture};
use tower::{Service, ServiceExt};

use crate::common::{OFFICE, Server, World, get, host, with_key};

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
        panic!("nobody needs this body")
    }
}

fn list<B>(world: &World, body: B) -> Request<B> {
    with_key(get("/api/v1/hosts"), &world.key).map(|_| body)
}

#[tokio::test]
async fn any_body_will_do() {
    let world = World::with([host(1, OFFICE)]).await;
    let server = &world.server;
    assert_eq!(server.send(list(&world, String::new())).await.ids(), [1]);
    assert_eq!(server.send(list(&world, Full::new(Bytes::from_static(b"{}")))).await.ids(), [1]);
    assert_eq!(server.send(list(&world, Empty::<Bytes>::new())).await.ids(), [1]);
    assert_eq!(server.send(list(&world, Full::new(Bytes::new()).boxed())).await.ids(), [1]);
    assert_eq!(server.send(list(&world, Full::new(Bytes::new()).boxed_unsync())).await.ids(), [1]);
}

#[tokio::test]
async fn the_body_of_a_get_is_never_read() {
    let world = World::with([host(1, OFFICE)]).await;
    let odd = Odd(PhantomData, std::marker::PhantomPinned);
    assert_eq!(world.server.send(list(&world, odd)).await.ids(), [1]);
}

#[tokio::test]
async fn it_is_always_ready_and_one_value_answers_many_requests() {
    let world = World::with([host(1, OFFICE)]).await;
    let mut api = world.server.api.clone();
    for _ in 0..3 {
        let ready = ServiceExt::<Request<String>>::ready(&mut api).await.unwrap();
        let (first, second) =
            (ready.call(list(&world, String::new())), ready.call(list(&world, String::new())));
        // The order in which the futures are awaited does not matter.
        assert_eq!(second.await.unwrap().status(), 200);
        assert_eq!(first.await.unwrap().status(), 200);
    }
}

#[test]
fn it_runs_on_any_executor() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let world = runtime.block_on(World::with([host(1, OFFICE)]));
    drop(runtime);
    let request = list(&world, String::new());
    let send = world.server.send(request);
    let waker = std::task::Waker::noop();
    match std::pin::pin!(send).poll(&mut Context::from_waker(waker)) {
        Poll::Ready(reply) => assert_eq!(reply.ids(), [1]),
        Poll::Pending => panic!("a memory store has nothing to wait for"),
    }
}

#[tokio::test]
async fn a_request_that_is_dropped_harms_no_other() {
    let world = World::with([host(1, OFFICE)]).await;
    let mut api = world.server.api.clone();
    drop(api.call(list(&world, String::new())));
    let response = api.call(list(&world, String::new())).await.unwrap();
    drop(response);
    assert_eq!(world.ids("").await, [1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_requests_at_once_are_answered_each_by_its_own() {
    let world = World::with((1..=30).map(|id| host(id, OFFICE))).await;
    let tasks = (0..60_u128).map(|number| {
        let server: Server = world.server.clone();
        let request = with_key(get(&format!("/api/v1/hosts?limit=1&offset={}", number % 30)), &world.key);
        tokio::spawn(async move { (number % 30 + 1, server.send(request).await.ids()) })
    });
    for task in tasks.collect::<Vec<_>>() {
        let (expected, ids) = task.await.unwrap();
        assert_eq!(ids, [expected]);
    }
}

#[tokio::test]
async fn nothing_secret_shows_in_debug() {
    let world = World::new().await;
    let shown = format!("{:?} {:?}", world.server.api, world.inventory);
    assert!(!shown.contains(&world.key) && !shown.contains("example.net"), "{shown}");
}
