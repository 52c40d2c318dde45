//! Many requests at once: their limits, their turns, and drawings that they share.

use http_body::Body;
use serde_json::{Value, json};
use tokio::task::{JoinSet, yield_now};
use toposcope::Api;
use toposcope::access::Caller;
use toposcope::model::{HostId, LinkEnd, Network, TopologyLink};
use tower::ServiceExt;
use uuid::Uuid;

use super::layouts::{path, positions};
use super::{Campus, GRAPH, of_office};
use crate::backend::{Backend, run_with};
use crate::common::{
    ELSEWHERE, Hook, OFFICE, Reply, Server, get, host, send_json, with_caller, with_header, with_key,
};

const EXPORT: &str = "/api/v1/topology/export";

/// Begins to send a request.
fn begin(tasks: &mut JoinSet<Reply>, server: &Server, key: &str, target: &str) {
    let (server, request) = (server.clone(), with_key(get(target), key));
    tasks.spawn(async move { server.send(request).await });
}

async fn all(tasks: JoinSet<Reply>) -> Vec<Reply> {
    tasks.join_all().await
}

#[test]
fn one_of_a_hundred_clients_with_the_same_tag_stores_its_layout() {
    run_with(Campus::new, async |campus| {
        let target = path(OFFICE, "l2");
        // Once while no layout is stored, and once when there is one.
        for round in 0..2 {
            let tag = campus.send_as(&campus.member, get(&target)).await.header("etag").to_owned();
            let mut tasks = JoinSet::new();
            for number in 0..100_u32 {
                let body = positions(&[(campus.core, f64::from(number), f64::from(round))]);
                let request = with_header(send_json("PUT", &target, &body), "if-match", &tag);
                let (server, request) = (campus.server.clone(), with_key(request, &campus.member));
                tasks.spawn(async move { server.send(request).await });
            }
            let replies = all(tasks).await;
            let (stored, refused): (Vec<_>, Vec<_>) = replies.iter().partition(|reply| reply.status == 200);
            assert_eq!((stored.len(), refused.len()), (1, 99));
            assert!(refused.iter().all(|reply| reply.status == 412), "{refused:#?}");
            assert_eq!(&campus.read(&target).await, stored[0].data());
        }
    });
}

#[test]
fn layouts_of_a_hundred_clients_without_conditions_are_all_stored() {
    run_with(Campus::new, async |campus| {
        let target = path(OFFICE, "workloads");
        let is_shared = Backend::current().is_shared();
        let mut tasks = JoinSet::new();
        for number in 0..100_u32 {
            let body = positions(&[(campus.core, f64::from(number), 0.0)]);
            let request = with_key(send_json("PUT", &target, &body), &campus.member);
            let server = campus.server.clone();
            tasks.spawn(async move {
                loop {
                    let reply = server.send(request.clone()).await;
                    if reply.status == 200 {
                        return reply;
                    }
                    // Updates wait for those of the same instance only. Another one may be faster 16 times in a row.
                    assert!(is_shared, "{reply:#?}");
                    reply.refuses(409, "entity_conflict");
                }
            });
        }
        let (replies, stored) = (all(tasks).await, campus.read(&target).await);
        assert_eq!(replies.len(), 100);
        assert!(replies.iter().any(|reply| *reply.data() == stored), "the last one stays");
    });
}

/// Returns how often the positions of nodes were read: once for each drawing.
fn drawings(hook: &Hook) -> usize {
    hook.take_calls().iter().filter(|call| *call == "get topology_layout").count()
}

#[test]
fn requests_for_the_same_drawing_share_it() {
    run_with(Campus::new, async |campus| {
        let share = json!({"name": "a share", "network_id": OFFICE});
        let share = campus.by_member("POST", "/api/v1/shares", &share).await.data()["id"].clone();
        let picture = format!("/api/v1/shares/public/{}/topology.svg", share.as_str().unwrap());
        let targets =
            [of_office(GRAPH, "view=l3"), of_office(EXPORT, "format=dot"), of_office(EXPORT, ""), picture];
        for target in targets {
            let hook = Hook::new();
            let server = campus.server_with(&hook);
            hook.take_calls();
            let permit = hook.open.acquire().await.unwrap();
            let mut tasks = JoinSet::new();
            (0..100).for_each(|_| begin(&mut tasks, &server, &campus.member, &target));
            // The drawing waits for its hosts until all requests wait for the drawing.
            campus.store.hook().settle().await;
            assert!(tasks.try_join_next().is_none());
            drop(permit);
            let replies = all(tasks).await;
            assert!(replies.iter().all(|reply| reply.status == 200 && reply.body == replies[0].body));
            assert_eq!(drawings(&hook), 1, "{target}");
        }
    });
}

