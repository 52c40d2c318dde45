use serde_json::{Value, json};
use toposcope::inventory::NewUserApiKey;
use toposcope::model::Permission;
use toposcope::store::Write;
use uuid::Uuid;

use crate::common::{LAB, NOBODY, OFFICE, VAULT, at, bare, get, key_for, with_key, with_session};
use crate::contract::row::{Row, check};
use crate::contract::scene::{HOSTS, LEVELS, Scene, key_path, put_key, with};
use crate::contract::store::{Fault, Interposed};

async fn update(scene: &Scene, id: Uuid, body: &Value) -> Value {
    scene.server().send(scene.put_key(id, body)).await.data().clone()
}

/// A key of the member with every field set, and its id.
async fn rich_key(scene: &Scene) -> (String, Uuid) {
    let mut key: NewUserApiKey = key_for(&scene.member, Permission::Member, &[LAB, OFFICE]);
    key.tags = scene.world.home.tags[..2].to_vec();
    key.expires_at = Some(at(1000));
    let issued = scene.world.inventory.create_user_api_key(key).await.unwrap();
    (issued.plaintext().to_owned(), issued.record().id)
}

#[tokio::test]
async fn the_answer_is_the_record_with_its_key_masked() {
    let scene = Scene::new().await;
    let (plaintext, id) = rich_key(&scene).await;
    let [red, _, blue] = scene.world.home.tags;
    scene.world.clock.set(at(8));
    let body = json!({
        "name": "  renamed ",
        "organization_id": scene.member.organization_id,
        "user_id": scene.member.id,
        "tags": [blue, red, blue],
        "expires_at": "2027-01-01T01:00:00.1234567+01:00",
        "is_enabled": false,
        "network_ids": [LAB, LAB],
        "permissions": "Viewer",
    });
    let expected = json!({
        "id": id,
        "name": "renamed",
        "organization_id": scene.member.organization_id,
        "user_id": scene.member.id,
        "tags": [blue, red],
        "key": format!("topo_u_…{}", &plaintext[plaintext.len() - 4..]),
        "last_used": null,
        "created_at": at(0),
        "updated_at": at(8),
        "expires_at": "2027-01-01T00:00:00.123456Z",
        "is_enabled": false,
        "network_ids": [LAB],
        "permissions": "Viewer",
    });
    assert_eq!(update(&scene, id, &body).await, expected);
    let stored = scene.world.inventory.user_api_key(id).await.unwrap();
    assert_eq!(serde_json::to_value(stored).unwrap(), expected);
}

#[tokio::test]
async fn what_is_left_out_stays_as_it_is() {
    let scene = Scene::new().await;
    let (_, id) = rich_key(&scene).await;
    let before = serde_json::to_value(scene.world.inventory.user_api_key(id).await.unwrap()).unwrap();
    scene.world.clock.set(at(1));
    let least = scene.key_body();
    let expected = with(&with(&before, "tags", json!([])), "updated_at", json!(at(1)));
    assert_eq!(update(&scene, id, &least).await, expected);
    for (field, value) in [
        ("expires_at", json!("2030-01-01T00:00:00Z")),
        ("is_enabled", json!(false)),
        ("network_ids", json!([OFFICE])),
        ("permissions", json!("Viewer")),
        ("name", json!("another name")),
    ] {
        let (_, id) = rich_key(&scene).await;
        let before = serde_json::to_value(scene.world.inventory.user_api_key(id).await.unwrap()).unwrap();
        let changed = update(&scene, id, &with(&least, field, value.clone())).await;
        let expected = with(&with(&before, "tags", json!([])), field, value);
        assert_eq!(changed, expected, "only the {field}");
    }
}

#[tokio::test]
async fn null_clears_the_end_and_an_empty_list_empties_the_list() {
    let scene = Scene::new().await;
    let (_, id) = rich_key(&scene).await;
    let tags = json!(scene.world.home.tags[..2]);
    let body = with(&scene.key_body(), "tags", tags.clone());
    let nulls = ["is_enabled", "network_ids", "permissions"];
    let nulls = nulls.iter().fold(body.clone(), |body, field| with(&body, field, Value::Null));
    let kept = update(&scene, id, &nulls).await;
    assert_eq!((&kept["tags"], &kept["network_ids"]), (&tags, &json!([LAB, OFFICE])));
    assert_eq!((&kept["is_enabled"], &kept["permissions"]), (&json!(true), &json!("Member")));
    assert_eq!(kept["expires_at"], json!(at(1000)));
    let cleared = update(&scene, id, &with(&body, "expires_at", Value::Null)).await;
    assert_eq!((&cleared["expires_at"], &cleared["network_ids"]), (&Value::Null, &json!([LAB, OFFICE])));
    let emptied = update(&scene, id, &with(&scene.key_body(), "network_ids", json!([]))).await;
    assert_eq!((&emptied["tags"], &emptied["network_ids"]), (&json!([]), &json!([])));
}

#[tokio::test]
async fn what_only_the_server_sets_is_ignored() {
    let scene = Scene::new().await;
    let (plaintext, id) = rich_key(&scene).await;
    let mut body = scene.key_body();
    for (field, value) in [
        ("id", json!(NOBODY)),
        ("key", json!(plaintext)),
        ("last_used", json!(at(-5))),
        ("created_at", json!(at(-5))),
        ("updated_at", json!("x")),
    ] {
        body = with(&body, field, value);
    }
    let data = update(&scene, id, &body).await;
    assert_eq!(
        (&data["id"], &data["created_at"], &data["last_used"]),
        (&json!(id), &json!(at(0)), &Value::Null)
    );
    assert!(!data.to_string().contains(&plaintext));
}

