//! API keys: their form, what is stored of them, and when they were last used.

use std::time::Duration;
use toposcope::access::Caller;

use serde_json::{Value, json};
use toposcope::model::{Permission, Timestamp};
use toposcope::store::{Key, Name, StoreError, Write};

use crate::backend::{Backend, run_with};
use crate::common::{
    Fault, HOSTS, Hook, OFFICE, PASSWORD, Populated, Server, at, daemon_body, get, key_for, log_in, with,
    with_key,
};

const BASE_62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Computes the checksum of a key bit by bit from its definition.
fn checksum(text: &str) -> String {
    let mut crc = u32::MAX;
    for byte in text.bytes() {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    let mut rest = !crc;
    let mut digits = [0; 6];
    for digit in digits.iter_mut().rev() {
        *digit = BASE_62[usize::try_from(rest % 62).unwrap()];
        rest /= 62;
    }
    String::from_utf8(digits.to_vec()).unwrap()
}

#[test]
fn key_consists_of_prefix_random_text_and_checksum() {
    run_with(Populated::new, async |fixture| {
        let mut keys = Vec::new();
        for _ in 0..50 {
            let reply = fixture.send(fixture.create_daemon_key(&daemon_body())).await;
            keys.push(("topo_d_", reply.data()["key"].as_str().unwrap().to_owned()));
            keys.push((
                "topo_u_",
                fixture.issue(key_for(&fixture.member, Permission::Viewer, &[OFFICE])).await,
            ));
        }
        for (prefix, key) in &keys {
            let rest = key.strip_prefix(prefix).expect("a key says what it is");
            assert!(rest.len() == 38 && rest.bytes().all(|byte| BASE_62.contains(&byte)), "{key}");
            assert_eq!(checksum(&key[..key.len() - 6]), key[key.len() - 6..]);
        }
        let mut texts: Vec<&str> = keys.iter().map(|(_, key)| &key[7..39]).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), 100, "no two are alike");
    });
}

/// Returns whether a body or the facets of a write contain one of the texts.
fn holds(writes: &[Write], texts: &[&str]) -> bool {
    let is_in = |bytes: &[u8]| {
        let windows = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        texts.iter().any(|text| windows(text))
    };
    writes.iter().any(|write| match write {
        Write::Put { facets, body, .. } => {
            is_in(body)
                || facets.unique_keys.iter().any(|unique_key| is_in(&unique_key.value))
                || facets.sort_keys.iter().any(|key| is_in(&key.value))
        }
        _ => false,
    })
}

#[test]
fn secrets_are_stored_only_as_digests() {
    run_with(Populated::new, async |fixture| {
        let store = Hook::new();
        let server = fixture.server_with(&store);
        let created = server.send(fixture.create_daemon_key(&daemon_body())).await;
        let key = created.data()["key"].as_str().unwrap().to_owned();
        let user_key = key_for(&fixture.member, Permission::Viewer, &[]);
        let user_key = fixture
            .inventory_with(&store)
            .user_api_keys()
            .create(&Caller::system(fixture.member.organization_id), user_key)
            .await
            .unwrap()
            .plaintext()
            .to_owned();
        let signed_in = server.send(log_in(&fixture.member.email, PASSWORD)).await;
        let session = signed_in.header("set-cookie").split(['=', ';']).nth(1).unwrap().to_owned();
        let writes = store.take_written();
        assert!(writes.len() >= 5 && session.len() == 43);
        // The masked form shows the last four characters; no five of them appear in sequence.
        let ends = [&key[7..], &key[key.len() - 5..], &user_key[7..], &user_key[user_key.len() - 5..]];
        assert!(!holds(&writes, &ends));
        assert!(!holds(&writes, &[&session, &session[..16], PASSWORD]));
        assert!(holds(&writes, &[&key[key.len() - 4..]]), "this would find what there is");
    });
}

