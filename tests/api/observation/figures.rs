//! The figures of the service and of the inventory.

use std::collections::BTreeMap;
use std::time::Duration;

use http_body_util::BodyExt;
use serde_json::json;
use toposcope::inventory::{ApplicationCode, ApplicationError, InventoryFigures, NewShare, StoreCallFigures};
use toposcope::model::Permission;
use toposcope::service::{ApiFigures, RouteFigures};
use toposcope::store::{StoreError, StoreFigures};
use tower::ServiceExt;
use uuid::Uuid;

use crate::backend::{Backend, run, run_with};
use crate::common::{
    Fault, Fixture, Hook, NOBODY, OFFICE, PASSWORD, Server, ample, bare, get, host, log_in, send_json,
    with_header, with_key, with_session,
};

async fn with_hosts() -> Fixture {
    Fixture::with((1..=20).map(|id| host(id, OFFICE))).await.on_one_instance()
}

/// Returns the numbers of requests by method, route and status.
fn requests(figures: &ApiFigures) -> BTreeMap<(&str, &str, u16), u64> {
    let of_route = |route: &RouteFigures| {
        let (method, path) = (route.method, route.route);
        route
            .by_status
            .iter()
            .map(move |(status, count)| ((method, path, *status), *count))
            .collect::<Vec<_>>()
    };
    figures.requests.iter().flat_map(of_route).collect()
}

#[test]
fn requests_are_counted_exactly_by_route_and_status() {
    run_with(with_hosts, async |fixture| {
        let key = &fixture.key;
        let one = format!("/api/v1/hosts/{}", Uuid::from_u128(1));
        let missing = format!("/api/v1/hosts/{NOBODY}");
        let tag =
            || with_key(send_json("POST", "/api/v1/tags", &json!({"name": "x", "color": "#00ff7f"})), key);
        let invalid = || with_key(send_json("POST", "/api/v1/tags", &json!({})), key);
        let hosts = "/api/v1/hosts";
        let host = "/api/v1/hosts/{id}";
        let table = [
            (3, get("/api/version"), ("GET", "/api/version", 200)),
            (2, bare("HEAD", "/api/version"), ("GET", "/api/version", 200)),
            (1, get("/api/version?x=1"), ("GET", "/api/version", 400)),
            (4, with_key(get("/api/v1/hosts?limit=2"), key), ("GET", hosts, 200)),
            (2, get(hosts), ("GET", hosts, 401)),
            (3, with_key(get(&one), key), ("GET", host, 200)),
            (2, with_key(get(&missing), key), ("GET", host, 404)),
            (1, tag(), ("POST", "/api/v1/tags", 200)),
            (2, tag(), ("POST", "/api/v1/tags", 409)),
            (2, invalid(), ("POST", "/api/v1/tags", 400)),
            (1, with_key(get("/api/hosts?limit=2"), key), ("GET", "/api/hosts", 200)),
            (2, get("/nowhere"), ("", "unmatched", 404)),
            (1, bare("DELETE", "/api/version"), ("", "unmatched", 405)),
        ];
        let mut expected = BTreeMap::new();
        for (times, request, counted) in table {
            for _ in 0..times {
                assert_eq!(fixture.send(request.clone()).await.status, counted.2, "{counted:?}");
            }
            *expected.entry(counted).or_insert(0) += times;
        }
        let figures = fixture.server.api.figures();
        assert_eq!(requests(&figures), expected);
        for route in &figures.requests {
            let counted: u64 = route.by_status.iter().map(|(_, count)| count).sum();
            assert_eq!(route.latencies.count(), counted, "{route:?}");
        }
        assert_eq!((figures.dropped, figures.store_outages), (0, 0));
    });
}

