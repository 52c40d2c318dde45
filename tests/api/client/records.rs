//! Lists of any length.

use std::collections::HashSet;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_core::Stream;
use serde_json::json;
use toposcope::client::{Client, ClientError, ClientErrorKind, HttpService, Records};
use toposcope::inventory::{ListOrderField, ListQuery};
use toposcope::model::{Network, OrderDirection, Tag};
use toposcope::wire::ErrorCode;

use super::{answered_by, client_of, create_tags, owner, success};
use crate::common::{Server, ample};

async fn rest_of<S: HttpService>(mut records: Records<S, Tag>) -> Vec<Result<String, ClientError>> {
    let mut all = Vec::new();
    while let Some(record) = poll_fn(|context| Pin::new(&mut records).poll_next(context)).await {
        all.push(record.map(|tag| tag.name));
    }
    all
}

fn query(limit: Option<usize>) -> ListQuery {
    let mut query = ListQuery::default();
    query.limit = limit;
    query
}

#[tokio::test]
async fn records_of_all_pages_come_in_order() {
    let (fixture, client) = owner().await;
    client.delete_many::<Tag>(&fixture.home.tags).await.unwrap();
    let names = create_tags(&fixture, 300).await;
    for limit in [None, Some(1), Some(7), Some(299), Some(300), Some(1_000)] {
        let found = rest_of(client.records::<Tag>(query(limit))).await;
        assert_eq!(found.into_iter().collect::<Result<Vec<_>, _>>().unwrap(), names, "{limit:?}");
    }
    let mut ended = client.records::<Tag>(query(Some(1_000)));
    while ended.next().await.is_some() {}
    assert!(ended.next().await.is_none() && ended.rest().is_none());
}

#[tokio::test]
async fn records_that_stay_occur_once_while_others_come_and_go() {
    let (fixture, client) = owner().await;
    let names = create_tags(&fixture, 300).await;
    let all = client.list::<Tag>(&ListQuery::default()).await.unwrap().records;
    let mut found = Vec::new();
    let mut records = client.records::<Tag>(query(Some(10)));
    while let Some(record) = records.next().await {
        found.push(record.unwrap().name);
        // Every third tag is deleted, before or after the place that the list has reached, and others are added.
        let step = found.len();
        if let Some(tag) = all.get((step * 7) % 300 / 3 * 3) {
            let _ = client.delete::<Tag>(tag.id, None).await;
        }
        if step % 10 == 0 && step < 200 {
            client.create(&Tag::new(format!("added {step}"))).await.unwrap();
        }
    }
    let distinct: HashSet<&String> = found.iter().collect();
    assert_eq!(distinct.len(), found.len(), "no record is repeated");
    let deletable: HashSet<&str> = all[..300].iter().step_by(3).map(|tag| tag.name.as_str()).collect();
    for name in names.iter().filter(|name| !deletable.contains(name.as_str())) {
        assert!(distinct.contains(name), "{name} is missing");
    }
}

#[tokio::test]
async fn refused_page_ends_the_list_and_the_rest_can_be_read_later() {
    let (fixture, _) = owner().await;
    create_tags(&fixture, 4).await;
    let client = client_of(&fixture.limited(60, 2), &fixture.key);
    let mut records = client.records::<Tag>(query(Some(3)));
    for _ in 0..6 {
        records.next().await.unwrap().unwrap();
    }
    let error = records.next().await.unwrap().unwrap_err();
    assert_eq!(error.code(), Some(ErrorCode::RateLimitExceeded));
    assert!(records.next().await.is_none());
    fixture.clock.advance(error.retry_after().unwrap());
    let rest = rest_of(client.records::<Tag>(records.rest().unwrap())).await;
    assert_eq!(rest.into_iter().collect::<Result<Vec<_>, _>>().unwrap(), ["numbered 003"]);
}

