//! The history: pages, histories of records, hosts as they were, and the follower of the stream.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use http::{Request, Response, StatusCode};
use http_body_util::Full;
use serde_json::json;
use toposcope::client::{ClientErrorKind, RequestBody};
use toposcope::inventory::{ActorFilter, ChangeQuery, Moment};
use toposcope::model::{
    Change, ChangeAction, ChangePosition, ChangedEntity, Host, HostId, OrderDirection, Tag,
};
use toposcope::wire::ErrorCode;

use super::{answered_by, owner};
use crate::common::{HOST, NOBODY, OFFICE, at, host};

#[tokio::test]
async fn pages_of_the_client_are_those_of_the_inventory() {
    let (fixture, client) = owner().await;
    fixture.put([host(1, OFFICE), host(2, OFFICE)]).await;
    let mut query = ChangeQuery::default();
    let all = client.changes(&query).await.unwrap();
    assert!(!all.has_more && all.changes.len() > 2);
    query.limit = Some(2);
    let mut found: Vec<Change> = Vec::new();
    loop {
        let page = client.changes(&query).await.unwrap();
        found.extend(page.changes);
        if !page.has_more {
            break;
        }
        query.after = Some(page.next);
    }
    assert_eq!(found, all.changes);

    let position = all.changes[0].position.clone();
    let mut query = ChangeQuery::default();
    query.after = Some(position.clone());
    query.before = Some(all.next.clone());
    query.since = Some(Moment::Position(position));
    query.until = Some(Moment::Time(at(0)));
    query.entity = Some(ChangedEntity::Host);
    query.id = Some(HOST.uuid());
    query.network_id = Some(OFFICE);
    query.actor = Some(ActorFilter::System);
    query.action = Some(ChangeAction::Created);
    query.order_direction = OrderDirection::Descending;
    let page = client.changes(&query).await.unwrap();
    assert_eq!(page.changes.iter().map(|change| change.id).collect::<Vec<_>>(), [HOST.uuid()]);

    let history = client.history::<Host>(HOST, &ChangeQuery::default()).await.unwrap();
    assert_eq!(history.changes, page.changes);
    let unknown = client.history::<Tag>(NOBODY.into(), &ChangeQuery::default()).await.unwrap_err();
    assert_eq!(unknown.code(), Some(ErrorCode::EntityNotFound));
    query.after = Some(ChangePosition::new(""));
    assert_eq!(client.changes(&query).await.unwrap_err().kind(), ClientErrorKind::Request);
}

#[tokio::test]
async fn client_reads_a_host_as_it_was() {
    let (fixture, client) = owner().await;
    fixture.put([host(1, OFFICE)]).await;
    let position = client.changes(&ChangeQuery::default()).await.unwrap().next;
    fixture.put([Host { name: "renamed".to_owned(), ..host(1, OFFICE) }]).await;
    let before = client.host_at(HOST, &position.into()).await.unwrap();
    assert_ne!(before.name, "renamed");
    assert_eq!(client.host_at(HOST, &at(0).into()).await.unwrap().name, "renamed");
    let unknown = client.host_at(HostId::new(NOBODY), &at(0).into()).await.unwrap_err();
    assert_eq!(unknown.code(), Some(ErrorCode::EntityNotFound));
}

#[tokio::test]
async fn follower_gets_each_entry_once_also_across_restarts() {
    let (fixture, client) = owner().await;
    let mut newest = ChangeQuery::default();
    newest.limit = Some(0);
    let start = client.changes(&newest).await.unwrap().next;
    let mut follower = client.follow(Some(start));
    for number in 0..5 {
        let name = format!("tag {number}");
        fixture.inventory.tags().create(&fixture.system(), Tag::new(&name)).await.unwrap();
        let change = follower.next().await.unwrap();
        assert_eq!(change.name, name);
        assert_eq!(follower.position(), Some(&change.position));
        follower = client.follow(follower.position().cloned());
    }
    let mut gone = client.follow(Some(ChangePosition::new("x")));
    assert_eq!(gone.next().await.unwrap_err().code(), Some(ErrorCode::ValidationInvalidFormat));
}

/// Returns an event of an entry with this name and position.
fn event(name: &str, position: &str) -> String {
    let change = json!({
        "position": position, "at": "2026-08-14T12:00:00Z", "actor": {"type": "System"}, "action": "created",
        "entity": "Tag", "id": NOBODY, "network_id": null, "name": name, "fields": {},
    });
    format!("id: {position}\nevent: change\ndata: {change}\n\n")
}

#[tokio::test]
async fn follower_connects_again_behind_the_last_event() {
    let resumed = Arc::new(Mutex::new(Vec::new()));
    let (asked, count) = (resumed.clone(), Arc::new(AtomicUsize::new(0)));
    let client = answered_by(move |request: Request<RequestBody>| {
        let header = request.headers().get("last-event-id").map(|value| value.to_str().unwrap().to_owned());
        asked.lock().unwrap().push(header);
        let body = match count.fetch_add(1, Ordering::Relaxed) {
            0 => format!("retry: 2000\n\n{}:\n\n{}id: p3\nevent: cha", event("a", "p1"), event("b", "p2")),
            1 => "{}".to_owned(),
            _ => format!("retry: 2000\n\nevent: other\ndata: 1\n\n{}", event("c", "p3")),
        };
        let is_failure = body == "{}";
        let mut response = Response::new(Full::from(body));
        let kind = if is_failure { "application/json" } else { "text/event-stream" };
        response.headers_mut().insert("content-type", kind.parse().unwrap());
        if is_failure {
            *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        }
        response
    });
    let mut follower = client.follow(None);
    assert_eq!(follower.next().await.unwrap().name, "a");
    assert_eq!(follower.next().await.unwrap().name, "b");
    assert_eq!(follower.next().await.unwrap_err().status(), Some(StatusCode::SERVICE_UNAVAILABLE));
    assert_eq!(follower.next().await.unwrap().name, "c");
    let last = Some("p2".to_owned());
    assert_eq!(*resumed.lock().unwrap(), [None, last.clone(), last]);
}
