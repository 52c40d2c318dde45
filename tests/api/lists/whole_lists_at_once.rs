//! The limit on concurrent lists without a limit, and the timeout of their readers.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use http_body::Body;
use serde_json::json;
use tokio::runtime::Handle;
use tokio::task::yield_now;
use tokio::time::{advance, pause};
use toposcope::service::{Api, ApiBuilder};
use toposcope::store::StoreError;

use crate::common::{Fault, Fixture, Hook, OFFICE, Server, ample, get, host, with_key};
use crate::lists::whole_list::Reading;

const WHOLE: &str = "/api/v1/hosts?limit=0";
const SECOND: Duration = Duration::from_secs(1);

async fn fixture_of(count: u128) -> Fixture {
    Fixture::with((1..=count).map(|id| host(id, OFFICE))).await
}

/// A server that checks its answers, unless a list is read from its `api` directly.
fn server(fixture: &Fixture, configure: impl FnOnce(ApiBuilder) -> ApiBuilder) -> Server {
    fixture.configured(configure)
}

async fn begin(server: &Server, key: &str) -> Reading {
    Reading::begin(server.api.clone(), with_key(get(WHOLE), key)).await
}

async fn begin_all(server: &Server, key: &str, count: usize) -> Vec<Reading> {
    let mut lists = Vec::new();
    for _ in 0..count {
        lists.push(begin(server, key).await);
    }
    lists
}

async fn assert_refused(server: &Server, key: &str) {
    let reply = server.get_with(key, WHOLE).await;
    assert_eq!(reply.refuses(429, "rate_limit_exceeded"), &json!({"retry_after": 1}));
    assert_eq!(reply.number("retry-after"), 1);
    assert_eq!(server.get_with(key, "/api/v1/hosts?limit=1000").await.status, 200, "a page");
}

/// Advances the time by slightly more than `time`, and runs the due timers. The excess is necessary because timers
/// round up.
async fn pass(time: Duration) {
    advance(time + Duration::from_millis(1)).await;
    for _ in 0..10 {
        yield_now().await;
    }
}

/// Reads up to the error that aborts a list, and returns it.
async fn read_to_error(list: &mut Reading) -> String {
    loop {
        match list.read_on().await {
            Ok(true) => {}
            Ok(false) => panic!("the list ends as if it were whole"),
            Err(error) => return error.to_string(),
        }
    }
}

#[tokio::test]
async fn fifth_list_of_a_user_is_refused_until_another_ends() {
    let fixture = fixture_of(300).await;
    let server = server(&fixture, |builder| builder);
    let other = fixture.owner_key(&fixture.home).await;
    let mut lists = begin_all(&server, &fixture.key, 4).await;
    assert_refused(&server, &fixture.key).await;
    let others = begin(&server, &other).await;

    lists.pop();
    lists.push(begin(&server, &fixture.key).await);
    assert_refused(&server, &fixture.key).await;

    let mut finished = lists.pop().unwrap();
    while finished.read_on().await.unwrap() {}
    lists.push(begin(&server, &fixture.key).await);
    assert_refused(&server, &fixture.key).await;
    assert!(finished.body.is_end_stream());
    assert_eq!(others.finish().await.0.len(), 300);
}

#[tokio::test]
async fn list_frees_its_slot_when_it_fails() {
    let fixture = fixture_of(300).await;
    let store = Hook::new();
    let inventory = fixture.inventory_with(&store);
    let server = Server::built(Api::builder(inventory).whole_lists_at_once(1, 1), ample());
    let mut list = begin(&server, &fixture.key).await;
    assert_refused(&server, &fixture.key).await;
    store.set_fault(Fault::List(|| StoreError::unavailable("down")));
    assert_eq!(read_to_error(&mut list).await, "the list cannot be read to its end");
    store.set_fault(Fault::None);
    begin(&server, &fixture.key).await;
}

#[tokio::test]
async fn forty_ninth_list_of_an_organization_is_refused_and_others_are_served() {
    let fixture = fixture_of(129).await;
    for id in 1_001..=1_129 {
        fixture.put_abroad(host(id, fixture.abroad.networks[0])).await;
    }
    let server = server(&fixture, |builder| builder);
    let mut lists = Vec::new();
    for _ in 0..12 {
        let key = fixture.owner_key(&fixture.home).await;
        lists.extend(begin_all(&server, &key, 4).await);
    }
    assert_refused(&server, &fixture.key).await;
    let abroad = fixture.owner_key(&fixture.abroad).await;
    let theirs = begin_all(&server, &abroad, 4).await;
    // Each organization leaves some of what is free.
    lists.truncate(45);
    assert_refused(&server, &fixture.key).await;
    drop(theirs);
    begin(&server, &fixture.key).await;
}

