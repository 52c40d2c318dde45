//! Lists without a limit, which are sent while they are read.

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::{Method, Request, Response};
use http_body::Body;
use serde_json::{Value, json};
use toposcope::inventory::Inventory;
use toposcope::model::{Host, Permission};
use toposcope::service::{Api, BodyError, ResponseBody};
use tower::ServiceExt;

use crate::common::{LAB, OFFICE, Server, Switched, World, ample, get, host, key_for, with_key};

const WHOLE: &str = "/api/v1/hosts?limit=0";

fn named(id: u128, name: &str) -> Host {
    Host { name: name.to_owned(), ..host(id, OFFICE) }
}

async fn world_of(count: u128) -> World {
    World::with((1..=count).map(|id| named(id, &format!("host{id:05}")))).await
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

    /// Reads to the end; returns the numbers of the hosts and the `meta` of the list.
    pub(crate) async fn finish(mut self) -> (Vec<u128>, Value) {
        while self.read_on().await.unwrap() {}
        let reply: Value = serde_json::from_slice(&self.read).unwrap();
        let ids = reply["data"].as_array().unwrap().iter();
        let ids = ids.map(|host| host["id"].as_str().unwrap().parse::<uuid::Uuid>().unwrap().as_u128());
        (ids.collect(), reply["meta"]["pagination"].clone())
    }
}

fn api(world: &World) -> Api {
    Api::builder(world.inventory.clone()).rate_limit(None).build()
}

fn asking(world: &World, target: &str) -> Request<String> {
    with_key(get(target), &world.key)
}

#[tokio::test]
async fn the_whole_list_is_its_pages_one_after_the_other() {
    let world = world_of(700).await;
    for order in ["", "&order_by=name&order_direction=desc", "&group_by=network_id&order_by=hostname"] {
        for offset in [0, 1, 300, 699, 700, 701] {
            let whole = world.list(&format!("limit=0&offset={offset}{order}")).await;
            let page = world.list(&format!("limit=1000&offset={offset}{order}")).await;
            assert_eq!(whole.json["data"], page.json["data"], "{offset} {order}");
            let expected = json!({"total_count": 700, "limit": 0, "offset": offset, "has_more": false});
            assert_eq!(whole.json["meta"]["pagination"], expected);
        }
    }
}

#[tokio::test]
async fn filters_apply_to_every_part_of_the_whole_list() {
    let world = world_of(300).await;
    world.put((301..=600).map(|id| Host { tags: vec![world.home.tags[0]], ..host(id, LAB) })).await;
    assert_eq!(world.ids(&format!("limit=0&network_id={LAB}")).await.len(), 300);
    assert_eq!(world.ids(&format!("limit=0&tag_ids={}", world.home.tags[0])).await.len(), 300);
    let ids: Vec<String> = (100..=500).map(|id| uuid::Uuid::from_u128(id).to_string()).collect();
    assert_eq!(world.ids(&format!("limit=0&ids={}", ids.join(","))).await.len(), 401);
}

/// A response to HEAD has no length if the length of the list is unknown.
#[tokio::test]
async fn head_tells_no_length_of_a_list_that_is_sent_while_it_is_read() {
    let world = world_of(300).await;
    let mut request = asking(&world, WHOLE);
    *request.method_mut() = Method::HEAD;
    let reply = world.server.send(request).await;
    assert_eq!((reply.status.as_u16(), reply.headers.get("content-length")), (200, None));
}

#[tokio::test]
async fn no_more_is_read_from_the_store_than_is_taken() {
    let world = world_of(1_000).await;
    let store = Switched::new(world.store.clone());
    let inventory = Inventory::new(store.clone()).with_clock(Arc::new(world.clock.clone()));
    let api = Api::builder(inventory).rate_limit(None).build();
    let mut reading = Reading::begin(api, asking(&world, WHOLE)).await;
    assert_eq!(store.lists(), 1);
    reading.read_on().await.unwrap();
    assert_eq!(store.lists(), 1);
    while store.lists() == 1 {
        assert!(reading.read_on().await.unwrap());
    }
    assert_eq!(store.lists(), 2);
    drop(reading);
    assert_eq!(store.lists(), 2);
}