#[test]
fn refused_requests_and_outages_are_counted() {
    run(async || {
        let fixture = Fixture::new().await;
        let server = fixture.limited(60, 2);
        for _ in 0..5 {
            server.get("/api/version").await;
        }
        let figures = server.api.figures();
        assert_eq!(figures.requests[0].by_status, [(200, 2), (429, 3)]);

        let store = Hook::new();
        let server = Server::new(fixture.inventory_with(&store), ample());
        store.set_fault(Fault::List(|| StoreError::unavailable("down")));
        for _ in 0..3 {
            assert_eq!(server.get_with(&fixture.key, "/api/v1/hosts").await.status, 503);
        }
        let figures = server.api.figures();
        assert_eq!(figures.store_outages, 3);
        assert_eq!(requests(&figures), BTreeMap::from([(("GET", "/api/v1/hosts", 503), 3)]));
    });
}

#[test]
fn latency_is_measured_by_the_clock_of_the_inventory_and_ends_before_the_body() {
    run_with(with_hosts, async |fixture| {
        let clock = fixture.clock.clone();
        let store = Hook::new();
        let server = fixture.server_with(&store);
        let permit = store.open.acquire().await.unwrap();
        let request = with_key(get("/api/v1/hosts?limit=0"), &fixture.key);
        let asked = server.api.clone().oneshot(request);
        let wait = async {
            while store.lists() == 0 {
                tokio::task::yield_now().await;
            }
            clock.advance(Duration::from_millis(7));
            drop(permit);
        };
        let (response, ()) = tokio::join!(asked, wait);
        clock.advance(Duration::from_secs(60));
        response.unwrap().into_body().collect().await.unwrap();
        let latencies = &server.api.figures().requests[0].latencies;
        assert_eq!((latencies.count(), latencies.sum), (1, Duration::from_millis(7)));
        // Between 5 and 10 milliseconds.
        assert_eq!(latencies.counts[4], 1);
    });
}

#[test]
fn requests_to_own_endpoints_are_counted_in_a_row_of_theirs_with_any_status() {
    run_with(with_hosts, async |fixture| {
        let api = &fixture.server.api;
        let (request, _) = with_key(get("/racks/7"), &fixture.key).into_parts();
        let admitted = api.admit(&request).await.unwrap();
        fixture.clock.advance(Duration::from_millis(7));
        drop(api.respond(&admitted, Ok(7)));
        let full = ApplicationError::new(ApplicationCode::new("racks.full", 418), "The rack is full.");
        drop(api.respond::<u8>(&api.admit(&request).await.unwrap(), Err(full.into())));
        let (anonymous, _) = get("/racks/7").into_parts();
        drop(api.admit(&anonymous).await.unwrap_err());
        let figures = api.figures();
        let expected = BTreeMap::from([(("", "own", 200), 1), (("", "own", 401), 1), (("", "own", 418), 1)]);
        assert_eq!(requests(&figures), expected);
        let latencies = &figures.requests[0].latencies;
        assert_eq!((latencies.count(), latencies.sum), (3, Duration::from_millis(7)));
        let text = figures.to_openmetrics();
        assert!(
            text.contains("toposcope_requests_total{method=\"\",route=\"own\",status=\"418\"} 1\n"),
            "{text}"
        );
    });
}

#[test]
fn caches_count_hits_and_misses() {
    run_with(with_hosts, async |fixture| {
        let of = |figures: &ApiFigures, name: &str| {
            let caches = std::iter::once(&figures.page_cache).chain(&figures.inventory.caches);
            let found = caches.into_iter().find(|cache| cache.name == name).unwrap();
            (found.hits, found.misses, found.entries)
        };
        let api = &fixture.server.api;
        // A page is cached at its second request.
        for _ in 0..5 {
            fixture.list("limit=3").await;
        }
        let figures = api.figures();
        assert_eq!(of(&figures, "pages"), (3, 2, 1));
        assert_eq!(of(&figures, "secrets"), (4, 1, 1));
        assert_eq!(of(&figures, "user_keys"), (4, 1, 1));
        assert_eq!(of(&figures, "organizations"), (4, 1, 1));
        assert_eq!(of(&figures, "daemon_keys"), (0, 0, 0));
        for offset in 0..3 {
            let page = format!("/api/v1/ports?limit=3&offset={offset}");
            fixture.server.get_with(&fixture.key, &page).await;
        }
        assert_eq!(of(&api.figures(), "part_lists"), (2, 1, 1));
    });
}

