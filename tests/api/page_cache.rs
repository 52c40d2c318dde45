//! The page cache: repeated requests are answered without the store while nothing has changed.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use toposcope::inventory::Inventory;
use toposcope::model::{Host, Permission};
use toposcope::service::Api;
use tower::ServiceExt;
use uuid::Uuid;

use crate::common::{LAB, OFFICE, Reply, Server, Switched, World, get, host, key_for, with_key};

const LIST: &str = "/api/v1/hosts";

/// A server with a page cache, and a count of the lists that its store was asked for.
struct Keeping {
    server: Server,
    store: Arc<Switched>,
}

impl Keeping {
    /// Creates a server with this page cache size, in bytes.
    fn new(world: &World, room: usize) -> Self {
        let store = Switched::new(world.store.clone());
        let inventory = Inventory::new(Arc::clone(&store)).with_clock(Arc::new(world.clock.clone()));
        Self { server: Server::built(Api::builder(inventory).page_cache(room), None), store }
    }

    /// Requests a page, and returns whether the store was asked for it.
    async fn ask(&self, key: &str, target: &str) -> (Reply, bool) {
        let before = self.store.lists();
        let reply = self.server.get_with(key, target).await;
        assert_eq!(reply.status, 200);
        (reply, self.store.lists() > before)
    }

    /// Requests a page three times; the last answer comes from the cache.
    async fn ask_until_kept(&self, key: &str, target: &str) -> Reply {
        self.ask(key, target).await;
        self.ask(key, target).await;
        let (reply, is_read) = self.ask(key, target).await;
        assert!(!is_read, "{target} is not kept");
        reply
    }
}

/// Every third host is long enough to be sent as a frame of its own.
fn described(id: u128) -> Host {
    let length = if id.is_multiple_of(3) { 5_000 } else { 100 };
    Host {
        description: Some("d".repeat(length)),
        ..host(id, if id.is_multiple_of(2) { OFFICE } else { LAB })
    }
}

async fn world() -> World {
    World::with((1..=40).map(described)).await
}

#[tokio::test]
async fn a_page_that_is_asked_for_again_is_the_same_to_the_byte() {
    let (world, roomy) = (world().await, 1 << 20);
    for query in ["", "?limit=7&offset=5", "?order_by=name&order_direction=desc", "?offset=40", "?limit=1"] {
        let target = format!("{LIST}{query}");
        let keeping = Keeping::new(&world, roomy);
        let (first, is_read) = keeping.ask(&world.key, &target).await;
        assert!(is_read);
        let (second, is_read) = keeping.ask(&world.key, &target).await;
        assert!(is_read, "one that is asked for once is not worth the memory");
        let third = keeping.ask_until_kept(&world.key, &target).await;
        for again in [second, third] {
            assert_eq!(again.body, first.body, "{query}");
            assert_eq!(again.headers, first.headers, "{query}");
            assert_eq!(again.frames.len(), again.body.len().div_ceil(32 * 1024), "{query}");
        }
    }
}

#[tokio::test]
async fn a_page_that_was_kept_is_not_sent_once_anything_in_it_has_changed() {
    let world = world().await;
    let keeping = Keeping::new(&world, 1 << 20);
    let organization = world.home.organization.id;
    let mut before = keeping.ask_until_kept(&world.key, LIST).await.body;
    for change in 0..3 {
        match change {
            0 => world.put([Host { name: "another".to_owned(), ..described(7) }]).await,
            1 => world.put([described(41)]).await,
            _ => world.inventory.delete_host(organization, Uuid::from_u128(9)).await.unwrap(),
        }
        let (reply, is_read) = keeping.ask(&world.key, LIST).await;
        assert!(is_read && reply.body != before, "change {change}");
        assert_eq!(reply.body, world.server.get_with(&world.key, LIST).await.body, "change {change}");
        before = keeping.ask_until_kept(&world.key, LIST).await.body;
        assert_eq!(before, reply.body);
    }
}

