//! Keys of both kinds: creation, authentication, enabling and deletion.

use std::time::Duration;

use serde_json::{Value, json};
use toposcope::inventory::{ErrorKind, Problem};

use super::{Kind, NewKey};
use crate::support::{Fixture, NOW, at_every_call, id, invalid, not_found, refusal, settle, time};

/// Returns a record in which some fields have other values.
fn with(mut record: Value, fields: Value) -> Value {
    let Value::Object(fields) = fields else { panic!("{fields} is no object") };
    record.as_object_mut().unwrap().extend(fields);
    record
}

#[tokio::test]
async fn issued_key_has_a_plaintext_of_which_the_record_shows_the_end() {
    for kind in Kind::BOTH {
        let (fixture, owner) = Fixture::with_owner().await;
        fixture.clock.set(time("2026-08-15T00:00:00Z"));
        let issued = kind.create(&fixture, &owner, |new| {
            *new = NewKey {
                name: " laptop ".to_owned(),
                tags: vec![fixture.tags[1], fixture.tags[0], fixture.tags[1]],
                expires_at: Some(time("2026-08-15T00:00:00.000001Z")),
                is_enabled: false,
            };
        });
        let issued = issued.await.unwrap();
        let text = &issued.text;
        assert_eq!(text.len(), kind.prefix().len() + 38);
        assert!(text.starts_with(kind.prefix()));
        let expected = with(
            issued.record.clone(),
            json!({
                "name": "laptop",
                "tags": [fixture.tags[1], fixture.tags[0]],
                "key": format!("{}…{}", kind.prefix(), &text[text.len() - 4..]),
                "created_at": "2026-08-15T00:00:00Z",
                "updated_at": "2026-08-15T00:00:00Z",
                "last_used": null,
                "expires_at": "2026-08-15T00:00:00.000001Z",
                "is_enabled": false,
            }),
        );
        assert_eq!(issued.record, expected);
        assert_eq!(kind.get(&fixture.inventory, issued.organization, issued.id).await.unwrap(), expected);
    }
}

#[tokio::test]
async fn key_is_enabled_and_has_no_end_and_no_tags_by_default() {
    for kind in Kind::BOTH {
        let (fixture, owner) = Fixture::with_owner().await;
        let issued = kind.create(&fixture, &owner, |_| {}).await.unwrap();
        let defaults = json!({"is_enabled": true, "expires_at": null, "tags": []});
        assert_eq!(issued.record, with(issued.record.clone(), defaults));
        fixture.clock.advance(Duration::from_secs(1000 * 365 * 24 * 3600));
        kind.authenticate(&fixture.inventory, &issued.text).await.unwrap();
    }
}

#[tokio::test]
async fn no_two_keys_are_the_same() {
    for kind in Kind::BOTH {
        let (fixture, owner) = Fixture::with_owner().await;
        let (mut texts, mut ids) = (Vec::new(), Vec::new());
        for _ in 0..20 {
            let issued = kind.create(&fixture, &owner, |_| {}).await.unwrap();
            texts.push(issued.text);
            ids.push(issued.id);
        }
        texts.sort_unstable();
        texts.dedup();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!((texts.len(), ids.len()), (20, 20));
    }
}

#[tokio::test]
async fn invalid_new_key_is_refused() {
    type Alter = fn(&mut NewKey);
    let now = time("2026-08-14T12:00:00.5Z");
    let past = || invalid("expires_at", Problem::NotInFuture { now });
    let rows: [(Alter, ErrorKind); 6] = [
        (|new| new.name.clear(), invalid("name", Problem::Empty)),
        (|new| new.name = " \u{2003}\t".to_owned(), invalid("name", Problem::Empty)),
        (|new| new.name = "🦀".repeat(101), invalid("name", Problem::MaxLength { max: 100 })),
        (|new| new.expires_at = Some(time("2026-08-14T12:00:00.5Z")), past()),
        (|new| new.expires_at = Some(time("2026-08-14T12:00:00.499999Z")), past()),
        (|new| new.expires_at = Some(time("0000-01-01T00:00:00Z")), past()),
    ];
    for kind in Kind::BOTH {
        let (fixture, owner) = Fixture::with_owner().await;
        fixture.clock.set(now);
        for (alter, expected) in &rows {
            let attempt = async { kind.create(&fixture, &owner, alter).await.map(drop) };
            assert_eq!(fixture.refusal(attempt).await, *expected, "{kind:?}");
        }
        kind.create(&fixture, &owner, |new| new.name = "🦀".repeat(100)).await.unwrap();
    }
}

