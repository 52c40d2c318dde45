//! API keys as text: their form, their single appearance in an answer, and what is stored of them.

use serde_json::{Value, json};
use toposcope::model::Permission;
use toposcope::store::Write;

use crate::common::{OFFICE, PASSWORD, bare, key_for};
use crate::contract::scene::{HOSTS, Scene, daemon_body, key_path, log_in, with};
use crate::contract::store::{Fault, Interposed};

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

#[tokio::test]
async fn a_key_is_its_prefix_32_random_characters_and_their_checksum() {
    let scene = Scene::new().await;
    let mut keys = Vec::new();
    for _ in 0..50 {
        let reply = scene.server().send(scene.create_daemon_key(&daemon_body())).await;
        keys.push(("topo_d_", reply.data()["key"].as_str().unwrap().to_owned()));
        keys.push((
            "topo_u_",
            scene.world.issue(key_for(&scene.member, Permission::Viewer, &[OFFICE])).await,
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
}

/// Returns whether any of the texts appears in the writes, in a body or in facets.
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

#[tokio::test]
async fn of_a_secret_nothing_is_stored_but_its_digest() {
    let scene = Scene::new().await;
    let store = Interposed::new(&scene, Fault::None);
    let server = store.server(&scene);
    let created = server.send(scene.create_daemon_key(&daemon_body())).await;
    let key = created.data()["key"].as_str().unwrap().to_owned();
    let user_key = key_for(&scene.member, Permission::Viewer, &[]);
    let user_key =
        store.inventory(&scene).create_user_api_key(user_key).await.unwrap().plaintext().to_owned();
    let signed_in = server.send(log_in(&scene.member.email, PASSWORD)).await;
    let session = signed_in.header("set-cookie").split(['=', ';']).nth(1).unwrap().to_owned();
    let writes = store.take_written();
    assert!(writes.len() >= 5 && session.len() == 43);
    // The masked form shows the last four characters; no five of them appear in sequence.
    let ends = [&key[7..], &key[key.len() - 5..], &user_key[7..], &user_key[user_key.len() - 5..]];
    assert!(!holds(&writes, &ends));
    assert!(!holds(&writes, &[&session, &session[..16], PASSWORD]));
    assert!(holds(&writes, &[&key[key.len() - 4..]]), "this would find what there is");
}

/// The key appears in the answer to its creation, and in no later one.
#[tokio::test]
async fn a_key_is_shown_once_and_masked_from_then_on() {
    let scene = Scene::new().await;
    let masked = format!("topo_u_…{}", &scene.key[scene.key.len() - 4..]);
    let bodies = [
        scene.key_body(),
        with(&scene.key_body(), "is_enabled", false),
        with(&scene.key_body(), "key", &*scene.key),
        with(&with(&scene.key_body(), "is_enabled", true), "expires_at", Value::Null),
    ];
    for body in bodies {
        let reply = scene.server().send(scene.put_key(scene.key_id, &body)).await;
        assert_eq!(reply.data()["key"], json!(masked));
        assert!(!String::from_utf8(reply.body).unwrap().contains(&scene.key[7..]));
    }
    let inventory = &scene.world.inventory;
    assert_eq!(inventory.user_api_key(scene.key_id).await.unwrap().key, masked);
    let created = scene.server().send(scene.create_daemon_key(&daemon_body())).await;
    let key = created.data()["key"].as_str().unwrap();
    assert_eq!(created.data()["api_key"]["key"], key);
    let id = created.data()["api_key"]["id"].as_str().unwrap().parse().unwrap();
    let masked = format!("topo_d_…{}", &key[key.len() - 4..]);
    assert_eq!(inventory.daemon_api_key(id).await.unwrap().key, masked);
    assert_eq!(inventory.disable_daemon_api_key(id).await.unwrap().key, masked);
}

#[tokio::test]
async fn the_masked_form_is_no_key() {
    let scene = Scene::new().await;
    let masked = scene.world.inventory.user_api_key(scene.key_id).await.unwrap().key;
    let mut request = bare("GET", HOSTS);
    let header = http::HeaderValue::from_bytes(format!("Bearer {masked}").as_bytes()).unwrap();
    request.headers_mut().insert("authorization", header);
    scene.server().send(request).await.refuses(401, "auth_not_authenticated");
    let delete = scene.by_session(bare("DELETE", &key_path("topo_u_")));
    let reply = scene.server().send(delete).await;
    assert_eq!(reply.refuses(400, "validation_invalid_format"), &json!({"field": "id"}));
}

/// The checksum is wrong, so the store is not asked.
#[tokio::test]
async fn a_key_that_was_mistyped_is_refused_without_a_look_into_the_store() {
    let scene = Scene::new().await;
    let store = Interposed::new(&scene, Fault::None);
    let server = store.server(&scene);
    for place in [7, 20, scene.key.len() - 1] {
        let mut mistyped = scene.key.clone();
        let other = if mistyped[place..].starts_with('x') { "y" } else { "x" };
        mistyped.replace_range(place..=place, other);
        server.get_with(&mistyped, HOSTS).await.refuses(401, "auth_not_authenticated");
        assert_eq!(store.take_asked(), [""; 0]);
    }
    assert_eq!(server.get_with(&scene.key, HOSTS).await.status, 200);
    assert!(!store.take_asked().is_empty());
}
