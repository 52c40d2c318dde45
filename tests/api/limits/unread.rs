//! Responses that their clients do not read.

use std::pin::Pin;
use std::time::Duration;

use http::{Request, Response};
use http_body::Body;
use serde_json::json;
use tokio::task::yield_now;
use tokio::time::{advance, pause};
use toposcope::access::{Caller, Scope};
use toposcope::model::{Host, Permission};
use toposcope::service::{Api, ApiBuilder, ResponseBody};
use tower::ServiceExt;
use uuid::Uuid;

use crate::backend::run;
use crate::common::{Fixture, LAB, OFFICE, get, host, of_length, send_json, with_caller, with_key};
use crate::lists::whole_list::Reading;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

fn api(fixture: &Fixture, configure: impl FnOnce(ApiBuilder) -> ApiBuilder) -> Api {
    configure(Api::builder(fixture.inventory.clone())).rate_limit(None).build()
}

async fn send(api: &Api, request: Request<String>) -> Response<ResponseBody> {
    api.clone().oneshot(request).await.unwrap()
}

/// Returns a request of a user of the home organization.
fn of_user(fixture: &Fixture, user: u128, target: &str) -> Request<String> {
    let organization = fixture.home.organization.id;
    let caller = Caller::new(organization, Uuid::from_u128(user), Permission::Viewer, Scope::all());
    with_caller(get(target), caller)
}

fn assert_refused(response: &Response<ResponseBody>) {
    assert_eq!(response.status(), 429);
    assert_eq!(response.headers()["retry-after"], "1");
}

#[test]
fn page_above_one_part_equals_its_hosts() {
    run(async || {
        let hosts: Vec<Host> = (1..=40).map(|id| of_length(id, 200 * KIB)).collect();
        let fixture = Fixture::with(hosts).await;
        for (offset, limit) in [(0, 1_000), (0, 40), (3, 20), (30, 10), (35, 20)] {
            let target = format!("/api/v1/hosts?order_by=name&limit={limit}&offset={offset}");
            let reading = Reading {
                body: send(&api(&fixture, |api| api), with_key(get(&target), &fixture.key)).await.into_body(),
                read: Vec::new(),
            };
            let (ids, pagination) = reading.finish().await;
            let end = (offset + limit).min(40);
            assert_eq!(ids, (offset + 1..=end).collect::<Vec<u128>>());
            let expected = json!({"total_count": 40, "limit": limit, "offset": offset, "has_more": end < 40});
            assert_eq!(pagination, expected);
        }
        let by_cursor = fixture.list("limit=20&cursor=").await;
        let next = by_cursor.json["meta"]["pagination"]["next_cursor"].as_str().unwrap().to_owned();
        assert_eq!(fixture.ids(&format!("limit=20&cursor={next}")).await.len(), 20);
    });
}

/// A host that the caller may no longer see must not be sent, although the page began with it.
#[tokio::test]
async fn host_that_leaves_the_scope_while_its_page_is_sent_is_left_out() {
    let fixture = Fixture::with((1..=20).map(|id| of_length(id, 200 * KIB))).await;
    let key = fixture.key(Permission::Member, &[OFFICE]).await;
    let api = api(&fixture, |api| api);
    let reading = Reading::begin(api, with_key(get("/api/v1/hosts?limit=20"), &key)).await;
    fixture.put([host(19, LAB)]).await;
    let (ids, pagination) = reading.finish().await;
    assert_eq!(ids, (1..=20).filter(|id| *id != 19).collect::<Vec<u128>>());
    assert_eq!(pagination["total_count"], 20);
}

#[tokio::test]
async fn unread_responses_of_a_user_are_limited_and_those_of_others_are_not() {
    let fixture = Fixture::with([of_length(1, 100 * KIB), of_length(2, 10 * KIB)]).await;
    let api = api(&fixture, |api| api.unread_responses(250 * KIB, 10 * MIB));
    let [large, small] = [1, 2].map(|id| format!("/api/v1/hosts/{}", Uuid::from_u128(id)));
    let held =
        [send(&api, of_user(&fixture, 1, &large)).await, send(&api, of_user(&fixture, 1, &large)).await];
    assert_refused(&send(&api, of_user(&fixture, 1, &large)).await);
    assert_eq!(send(&api, of_user(&fixture, 1, &small)).await.status(), 200, "small responses do not count");
    assert_eq!(send(&api, of_user(&fixture, 2, &large)).await.status(), 200);
    drop(held);
    assert_eq!(send(&api, of_user(&fixture, 1, &large)).await.status(), 200);
}

