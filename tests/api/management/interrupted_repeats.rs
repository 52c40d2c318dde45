//! `Idempotency-Key` of requests that pause, or end, between two of their commits.

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::SemaphorePermit;

#[cfg(feature = "sled")]
use toposcope::access::Caller;
use toposcope::model::NetworkId;
use uuid::Uuid;

use super::*;
use crate::common::{Hook, Server, until, until_commits};

const BULK: &str = "/api/v1/hosts/bulk";

/// More hosts than one commit takes.
const MANY_HOSTS: usize = 520;

/// The time after which another server may continue a request.
const LEASE: Duration = Duration::from_secs(61);

/// Returns a request that takes two commits. With a faulty host, it takes a third one, for the answer.
fn request(key: &str, is_faulty: bool) -> Request<String> {
    let mut hosts = vec![host_body(); MANY_HOSTS];
    if is_faulty {
        hosts.push(json!({"name": "faulty"}));
    }
    let request = send_json("POST", BULK, &json!({"hosts": hosts, "atomic": false}));
    with_header(with_key(request, key), "idempotency-key", "key")
}

fn is_replayed(reply: &Reply) -> bool {
    reply.headers.contains_key("idempotent-replayed")
}

/// Polls a request until its first commit is done. No other begins before the permit is dropped.
async fn after_first_commit<'h>(
    mut request: Pin<&mut impl Future<Output = Reply>>,
    hook: &'h Hook,
) -> SemaphorePermit<'h> {
    until_commits(request.as_mut(), hook, 1).await;
    until(request, hook.writable.acquire()).await.unwrap()
}

/// Returns a server behind a hook.
fn hooked(fixture: &Fixture) -> (Arc<Hook>, Server) {
    let hook = Hook::yielding();
    let server = fixture.server_with(&hook);
    (hook, server)
}

#[test]
fn repetition_during_the_first_request_is_refused() {
    run_new(async |fixture| {
        let (hook, server) = hooked(&fixture);
        let create = send_json("POST", HOSTS, &host_body());
        let create = with_header(with_key(create, &fixture.key), "idempotency-key", "key");
        let gate = hook.writable.acquire().await.unwrap();
        let mut first = pin!(server.send(create.clone()));
        until_commits(first.as_mut(), &hook, 1).await;
        let second = until(first.as_mut(), server.send(create.clone())).await;
        second.refuses(409, "idempotency_key_in_use");
        drop(gate);
        let first = first.await;
        assert!(!is_replayed(&first) && first.data().is_object());
        assert!(is_replayed(&server.send(create).await));
        assert_eq!(fixture.list("").await.total(), 1);
    });
}

#[test]
fn server_that_pauses_between_two_commits_stores_nothing_more() {
    run_new(async |fixture| {
        for (round, has_asked) in [false, true].into_iter().enumerate() {
            let key = fixture.owner_key(&fixture.home).await;
            let (hook, server) = hooked(&fixture);
            let mut paused = pin!(server.send(request(&key, false)));
            let gate = after_first_commit(paused.as_mut(), &hook).await;
            if has_asked {
                until_commits(paused.as_mut(), &hook, 2).await;
            }
            fixture.clock.advance(LEASE);
            let resumed = fixture.send(request(&key, false)).await;
            assert!(!is_replayed(&resumed));
            assert_eq!(resumed.data().as_array().unwrap().len(), MANY_HOSTS);
            drop(gate);
            let late = paused.await;
            assert!(is_replayed(&late), "{late:?}");
            assert_eq!(late.data(), resumed.data());
            assert_eq!(fixture.list("").await.total(), (MANY_HOSTS * (round + 1)) as u64);
        }
    });
}

#[test]
fn dropped_request_releases_its_key_while_many_background_tasks_run() {
    run_new(async |fixture| {
        let mut keys = Vec::new();
        for _ in 0..64 {
            keys.push(fixture.owner_key(&fixture.home).await);
        }
        let (hook, server) = hooked(&fixture);
        // The uses of keys are stored in the background, and wait.
        let _uses = hook.uses.acquire().await.unwrap();
        {
            let mut dropped = Box::pin(server.send(request(&fixture.key, false)));
            let gate = after_first_commit(dropped.as_mut(), &hook).await;
            for key in &keys {
                assert_eq!(server.get_with(key, "/api/v1/networks").await.status, 200);
            }
            until_commits(dropped.as_mut(), &hook, 2).await;
            drop(dropped);
            drop(gate);
        }
        fixture.store.hook().settle().await;
        // The time for which the request counted as running is not over.
        let resumed = fixture.send(request(&fixture.key, false)).await;
        assert_eq!(resumed.data().as_array().unwrap().len(), MANY_HOSTS);
        assert_eq!(fixture.list("").await.total(), MANY_HOSTS as u64);
    });
}