/// A slow reader blocks no other request, and receives each host as it is when it is read.
#[tokio::test]
async fn hosts_that_move_or_come_while_the_list_is_read_are_in_it_once_at_most() {
    let world = world_of(500).await;
    let mut reading =
        Reading::begin(api(&world), asking(&world, "/api/v1/hosts?limit=0&order_by=name")).await;
    reading.read_on().await.unwrap();
    // A host already sent moves to the end, one not yet sent moves to the beginning, one is added, one is
    // deleted.
    world.put([named(1, "host99999"), named(400, "host00000"), named(501, "host00450a")]).await;
    world.inventory.delete_host(world.home.organization.id, uuid::Uuid::from_u128(450)).await.unwrap();
    let (ids, pagination) = reading.finish().await;
    let once: BTreeSet<u128> = ids.iter().copied().collect();
    assert_eq!(once.len(), ids.len(), "a host is in it twice");
    let expected: BTreeSet<u128> = (1..=501).filter(|id| ![400, 450].contains(id)).collect();
    assert_eq!(once, expected);
    assert_eq!(pagination["total_count"], ids.len());
}

#[tokio::test]
async fn whoever_loses_a_right_while_the_list_is_read_reads_no_further() {
    let world = world_of(500).await;
    let user = world.user(&world.home, Permission::Viewer, &[OFFICE]).await;
    let key = world.issue(key_for(&user, Permission::Viewer, &[OFFICE])).await;
    let mut reading = Reading::begin(api(&world), with_key(get(WHOLE), &key)).await;
    reading.read_on().await.unwrap();
    world.inventory.disable_user(user.id).await.unwrap();
    let error = loop {
        match reading.read_on().await {
            Ok(there_is_more) => assert!(there_is_more, "the list ends as if it were whole"),
            Err(error) => break error,
        }
    };
    assert_eq!(error.to_string(), "the list cannot be read to its end");
    assert!(!reading.read_on().await.unwrap(), "nothing follows an error");
    assert!(!String::from_utf8_lossy(&reading.read).contains("\"meta\""));
}

#[tokio::test]
async fn a_store_that_fails_or_panics_while_the_list_is_read_breaks_it_off() {
    let world = world_of(500).await;
    breaks_off(&world, |store| &store.fails, (503, "store_unavailable")).await;
    breaks_off(&world, |store| &store.panics, (500, "internal_error")).await;
}

async fn breaks_off(world: &World, switch: fn(&Switched) -> &AtomicBool, (status, code): (u16, &str)) {
    let store = Switched::new(world.store.clone());
    let inventory = Inventory::new(store.clone()).with_clock(Arc::new(world.clock.clone()));
    let server = Server::new(inventory.clone(), ample());
    let mut reading = Reading::begin(Api::builder(inventory).build(), asking(world, WHOLE)).await;
    switch(&store).store(true, Ordering::SeqCst);
    server.send(asking(world, WHOLE)).await.refuses(status, code);
    while reading.read_on().await.is_ok_and(|there_is_more| {
        assert!(there_is_more, "the list ends as if it were whole");
        true
    }) {}
    assert!(!reading.read_on().await.unwrap(), "nothing follows an error");
}

#[tokio::test]
async fn a_list_that_is_longer_than_is_allowed_without_a_limit_is_refused() {
    let world = world_of(300).await;
    let server = |most| Server::built(Api::builder(world.inventory.clone()).whole_list_limit(most), ample());
    let strict = server(299);
    let refused = strict.send(asking(&world, WHOLE)).await;
    assert_eq!(
        refused.refuses(400, "validation_out_of_range"),
        &json!({"field": "limit", "min": 1, "max": 1000})
    );
    assert!(refused.json["error"].as_str().unwrap().contains("299"));
    assert_eq!(strict.send(asking(&world, "/api/v1/hosts?limit=0&offset=1")).await.ids().len(), 299);
    assert_eq!(strict.send(asking(&world, "/api/v1/hosts?limit=1000")).await.ids().len(), 300);
    assert_eq!(server(300).send(asking(&world, WHOLE)).await.ids().len(), 300);
}
