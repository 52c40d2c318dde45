//! `PUT` and `DELETE /api/v1/auth/keys/{id}`.

use serde_json::{Value, json};
use toposcope::access::Caller;
use toposcope::inventory::NewUserApiKey;
use toposcope::model::{Permission, UserApiKeyId};
use toposcope::store::Write;

use crate::backend::run_with;
use crate::common::{
    HOSTS, Hook, LAB, LEVELS, NOBODY, OFFICE, Populated, Row, VAULT, at, bare, get, key_for, key_path,
    put_key, send_json, with, with_header, with_key, with_session,
};

async fn update(fixture: &Populated, id: UserApiKeyId, body: &Value) -> Value {
    fixture.send(fixture.put_key(id, body)).await.data().clone()
}

/// A key of the member with every field set, and its id.
async fn rich_key(fixture: &Populated) -> (String, UserApiKeyId) {
    let mut key: NewUserApiKey = key_for(&fixture.member, Permission::Member, &[LAB, OFFICE]);
    key.tags = fixture.home.tags[..2].to_vec();
    key.expires_at = Some(at(1000));
    let issued = fixture.inventory.user_api_keys().create(&fixture.system(), key).await.unwrap();
    (issued.plaintext().to_owned(), issued.record().id)
}

#[test]
fn updated_key_is_returned_masked() {
    run_with(Populated::new, async |fixture| {
        let (plaintext, id) = rich_key(&fixture).await;
        let [red, _, blue] = fixture.home.tags;
        fixture.clock.set(at(8));
        let body = json!({
            "name": "  renamed ",
            "organization_id": fixture.member.organization_id,
            "user_id": fixture.member.id,
            "tags": [blue, red, blue],
            "expires_at": "2027-01-01T01:00:00.1234567+01:00",
            "is_enabled": false,
            "network_ids": [LAB, LAB],
            "permissions": "Viewer",
        });
        let expected = json!({
            "id": id,
            "name": "renamed",
            "organization_id": fixture.member.organization_id,
            "user_id": fixture.member.id,
            "tags": [blue, red],
            "key": format!("topo_u_…{}", &plaintext[plaintext.len() - 4..]),
            "last_used": null,
            "created_at": at(0),
            "updated_at": at(8),
            "expires_at": "2027-01-01T00:00:00.123456Z",
            "is_enabled": false,
            "network_ids": [LAB],
            "all_networks": false,
            "permissions": "Viewer",
        });
        assert_eq!(update(&fixture, id, &body).await, expected);
        let stored = fixture.inventory.user_api_keys().get(&fixture.system(), id).await.unwrap();
        assert_eq!(serde_json::to_value(stored).unwrap(), expected);
    });
}

#[test]
fn omitted_fields_of_a_key_stay_unchanged() {
    run_with(Populated::new, async |fixture| {
        let (_, id) = rich_key(&fixture).await;
        let before =
            serde_json::to_value(fixture.inventory.user_api_keys().get(&fixture.system(), id).await.unwrap())
                .unwrap();
        fixture.clock.set(at(1));
        let least = fixture.key_body();
        let expected = with(&with(&before, "tags", json!([])), "updated_at", json!(at(1)));
        assert_eq!(update(&fixture, id, &least).await, expected);
        for (field, value) in [
            ("expires_at", json!("2030-01-01T00:00:00Z")),
            ("is_enabled", json!(false)),
            ("network_ids", json!([OFFICE])),
            ("permissions", json!("Viewer")),
            ("name", json!("another name")),
        ] {
            let (_, id) = rich_key(&fixture).await;
            let before = serde_json::to_value(
                fixture.inventory.user_api_keys().get(&fixture.system(), id).await.unwrap(),
            )
            .unwrap();
            let changed = update(&fixture, id, &with(&least, field, value.clone())).await;
            let expected = with(&with(&before, "tags", json!([])), field, value);
            assert_eq!(changed, expected, "only the {field}");
        }
    });
}