#[test]
fn paused_server_reports_that_another_continues_its_request() {
    run_new(async |fixture| {
        let (hook, server) = hooked(&fixture);
        let mut paused = pin!(server.send(request(&fixture.key, true)));
        let gate = after_first_commit(paused.as_mut(), &hook).await;
        fixture.clock.advance(LEASE);
        let (other_hook, other) = hooked(&fixture);
        let mut resumed = pin!(other.send(request(&fixture.key, true)));
        let other_gate = after_first_commit(resumed.as_mut(), &other_hook).await;
        drop(gate);
        paused.await.refuses(409, "idempotency_key_in_use");
        drop(other_gate);
        let resumed = resumed.await;
        assert_eq!(resumed.data().as_array().unwrap().len(), MANY_HOSTS + 1);
        assert_eq!(fixture.send(request(&fixture.key, true)).await.data(), resumed.data());
        assert_eq!(fixture.list("").await.total(), MANY_HOSTS as u64);
    });
}

#[test]
fn host_with_the_id_of_one_stored_before_the_interruption_is_refused() {
    run_new(async |fixture| {
        let mut hosts = vec![host_body(); MANY_HOSTS];
        for host in [0, MANY_HOSTS - 1] {
            hosts[host]["id"] = json!(Uuid::from_u128(0x1d));
        }
        let body = json!({"hosts": hosts, "atomic": false});
        let request = || {
            let request = with_key(send_json("POST", BULK, &body), &fixture.key);
            with_header(request, "idempotency-key", "key")
        };
        let (hook, server) = hooked(&fixture);
        {
            let mut first = pin!(server.send(request()));
            drop(after_first_commit(first.as_mut(), &hook).await);
        }
        fixture.store.hook().settle().await;
        fixture.clock.advance(LEASE);
        let resumed = fixture.send(request()).await;
        let results = resumed.data().as_array().unwrap();
        let refused: Vec<usize> =
            (0..MANY_HOSTS).filter(|place| results[*place]["error"].is_object()).collect();
        assert_eq!(refused, [MANY_HOSTS - 1], "{:?}", results[MANY_HOSTS - 1]);
        assert_eq!(fixture.list("").await.total(), (MANY_HOSTS - 1) as u64);
    });
}

#[test]
fn of_two_servers_that_continue_a_request_one_does() {
    run_new(async |fixture| {
        let (hook, server) = hooked(&fixture);
        {
            let mut first = pin!(server.send(request(&fixture.key, true)));
            drop(after_first_commit(first.as_mut(), &hook).await);
        }
        fixture.store.hook().settle().await;
        fixture.clock.advance(LEASE);
        let servers = [(); 2].map(|()| hooked(&fixture).1);
        let [one, other] = [0, 1].map(|place: usize| servers[place].send(request(&fixture.key, true)));
        let replies: [Reply; 2] = tokio::join!(one, other).into();
        let executed = replies.iter().filter(|reply| reply.status == 200 && !is_replayed(reply)).count();
        assert_eq!(executed, 1, "{replies:?}");
        for reply in &replies {
            if reply.status != 200 {
                reply.refuses(409, "idempotency_key_in_use");
            }
        }
        assert_eq!(fixture.list("").await.total(), MANY_HOSTS as u64);
    });
}

#[test]
fn request_is_continued_only_for_a_caller_with_access_to_its_networks() {
    run_new(async |fixture| {
        let user = fixture.user(&fixture.home, Permission::Member, &[OFFICE, LAB]).await;
        let networks = [OFFICE, LAB];
        let key = fixture.issue(crate::common::key_for(&user, Permission::Member, &networks)).await;
        let (hook, server) = hooked(&fixture);
        {
            let mut first = pin!(server.send(request(&key, false)));
            drop(after_first_commit(first.as_mut(), &hook).await);
        }
        fixture.store.hook().settle().await;
        fixture.clock.advance(LEASE);
        let owner = fixture.owner(&fixture.home);
        let set = async |networks: &[NetworkId]| {
            let change = |user: &mut toposcope::model::User| {
                user.network_ids = networks.to_vec();
                Ok(())
            };
            fixture.inventory.records().update(&owner, user.id, change).await.unwrap();
        };
        set(&[LAB]).await;
        fixture.send(request(&key, false)).await.refuses(403, "entity_access_denied");
        set(&networks).await;
        assert_eq!(fixture.send(request(&key, false)).await.data().as_array().unwrap().len(), MANY_HOSTS);
        assert_eq!(fixture.list("").await.total(), MANY_HOSTS as u64);
    });
}

