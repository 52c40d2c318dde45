//! The progress of discoveries as server-sent events. Time is paused, so that the timers fire at once.

use tokio::time::{Instant, advance, pause};
use toposcope::access::Caller;
use toposcope::model::Permission;
use toposcope::service::Api;

use super::*;
use crate::common::{get, key_for};
use crate::lists::whole_list::Reading;

const STREAM: &str = "/api/v1/discoveries/stream";
const MINUTE: Duration = Duration::from_secs(60);

/// A stream that is read event by event.
struct Stream(Reading);

impl Stream {
    async fn begin(api: &Api, key: &str, query: &str) -> Self {
        Self(Reading::begin(api.clone(), with_key(get(&format!("{STREAM}{query}")), key)).await)
    }

    /// Returns the next frame; `None` at the end.
    async fn next(&mut self) -> Option<String> {
        self.0.read.clear();
        let is_open = self.0.read_on().await.unwrap();
        is_open.then(|| String::from_utf8(self.0.read.clone()).unwrap())
    }

    /// Returns the discoveries of the next frame.
    async fn discoveries(&mut self) -> Vec<Value> {
        let text = self.next().await.unwrap();
        text.lines()
            .filter_map(|line| Some(serde_json::from_str(line.strip_prefix("data: ")?).unwrap()))
            .collect()
    }
}

impl Scene {
    async fn stream(&self) -> Stream {
        Stream::begin(&self.fixture.server.api, &self.fixture.key, "").await
    }

    async fn refuses_a_stream(&self, key: &str) {
        let reply = self.fixture.server.get_with(key, STREAM).await;
        assert_eq!(reply.refuses(429, "rate_limit_exceeded"), &json!({"retry_after": 1}));
    }
}

#[tokio::test]
async fn stream_begins_with_the_present_states_and_sends_changes() {
    let scene = Scene::with_daemon().await;
    pause();
    let mut stream = scene.stream().await;
    let first = stream.discoveries().await;
    assert_eq!(first.len(), 2);
    let work = scene.work(DAEMON).await;
    let begun = Instant::now();
    let changed = stream.discoveries().await;
    assert_eq!(begun.elapsed().as_secs(), 1);
    assert_eq!(changed, [scene.discovery(&work).await]);
    scene.report(DAEMON, &work, "Scanning").await;
    let queued = scene.queue(json!({"network_id": LAB})).await;
    let changed = stream.discoveries().await;
    assert_eq!(changed.len(), 2);
    assert!(changed.contains(&queued) && changed.contains(&scene.discovery(&work).await));

    let mut again = scene.stream().await;
    let mut present = again.discoveries().await;
    let mut listed = scene.get("/api/v1/discoveries").await.as_array().unwrap().clone();
    for list in [&mut present, &mut listed] {
        list.sort_by_key(|discovery| discovery["id"].as_str().unwrap().to_owned());
    }
    assert_eq!(present, listed);
    let mut of_lab =
        Stream::begin(&scene.fixture.server.api, &scene.fixture.key, &format!("?network_id={LAB}")).await;
    assert_eq!(of_lab.discoveries().await, [queued]);
}

#[tokio::test]
async fn silent_stream_sends_comments_and_ends_after_15_minutes() {
    let scene = Scene::new().await;
    pause();
    let begun = Instant::now();
    let mut stream = scene.stream().await;
    assert_eq!(stream.next().await.unwrap(), "retry: 2000\n\n");
    for number in 1..=59 {
        assert_eq!(stream.next().await.unwrap(), ":\n\n");
        assert_eq!(begun.elapsed().as_secs(), 15 * number);
    }
    while stream.next().await.is_some() {}
    assert_eq!(begun.elapsed().as_secs(), 15 * 60);
}

#[tokio::test]
async fn stream_shows_only_networks_of_the_caller() {
    let scene = Scene::with_daemon().await;
    let key = scene.fixture.key(Permission::Viewer, &[LAB]).await;
    pause();
    let mut stream = Stream::begin(&scene.fixture.server.api, &key, "").await;
    assert_eq!(stream.next().await.unwrap(), "retry: 2000\n\n");
    let queued = scene.queue(json!({"network_id": LAB})).await;
    scene.work(DAEMON).await;
    assert_eq!(stream.discoveries().await, [queued]);
    let office = format!("?network_id={OFFICE}");
    let mut filtered = Stream::begin(&scene.fixture.server.api, &key, &office).await;
    assert_eq!(filtered.next().await.unwrap(), "retry: 2000\n\n");
}

#[tokio::test]
async fn stream_ends_when_the_credential_or_the_scope_changes() {
    let scene = Scene::with_daemon().await;
    let user = scene.fixture.user(&scene.fixture.home, Permission::Member, &[OFFICE, LAB]).await;
    let key = scene.fixture.issue(key_for(&user, Permission::Member, &[OFFICE, LAB])).await;
    pause();
    let mut stream = Stream::begin(&scene.fixture.server.api, &key, "").await;
    assert_eq!(stream.discoveries().await.len(), 2);
    scene
        .fixture
        .inventory
        .users()
        .set_rights(&Caller::system(user.organization_id), user.id, Permission::Member, vec![LAB])
        .await
        .unwrap();
    scene.work(DAEMON).await;
    assert_eq!(stream.next().await, None);

    let mut stream = Stream::begin(&scene.fixture.server.api, &key, "").await;
    assert_eq!(stream.next().await.unwrap(), "retry: 2000\n\n");
    scene.fixture.inventory.users().disable(&Caller::system(user.organization_id), user.id).await.unwrap();
    scene.queue(json!({"network_id": LAB})).await;
    assert_eq!(stream.next().await, None);
}

#[tokio::test]
async fn fifth_stream_of_a_user_is_refused_until_another_ends() {
    let scene = Scene::new().await;
    let other = scene.fixture.owner_key(&scene.fixture.home).await;
    pause();
    let mut streams = vec![];
    for _ in 0..4 {
        streams.push(scene.stream().await);
    }
    scene.refuses_a_stream(&scene.fixture.key).await;
    drop(Stream::begin(&scene.fixture.server.api, &other, "").await);
    streams.pop();
    streams.push(scene.stream().await);
    scene.refuses_a_stream(&scene.fixture.key).await;

    // The clients of these read nothing.
    advance(15 * MINUTE + Duration::from_millis(1)).await;
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    for _ in 0..4 {
        streams.push(scene.stream().await);
    }
    assert_eq!(streams[0].next().await, None, "it has ended");
}

#[tokio::test]
async fn forty_ninth_stream_of_an_organization_is_refused_and_others_are_served() {
    let scene = Scene::new().await;
    let mut streams = vec![];
    let mut keys = vec![];
    for _ in 0..13 {
        keys.push(scene.fixture.owner_key(&scene.fixture.home).await);
    }
    let abroad = scene.fixture.owner_key(&scene.fixture.abroad).await;
    pause();
    for key in &keys[..12] {
        for _ in 0..4 {
            streams.push(Stream::begin(&scene.fixture.server.api, key, "").await);
        }
    }
    scene.refuses_a_stream(&keys[12]).await;
    assert_eq!(scene.fixture.server.get_with(&abroad, STREAM).await.status, 200);
    streams.truncate(10);
    assert_eq!(scene.fixture.server.get_with(&keys[12], STREAM).await.status, 200);
}
