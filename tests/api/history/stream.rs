//! The history as server-sent events.

use std::time::Duration;

use tokio::time::{Instant, pause};
use toposcope::access::Caller;
use toposcope::model::{Change, Permission, Tag};
use toposcope::service::Api;

use super::CHANGES;
use crate::common::{Fixture, LAB, OFFICE, get, host, key_for, with_header, with_key};
use crate::lists::whole_list::Reading;

/// A stream that is read frame by frame.
struct Stream(Reading);

impl Stream {
    async fn begin(api: &Api, key: &str, after: Option<&str>, last: Option<&str>) -> Self {
        let query = after.map(|after| format!("?after={after}")).unwrap_or_default();
        let mut request = with_key(get(&format!("{CHANGES}/stream{query}")), key);
        if let Some(last) = last {
            request = with_header(request, "last-event-id", last);
        }
        Self(Reading::begin(api.clone(), request).await)
    }

    /// Returns the text of the next frame; `None` at the end.
    async fn next(&mut self) -> Option<String> {
        self.0.read.clear();
        let is_open = self.0.read_on().await.unwrap();
        is_open.then(|| String::from_utf8(self.0.read.clone()).unwrap())
    }

    /// Returns the entries of the next frame, each of which is an event with its position.
    async fn changes(&mut self) -> Vec<Change> {
        let text = self.next().await.unwrap();
        let events = text.split("\n\n").filter(|event| event.starts_with("id: "));
        let change = |event: &str| {
            let [id, name, data] = event.lines().collect::<Vec<_>>().try_into().unwrap();
            let change: Change = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
            assert_eq!((id, name), (&*format!("id: {}", change.position), "event: change"));
            change
        };
        events.map(change).collect()
    }

    /// Returns the next entries, at least this many.
    async fn at_least(&mut self, count: usize) -> Vec<Change> {
        let mut changes = Vec::new();
        while changes.len() < count {
            changes.extend(self.changes().await);
        }
        changes
    }
}

async fn tag(fixture: &Fixture, name: &str) {
    fixture.inventory.tags().create(&fixture.system(), Tag::new(name)).await.unwrap();
}

fn names(changes: &[Change]) -> Vec<&str> {
    changes.iter().map(|change| change.name.as_str()).collect()
}

#[tokio::test]
async fn stream_sends_what_is_there_and_what_is_committed() {
    let fixture = Fixture::new().await;
    let api = &fixture.server.api;
    let whole = fixture.changes("limit=1000").await.entries();
    let mut stream = Stream::begin(api, &fixture.key, None, None).await;
    let present = stream.at_least(whole.len()).await;
    assert_eq!(serde_json::to_value(&present).unwrap(), serde_json::Value::from(whole));
    tag(&fixture, "new").await;
    let begun = Instant::now();
    assert_eq!(names(&stream.changes().await), ["new"]);
    assert!(begun.elapsed() < Duration::from_secs(1), "entries of this process come at once");
}

#[tokio::test]
async fn stream_resumes_by_the_last_event_without_gap_or_repeat() {
    let fixture = Fixture::new().await;
    let api = fixture.server.api.clone();
    let start = fixture.newest(&fixture.key).await;
    let inventory = fixture.inventory.clone();
    let system = fixture.system();
    let writer = tokio::spawn(async move {
        for number in 0..60 {
            inventory.tags().create(&system, Tag::new(format!("tag {number:02}"))).await.unwrap();
        }
    });
    let mut followed: Vec<Change> = Vec::new();
    let mut last: Option<String> = None;
    while followed.last().is_none_or(|change| change.name != "tag 59") {
        // The address stays that of the first request, as in a browser.
        let mut stream = Stream::begin(&api, &fixture.key, Some(&start), last.as_deref()).await;
        let mut frames = 0;
        while frames < 3 && followed.last().is_none_or(|change| change.name != "tag 59") {
            followed.extend(stream.changes().await);
            frames += 1;
        }
        last = followed.last().map(|change| change.position.to_string());
    }
    writer.await.unwrap();
    let expected: Vec<String> = (0..60).map(|number| format!("tag {number:02}")).collect();
    assert_eq!(names(&followed), expected);
}

#[tokio::test]
async fn silent_stream_sends_comments_and_ends_after_15_minutes() {
    let fixture = Fixture::new().await;
    let newest = fixture.newest(&fixture.key).await;
    pause();
    let begun = Instant::now();
    let mut stream = Stream::begin(&fixture.server.api, &fixture.key, Some(&newest), None).await;
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
    let fixture = Fixture::new().await;
    let key = fixture.key(Permission::Viewer, &[OFFICE]).await;
    let newest = fixture.newest(&key).await;
    let mut stream = Stream::begin(&fixture.server.api, &key, Some(&newest), None).await;
    assert_eq!(stream.next().await.unwrap(), "retry: 2000\n\n");
    fixture.put([host(1, LAB), host(2, OFFICE)]).await;
    let changes = stream.changes().await;
    assert_eq!(changes.iter().map(|change| change.network_id).collect::<Vec<_>>(), [Some(OFFICE)]);
}

#[tokio::test]
async fn stream_ends_before_an_entry_that_is_committed_after_the_rights_are_withdrawn() {
    let fixture = Fixture::new().await;
    let user = fixture.user(&fixture.home, Permission::Member, &[OFFICE, LAB]).await;
    let key = fixture.issue(key_for(&user, Permission::Member, &[OFFICE, LAB])).await;
    let system = Caller::system(user.organization_id);
    let newest = fixture.newest(&key).await;
    let mut stream = Stream::begin(&fixture.server.api, &key, Some(&newest), None).await;
    assert_eq!(stream.next().await.unwrap(), "retry: 2000\n\n");
    fixture.inventory.users().set_rights(&system, user.id, Permission::Member, vec![OFFICE]).await.unwrap();
    fixture.put([host(1, LAB)]).await;
    assert_eq!(stream.next().await, None);

    let newest = fixture.newest(&key).await;
    let mut stream = Stream::begin(&fixture.server.api, &key, Some(&newest), None).await;
    assert_eq!(stream.next().await.unwrap(), "retry: 2000\n\n");
    fixture.inventory.users().disable(&system, user.id).await.unwrap();
    fixture.put([host(2, OFFICE)]).await;
    assert_eq!(stream.next().await, None);
}

#[tokio::test]
async fn streams_of_all_kinds_share_the_limit_of_a_user() {
    let fixture = Fixture::new().await;
    let newest = fixture.newest(&fixture.key).await;
    let api = &fixture.server.api;
    let mut streams = Vec::new();
    for _ in 0..4 {
        streams.push(Stream::begin(api, &fixture.key, Some(&newest), None).await);
    }
    #[cfg(feature = "discovery")]
    fixture
        .server
        .get_with(&fixture.key, "/api/v1/discoveries/stream")
        .await
        .refuses(429, "rate_limit_exceeded");
    fixture
        .server
        .get_with(&fixture.key, &format!("{CHANGES}/stream"))
        .await
        .refuses(429, "rate_limit_exceeded");
    streams.pop();
    streams.push(Stream::begin(api, &fixture.key, Some(&newest), None).await);
}

#[tokio::test]
async fn host_application_sets_the_number_of_streams() {
    let fixture = Fixture::new().await;
    let server = fixture.configured(|builder| builder.event_streams(5, 64));
    let mut streams = Vec::new();
    for _ in 0..5 {
        streams.push(Stream::begin(&server.api, &fixture.key, None, None).await);
    }
    let refused = server.get_with(&fixture.key, &format!("{CHANGES}/stream")).await;
    refused.refuses(429, "rate_limit_exceeded");
}