#[tokio::test]
async fn write_of_a_user_with_too_many_unread_responses_is_refused_before_it_takes_effect() {
    let fixture = Fixture::with([of_length(1, 100 * KIB)]).await;
    let api = api(&fixture, |api| api.unread_responses(50 * KIB, 10 * MIB));
    let caller = fixture.owner(&fixture.home);
    let large = get(&format!("/api/v1/hosts/{}", Uuid::from_u128(1)));
    let held = send(&api, with_caller(large, caller.clone())).await;
    assert_eq!(held.status(), 200, "one response may have any size");
    let create = || send_json("POST", "/api/v1/tags", &json!({"name": "new", "color": "#00ff7f"}));
    assert_refused(&send(&api, with_caller(create(), caller.clone())).await);
    drop(held);
    let response = send(&api, with_caller(create(), caller)).await;
    assert!(response.status().is_success(), "{}", response.status());
}

#[tokio::test]
async fn organization_gets_three_quarters_of_the_bytes() {
    let fixture = Fixture::with([of_length(1, 100 * KIB)]).await;
    let api = api(&fixture, |api| api.unread_responses(10 * MIB, 1_000 * KIB));
    let large = format!("/api/v1/hosts/{}", Uuid::from_u128(1));
    let mut held = Vec::new();
    for user in 1..=7 {
        held.push(send(&api, of_user(&fixture, user, &large)).await);
        assert_eq!(held.last().unwrap().status(), 200, "{user}");
    }
    assert_refused(&send(&api, of_user(&fixture, 8, &large)).await);
}

#[tokio::test]
async fn long_response_in_memory_is_aborted_when_its_client_stalls() {
    let fixture = Fixture::with([of_length(1, 2 * MIB)]).await;
    pause();
    let api = api(&fixture, |api| api.unread_responses(MIB, 10 * MIB).stall_timeout(Duration::from_secs(10)));
    let large = format!("/api/v1/hosts/{}", Uuid::from_u128(1));
    let mut held = send(&api, of_user(&fixture, 1, &large)).await.into_body();
    assert!(held.size_hint().exact().is_some_and(|length| length > 2 << 20), "its length is known");
    assert_refused(&send(&api, of_user(&fixture, 1, &large)).await);
    advance(Duration::from_millis(10_001)).await;
    for _ in 0..10 {
        yield_now().await;
    }
    let frame = std::future::poll_fn(|context| Pin::new(&mut held).poll_frame(context)).await;
    assert!(frame.is_some_and(|frame| frame.is_err()));
    assert_eq!(send(&api, of_user(&fixture, 1, &large)).await.status(), 200, "its bytes are free");
}

#[cfg(all(feature = "sled", target_os = "linux"))]
mod alone {
    //! Memory of unread pages, measured in a process that does nothing else.

    use std::env;
    use std::process::Command;
    use std::sync::Arc;

    use toposcope::Inventory;
    use toposcope::store::SledStore;

    use super::*;
    use crate::place::Place;

    /// Set in the process that measures.
    const ALONE: &str = "TOPOSCOPE_UNREAD_ALONE";

    /// Memory that unread pages may take, also what the allocator keeps.
    const MAX_MORE: usize = 256 * MIB;

    #[test]
    fn memory_of_a_thousand_unread_pages_is_bounded() {
        if env::var_os(ALONE).is_some() {
            return;
        }
        let output = Command::new(env::current_exe().unwrap())
            .args(["unread::alone::measure", "--test-threads=1", "--nocapture", "--ignored"])
            .env(ALONE, "1")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        assert!(text.contains("1 passed"), "{text}");
    }

    #[tokio::test]
    #[ignore = "runs in a process of its own"]
    async fn measure() {
        let place = Place::new();
        let store = Arc::new(SledStore::open(place.path()).await.unwrap());
        let inventory = Inventory::new(Arc::clone(&store));
        let organization = inventory.create_organization("Home").await.unwrap().id;
        inventory.create_network_with_id(organization, OFFICE, "Office").await.unwrap();
        for id in 1..=60 {
            inventory.put_host(organization, of_length(id, 500 * KIB)).await.unwrap();
        }
        store.close().await.unwrap();
        // From now on, bodies are read from disk.
        let store = SledStore::builder(place.path()).cache_size(0).open().await.unwrap();
        let api = Api::builder(Inventory::new(store)).rate_limit(None).build();
        let before = memory("VmRSS:");
        let (mut unread, mut refused) = (Vec::new(), 0);
        for number in 0..1_000_u128 {
            let caller =
                Caller::new(organization, Uuid::from_u128(number % 50), Permission::Viewer, Scope::all());
            let fields =
                if number % 10 > 0 { "" } else { "&fields=id,name,description,services,ports,source" };
            let page = get(&format!("/api/v1/hosts?limit=1000{fields}"));
            let response = send(&api, with_caller(page, caller)).await;
            if response.status() == 200 {
                unread.push(response);
            } else {
                assert_refused(&response);
                refused += 1;
            }
            let more = memory("VmHWM:").saturating_sub(before);
            assert!(more <= MAX_MORE, "{more} bytes more with {} unread pages", unread.len());
        }
        println!("{} unread, {refused} refused", unread.len());
        assert!(unread.len() >= 50 && refused > 0, "{} unread, {refused} refused", unread.len());
    }

    /// Returns a number of bytes from what Linux says about this process.
    fn memory(name: &str) -> usize {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * KIB
    }
}
