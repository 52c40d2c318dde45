//! Lists without a limit, which are sent while they are read.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::pin::Pin;
use toposcope::access::Caller;

use http::{Method, Request, Response};
use http_body::Body;
use serde_json::{Value, json};
use toposcope::model::{Host, HostId, IfEntry, Permission};
use toposcope::service::{Api, BodyError, ResponseBody};
use toposcope::store::StoreError;
use tower::ServiceExt;

use crate::backend::run;
use crate::common::{Fault, Fixture, Hook, LAB, OFFICE, Server, ample, get, host, key_for, with_key};

const WHOLE: &str = "/api/v1/hosts?limit=0";

fn named(id: u128, name: &str) -> Host {
    Host { name: name.to_owned(), ..host(id, OFFICE) }
}

async fn fixture_of(count: u128) -> Fixture {
    Fixture::with((1..=count).map(|id| named(id, &format!("host{id:05}")))).await
}

/// A list that is read frame by frame.
pub(crate) struct Reading {
    pub(crate) body: ResponseBody,
    pub(crate) read: Vec<u8>,
}

impl Reading {
    pub(crate) async fn begin(api: Api, request: Request<String>) -> Self {
        let response: Response<ResponseBody> = api.oneshot(request).await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.body().size_hint().exact(), None, "the end of the list is not known yet");
        Self { body: response.into_body(), read: Vec::new() }
    }

    /// Reads a frame; returns false at the end.
    pub(crate) async fn read_on(&mut self) -> Result<bool, BodyError> {
        let Some(frame) = poll_fn(|context| Pin::new(&mut self.body).poll_frame(context)).await else {
            return Ok(false);
        };
        self.read.extend_from_slice(&frame?.into_data().unwrap());
        Ok(true)
    }

    /// Reads to the end. Returns the numbers of the hosts and the pagination in `meta`.
    pub(crate) async fn finish(mut self) -> (Vec<u128>, Value) {
        while self.read_on().await.unwrap() {}
        let reply: Value = serde_json::from_slice(&self.read).unwrap();
        let ids = reply["data"].as_array().unwrap().iter();
        let ids = ids.map(|host| host["id"].as_str().unwrap().parse::<uuid::Uuid>().unwrap().as_u128());
        (ids.collect(), reply["meta"]["pagination"].clone())
    }
}

fn api(fixture: &Fixture) -> Api {
    Api::builder(fixture.inventory.clone()).rate_limit(None).build()
}

fn asking(fixture: &Fixture, target: &str) -> Request<String> {
    with_key(get(target), &fixture.key)
}

#[test]
fn whole_list_equals_its_pages() {
    run(async || {
        let fixture = fixture_of(700).await;
        for order in ["", "&order_by=name&order_direction=desc", "&group_by=network_id&order_by=hostname"] {
            for offset in [0, 1, 300, 699, 700, 701] {
                let whole = fixture.list(&format!("limit=0&offset={offset}{order}")).await;
                let page = fixture.list(&format!("limit=1000&offset={offset}{order}")).await;
                assert_eq!(whole.json["data"], page.json["data"], "{offset} {order}");
                let expected = json!({"total_count": 700, "limit": 0, "offset": offset, "has_more": false});
                assert_eq!(whole.json["meta"]["pagination"], expected);
            }
        }
    });
}

#[test]
fn filters_apply_to_the_whole_list() {
    run(async || {
        let fixture = fixture_of(300).await;
        fixture.put((301..=600).map(|id| Host { tags: vec![fixture.home.tags[0]], ..host(id, LAB) })).await;
        assert_eq!(fixture.ids(&format!("limit=0&network_id={LAB}")).await.len(), 300);
        assert_eq!(fixture.ids(&format!("limit=0&tag_ids={}", fixture.home.tags[0])).await.len(), 300);
        let ids: Vec<String> = (100..=500).map(|id| uuid::Uuid::from_u128(id).to_string()).collect();
        assert_eq!(fixture.ids(&format!("limit=0&ids={}", ids.join(","))).await.len(), 401);
    });
}

/// A response to HEAD has no length if the length of the list is unknown.
#[test]
fn head_of_a_streamed_list_has_no_length() {
    run(async || {
        let fixture = fixture_of(300).await;
        let mut request = asking(&fixture, WHOLE);
        *request.method_mut() = Method::HEAD;
        let reply = fixture.send(request).await;
        assert_eq!((reply.status.as_u16(), reply.headers.get("content-length")), (200, None));
    });
}

#[test]
fn store_is_read_only_as_far_as_the_client_reads() {
    run(async || {
        let fixture = fixture_of(1_000).await;
        let store = Hook::new();
        let inventory = fixture.inventory_with(&store);
        let api = Api::builder(inventory).rate_limit(None).build();
        let mut reading = Reading::begin(api, asking(&fixture, WHOLE)).await;
        assert_eq!(store.lists(), 1);
        reading.read_on().await.unwrap();
        assert_eq!(store.lists(), 1);
        while store.lists() == 1 {
            assert!(reading.read_on().await.unwrap());
        }
        assert_eq!(store.lists(), 2);
        drop(reading);
        assert_eq!(store.lists(), 2);
    });
}