/// The change applies from the very next request with the key.
#[tokio::test]
async fn every_change_is_effective_at_once() {
    let scene = Scene::new().await;
    let (key, id) = rich_key(&scene).await;
    let list = async || scene.server().get_with(&key, HOSTS).await;
    let change = async |field: &str, value: Value| {
        update(&scene, id, &with(&scene.key_body(), field, value)).await;
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
}

#[tokio::test]
async fn a_level_and_networks_are_given_up_to_ones_own() {
    let scene = Scene::new().await;
    let world = &scene.world;
    for level in LEVELS {
        let user = world.user(&world.home, level, &[OFFICE]).await;
        let session = world.sign_in(&user).await;
        let issued =
            world.inventory.create_user_api_key(key_for(&user, Permission::Viewer, &[])).await.unwrap();
        let id = issued.record().id;
        let body = with(&scene.key_body(), "user_id", json!(user.id));
        let request = |body: &Value| with_session(put_key(id, body), &session);
        let mut rows = Vec::new();
        for wanted in LEVELS {
            let request = request(&with(&body, "permissions", wanted.to_string()));
            rows.push(if wanted <= level {
                Row::succeeds(format!("{wanted} by {level}"), request)
            } else {
                let name = format!("{wanted} by {level}");
                Row::refused(name, request, 403, "auth_permission_denied", json!({}))
            });
        }
        for network in [OFFICE, VAULT] {
            let request = request(&with(&body, "network_ids", json!([network])));
            let name = format!("{network} by {level}");
            rows.push(if network == OFFICE || level >= Permission::Admin {
                Row::succeeds(name, request)
            } else {
                let params = json!({"entity": "Network", "id": network});
                Row::refused(name, request, 403, "entity_access_denied", params)
            });
        }
        check(scene.server(), rows).await;
    }
}

/// A key with more rights than its user has now can still be renamed.
#[tokio::test]
async fn a_user_who_has_less_by_now_may_still_rename_a_key() {
    let scene = Scene::new().await;
    let inventory = &scene.world.inventory;
    inventory.set_user_rights(scene.member.id, Permission::Viewer, vec![]).await.unwrap();
    let data = update(&scene, scene.key_id, &with(&scene.key_body(), "name", "renamed")).await;
    assert_eq!((&data["name"], &data["permissions"]), (&json!("renamed"), &json!("Member")));
    assert_eq!(data["network_ids"], json!([OFFICE, LAB]));
}

#[tokio::test]
async fn a_key_that_is_deleted_is_gone_at_once_and_the_second_time_it_is_not_found() {
    let scene = Scene::new().await;
    let delete = || scene.by_session(bare("DELETE", &key_path(scene.key_id)));
    assert_eq!(scene.server().get_with(&scene.key, HOSTS).await.status, 200);
    let params = json!({"entity": "User API Key", "id": scene.key_id});
    let by_key = || with_key(get(HOSTS), &scene.key);
    let rows = [
        Row::gives("the first time", delete(), json!({})),
        Row::refused("the key", by_key(), 401, "auth_not_authenticated", json!({})),
        Row::refused("the second time", delete(), 404, "entity_not_found", params.clone()),
        Row::refused(
            "an update",
            scene.put_key(scene.key_id, &scene.key_body()),
            404,
            "entity_not_found",
            params,
        ),
        Row::refused("the key", by_key(), 401, "auth_not_authenticated", json!({})),
    ];
    check(scene.server(), rows).await;
    assert!(scene.world.inventory.user_api_keys(scene.member.id).await.unwrap().is_empty());
}

#[tokio::test]
async fn nothing_of_a_deleted_key_is_left() {
    let scene = Scene::new().await;
    let store = Interposed::new(&scene, Fault::None);
    let delete = scene.by_session(bare("DELETE", &key_path(scene.key_id)));
    assert_eq!(store.server(&scene).send(delete).await.data(), &json!({}));
    let written = store.take_written();
    assert!(written.iter().all(|write| matches!(write, Write::Delete { .. })));
    let mut kinds: Vec<String> = written.iter().map(|write| write.key().kind.to_string()).collect();
    kinds.sort_unstable();
    assert_eq!(kinds, ["key_secret", "key_use", "user_api_key"]);
    assert!(written.iter().all(|write| write.key().id == scene.key_id));
}

#[tokio::test]
async fn the_body_of_a_delete_is_ignored_whatever_it_is() {
    let scene = Scene::new().await;
    for (content_type, body) in [
        (None, "{\"confirm\": true}"),
        (Some("application/json"), "{"),
        (Some("application/json"), "null"),
        (Some("text/plain"), "please"),
        (Some("application/json"), &*" ".repeat(1024 * 1024 + 1)),
    ] {
        let (_, id) = rich_key(&scene).await;
        let mut request = scene.by_session(bare("DELETE", &key_path(id))).map(|_| body.to_owned());
        if let Some(content_type) = content_type {
            request.headers_mut().insert("content-type", content_type.parse().unwrap());
        }
        assert_eq!(scene.server().send(request).await.data(), &json!({}));
    }
}