#[test]
fn request_that_is_dropped_frees_its_key_and_is_completed_by_the_next() {
    run_new(async |fixture| {
        for (round, commits) in [1, 2, 3].into_iter().enumerate() {
            let key = fixture.owner_key(&fixture.home).await;
            let (hook, server) = hooked(&fixture);
            let gate;
            {
                let mut dropped = pin!(server.send(request(&key, true)));
                gate = if commits == 1 {
                    let gate = hook.writable.acquire().await.unwrap();
                    until_commits(dropped.as_mut(), &hook, 1).await;
                    gate
                } else {
                    let gate = after_first_commit(dropped.as_mut(), &hook).await;
                    if commits == 3 {
                        until_commits(dropped.as_mut(), &hook, 2).await;
                    }
                    gate
                };
            }
            // It is not known yet what the dropped request has stored.
            server.send(request(&key, true)).await.refuses(409, "idempotency_key_in_use");
            drop(gate);
            // The last commit frees the key.
            let began = Instant::now();
            while hook.commits() < commits.max(2) {
                assert!(began.elapsed() < Duration::from_secs(60), "after {commits}");
                tokio::task::yield_now().await;
            }
            fixture.store.hook().settle().await;
            let completed = fixture.send(request(&key, true)).await;
            assert_eq!(completed.status, 200, "after {commits}");
            assert_eq!(completed.data().as_array().unwrap().len(), MANY_HOSTS + 1, "after {commits}");
            assert_eq!(server.send(request(&key, true)).await.data(), completed.data());
            assert_eq!(fixture.list("").await.total(), (MANY_HOSTS * (round + 1)) as u64, "after {commits}");
        }
    });
}

/// A process that is killed releases nothing.
#[cfg(feature = "sled")]
#[tokio::test]
async fn request_of_a_process_that_was_killed_is_continued_after_its_lease() {
    use toposcope::access::ManualClock;
    use toposcope::inventory::{Inventory, NewUser};
    use toposcope::store::SledStore;

    use crate::common::{Site, ample, at, key_for};

    let place = crate::place::Place::new();
    let clock = ManualClock::new(at(0));
    let open = async || {
        let store = Arc::new(SledStore::builder(place.path().join("store")).open().await.unwrap());
        let inventory =
            |store: Arc<dyn toposcope::Store>| Inventory::new(store).with_clock(Arc::new(clock.clone()));
        (store, inventory)
    };
    let (store, inventory) = open().await;
    let setup = inventory(store.clone());
    let site = Site::new(&setup, "Home", true, 0x100).await;
    let user = NewUser::new("a@example.net", Permission::Owner);
    let user = setup.users().create(&Caller::system(site.organization.id), user).await.unwrap();
    let key = setup
        .user_api_keys()
        .create(&Caller::system(site.organization.id), key_for(&user, Permission::Owner, &site.networks))
        .await
        .unwrap();
    let key = key.plaintext().to_owned();
    let hook = Hook::yielding();
    {
        let server = Server::new(inventory(hook.before(store.clone())), ample());
        let mut killed = pin!(server.send(request(&key, false)));
        let gate = after_first_commit(killed.as_mut(), &hook).await;
        until_commits(killed.as_mut(), &hook, 2).await;
        // A killed process does not continue, so the permit is never returned.
        std::mem::forget(gate);
    }
    drop((setup, hook));
    store.close().await.unwrap();
    drop(store);
    let (store, inventory) = open().await;
    let server = Server::new(inventory(store), ample());
    server.send(request(&key, false)).await.refuses(409, "idempotency_key_in_use");
    clock.advance(LEASE);
    let completed = server.send(request(&key, false)).await;
    assert_eq!(completed.data().as_array().unwrap().len(), MANY_HOSTS);
    assert_eq!(server.get_with(&key, "/api/v1/hosts").await.total(), MANY_HOSTS as u64);
    assert!(is_replayed(&server.send(request(&key, false)).await));
    drop(server);
    // The tasks of the server are dropped with it, and then the store.
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
}