#[tokio::test]
async fn text_that_is_no_key_of_the_kind_is_not_authenticated() {
    for kind in Kind::BOTH {
        let (fixture, owner) = Fixture::with_owner().await;
        let issued = kind.create(&fixture, &owner, |_| {}).await.unwrap();
        let unknown = "topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjhO";
        let daemons = "topo_d_0123456789ABCDEFGHIJKLMNOPQRSTUV0r6Ij5";
        let swap = |text: &str| match kind {
            Kind::User => text.replacen("topo_u_", "topo_d_", 1),
            Kind::Daemon => text.replacen("topo_d_", "topo_u_", 1),
        };
        let text = &issued.text;
        for attempt in [
            "",
            kind.prefix(),
            "not a key",
            unknown,
            daemons,
            &swap(text),
            issued.record["key"].as_str().unwrap(),
            &text[..text.len() - 1],
            &format!("{text}0"),
            &format!(" {text}"),
            &format!("{text}\u{0}"),
            &text.to_uppercase(),
            &"🦀".repeat(20),
        ] {
            let refused = refusal(kind.authenticate(&fixture.inventory, attempt).await);
            assert_eq!(refused, ErrorKind::NotAuthenticated, "{kind:?} {attempt:?}");
        }
    }
    // A valid user key is refused as a daemon key, whatever its prefix.
    let (fixture, issued) = Fixture::with_key().await;
    for attempt in [issued.plaintext(), &issued.plaintext().replacen("topo_u_", "topo_d_", 1)] {
        let refused = fixture.inventory.authenticate_daemon_key(attempt).await;
        assert_eq!(refusal(refused), ErrorKind::NotAuthenticated, "{attempt:?}");
    }
}

#[tokio::test]
async fn unknown_key_is_not_found() {
    for (kind, other) in [(Kind::User, Kind::Daemon), (Kind::Daemon, Kind::User)] {
        let (fixture, owner) = Fixture::with_owner().await;
        let inventory = &fixture.inventory;
        let of_other_kind = other.issue(&fixture, &owner).await.id;
        for unknown in [id(3), owner.id, fixture.network.uuid().into(), of_other_kind.into()] {
            let expected = not_found(kind.entity(), unknown);
            assert_eq!(refusal(kind.get(inventory, fixture.organization, unknown.uuid()).await), expected);
            for is_enabled in [false, true] {
                assert_eq!(
                    fixture
                        .refusal(kind.set_enabled(
                            inventory,
                            fixture.organization,
                            unknown.uuid(),
                            is_enabled
                        ))
                        .await,
                    expected
                );
            }
            assert_eq!(
                fixture.refusal(kind.delete(inventory, fixture.organization, unknown.uuid())).await,
                expected
            );
        }
    }
}

#[tokio::test]
async fn enabling_and_disabling_changes_nothing_else() {
    for kind in Kind::BOTH {
        let (fixture, owner) = Fixture::with_owner().await;
        let inventory = &fixture.inventory;
        let issued = kind.issue(&fixture, &owner).await;
        fixture.clock.set(time("2026-08-15T00:00:00Z"));
        for is_enabled in [false, false, true, true] {
            let fields = json!({"is_enabled": is_enabled, "updated_at": "2026-08-15T00:00:00Z"});
            let expected = with(issued.record.clone(), fields);
            assert_eq!(
                kind.set_enabled(inventory, issued.organization, issued.id, is_enabled).await.unwrap(),
                expected
            );
            assert_eq!(kind.get(inventory, issued.organization, issued.id).await.unwrap(), expected);
            assert_eq!(kind.list(inventory, &owner).await.unwrap(), [expected]);
        }
        // The key still has its links to tags.
        let tags = kind.get(inventory, issued.organization, issued.id).await.unwrap()["tags"].clone();
        inventory.tags().delete(&fixture.system(), fixture.tags[0]).await.unwrap();
        let without = kind.get(inventory, issued.organization, issued.id).await.unwrap()["tags"].clone();
        assert_eq!((tags, without), (json!(fixture.tags), json!([fixture.tags[1]])));
    }
}

