//! Responses that their clients do not read.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use http::{Request, Response};
use http_body::Body;
use serde_json::json;
use tokio::runtime::Handle;
use tokio::task::yield_now;
use tokio::time::{advance, pause};
use toposcope::access::{Caller, Scope};
#[cfg(all(feature = "sled", target_os = "linux"))]
use toposcope::model::Network;
use toposcope::model::{Host, OrganizationId, Permission, UserId};
use toposcope::service::{Api, ApiBuilder, BodyError, ResponseBody};
use tower::ServiceExt;
use uuid::Uuid;

use crate::backend::run;
use crate::common::{
    ELSEWHERE, Fixture, Hook, LAB, OFFICE, get, host, of_length, send_json, with_caller, with_key,
};
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
    let caller = Caller::new(organization, UserId::from_u128(user), Permission::Viewer, Scope::all());
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
    assert!(frame(&mut held).await.is_some_and(|frame| frame.is_err()));
    assert_eq!(send(&api, of_user(&fixture, 1, &large)).await.status(), 200, "its bytes are free");
}

/// Advances the time by slightly more than `time`, and runs the due timers. The excess is necessary because timers round
/// up.
async fn pass(time: Duration) {
    advance(time + Duration::from_millis(1)).await;
    for _ in 0..10 {
        yield_now().await;
    }
}

/// Polls a frame; `None` at the end.
async fn frame(body: &mut ResponseBody) -> Option<Result<usize, BodyError>> {
    let frame = poll_fn(|context| Pin::new(&mut *body).poll_frame(context)).await?;
    Some(frame.map(|frame| frame.into_data().unwrap().len()))
}

#[tokio::test]
async fn every_body_that_counts_is_aborted_when_its_client_stalls() {
    let fixture = Fixture::with([of_length(1, 20 * KIB), of_length(2, 60 * KIB)]).await;
    pause();
    let api = api(&fixture, |api| api.unread_responses(100 * KIB, 10 * MIB));
    let hosts = [1, 2].map(|id| format!("/api/v1/hosts/{}", Uuid::from_u128(id)));
    let mut held = Vec::new();
    for host in &hosts {
        held.push(send(&api, of_user(&fixture, 1, host)).await.into_body());
    }
    assert_refused(&send(&api, of_user(&fixture, 1, &hosts[1])).await);
    // Bodies are checked eight times in the 60 seconds, so that a stalled one may be found an eighth late.
    for _ in 0..9 {
        pass(Duration::from_millis(7_500)).await;
    }
    for body in &mut held {
        assert!(frame(body).await.is_some_and(|frame| frame.is_err()));
        assert!(frame(body).await.is_none());
    }
    assert_eq!(send(&api, of_user(&fixture, 1, &hosts[1])).await.status(), 200);
}

#[tokio::test]
async fn body_whose_client_reads_on_is_not_aborted_until_it_stalls() {
    let fixture = Fixture::with([of_length(1, MIB)]).await;
    pause();
    let api = api(&fixture, |api| api.stall_timeout(Duration::from_secs(8)));
    let large = format!("/api/v1/hosts/{}", Uuid::from_u128(1));
    let mut body = send(&api, of_user(&fixture, 1, &large)).await.into_body();
    for _ in 0..5 {
        pass(Duration::from_millis(7_990)).await;
        assert!(frame(&mut body).await.unwrap().is_ok());
    }
    for _ in 0..9 {
        pass(Duration::from_secs(1)).await;
    }
    assert!(frame(&mut body).await.unwrap().is_err());
}

#[tokio::test]
async fn all_bodies_share_one_timer() {
    let fixture = Fixture::with([of_length(1, 20 * KIB)]).await;
    pause();
    let api = api(&fixture, |api| api);
    let host = format!("/api/v1/hosts/{}", Uuid::from_u128(1));
    let tasks = || Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    let mut held = Vec::new();
    for _ in 0..50 {
        held.push(send(&api, of_user(&fixture, 1, &host)).await);
    }
    assert_eq!(tasks(), before + 1);
    drop(held);
    pass(Duration::from_secs(8)).await;
    assert_eq!(tasks(), before, "it ends when there are no bodies");
    let _held = send(&api, of_user(&fixture, 1, &host)).await;
    assert_eq!(tasks(), before + 1);
}

#[tokio::test]
async fn response_above_all_maxima_is_sent_while_nothing_else_is_unread() {
    let fixture = Fixture::with([of_length(1, 100 * KIB), of_length(2, 20 * KIB)]).await;
    let api = api(&fixture, |api| api.unread_responses(30 * KIB, 60 * KIB));
    let [large, small] = [1, 2].map(|id| format!("/api/v1/hosts/{}", Uuid::from_u128(id)));
    let held = send(&api, of_user(&fixture, 1, &small)).await;
    assert_eq!(held.status(), 200);
    assert_refused(&send(&api, of_user(&fixture, 2, &large)).await);
    drop(held);
    let held = send(&api, of_user(&fixture, 2, &large)).await;
    assert_eq!(held.status(), 200);
    assert_refused(&send(&api, of_user(&fixture, 1, &small)).await);
    drop(held);
    assert_eq!(send(&api, of_user(&fixture, 1, &small)).await.status(), 200);
}