#[tokio::test]
async fn list_by_offset_is_refused() {
    let (_, client) = owner().await;
    let mut offset = query(None);
    offset.offset = 1;
    let found = rest_of(client.records::<Tag>(offset)).await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].as_ref().unwrap_err().kind(), ClientErrorKind::Request);
}

fn tag(name: &str) -> serde_json::Value {
    let time = "2026-08-14T12:00:00Z";
    json!({"id": "133e671d-8ee1-51bd-903c-32657d3d8ef1", "organization_id": "133e671d-8ee1-51bd-903c-32657d3d8ef1",
        "name": name, "description": null, "color": null, "created_at": time, "updated_at": time, "new field": []})
}

fn page_of(client: &Client<impl HttpService>) -> Records<impl HttpService, Tag> {
    client.records::<Tag>(query(None))
}

#[tokio::test]
async fn record_of_a_newer_server_that_cannot_be_decoded_does_not_end_the_list() {
    let requests = Arc::new(AtomicUsize::new(0));
    let sent = Arc::clone(&requests);
    let client = answered_by(move |_| {
        let mut odd = tag("odd");
        odd["color"] = "transparent".into();
        let next = if sent.fetch_add(1, Ordering::Relaxed) == 0 { json!("AA") } else { json!(null) };
        let pagination = json!({"total_count": 4, "limit": 2, "offset": 0, "has_more": !next.is_null(), "next_cursor": next});
        success(&json!([odd, tag("even")]), Some(pagination))
    });
    let whole = client.list::<Tag>(&query(None)).await.unwrap_err();
    assert_eq!(whole.kind(), ClientErrorKind::UnexpectedResponse);
    assert!(std::error::Error::source(&whole).unwrap().to_string().contains("color"));
    requests.store(0, Ordering::Relaxed);
    let found = rest_of(page_of(&client)).await;
    let names: Vec<Option<&str>> = found.iter().map(|record| record.as_deref().ok()).collect();
    assert_eq!(names, [None, Some("even"), None, Some("even")]);
}

#[tokio::test]
async fn list_without_cursors_is_not_mistaken_for_a_whole_list() {
    for pagination in [None, Some(json!({"total_count": 4, "limit": 2, "offset": 0, "has_more": true}))] {
        let client = answered_by(move |_| success(&json!([tag("one")]), pagination.clone()));
        let found = rest_of(page_of(&client)).await;
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].as_ref().unwrap_err().kind(), ClientErrorKind::UnexpectedResponse);
    }
}

#[tokio::test]
async fn networks_are_filtered_and_ordered_by_custom_fields() {
    let (fixture, _) = owner().await;
    let inventory = fixture.inventory.clone().with_custom_index(["site"]);
    inventory.upgrade().await.unwrap();
    let key = fixture.key_for_all_networks().await;
    let client = client_of(&Server::new(inventory, ample()), &key);
    for (name, site) in [("a", "A & B"), ("b", "C"), ("c", "A & B")] {
        let mut network = Network::new(name);
        network.custom.insert("site".to_owned(), site.into());
        client.create(&network).await.unwrap();
    }
    let names = async |query: &ListQuery| {
        let page = client.list::<Network>(query).await.unwrap();
        page.records.into_iter().map(|network| network.name).collect::<Vec<_>>()
    };
    let mut query = ListQuery::default();
    query.custom.insert("site".to_owned(), "A & B".to_owned());
    query.order_by = ListOrderField::Name;
    assert_eq!(names(&query).await, ["a", "c"]);
    query = ListQuery::default();
    query.limit = Some(1);
    query.order_by_custom = Some("site".to_owned());
    query.order_direction = OrderDirection::Descending;
    assert_eq!(names(&query).await, ["b"]);
    query.custom.insert("site".to_owned(), String::new());
    let refused = client.list::<Network>(&query).await.unwrap_err();
    assert_eq!(refused.kind(), ClientErrorKind::Request);
}