#[test]
fn ninth_different_drawing_of_an_organization_at_a_time_is_refused() {
    run_with(Campus::new, async |campus| {
        let hook = Hook::new();
        let server = campus.server_with(&hook);
        let abroad = campus.owner_key(&campus.abroad).await;
        let permit = hook.open.acquire().await.unwrap();
        let mut tasks = JoinSet::new();
        for depth in 0..8 {
            let target = of_office(GRAPH, &format!("focus={}&depth={depth}", campus.core));
            begin(&mut tasks, &server, &campus.member, &target);
        }
        // Each drawing reads the positions of nodes before it waits for its turn.
        let mut begun = 0;
        while begun < 8 {
            begun += drawings(&hook);
            yield_now().await;
        }
        let ninth = server.get_with(&campus.member, &of_office(GRAPH, "view=workloads")).await;
        assert_eq!(ninth.refuses(429, "rate_limit_exceeded"), &json!({"retry_after": 1}));
        assert_eq!(ninth.number("retry-after"), 1);
        let mut others = JoinSet::new();
        let elsewhere = format!("{GRAPH}?network_id={ELSEWHERE}");
        begin(&mut others, &server, &abroad, &elsewhere);
        begin(
            &mut tasks,
            &server,
            &campus.member,
            &of_office(GRAPH, &format!("focus={}&depth=0", campus.core)),
        );
        drop(permit);
        assert!(all(others).await.iter().all(|reply| reply.status == 200));
        assert!(all(tasks).await.iter().all(|reply| reply.status == 200), "the same drawing is shared");
        let again = server.get_with(&campus.member, &of_office(GRAPH, "view=workloads")).await;
        assert_eq!(again.status, 200);
    });
}

/// Fills the office with a network that takes long to draw.
pub(super) async fn fill(campus: &Campus, hosts: u128) {
    campus.put((1..=hosts).map(|number| host(number, OFFICE))).await;
    let owner = campus.owner(&campus.home);
    for number in 2..=hosts {
        // Each host is linked to one of a third of its number: a tree.
        let [source, target] =
            [number / 3 + 1, number].map(|number| LinkEnd::at_host(HostId::from_u128(number)));
        if source != target {
            campus
                .inventory
                .records()
                .create(&owner, TopologyLink::new(OFFICE, source, target))
                .await
                .unwrap();
        }
    }
}

#[tokio::test]
async fn small_network_does_not_wait_for_the_drawings_of_another_organization() {
    let campus = Campus::new().await;
    fill(&campus, 1_500).await;
    let abroad = campus.owner_key(&campus.abroad).await;
    campus.put_abroad(host(9_999, ELSEWHERE)).await;
    let mut tasks = JoinSet::new();
    for query in ["collapse=false", "collapse=false&view=l3", "collapse=false&min_confidence=Confirmed"] {
        begin(&mut tasks, &campus.server, &campus.member, &of_office(GRAPH, query));
    }
    let path = "/api/v1/topology/blind-spots";
    begin(&mut tasks, &campus.server, &campus.member, &of_office(path, ""));
    for _ in 0..100 {
        yield_now().await;
    }
    let target = format!("{GRAPH}?network_id={ELSEWHERE}&view=workloads");
    assert_eq!(campus.server.get_with(&abroad, &target).await.status, 200);
    assert!(tasks.try_join_next().is_none(), "the large drawings take longer");
    assert!(all(tasks).await.iter().all(|reply| reply.status == 200));
}

#[tokio::test]
async fn organization_draws_while_many_of_its_drawings_are_not_read() {
    let campus = Campus::new().await;
    fill(&campus, 800).await;
    let api = Api::builder(campus.inventory.clone()).build();
    let mut unread = Vec::new();
    for number in 0..10 {
        let query = format!("collapse=false&expand={}", Uuid::from_u128(number));
        let request = with_key(get(&of_office(GRAPH, &query)), &campus.member);
        let response = api.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), 200, "{number}");
        assert!(response.body().size_hint().lower() > 256 * 1024);
        unread.push(response);
    }
}

#[test]
fn network_deleted_while_its_graph_is_drawn_is_empty_or_not_found() {
    run_with(Campus::new, async |campus| {
        let owner = campus.owner(&campus.home);
        let home = campus.home.organization.id;
        let network = campus
            .inventory
            .networks()
            .create(&Caller::system(home), Network::new("doomed"))
            .await
            .unwrap()
            .id;
        let hook = Hook::new();
        let server = campus.server_with(&hook);
        hook.take_calls();
        let target = format!("{GRAPH}?network_id={network}");
        let by_owner = |target: &str| with_caller(get(target), owner.clone());
        let permit = hook.open.acquire().await.unwrap();
        let (begun, request) = (server.clone(), by_owner(&target));
        let task = tokio::spawn(async move { begun.send(request).await });
        while drawings(&hook) == 0 {
            yield_now().await;
        }
        campus.inventory.networks().delete(&campus.system(), network).await.unwrap();
        drop(permit);
        let reply = task.await.unwrap();
        assert!(reply.status == 404 || reply.data()["nodes"] == json!([]), "{} {}", reply.status, reply.json);
        server.send(by_owner(&target)).await.refuses(404, "entity_not_found");
    });
}

#[test]
fn share_disabled_after_its_page_was_read_shows_no_picture() {
    run_with(Campus::new, async |campus| {
        let body = json!({"name": "a share", "network_id": OFFICE});
        let share = campus.by_member("POST", "/api/v1/shares", &body).await.data()["id"].clone();
        let share = share.as_str().unwrap();
        let [page, picture] =
            [format!("/share/{share}"), format!("/api/v1/shares/public/{share}/topology.svg")];
        assert_eq!(campus.send(get(&page)).await.status, 200);
        let tag = campus.send(get(&picture)).await.header("etag").to_owned();
        let mut disabled = body.clone();
        disabled["is_enabled"] = Value::Bool(false);
        campus.by_member("PUT", &format!("/api/v1/shares/{share}"), &disabled).await.data();
        campus.send(get(&picture)).await.refuses(404, "entity_not_found");
        campus.send(with_header(get(&picture), "if-none-match", tag)).await.refuses(404, "entity_not_found");
        assert_eq!(campus.send(get(&page)).await.status, 404);
    });
}
