//! The bytes of a page, and the page cache.

use std::sync::Arc;
use toposcope::access::Caller;

use fastrand::Rng;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use toposcope::inventory::Inventory;
use toposcope::model::{
    Host, HostId, MacAddress, OrganizationId, Permission, Port, PortId, PortNumber, Protocol, Source,
};
use toposcope::service::Api;
use tower::ServiceExt;

use crate::backend::{run, run_with};
use crate::common::{
    Fixture, Hook, LAB, OFFICE, Reply, Server, at, get, guest, host, interface, key_for, of_length, service,
    with_key,
};

const KIB: usize = 1024;

/// Asserts that the data of the reply is exactly these documents.
#[track_caller]
fn is_page_of<'a>(reply: &Reply, hosts: impl IntoIterator<Item = &'a Host>) {
    let documents: Vec<Vec<u8>> = hosts.into_iter().map(|host| serde_json::to_vec(host).unwrap()).collect();
    let data = [b"\"data\":[", &documents.join(&b',')[..], b"]"].concat();
    let places = reply.body.windows(data.len()).filter(|window| *window == data).count();
    assert_eq!(places, 1, "{} documents in {} bytes", documents.len(), reply.body.len());
    // The rest is the envelope alone.
    let rest = reply.body.len() - data.len();
    assert!(rest < 250, "{rest} bytes around the data");
}

#[test]
fn listed_documents_equal_the_encoded_hosts() {
    run(async || {
        let mut full = Host {
            name: "\"quoted\" \\ / \u{7f} é 😀 \u{2028}".to_owned(),
            hostname: Some("NUL \0, escape \u{1b}, line\r\n".to_owned()),
            description: Some(String::new()),
            hidden: true,
            created_at: at(0).plus_micros(1),
            source: Source::Discovery {
                metadata: vec![serde_json::from_value(json!({"z": 1.5, "a": [null]})).unwrap()],
            },
            ..guest(1, OFFICE, 0x51)
        };
        let mut first = interface(0x11, &full, "192.0.2.1".parse().unwrap(), 1);
        first.mac_address = Some(MacAddress::new([0, 0x1b, 0x21, 0x3c, 0x4d, 0x5e]));
        full.interfaces = vec![first, interface(0x12, &full, "2001:db8::1".parse().unwrap(), 0)];
        full.services = vec![service(0x51, &full, "b"), service(0x50, &full, "a")];
        for (id, number, protocol) in
            [(0x21, 443, Protocol::Tcp), (0x22, 53, Protocol::Udp), (0x23, 53, Protocol::Tcp)]
        {
            full.ports.push(Port {
                id: PortId::from_u128(id),
                host_id: full.id,
                network_id: OFFICE,
                number: PortNumber::try_from(number).unwrap(),
                protocol,
                created_at: at(0),
                updated_at: at(0),
                last_seen_at: None,
                is_stale: false,
            });
        }
        let fixture = Fixture::with([full.clone(), host(2, OFFICE)]).await;
        full.sort_embedded();
        is_page_of(&fixture.list("order_by=name").await, [&full, &host(2, OFFICE)]);
        let read: Host =
            serde_json::from_value(fixture.list("limit=1&order_by=name").await.json["data"][0].clone())
                .unwrap();
        assert_eq!(read, full);
    });
}

#[test]
fn documents_of_any_size_are_complete() {
    run(async || {
        let sizes = [
            600,
            16 * KIB - 1,
            16 * KIB,
            16 * KIB + 1,
            64 * KIB - 1,
            64 * KIB,
            64 * KIB + 1,
            200 * KIB,
            601,
            602,
            40 * KIB,
        ];
        let hosts: Vec<Host> = sizes.into_iter().zip(1..).map(|(size, id)| of_length(id, size)).collect();
        let fixture = Fixture::with(hosts.clone()).await;
        for offset in 0..=hosts.len() {
            for limit in 0..=hosts.len() - offset {
                let reply = fixture.list(&format!("limit={limit}&offset={offset}")).await;
                let page = if limit == 0 { &hosts[offset..] } else { &hosts[offset..offset + limit] };
                is_page_of(&reply, page);
            }
        }
    });
}

#[test]
fn documents_that_just_fill_a_frame_are_complete() {
    run(async || {
        // With the head of the envelope and the commas they come within a few bytes of 16 KiB.
        for slack in 0..48 {
            let second = 16 * KIB - 8 * 1900 - slack;
            let mut hosts: Vec<Host> = (1..=8).map(|id| of_length(id, 1900)).collect();
            hosts.insert(3, of_length(9, second));
            hosts.extend([of_length(10, 2 * KIB), of_length(11, 700)]);
            let mut listed = hosts.clone();
            listed.sort_by_key(|host| host.id);
            let fixture = Fixture::with(hosts).await;
            is_page_of(&fixture.list("limit=0").await, &listed);
            is_page_of(&fixture.list("limit=9").await, &listed[..9]);
        }
    });
}