/// Half of the updates have a small body.
#[tokio::test]
async fn unread_answers_to_concurrent_updates_stay_within_the_share_of_the_organization() {
    const UPDATES: usize = 300;
    let fixture = Fixture::with((1..=UPDATES as u128).map(|id| of_length(id, 60 * KIB))).await;
    let elsewhere = Host { network_id: ELSEWHERE, ..of_length(1_000, 60 * KIB) };
    fixture.put_abroad(elsewhere).await;
    let hook = Hook::new();
    let total = 6 * MIB;
    let builder = Api::builder(fixture.inventory_with(&hook)).rate_limit(None);
    let api = builder.unread_responses(4 * MIB, total).build();
    let update = |organization: OrganizationId, user: u128, id: u128| {
        let target = format!("/api/v1/hosts/{}", Uuid::from_u128(id));
        let source = of_length(id, 60 * KIB).source;
        let request = match id % 4 {
            0 | 1 => send_json("PUT", &target, &json!({"name": "new", "source": source})),
            _ => send_json("PATCH", &target, &json!({"name": "new"})),
        };
        with_caller(
            request,
            Caller::new(organization, UserId::from_u128(user), Permission::Member, Scope::all()),
        )
    };
    let home = fixture.home.organization.id;
    let held = hook.writable.acquire().await.unwrap();
    let updates: Vec<_> = (1..=UPDATES as u128)
        .map(|id| tokio::spawn(api.clone().oneshot(update(home, 1 + id % 2, id))))
        .collect();
    while hook.commits() + updates.iter().filter(|update| update.is_finished()).count() < UPDATES {
        yield_now().await;
    }
    drop(held);
    let (mut unread, mut bytes) = (Vec::new(), 0);
    for update in updates {
        let response = update.await.unwrap().unwrap();
        if response.status() == 200 {
            bytes += response.body().size_hint().exact().unwrap() as usize;
            unread.push(response);
        } else {
            assert_refused(&response);
        }
    }
    assert_eq!(hook.commits(), unread.len(), "nothing is written that is refused");
    // Answers that were shorter than reserved leave room for some more.
    for id in 1..=UPDATES as u128 {
        let response = send(&api, update(home, 3, id)).await;
        if response.status() != 200 {
            assert_refused(&response);
            break;
        }
        bytes += response.body().size_hint().exact().unwrap() as usize;
        unread.push(response);
    }
    assert!(unread.len() >= 60 && bytes <= total / 4 * 3, "{} answers have {bytes} bytes", unread.len());
    let abroad = fixture.abroad.organization.id;
    for user in 1..=2 {
        let response = send(&api, update(abroad, user, 1_000)).await;
        assert_eq!(response.status(), 200);
        unread.push(response);
    }
    drop(unread);
    assert_eq!(send(&api, update(home, 3, 1)).await.status(), 200);
}

/// Each port of a body of 20 bytes becomes one of hundreds.
#[tokio::test]
async fn creation_whose_answer_finds_no_room_is_refused_before_it_takes_effect() {
    let fixture = Fixture::with([of_length(1, 60 * KIB)]).await;
    let api = api(&fixture, |api| api.unread_responses(100 * KIB, 10 * MIB));
    let caller = fixture.owner(&fixture.home);
    let read = get(&format!("/api/v1/hosts/{}", Uuid::from_u128(1)));
    let held = send(&api, with_caller(read, caller.clone())).await;
    assert_eq!(held.status(), 200);
    let ports: Vec<_> = (1..=200).map(|number| json!({"number": number, "protocol": "Tcp"})).collect();
    let body = json!({"name": "many ports", "network_id": OFFICE, "ports": ports});
    assert!(body.to_string().len() < 16 * KIB);
    let create = || with_caller(send_json("POST", "/api/v1/hosts", &body), caller.clone());
    assert_refused(&send(&api, create()).await);
    assert_eq!(fixture.list("limit=1").await.total(), 1);
    drop(held);
    let response = send(&api, create()).await;
    assert!(response.status().is_success(), "{}", response.status());
    assert!(response.body().size_hint().exact().unwrap() as usize > 40 * KIB);
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
        let organization = inventory.organizations().create("Home").await.unwrap().id;
        inventory
            .networks()
            .create_with_id(&Caller::system(organization), OFFICE, Network::new("Office"))
            .await
            .unwrap();
        for id in 1..=60 {
            inventory.hosts().put(&Caller::system(organization), of_length(id, 500 * KIB)).await.unwrap();
        }
        store.close().await.unwrap();
        // From now on, bodies are read from disk.
        let store = SledStore::builder(place.path()).cache_size(0).open().await.unwrap();
        let api = Api::builder(Inventory::new(store)).rate_limit(None).build();
        let before = memory("VmRSS:");
        let (mut unread, mut refused) = (Vec::new(), 0);
        for number in 0..1_000_u128 {
            let caller =
                Caller::new(organization, UserId::from_u128(number % 50), Permission::Viewer, Scope::all());
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