#[tokio::test]
async fn what_is_kept_is_for_those_who_see_the_same_hosts() {
    let world = world().await;
    let keeping = Keeping::new(&world, 1 << 20);
    let whole = keeping.ask_until_kept(&world.key, LIST).await;
    let user = world.user(&world.home, Permission::Member, &[OFFICE]).await;
    let narrow = world.issue(key_for(&user, Permission::Member, &[OFFICE])).await;
    let (part, is_read) = keeping.ask(&narrow, LIST).await;
    assert!(is_read);
    assert_eq!((part.total(), whole.total()), (20, 40));
    let stranger = world.owner_key(&world.abroad).await;
    let (nothing, is_read) = keeping.ask(&stranger, LIST).await;
    assert!(is_read && nothing.ids().is_empty());
    let other = world.owner_key(&world.home).await;
    let (same, is_read) = keeping.ask(&other, LIST).await;
    assert!(!is_read && same.body == whole.body);
}

#[tokio::test]
async fn whoever_has_lost_their_rights_is_refused_whatever_is_kept() {
    let world = world().await;
    let keeping = Keeping::new(&world, 1 << 20);
    let user = world.user(&world.home, Permission::Member, &[OFFICE]).await;
    let key = world.issue(key_for(&user, Permission::Member, &[OFFICE])).await;
    keeping.ask_until_kept(&key, LIST).await;
    world.inventory.delete_user(user.id).await.unwrap();
    assert_eq!(keeping.server.get_with(&key, LIST).await.status, 401);
}

#[tokio::test]
async fn cached_pages_stay_within_the_capacity() {
    let world = world().await;
    let page = |offset: usize| format!("{LIST}?limit=3&offset={offset}");
    let length = keeping_nothing(&world).ask(&world.key, &page(0)).await.0.body.len();
    // Each of these pages has about the same length.
    let keeping = Keeping::new(&world, length * 7 / 2);
    for offset in [0, 3, 6] {
        keeping.ask_until_kept(&world.key, &page(offset)).await;
    }
    assert!(!keeping.ask(&world.key, &page(0)).await.1, "there is room for three");
    keeping.ask_until_kept(&world.key, &page(9)).await;
    assert!(!keeping.ask(&world.key, &page(0)).await.1, "it was asked for lately");
    assert!(keeping.ask(&world.key, &page(3)).await.1, "it was not, and has made room");
}

#[tokio::test]
async fn a_page_that_takes_more_than_half_of_the_room_is_not_kept() {
    let world = world().await;
    let length = keeping_nothing(&world).ask(&world.key, LIST).await.0.body.len();
    for (room, is_kept) in [(2 * length, true), (2 * length - 1, false), (0, false)] {
        let keeping = Keeping::new(&world, room);
        for _ in 0..3 {
            keeping.ask(&world.key, LIST).await;
        }
        assert_eq!(!keeping.ask(&world.key, LIST).await.1, is_kept, "{room}");
    }
}

#[tokio::test]
async fn pages_by_the_hundred_that_are_asked_for_once_drive_none_out_that_is_asked_for_among_them() {
    let world = world().await;
    let keeping = Keeping::new(&world, 1 << 20);
    keeping.ask_until_kept(&world.key, LIST).await;
    for offset in 0..300 {
        keeping.ask(&world.key, &format!("{LIST}?offset={offset}")).await;
        if offset % 50 == 0 {
            assert!(!keeping.ask(&world.key, LIST).await.1, "{offset}");
        }
    }
}

#[tokio::test]
async fn without_a_revision_no_page_is_kept() {
    let world = world().await;
    let keeping = Keeping::new(&world, 1 << 20);
    keeping.store.tells_revision.store(false, Ordering::SeqCst);
    for asked in 1..=4 {
        let response = keeping.server.api.clone().oneshot(with_key(get(LIST), &world.key)).await.unwrap();
        assert_eq!((response.status().as_u16(), keeping.store.lists()), (200, asked));
    }
}

fn keeping_nothing(world: &World) -> Keeping {
    Keeping::new(world, 0)
}