#[test]
fn random_mixtures_of_sizes_are_complete() {
    run(async || {
        let mut random = Rng::with_seed(20);
        for _ in 0..8 {
            let mut hosts = Vec::new();
            for id in 1..=30 {
                let around = *random.choice(&[600, 700, 2 * KIB - 20, 5 * KIB, 16 * KIB, 64 * KIB]).unwrap();
                hosts.push(of_length(id, around + random.usize(0..40)));
            }
            let fixture = Fixture::with(hosts.clone()).await;
            for _ in 0..6 {
                let (offset, limit) = (random.usize(0..30), 1 + random.usize(0..30));
                let reply = fixture.list(&format!("limit={limit}&offset={offset}")).await;
                is_page_of(&reply, hosts.iter().skip(offset).take(limit));
            }
        }
    });
}

#[test]
fn many_small_documents_are_joined_into_few_frames() {
    run(async || {
        let hosts: Vec<Host> = (1..=1000).map(|id| host(id, OFFICE)).collect();
        let fixture = Fixture::with(hosts.clone()).await;
        for query in ["limit=1000", "limit=0"] {
            let reply = fixture.list(query).await;
            is_page_of(&reply, &hosts);
            assert!(reply.frames.len() <= reply.body.len() / (8 * KIB) + 1, "{:?}", reply.frames);
            assert!(reply.frames.iter().all(|length| *length <= 17 * KIB), "{:?}", reply.frames);
        }
    });
}

#[test]
fn page_is_consistent_while_hosts_change() {
    run(async || {
        let hosts: Vec<Host> = (1..=20).map(|id| of_length(id, 20 * KIB)).collect();
        let fixture = Fixture::with(hosts.clone()).await;
        let request = with_key(get("/api/v1/hosts"), &fixture.key);
        let mut body = fixture.server.api.clone().oneshot(request).await.unwrap().into_body();
        let mut bytes = body.frame().await.unwrap().unwrap().into_data().unwrap().to_vec();
        change(&fixture.inventory, fixture.home.organization.id).await;
        while let Some(frame) = body.frame().await {
            let data = frame.unwrap().into_data().unwrap();
            assert!(!data.is_empty(), "an empty frame");
            bytes.extend_from_slice(&data);
        }
        let json: Value = serde_json::from_slice(&bytes).unwrap();
        let read: Vec<Host> = serde_json::from_value(json["data"].clone()).unwrap();
        assert_eq!(read, hosts);
    });
}

/// Deletes half of the hosts and empties the others.
async fn change(inventory: &Inventory, organization: OrganizationId) {
    for id in 1..=10 {
        inventory.hosts().delete(&Caller::system(organization), HostId::from_u128(id)).await.unwrap();
        inventory.hosts().put(&Caller::system(organization), host(id + 10, OFFICE)).await.unwrap();
    }
}

const LIST: &str = "/api/v1/hosts";

/// A server with a page cache, and a hook that counts its store's lists.
struct CachingServer {
    server: Server,
    store: Arc<Hook>,
}

impl CachingServer {
    /// Creates a server with this page cache size, in bytes.
    fn new(fixture: &Fixture, capacity: usize) -> Self {
        let store = Hook::new();
        let inventory = fixture.inventory_with(&store);
        Self { server: Server::built(Api::builder(inventory).page_cache(capacity), None), store }
    }

    /// Requests a page, and returns whether the store was asked for it.
    async fn request(&self, key: &str, target: &str) -> (Reply, bool) {
        let before = self.store.lists();
        let reply = self.server.get_with(key, target).await;
        assert_eq!(reply.status, 200);
        (reply, self.store.lists() > before)
    }

    /// Requests a page three times; the last answer comes from the cache.
    async fn request_until_cached(&self, key: &str, target: &str) -> Reply {
        self.request(key, target).await;
        self.request(key, target).await;
        let (reply, is_read) = self.request(key, target).await;
        assert!(!is_read, "{target} is not cached");
        reply
    }
}

/// Returns a host. Every third one is long enough to be sent as a frame of its own.
fn described(id: u128) -> Host {
    let length = if id.is_multiple_of(3) { 5_000 } else { 100 };
    Host {
        description: Some("d".repeat(length)),
        ..host(id, if id.is_multiple_of(2) { OFFICE } else { LAB })
    }
}

async fn fixture() -> Fixture {
    Fixture::with((1..=40).map(described)).await
}

#[test]
fn cached_page_equals_the_first_answer() {
    run(async || {
        let (fixture, capacity) = (fixture().await, 1 << 20);
        for query in
            ["", "?limit=7&offset=5", "?order_by=name&order_direction=desc", "?offset=40", "?limit=1"]
        {
            let target = format!("{LIST}{query}");
            let caching = CachingServer::new(&fixture, capacity);
            let (first, is_read) = caching.request(&fixture.key, &target).await;
            assert!(is_read);
            let (second, is_read) = caching.request(&fixture.key, &target).await;
            assert!(is_read, "a page requested once is not cached");
            let third = caching.request_until_cached(&fixture.key, &target).await;
            for again in [second, third] {
                assert_eq!(again.body, first.body, "{query}");
                assert_eq!(again.headers, first.headers, "{query}");
                assert_eq!(again.frames.len(), again.body.len().div_ceil(32 * 1024), "{query}");
            }
        }
    });
}