/// The key appears in the answer to its creation, and in no later one.
#[test]
fn key_is_shown_once_and_masked_afterwards() {
    run_with(Populated::new, async |fixture| {
        let masked = format!("topo_u_…{}", &fixture.member_key[fixture.member_key.len() - 4..]);
        let bodies = [
            fixture.key_body(),
            with(&fixture.key_body(), "is_enabled", false),
            with(&fixture.key_body(), "key", &*fixture.member_key),
            with(&with(&fixture.key_body(), "is_enabled", true), "expires_at", Value::Null),
        ];
        for body in bodies {
            let reply = fixture.send(fixture.put_own_key(&body)).await;
            assert_eq!(reply.data()["key"], json!(masked));
            assert!(!String::from_utf8(reply.body).unwrap().contains(&fixture.member_key[7..]));
        }
        let inventory = &fixture.inventory;
        assert_eq!(
            inventory.user_api_keys().get(&fixture.system(), fixture.member_key_id).await.unwrap().key,
            masked
        );
        let created = fixture.send(fixture.create_daemon_key(&daemon_body())).await;
        let key = created.data()["key"].as_str().unwrap();
        assert_eq!(created.data()["api_key"]["key"], key);
        let id = created.data()["api_key"]["id"].as_str().unwrap().parse().unwrap();
        let masked = format!("topo_d_…{}", &key[key.len() - 4..]);
        assert_eq!(inventory.daemon_api_keys().get(&fixture.system(), id).await.unwrap().key, masked);
        assert_eq!(inventory.daemon_api_keys().disable(&fixture.system(), id).await.unwrap().key, masked);
    });
}

/// The checksum is wrong, so the store is not asked.
#[test]
fn mistyped_key_is_rejected_without_a_store_call() {
    run_with(Populated::new, async |fixture| {
        let store = Hook::new();
        let server = fixture.server_with(&store);
        for place in [7, 20, fixture.member_key.len() - 1] {
            let mut mistyped = fixture.member_key.clone();
            let other = if mistyped[place..].starts_with('x') { "y" } else { "x" };
            mistyped.replace_range(place..=place, other);
            server.get_with(&mistyped, HOSTS).await.refuses(401, "auth_not_authenticated");
            assert_eq!(store.take_calls(), [""; 0]);
        }
        assert_eq!(server.get_with(&fixture.member_key, HOSTS).await.status, 200);
        assert!(!store.take_calls().is_empty());
    });
}

async fn last_used(fixture: &Populated) -> Option<Timestamp> {
    fixture.inventory.user_api_keys().get(&fixture.system(), fixture.member_key_id).await.unwrap().last_used
}

/// Uses the member's key.
async fn list(fixture: &Populated, server: &Server) {
    assert_eq!(server.get_with(&fixture.member_key, HOSTS).await.status, 200);
}

#[test]
fn last_used_is_accurate_to_a_minute() {
    run_with(Populated::new, async |fixture| {
        assert_eq!(last_used(&fixture).await, None);
        for (second, noted) in [(0, 0), (1, 0), (59, 0), (60, 60), (119, 60), (120, 120), (1000, 1000)] {
            fixture.clock.set(at(second));
            list(&fixture, &fixture.server).await;
            fixture.store.hook().settle().await;
            assert_eq!(last_used(&fixture).await, Some(at(noted)), "used after {second} seconds");
        }
    });
}

/// Every read of a key and the answer to an update show its last use. A use does not change the key itself.
#[test]
fn last_used_is_shown_and_does_not_change_updated_at() {
    run_with(Populated::new, async |fixture| {
        fixture.clock.set(at(5));
        list(&fixture, &fixture.server).await;
        fixture.store.hook().settle().await;
        let key =
            fixture.inventory.user_api_keys().get(&fixture.system(), fixture.member_key_id).await.unwrap();
        assert_eq!((key.last_used, key.updated_at), (Some(at(5)), at(0)));
        fixture.clock.set(at(6));
        let reply = fixture.send(fixture.put_own_key(&with(&fixture.key_body(), "name", "renamed"))).await;
        assert_eq!(reply.data()["last_used"], at(5).to_string());
        assert_eq!(reply.data()["updated_at"], at(6).to_string());
    });
}

#[test]
fn last_used_is_set_for_daemon_keys_but_not_for_rejected_keys() {
    run_with(Populated::new, async |fixture| {
        let noted = async || {
            fixture.store.hook().settle().await;
            fixture
                .inventory
                .daemon_api_keys()
                .get(&fixture.system(), fixture.daemon_key_id)
                .await
                .unwrap()
                .last_used
        };
        assert_eq!(noted().await, None);
        let reply = fixture.send(with_key(get(HOSTS), &fixture.daemon_key)).await;
        reply.refuses(403, "auth_user_context_required");
        assert_eq!(noted().await, Some(at(0)), "a daemon was there with it");
        fixture.inventory.user_api_keys().disable(&fixture.system(), fixture.member_key_id).await.unwrap();
        fixture.server.get_with(&fixture.member_key, HOSTS).await.refuses(401, "entity_disabled");
        fixture.store.hook().settle().await;
        assert_eq!(last_used(&fixture).await, None, "what does not work is not used");
    });
}