#[tokio::test]
async fn disabled_key_is_refused_until_it_is_enabled() {
    for kind in Kind::BOTH {
        let (fixture, owner) = Fixture::with_owner().await;
        let inventory = &fixture.inventory;
        let issued = kind.create(&fixture, &owner, |new| new.is_enabled = false).await.unwrap();
        for _ in 0..2 {
            let refused = refusal(kind.authenticate(inventory, &issued.text).await);
            assert_eq!(refused, ErrorKind::Disabled { entity: kind.entity() });
            kind.set_enabled(inventory, issued.organization, issued.id, true).await.unwrap();
            kind.authenticate(inventory, &issued.text).await.unwrap();
            kind.set_enabled(inventory, issued.organization, issued.id, false).await.unwrap();
        }
    }
}

#[tokio::test]
async fn key_is_expired_from_its_end_on() {
    for kind in Kind::BOTH {
        let (fixture, owner) = Fixture::with_owner().await;
        let inventory = &fixture.inventory;
        let end = time("2026-08-14T13:00:00Z");
        let issued = kind.create(&fixture, &owner, |new| new.expires_at = Some(end)).await.unwrap();
        fixture.clock.set(time("2026-08-14T12:59:59.999999Z"));
        kind.authenticate(inventory, &issued.text).await.unwrap();
        for moment in [end, time("2026-08-14T13:00:01Z"), time("9999-01-01T00:00:00Z")] {
            fixture.clock.set(moment);
            let refused = refusal(kind.authenticate(inventory, &issued.text).await);
            assert_eq!(refused, ErrorKind::Expired { entity: kind.entity() });
        }
        fixture.clock.set(time(NOW));
        kind.authenticate(inventory, &issued.text).await.unwrap();
    }
}

#[tokio::test]
async fn deleted_key_is_refused_and_leaves_no_records() {
    for kind in Kind::BOTH {
        let (fixture, owner) = Fixture::with_owner().await;
        let inventory = &fixture.inventory;
        let other = kind.issue(&fixture, &owner).await;
        kind.authenticate(inventory, &other.text).await.unwrap();
        settle().await;
        let before = fixture.contents().await;
        let issued = kind.issue(&fixture, &owner).await;
        kind.authenticate(inventory, &issued.text).await.unwrap();
        settle().await;
        assert_eq!(fixture.contents().await.len(), before.len() + 3, "the key, its secret and its use");
        kind.delete(inventory, issued.organization, issued.id).await.unwrap();
        assert_eq!(fixture.contents().await, before);
        assert_eq!(fixture.mentioning(issued.id).await, []);
        assert_eq!(refusal(kind.authenticate(inventory, &issued.text).await), ErrorKind::NotAuthenticated);
        let again = fixture.refusal(kind.delete(inventory, issued.organization, issued.id)).await;
        assert_eq!(again, not_found(kind.entity(), issued.id));
        kind.authenticate(inventory, &other.text).await.unwrap();
    }
}

/// A change of a key concurrent with its deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Concurrent {
    Delete,
    Disable,
    Enable,
    Authenticate,
}

#[tokio::test]
async fn key_that_is_deleted_during_another_operation_does_not_come_back() {
    for kind in Kind::BOTH {
        for operation in
            [Concurrent::Delete, Concurrent::Disable, Concurrent::Enable, Concurrent::Authenticate]
        {
            at_every_call(
                async |fixture: &Fixture| kind.issue(fixture, &fixture.owner().await).await,
                async |inventory, issued| {
                    kind.delete(inventory, issued.organization, issued.id).await.unwrap();
                },
                async |inventory, issued| match operation {
                    Concurrent::Delete => kind.delete(inventory, issued.organization, issued.id).await,
                    Concurrent::Disable => {
                        kind.set_enabled(inventory, issued.organization, issued.id, false).await.map(drop)
                    }
                    Concurrent::Enable => {
                        kind.set_enabled(inventory, issued.organization, issued.id, true).await.map(drop)
                    }
                    Concurrent::Authenticate => kind.authenticate(inventory, &issued.text).await,
                },
                async |fixture, issued, result| {
                    match operation {
                        Concurrent::Authenticate => assert_eq!(refusal(result), ErrorKind::NotAuthenticated),
                        Concurrent::Delete => {
                            assert_eq!(refusal(result), not_found(kind.entity(), issued.id));
                        }
                        Concurrent::Disable | Concurrent::Enable => {
                            if let Err(error) = result {
                                assert_eq!(*error.kind(), not_found(kind.entity(), issued.id));
                            }
                        }
                    }
                    settle().await;
                    assert_eq!(fixture.mentioning(issued.id).await, [], "{kind:?} {operation:?}");
                },
            )
            .await;
        }
    }
}