#[test]
fn cached_page_is_dropped_when_its_hosts_change() {
    run_with(fixture, async |fixture| {
        let caching = CachingServer::new(&fixture, 1 << 20);
        let organization = fixture.home.organization.id;
        let mut before = caching.request_until_cached(&fixture.key, LIST).await.body;
        for change in 0..3 {
            match change {
                0 => fixture.put([Host { name: "another".to_owned(), ..described(7) }]).await,
                1 => fixture.put([described(41)]).await,
                _ => fixture
                    .inventory
                    .hosts()
                    .delete(&Caller::system(organization), HostId::from_u128(9))
                    .await
                    .unwrap(),
            }
            let (reply, is_read) = caching.request(&fixture.key, LIST).await;
            assert!(is_read && reply.body != before, "change {change}");
            assert_eq!(reply.body, fixture.server.get_with(&fixture.key, LIST).await.body, "change {change}");
            before = caching.request_until_cached(&fixture.key, LIST).await.body;
            assert_eq!(before, reply.body);
        }
    });
}

#[test]
fn cached_page_is_shared_by_callers_with_the_same_view_only() {
    run_with(fixture, async |fixture| {
        let caching = CachingServer::new(&fixture, 1 << 20);
        let whole = caching.request_until_cached(&fixture.key, LIST).await;
        let narrow = fixture.key(Permission::Member, &[OFFICE]).await;
        let (part, is_read) = caching.request(&narrow, LIST).await;
        assert!(is_read);
        assert_eq!((part.total(), whole.total()), (20, 40));
        let stranger = fixture.owner_key(&fixture.abroad).await;
        let (nothing, is_read) = caching.request(&stranger, LIST).await;
        assert!(is_read && nothing.ids().is_empty());
        let other = fixture.owner_key(&fixture.home).await;
        let (same, is_read) = caching.request(&other, LIST).await;
        assert!(!is_read && same.body == whole.body);
    });
}

#[test]
fn rights_are_checked_before_the_page_cache() {
    run_with(fixture, async |fixture| {
        let caching = CachingServer::new(&fixture, 1 << 20);
        let user = fixture.user(&fixture.home, Permission::Member, &[OFFICE]).await;
        let key = fixture.issue(key_for(&user, Permission::Member, &[OFFICE])).await;
        caching.request_until_cached(&key, LIST).await;
        fixture.inventory.users().delete(&Caller::system(user.organization_id), user.id).await.unwrap();
        assert_eq!(caching.server.get_with(&key, LIST).await.status, 401);
    });
}

#[test]
fn cached_pages_stay_within_the_capacity() {
    run_with(fixture, async |fixture| {
        let page = |offset: usize| format!("{LIST}?limit=3&offset={offset}");
        let length = without_cache(&fixture).request(&fixture.key, &page(0)).await.0.body.len();
        // Each of these pages has about the same length.
        let caching = CachingServer::new(&fixture, length * 7 / 2);
        for offset in [0, 3, 6] {
            caching.request_until_cached(&fixture.key, &page(offset)).await;
        }
        assert!(!caching.request(&fixture.key, &page(0)).await.1, "three pages fit");
        caching.request_until_cached(&fixture.key, &page(9)).await;
        assert!(!caching.request(&fixture.key, &page(0)).await.1, "it was requested recently");
        assert!(
            caching.request(&fixture.key, &page(3)).await.1,
            "the least recently requested page was evicted"
        );
    });
}

#[test]
fn page_larger_than_half_of_the_cache_is_not_cached() {
    run_with(fixture, async |fixture| {
        let length = without_cache(&fixture).request(&fixture.key, LIST).await.0.body.len();
        for (capacity, is_cached) in [(2 * length, true), (2 * length - 1, false), (0, false)] {
            let caching = CachingServer::new(&fixture, capacity);
            for _ in 0..3 {
                caching.request(&fixture.key, LIST).await;
            }
            assert_eq!(!caching.request(&fixture.key, LIST).await.1, is_cached, "{capacity}");
        }
    });
}

#[test]
fn pages_requested_once_do_not_evict_one_requested_often() {
    run_with(fixture, async |fixture| {
        let caching = CachingServer::new(&fixture, 1 << 20);
        caching.request_until_cached(&fixture.key, LIST).await;
        for offset in 0..300 {
            caching.request(&fixture.key, &format!("{LIST}?offset={offset}")).await;
            if offset % 50 == 0 {
                assert!(!caching.request(&fixture.key, LIST).await.1, "{offset}");
            }
        }
    });
}

#[test]
fn store_without_revision_caches_no_page() {
    run_with(fixture, async |fixture| {
        let caching = CachingServer::new(&fixture, 1 << 20);
        caching.store.hide_revision();
        for asked in 1..=4 {
            let response =
                caching.server.api.clone().oneshot(with_key(get(LIST), &fixture.key)).await.unwrap();
            assert_eq!((response.status().as_u16(), caching.store.lists()), (200, asked));
        }
    });
}

fn without_cache(fixture: &Fixture) -> CachingServer {
    CachingServer::new(fixture, 0)
}