/// A slow reader blocks no other request. It receives each host in the state in which it is read.
#[test]
fn hosts_changed_while_the_list_is_read_appear_at_most_once() {
    run(async || {
        let fixture = fixture_of(500).await;
        let mut reading =
            Reading::begin(api(&fixture), asking(&fixture, "/api/v1/hosts?limit=0&order_by=name")).await;
        reading.read_on().await.unwrap();
        // A host already sent moves to the end, one not yet sent moves to the beginning, one is added, one is
        // deleted.
        fixture.put([named(1, "host99999"), named(400, "host00000"), named(501, "host00450a")]).await;
        fixture.inventory.hosts().delete(&fixture.system(), HostId::from_u128(450)).await.unwrap();
        let (ids, pagination) = reading.finish().await;
        let once: BTreeSet<u128> = ids.iter().copied().collect();
        assert_eq!(once.len(), ids.len(), "a host is in it twice");
        let expected: BTreeSet<u128> = (1..=501).filter(|id| ![400, 450].contains(id)).collect();
        assert_eq!(once, expected);
        assert_eq!(pagination["total_count"], ids.len());
    });
}

#[test]
fn list_is_aborted_when_its_reader_loses_access() {
    run(async || {
        let fixture = fixture_of(500).await;
        let user = fixture.user(&fixture.home, Permission::Viewer, &[OFFICE]).await;
        let key = fixture.issue(key_for(&user, Permission::Viewer, &[OFFICE])).await;
        let mut reading = Reading::begin(api(&fixture), with_key(get(WHOLE), &key)).await;
        reading.read_on().await.unwrap();
        fixture.inventory.users().disable(&Caller::system(user.organization_id), user.id).await.unwrap();
        let error = loop {
            match reading.read_on().await {
                Ok(there_is_more) => assert!(there_is_more, "the list ends as if it were whole"),
                Err(error) => break error,
            }
        };
        assert_eq!(error.to_string(), "the list cannot be read to its end");
        assert!(!reading.read_on().await.unwrap(), "nothing follows an error");
        assert!(!String::from_utf8_lossy(&reading.read).contains("\"meta\""));
    });
}

#[test]
fn list_is_aborted_when_the_store_fails_or_panics() {
    run(async || {
        let fixture = fixture_of(500).await;
        breaks_off(&fixture, || StoreError::unavailable("down"), (503, "store_unavailable")).await;
        breaks_off(&fixture, || panic!("down"), (500, "internal_error")).await;
    });
}

async fn breaks_off(fixture: &Fixture, error: fn() -> StoreError, (status, code): (u16, &str)) {
    let store = Hook::new();
    let inventory = fixture.inventory_with(&store);
    let server = Server::new(inventory.clone(), ample());
    let mut reading = Reading::begin(Api::builder(inventory).build(), asking(fixture, WHOLE)).await;
    store.set_fault(Fault::List(error));
    server.send(asking(fixture, WHOLE)).await.refuses(status, code);
    while reading.read_on().await.is_ok_and(|there_is_more| {
        assert!(there_is_more, "the list ends as if it were whole");
        true
    }) {}
    assert!(!reading.read_on().await.unwrap(), "nothing follows an error");
}

#[test]
fn list_longer_than_the_limit_of_whole_lists_is_refused() {
    run(async || {
        let fixture = fixture_of(300).await;
        let server = |most| fixture.configured(|builder| builder.whole_list_limit(most));
        let strict = server(299);
        let refused = strict.send(asking(&fixture, WHOLE)).await;
        assert_eq!(
            refused.refuses(400, "validation_out_of_range"),
            &json!({"field": "limit", "min": 1, "max": 1000})
        );
        assert!(refused.json["error"].as_str().unwrap().contains("299"));
        assert_eq!(strict.send(asking(&fixture, "/api/v1/hosts?limit=0&offset=1")).await.ids().len(), 299);
        assert_eq!(strict.send(asking(&fixture, "/api/v1/hosts?limit=1000")).await.ids().len(), 300);
        assert_eq!(server(300).send(asking(&fixture, WHOLE)).await.ids().len(), 300);
    });
}

#[test]
fn limit_zero_lists_more_than_the_greatest_limit() {
    run(async || {
        let fixture = fixture_of(1003).await;
        let reply = fixture.list("limit=0").await;
        assert_eq!(reply.ids().len(), 1003);
        let expected = json!({"total_count": 1003, "limit": 0, "offset": 0, "has_more": false});
        assert_eq!(reply.json["meta"]["pagination"], expected);
        assert_eq!(fixture.list("limit=0&offset=1000").await.ids().len(), 3);
        let full = fixture.list("limit=1000").await;
        assert_eq!(full.ids().len(), 1000);
        assert_eq!(full.json["meta"]["pagination"]["has_more"], true);
    });
}

/// Pages of short parts grow, and must shrink again where the parts are long.
#[test]
fn whole_list_of_parts_is_complete_where_long_ones_follow_short_ones() {
    run(async || {
        let entry = |host: &Host, number: i64, length: usize| IfEntry {
            if_descr: "d".repeat(length),
            ..IfEntry::new(host, number)
        };
        let hosts = (1..=60).map(|id| {
            let mut host = named(id, &format!("host{id:05}"));
            host.if_entries = (1..=8).map(|number| entry(&host, number, 1)).collect();
            host.if_entries.push(entry(&host, 9, 60_000));
            host
        });
        let fixture = Fixture::with(hosts).await;
        let path = "/api/v1/if-entries?limit=0&order_by=if_index";
        let list = fixture.send(with_key(get(path), &fixture.key)).await;
        let numbers: Vec<i64> =
            list.data().as_array().unwrap().iter().map(|entry| entry["if_index"].as_i64().unwrap()).collect();
        let expected: Vec<i64> = (1..=9).flat_map(|number| [number; 60]).collect();
        assert_eq!(numbers, expected);
    });
}