#[test]
fn logins_and_sessions_are_counted() {
    run_with(
        async || Fixture::new().await.on_one_instance(),
        async |fixture| {
            let user = fixture.user(&fixture.home, Permission::Viewer, &[OFFICE]).await;
            let hashed = |figures: &InventoryFigures| figures.logins.hashes.waits.count();
            let api = &fixture.server.api;
            let before = hashed(&api.figures().inventory);
            let mut sessions = Vec::new();
            for _ in 0..3 {
                let reply = fixture.send(log_in(&user.email, PASSWORD)).await;
                sessions.push(reply.header("set-cookie").split(['=', ';']).nth(1).unwrap().to_owned());
            }
            for status in [401, 401, 401, 401, 401, 429, 429] {
                assert_eq!(fixture.send(log_in("nobody@example.net", "a wrong one")).await.status, status);
            }
            for session in [&sessions[0], &sessions[0]] {
                fixture.send(with_session(bare("POST", "/api/auth/logout"), session)).await;
            }
            let mut share = NewShare::new("a share");
            share.password = Some(PASSWORD.to_owned());
            let share = fixture.inventory.shares().create(&fixture.system(), share).await.unwrap();
            let path = format!("/api/v1/shares/public/{}/verify", share.id);
            fixture.send(send_json("POST", &path, &json!({"password": "a wrong one"}))).await;

            let figures = api.figures().inventory;
            assert_eq!((figures.sessions_begun, figures.sessions_ended), (3, 1));
            let logins = &figures.logins;
            assert_eq!((logins.failed, logins.locked_out, logins.refused, logins.in_progress), (5, 2, 0, 0));
            assert_eq!((logins.hashes.running, logins.hashes.waiting), (0, 0));
            assert_eq!(hashed(&figures) - before, 8, "those that are locked out are not verified");
            let shares = &figures.share_passwords;
            assert_eq!((shares.failed, shares.locked_out, shares.hashes.waits.count()), (1, 0, 2));
        },
    );
}

#[test]
fn calls_of_the_store_are_counted_and_some_of_them_measured() {
    run_with(with_hosts, async |fixture| {
        let call = |figures: &ApiFigures, name: &str| -> StoreCallFigures {
            figures.inventory.store_calls.iter().find(|call| call.call == name).unwrap().clone()
        };
        let store = Hook::new();
        let server = fixture.server_with(&store);
        let list = || server.get_with(&fixture.key, "/api/v1/hosts?limit=3&offset=1");
        for _ in 0..35 {
            list().await;
        }
        let figures = server.api.figures();
        let get = call(&figures, "get_by_unique_key");
        assert_eq!((get.calls, get.latencies.count(), get.failures), (35, 3, 0), "one in 17, and the first");
        fixture.store.hook().settle().await;
        let before = call(&server.api.figures(), "commit");
        for name in ["one", "two", "two"] {
            let tag = send_json("POST", "/api/v1/tags", &json!({"name": name, "color": "#00ff7f"}));
            server.send(with_key(tag, &fixture.key)).await;
        }
        fixture.store.hook().settle().await;
        let after = call(&server.api.figures(), "commit");
        assert_eq!(after.calls - before.calls, after.latencies.count() - before.latencies.count());
        assert!(after.calls - before.calls >= 2);
        assert_eq!(after.failures, 0, "a refusal is no failure");
        store.set_fault(Fault::Commit(toposcope::store::Name::new("tag"), |_| {
            StoreError::unavailable("down")
        }));
        let tag = send_json("POST", "/api/v1/tags", &json!({"name": "three", "color": "#00ff7f"}));
        assert_eq!(server.send(with_key(tag, &fixture.key)).await.status, 503);
        assert_eq!(call(&server.api.figures(), "commit").failures, 1);
    });
}