#[tokio::test]
async fn lists_that_fit_one_page_of_the_store_take_no_slot() {
    let fixture = fixture_of(128).await;
    let server = server(&fixture, |builder| builder.whole_lists_at_once(0, 0));
    assert_eq!(server.get_with(&fixture.key, WHOLE).await.ids().len(), 128);
    fixture.put([host(129, OFFICE)]).await;
    assert_refused(&server, &fixture.key).await;
}

#[tokio::test]
async fn list_whose_reader_stalls_for_60_seconds_is_aborted() {
    let fixture = fixture_of(1_000).await;
    let server = server(&fixture, |builder| builder);
    pause();
    let mut lists = begin_all(&server, &fixture.key, 4).await;
    let mut slow = lists.pop().unwrap();
    for list in &mut lists[1..] {
        list.read_on().await.unwrap();
    }
    pass(58 * SECOND).await;
    slow.read_on().await.unwrap();
    assert_refused(&server, &fixture.key).await;
    pass(2 * SECOND).await;
    let others = begin_all(&server, &fixture.key, 3).await;
    assert_refused(&server, &fixture.key).await;
    for mut list in lists {
        let read = list.read.len();
        assert_eq!(read_to_error(&mut list).await, "the response was aborted because its client stalled");
        assert_eq!(list.read.len(), read, "nothing is left to read");
        assert!(!list.read_on().await.unwrap(), "nothing follows an error");
    }
    drop(others);
    // Readers that take a frame just within every minute are not cut off.
    slow.read_on().await.unwrap();
    for _ in 0..5 {
        pass(60 * SECOND - Duration::from_millis(2)).await;
        slow.read_on().await.unwrap();
    }
    assert_eq!(slow.finish().await.0.len(), 1_000);
}

#[tokio::test]
async fn stalled_list_drops_what_it_holds() {
    let fixture = fixture_of(300).await;
    let server = server(&fixture, |builder| builder.stall_timeout(SECOND));
    pause();
    // The list keeps the request, to identify its caller again.
    let extension = Arc::new(());
    let mut request = with_key(get(WHOLE), &fixture.key);
    request.extensions_mut().insert(Arc::clone(&extension));
    let mut list = Reading::begin(server.api.clone(), request).await;
    list.read_on().await.unwrap();
    assert_eq!(Arc::strong_count(&extension), 2);
    pass(SECOND).await;
    assert_eq!(Arc::strong_count(&extension), 1);
}

#[tokio::test]
async fn list_that_waits_for_the_store_is_not_stalled() {
    let fixture = fixture_of(300).await;
    let store = Hook::new();
    let inventory = fixture.inventory_with(&store);
    let server = Server::built(Api::builder(inventory), ample());
    pause();
    let mut list = begin(&server, &fixture.key).await;
    let permit = store.open.acquire().await.unwrap();
    // Reads on until the list waits for the store.
    loop {
        let frame = poll_fn(|context| Poll::Ready(Pin::new(&mut list.body).poll_frame(context))).await;
        let Poll::Ready(frame) = frame else { break };
        list.read.extend_from_slice(&frame.unwrap().unwrap().into_data().unwrap());
    }
    pass(1_000 * SECOND).await;
    drop(permit);
    assert_eq!(list.finish().await.0.len(), 300);
}

#[tokio::test]
async fn list_without_a_time_limit_is_never_aborted() {
    let fixture = fixture_of(300).await;
    let server = server(&fixture, |builder| builder.stall_timeout(None));
    pause();
    let list = begin(&server, &fixture.key).await;
    pass(1_000_000 * SECOND).await;
    assert_eq!(list.finish().await.0.len(), 300);
}

#[tokio::test]
async fn timer_of_a_list_ends_with_its_body() {
    let fixture = fixture_of(300).await;
    let server = server(&fixture, |builder| builder);
    // A background task stores the use of a key.
    assert_eq!(server.get_with(&fixture.key, WHOLE).await.status, 200);
    for _ in 0..10 {
        yield_now().await;
    }
    let tasks = || Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    let list = begin(&server, &fixture.key).await;
    assert_eq!(tasks(), before + 1);
    drop(list);
    yield_now().await;
    assert_eq!(tasks(), before);
}

/// Outside of a runtime there are no timers.
#[test]
fn list_is_sent_without_a_runtime() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let fixture = runtime.block_on(fixture_of(300));
    drop(runtime);
    let server = server(&fixture, |builder| builder);
    let request = with_key(get(WHOLE), &fixture.key);
    let mut send = Box::pin(server.send(request));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match send.as_mut().poll(&mut context) {
        Poll::Ready(reply) => assert_eq!(reply.ids().len(), 300),
        Poll::Pending => panic!("a memory store has nothing to wait for"),
    }
}