#[test]
fn key_of_all_networks_stays_one_until_its_networks_are_given() {
    run_with(Populated::new, async |fixture| {
        let member = fixture.user(&fixture.home, Permission::Admin, &[]).await;
        let session = fixture.sign_in(&member).await;
        let send = async |request| fixture.send(with_session(request, &session)).await;
        let post = |body: Value| send_json("POST", "/api/v1/auth/keys", &body);
        let new = json!({"name": "all", "permissions": "Admin"});
        let missing = send(post(new.clone())).await;
        assert_eq!(*missing.refuses(400, "validation_required"), json!({"field": "network_ids"}));
        let issued = send(post(with(&new, "all_networks", json!(true)))).await.data().clone();
        let (key, path) =
            (&issued["api_key"], format!("/api/v1/auth/keys/{}", text(&issued["api_key"]["id"])));
        assert_eq!(key["all_networks"], json!(true));
        let count = |key: &Value| key["network_ids"].as_array().unwrap().len();
        assert_eq!(count(key), 3);

        let tag = send(get(&path)).await.header("etag").to_owned();
        let by_key = |request| with_key(request, text(&issued["key"]));
        let network = send_json("POST", "/api/v1/networks", &json!({"name": "made by a key"}));
        let network = fixture.send(by_key(network)).await.data().clone();
        let host = json!({"name": "a host", "network_id": network["id"]});
        assert_eq!(fixture.send(by_key(send_json("POST", HOSTS, &host))).await.status, 200);
        let tags = send_json("POST", "/api/v1/tags", &json!({"name": "made by a key"}));
        assert_eq!(fixture.send(by_key(tags)).await.status, 200);
        let changed = send(with_header(get(&path), "if-none-match", &tag)).await;
        assert_eq!((changed.status.as_u16(), count(changed.data())), (200, 4));

        let record = changed.data().clone();
        let put = |body: &Value| send_json("PUT", &path, body);
        let without = |field: &str| {
            let mut body = record.clone();
            body.as_object_mut().unwrap().remove(field);
            body
        };
        for body in [record.clone(), without("all_networks"), without("network_ids")] {
            let kept = send(put(&body)).await.data().clone();
            assert_eq!((&kept["all_networks"], count(&kept)), (&json!(true), 4), "{body}");
        }
        let stale = with(&record, "network_ids", json!([OFFICE]));
        assert_eq!(count(send(put(&stale)).await.data()), 4, "the body says that it stays one");
        let limited = with(&without("all_networks"), "network_ids", json!([OFFICE]));
        let limited = send(put(&limited)).await.data().clone();
        assert_eq!((&limited["all_networks"], &limited["network_ids"]), (&json!(false), &json!([OFFICE])));
        let refused = fixture.send(by_key(send_json("POST", HOSTS, &host))).await;
        refused.refuses(403, "entity_access_denied");
    });
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

#[test]
fn null_clears_the_expiry_and_an_empty_list_the_networks() {
    run_with(Populated::new, async |fixture| {
        let (_, id) = rich_key(&fixture).await;
        let tags = json!(fixture.home.tags[..2]);
        let body = with(&fixture.key_body(), "tags", tags.clone());
        let nulls = ["is_enabled", "network_ids", "permissions"];
        let nulls = nulls.iter().fold(body.clone(), |body, field| with(&body, field, Value::Null));
        let kept = update(&fixture, id, &nulls).await;
        assert_eq!((&kept["tags"], &kept["network_ids"]), (&tags, &json!([LAB, OFFICE])));
        assert_eq!((&kept["is_enabled"], &kept["permissions"]), (&json!(true), &json!("Member")));
        assert_eq!(kept["expires_at"], json!(at(1000)));
        let cleared = update(&fixture, id, &with(&body, "expires_at", Value::Null)).await;
        assert_eq!((&cleared["expires_at"], &cleared["network_ids"]), (&Value::Null, &json!([LAB, OFFICE])));
        let emptied = update(&fixture, id, &with(&fixture.key_body(), "network_ids", json!([]))).await;
        assert_eq!((&emptied["tags"], &emptied["network_ids"]), (&json!([]), &json!([])));
    });
}

#[test]
fn server_fields_of_a_key_are_ignored() {
    run_with(Populated::new, async |fixture| {
        let (plaintext, id) = rich_key(&fixture).await;
        let mut body = fixture.key_body();
        for (field, value) in [
            ("id", json!(NOBODY)),
            ("key", json!(plaintext)),
            ("last_used", json!(at(-5))),
            ("created_at", json!(at(-5))),
            ("updated_at", json!("x")),
        ] {
            body = with(&body, field, value);
        }
        let data = update(&fixture, id, &body).await;
        assert_eq!(
            (&data["id"], &data["created_at"], &data["last_used"]),
            (&json!(id), &json!(at(0)), &Value::Null)
        );
        assert!(!data.to_string().contains(&plaintext));
    });
}

/// The change applies from the very next request with the key.
#[test]
fn changes_of_a_key_take_effect_immediately() {
    run_with(Populated::new, async |fixture| {
        let (key, id) = rich_key(&fixture).await;
        let list = async || fixture.server.get_with(&key, HOSTS).await;
        let change = async |field: &str, value: Value| {
            update(&fixture, id, &with(&fixture.key_body(), field, value)).await;
        };
        assert_eq!(list().await.ids(), [1, 2, 3]);
        change("network_ids", json!([LAB])).await;
        assert_eq!(list().await.ids(), [3]);
        change("network_ids", json!([])).await;
        assert_eq!(list().await.ids(), [0; 0]);
        change("network_ids", json!([OFFICE])).await;
        assert_eq!(list().await.ids(), [1, 2]);
        change("is_enabled", json!(false)).await;
        assert_eq!(list().await.refuses(401, "entity_disabled"), &json!({"entity": "User API Key"}));
        change("is_enabled", json!(true)).await;
        assert_eq!(list().await.ids(), [1, 2]);
        // The expiry may be in the past, which ends the key.
        for end in [at(0), at(-1), "1970-01-01T00:00:00Z".parse().unwrap()] {
            change("expires_at", json!(end)).await;
            assert_eq!(list().await.refuses(401, "entity_expired"), &json!({"entity": "User API Key"}));
        }
        change("expires_at", Value::Null).await;
        assert_eq!(list().await.ids(), [1, 2]);
    });
}

#[test]
fn key_may_be_given_rights_up_to_those_of_its_user() {
    run_with(Populated::new, async |fixture| {
        for level in LEVELS {
            let user = fixture.user(&fixture.home, level, &[OFFICE]).await;
            let session = fixture.sign_in(&user).await;
            let issued = fixture
                .inventory
                .user_api_keys()
                .create(&fixture.system(), key_for(&user, Permission::Viewer, &[]))
                .await
                .unwrap();
            let id = issued.record().id;
            let body = with(&fixture.key_body(), "user_id", json!(user.id));
            let request = |body: &Value| with_session(put_key(id, body), &session);
            let mut rows = Vec::new();
            for wanted in LEVELS {
                let request = request(&with(&body, "permissions", wanted.to_string()));
                rows.push(if wanted <= level {
                    Row::succeeds(format!("{wanted} by {level}"), request)
                } else {
                    let name = format!("{wanted} by {level}");
                    Row::refused(name, request, "auth_permission_denied")
                });
            }
            for network in [OFFICE, VAULT] {
                let request = request(&with(&body, "network_ids", json!([network])));
                let name = format!("{network} by {level}");
                rows.push(if network == OFFICE || level >= Permission::Admin {
                    Row::succeeds(name, request)
                } else {
                    let params = json!({"entity": "Network", "id": network});
                    Row::refused_with(name, request, "entity_access_denied", params)
                });
            }
            fixture.check(rows).await;
        }
    });
}

/// A key with more rights than its user has now can still be renamed.
#[test]
fn key_with_more_rights_than_its_user_can_be_renamed() {
    run_with(Populated::new, async |fixture| {
        let inventory = &fixture.inventory;
        inventory
            .users()
            .set_rights(
                &Caller::system(fixture.member.organization_id),
                fixture.member.id,
                Permission::Viewer,
                vec![],
            )
            .await
            .unwrap();
        let data =
            update(&fixture, fixture.member_key_id, &with(&fixture.key_body(), "name", "renamed")).await;
        assert_eq!((&data["name"], &data["permissions"]), (&json!("renamed"), &json!("Member")));
        assert_eq!(data["network_ids"], json!([OFFICE, LAB]));
    });
}

#[test]
fn deleted_key_is_rejected_and_not_found_afterwards() {
    run_with(Populated::new, async |fixture| {
        let delete = || fixture.by_session(bare("DELETE", &key_path(fixture.member_key_id)));
        assert_eq!(fixture.server.get_with(&fixture.member_key, HOSTS).await.status, 200);
        let params = json!({"entity": "User API Key", "id": fixture.member_key_id});
        let by_key = || with_key(get(HOSTS), &fixture.member_key);
        let rows = [
            Row::gives("the first time", delete(), json!({})),
            Row::refused("the key", by_key(), "auth_not_authenticated"),
            Row::refused_with("the second time", delete(), "entity_not_found", params.clone()),
            Row::refused_with(
                "an update",
                fixture.put_own_key(&fixture.key_body()),
                "entity_not_found",
                params,
            ),
            Row::refused("the key", by_key(), "auth_not_authenticated"),
        ];
        fixture.check(rows).await;
        assert!(
            fixture
                .inventory
                .user_api_keys()
                .of_user(&Caller::system(fixture.member.organization_id), fixture.member.id)
                .await
                .unwrap()
                .is_empty()
        );
    });
}

#[test]
fn deleting_a_key_deletes_all_of_its_records() {
    run_with(Populated::new, async |fixture| {
        let store = Hook::new();
        let delete = fixture.by_session(bare("DELETE", &key_path(fixture.member_key_id)));
        assert_eq!(fixture.server_with(&store).send(delete).await.data(), &json!({}));
        let mut written = store.take_written();
        written.retain(|write| !["history", "change"].contains(&write.key().kind.as_str()));
        assert!(written.iter().all(|write| matches!(write, Write::Delete { .. })));
        let mut kinds: Vec<String> = written.iter().map(|write| write.key().kind.to_string()).collect();
        kinds.sort_unstable();
        assert_eq!(kinds, ["key_secret", "key_use", "user_api_key"]);
        assert!(written.iter().all(|write| write.key().id == fixture.member_key_id.uuid()));
    });
}