#[test]
fn records_and_memory_of_the_index_grow_with_the_hosts() {
    run_with(Fixture::new, async |fixture| {
        let figures = || fixture.inventory.figures().store;
        let before = figures();
        fixture.put((1..=200).map(|id| host(id, OFFICE))).await;
        let after = figures();
        let grown = |of: fn(&StoreFigures) -> Option<u64>| Some(of(&after)? - of(&before)?);
        // The instances of one database that take turns do not know.
        if !Backend::current().is_shared() {
            // Each with the entry of its creation.
            assert_eq!(grown(|figures| figures.records), Some(400));
            let bytes = grown(|figures| figures.index_bytes).unwrap() / 200;
            assert!((100..4_000).contains(&bytes), "{bytes} bytes a host");
        }
    });
}

#[test]
fn slots_and_memory_in_use_and_refusals_are_shown() {
    run_with(
        async || Fixture::with((1..=300).map(|id| host(id, OFFICE))).await,
        async |fixture| {
            let server = fixture.configured(|builder| builder.whole_lists_at_once(1, 3));
            let whole = |figures: &ApiFigures| {
                let slots = figures.slots.iter().find(|slots| slots.name == "whole_lists").unwrap();
                (slots.used, slots.limit, slots.refused)
            };
            let unread = |figures: &ApiFigures| {
                figures.memory.iter().find(|memory| memory.name == "unread_responses").unwrap().used
            };
            assert_eq!(whole(&server.api.figures()), (0, 3, 0));
            let ask = || server.api.clone().oneshot(with_key(get("/api/v1/hosts?limit=0"), &fixture.key));
            let open = ask().await.unwrap();
            assert_eq!(ask().await.unwrap().status(), 429);
            let figures = server.api.figures();
            assert_eq!(whole(&figures), (1, 3, 1));
            assert!(unread(&figures) >= 1024 * 1024, "{}", unread(&figures));
            drop(open);
            let figures = server.api.figures();
            assert_eq!((whole(&figures), unread(&figures)), ((0, 3, 1), 0));
        },
    );
}

#[cfg(feature = "discovery")]
#[test]
fn open_streams_of_events_are_shown() {
    run_with(
        async || Fixture::new().await.on_one_instance(),
        async |fixture| {
            let api = &fixture.server.api;
            let streams = || {
                let figures = api.figures();
                figures.slots.iter().find(|slots| slots.name == "event_streams").unwrap().used
            };
            let ask = with_key(get("/api/v1/discoveries/stream"), &fixture.key);
            let open = api.clone().oneshot(ask).await.unwrap();
            assert_eq!((open.status().as_u16(), streams()), (200, 1));
            drop(open);
            assert_eq!(streams(), 0);
        },
    );
}

#[test]
fn number_of_lines_does_not_depend_on_what_clients_send() {
    run_with(Fixture::new, async |fixture| {
        let api = &fixture.server.api;
        for number in 0..200 {
            for path in [format!("/nowhere/{number}"), format!("/api/v1/hosts/{}", Uuid::from_u128(number))] {
                let request = with_header(get(&path), "x-request-id", format!("id-{number}"));
                api.clone().oneshot(with_key(request, &format!("key-{number}"))).await.unwrap();
            }
        }
        let figures = api.figures();
        assert_eq!(figures.requests.len(), 2);
        let text = figures.to_openmetrics();
        assert!(text.lines().count() < 400, "{}", text.lines().count());
        assert!(!text.contains("/nowhere") && !text.contains("id-") && !text.contains("key-"));
    });
}