#[test]
fn last_used_is_written_once_a_minute_beside_the_key() {
    run_with(Populated::new, async |fixture| {
        let store = Hook::new();
        let server = fixture.server_with(&store);
        let mut writes = Vec::new();
        for second in (0..180).step_by(5) {
            fixture.clock.set(at(second));
            for _ in 0..3 {
                list(&fixture, &server).await;
            }
            fixture.store.hook().settle().await;
            writes.extend(store.take_written().iter().map(|write| write.key()));
        }
        assert_eq!(writes.len(), 3, "{writes:?}");
        assert!(
            writes.iter().all(|key| key.kind.as_str() == "key_use" && key.id == fixture.member_key_id.uuid()),
            "{writes:?}"
        );
    });
}

/// Servers on the same store see each other's writes, also after a restart.
#[test]
fn servers_on_one_store_write_last_used_once_a_minute_in_all() {
    run_with(Populated::new, async |fixture| {
        let store = Hook::new();
        for number in 0..5 {
            fixture.clock.set(at(number));
            let server = fixture.server_with(&store);
            list(&fixture, &server).await;
            fixture.store.hook().settle().await;
        }
        assert_eq!(store.take_written().len(), 1);
        assert_eq!(last_used(&fixture).await, Some(at(0)));
    });
}

#[test]
fn failure_to_write_last_used_affects_no_request() {
    run_with(Populated::new, async |fixture| {
        let kind = Name::new("key_use");
        for fault in [
            Fault::Commit(kind, |_| StoreError::unavailable("down")),
            Fault::Commit(kind, StoreError::conflict),
            Fault::Commit(kind, |_| panic!("down")),
        ] {
            let store = Hook::failing(fault);
            let server = fixture.server_with(&store);
            for _ in 0..3 {
                list(&fixture, &server).await;
                fixture.store.hook().settle().await;
                fixture.clock.advance(Duration::from_secs(60));
            }
            let tried = store.take_calls().iter().filter(|call| *call == "commit key_use").count();
            assert_eq!(tried, 3, "once a minute, and no more often");
        }
        assert_eq!(last_used(&fixture).await, None);
    });
}

#[test]
fn use_that_the_store_did_not_take_is_written_after_the_next_one() {
    let unavailable: fn(Key) -> StoreError = |_| StoreError::unavailable("down");
    let corrupt: fn(Key) -> StoreError = |_| StoreError::corrupt("damaged");
    let failing: fn(Key) -> StoreError = |_| panic!("down");
    for (fault, used_at, used_elsewhere_at, expected) in [
        (unavailable, &[0][..], None, Some(0)),
        (unavailable, &[0, 59, 60, 119], None, Some(60)),
        (failing, &[0], None, Some(0)),
        // A later use that another server has written stands.
        (unavailable, &[0], Some(70), Some(70)),
        (unavailable, &[0], Some(30), Some(30)),
        (corrupt, &[0], None, None),
    ] {
        run_with(Populated::new, async |fixture| {
            let store = Hook::failing(Fault::Commit(Name::new("key_use"), fault));
            let server = fixture.server_with(&store);
            let other = fixture.issue(key_for(&fixture.member, Permission::Viewer, &[OFFICE])).await;
            for second in used_at {
                fixture.clock.set(at(*second));
                list(&fixture, &server).await;
                fixture.store.hook().settle().await;
            }
            assert_eq!(last_used(&fixture).await, None);
            if let Some(second) = used_elsewhere_at {
                fixture.clock.set(at(second));
                list(&fixture, &fixture.server).await;
                fixture.store.hook().settle().await;
            }
            store.set_fault(Fault::None);
            fixture.clock.set(at(200));
            assert_eq!(server.get_with(&other, HOSTS).await.status, 200);
            fixture.store.hook().settle().await;
            assert_eq!(last_used(&fixture).await, expected.map(at), "{used_at:?}, {used_elsewhere_at:?}");
        });
    }
}

/// The answer is complete before the use is written.
#[test]
fn request_does_not_wait_for_last_used() {
    run_with(Populated::new, async |fixture| {
        let store = Hook::new();
        let server = fixture.server_with(&store);
        list(&fixture, &server).await;
        let mut written = store.take_written().len();
        // While a request waits for a database, the background task may go on.
        if !Backend::current().is_shared() {
            assert_eq!(written, 0);
            assert!(store.take_calls().iter().all(|call| !call.contains("key_use")));
        }
        fixture.store.hook().settle().await;
        written += store.take_written().len();
        assert_eq!(written, 1);
    });
}
