use std::time::Duration;

use http::header::{AUTHORIZATION, COOKIE};
use http::{HeaderValue, Request};
use serde_json::json;
use toposcope::inventory::NewUserApiKey;
use toposcope::model::Permission;

use crate::common::{OFFICE, Site, World, at, get, host, key_for};

const HOSTS: &str = "/api/v1/hosts";

fn with_authorization(values: &[&[u8]]) -> Request<String> {
    let mut request = get(HOSTS);
    for value in values {
        request.headers_mut().append(AUTHORIZATION, HeaderValue::from_bytes(value).unwrap());
    }
    request
}

#[tokio::test]
async fn the_scheme_is_bearer_in_any_case_and_with_any_number_of_spaces() {
    let world = World::with([host(1, OFFICE)]).await;
    for scheme in ["Bearer", "bearer", "BEARER", "bEaReR", "Bearer ", "Bearer    "] {
        let value = format!("{scheme} {}", world.key);
        let reply = world.server.send(with_authorization(&[value.as_bytes()])).await;
        assert_eq!(reply.ids(), [1], "{scheme:?}");
    }
}

#[tokio::test]
async fn anything_that_is_not_one_known_key_is_401() {
    let world = World::with([host(1, OFFICE)]).await;
    let key = world.key.as_str();
    let (prefix, checksum) = key.split_at(key.len() - 6);
    let flipped: String = key
        .chars()
        .map(|c| if c.is_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() })
        .collect();
    let last = if key.ends_with('0') { '1' } else { '0' };
    let unknown = "topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjhO";
    let daemon = "topo_d_0123456789ABCDEFGHIJKLMNOPQRSTUV0r6Ij5";
    let masked = format!("topo_u_…{}", &key[key.len() - 4..]);
    let rows: Vec<Vec<u8>> = vec![
        b"".to_vec(),
        b" ".to_vec(),
        b"Bearer".to_vec(),
        b"Bearer ".to_vec(),
        b"Bearer    ".to_vec(),
        key.into(),
        format!(" {key}").into(),
        format!("Bearer{key}").into(),
        format!("Bearer\t{key}").into(),
        format!("Bearer: {key}").into(),
        format!("Bearer={key}").into(),
        format!("Bearer \"{key}\"").into(),
        format!("Bearer {key} {key}").into(),
        format!("Bearer {key}, Bearer {key}").into(),
        format!("Bearer {key},").into(),
        format!("Bearer {key}0").into(),
        format!("Bearer {}", &key[..key.len() - 1]).into(),
        format!("Bearer {}", &key[1..]).into(),
        format!("Bearer {prefix}").into(),
        format!("Bearer {}{last}", &key[..key.len() - 1]).into(),
        format!("Bearer {prefix}000000").into(),
        format!("Bearer {prefix}zzzzzz").into(),
        format!("Bearer topo_d_{}", &key[7..]).into(),
        format!("Bearer TOPO_U_{}", &key[7..]).into(),
        format!("Bearer topo_u_{checksum}").into(),
        format!("Bearer {}", key.to_uppercase()).into(),
        format!("Bearer {}", key.to_lowercase()).into(),
        format!("Bearer {flipped}").into(),
        format!("Bearer {masked}").into(),
        format!("Bearer {unknown}").into(),
        format!("Bearer {daemon}").into(),
        format!("Bearer {}", key.replacen("topo_u_", "topo_u_é", 1)).into(),
        format!("Bearer {}", "é".repeat(22)).into(),
        format!("Bearer {}", "0".repeat(100_000)).into(),
        format!("Basic {key}").into(),
        format!("Basic dXNlcjo{key}").into(),
        format!("Token {key}").into(),
        format!("Bear {key}").into(),
        format!("Béarer {key}").into(),
        b"Bearer \xff\xfe".to_vec(),
        [b"Bearer ", key.as_bytes(), b"\x80"].concat(),
    ];
    for row in rows {
        let reply = world.server.send(with_authorization(&[&row])).await;
        let params = reply.refuses(401, "auth_not_authenticated");
        assert_eq!(params, &json!({}), "{}", String::from_utf8_lossy(&row));
    }
    world.server.get(HOSTS).await.refuses(401, "auth_not_authenticated");
}

#[tokio::test]
async fn two_authorization_headers_are_none() {
    let world = World::new().await;
    let valid = format!("Bearer {}", world.key);
    for pair in [[&*valid, &*valid], [&*valid, "Bearer x"], ["Bearer x", &*valid], ["", &*valid]] {
        let reply = world.server.send(with_authorization(&[pair[0].as_bytes(), pair[1].as_bytes()])).await;
        reply.refuses(401, "auth_not_authenticated");
    }
}

#[tokio::test]
async fn a_key_works_nowhere_but_in_authorization() {
    let world = World::new().await;
    let key = &world.key;
    for (name, value) in [
        ("x-api-key", key.clone()),
        ("proxy-authorization", format!("Bearer {key}")),
        ("cookie", format!("session_id={key}")),
        ("cookie", format!("authorization=Bearer {key}")),
    ] {
        let mut request = get(HOSTS);
        request.headers_mut().insert(name, value.parse().unwrap());
        world.server.send(request).await.refuses(401, "auth_not_authenticated");
    }
    let in_query = world.server.get(&format!("{HOSTS}?access_token={key}")).await;
    in_query.refuses(401, "auth_not_authenticated");
}

#[tokio::test]
async fn a_cookie_that_is_no_session_neither_helps_nor_harms() {
    let world = World::with([host(1, OFFICE)]).await;
    for cookie in
        ["session_id=", "session_id=abc", "session_id", "=", "\u{e9}", "a=b; session_id=0; session_id=1"]
    {
        let cookie = HeaderValue::from_bytes(cookie.as_bytes()).unwrap();
        let send = async |authorization: &[&[u8]]| {
            let mut request = with_authorization(authorization);
            request.headers_mut().insert(COOKIE, cookie.clone());
            world.server.send(request).await
        };
        send(&[]).await.refuses(401, "auth_not_authenticated");
        send(&[b"Bearer x"]).await.refuses(401, "auth_not_authenticated");
        assert_eq!(send(&[format!("Bearer {}", world.key).as_bytes()]).await.ids(), [1]);
    }
}

#[tokio::test]
async fn a_key_is_over_from_the_very_moment_it_expires() {
    let world = World::with([host(1, OFFICE)]).await;
    let owner = world.user(&world.home, Permission::Owner, &[]).await;
    let mut key = key_for(&owner, Permission::Viewer, &[OFFICE]);
    key.expires_at = Some(at(60));
    let key = world.issue(key).await;
    let microsecond = Duration::from_micros(1);
    assert_eq!(world.list_as(&key, "").await.ids(), [1]);
    world.clock.advance(Duration::from_secs(60) - microsecond);
    assert_eq!(world.list_as(&key, "").await.ids(), [1]);
    world.clock.advance(microsecond);
    let over = world.list_as(&key, "").await;
    assert_eq!(over.refuses(401, "entity_expired"), &json!({"entity": "User API Key"}));
    world.clock.advance(Duration::from_secs(1_000_000));
    world.list_as(&key, "").await.refuses(401, "entity_expired");
}

#[tokio::test]
async fn a_key_without_an_end_works_for_ever() {
    let world = World::with([host(1, OFFICE)]).await;
    world.clock.set("2199-12-31T23:59:59Z".parse().unwrap());
    assert_eq!(world.ids("").await, [1]);
}

async fn issue(world: &World, site: &Site, change: impl FnOnce(&mut NewUserApiKey)) -> String {
    let owner = world.user(site, Permission::Owner, &[]).await;
    let mut key = key_for(&owner, Permission::Owner, &site.networks);
    change(&mut key);
    world.issue(key).await
}

#[tokio::test]
async fn a_key_that_is_switched_off_is_401() {
    let world = World::new().await;
    let key = issue(&world, &world.home, |key| key.is_enabled = false).await;
    let reply = world.list_as(&key, "").await;
    assert_eq!(reply.refuses(401, "entity_disabled"), &json!({"entity": "User API Key"}));
}

#[tokio::test]
async fn without_api_access_no_key_of_the_organization_works() {
    let world = World::new().await;
    let site = Site::new(&world.inventory, "Free plan", false, 0x300).await;
    let key = issue(&world, &site, |_| {}).await;
    let reply = world.list_as(&key, "").await;
    let params = reply.refuses(403, "billing_feature_not_available");
    assert_eq!(params, &json!({"feature": "api_access"}));
}

/// An invalid credential is 401, before missing rights are 403.
#[tokio::test]
async fn a_key_that_is_over_or_off_is_401_also_without_api_access() {
    let world = World::new().await;
    let site = Site::new(&world.inventory, "Free plan", false, 0x300).await;
    let disabled = issue(&world, &site, |key| key.is_enabled = false).await;
    let expired = issue(&world, &site, |key| key.expires_at = Some(at(1))).await;
    world.clock.advance(Duration::from_secs(1));
    world.list_as(&disabled, "").await.refuses(401, "entity_disabled");
    world.list_as(&expired, "").await.refuses(401, "entity_expired");
}

#[tokio::test]
async fn no_answer_tells_the_key_that_was_sent() {
    let world = World::with([host(1, OFFICE)]).await;
    let disabled = issue(&world, &world.home, |key| key.is_enabled = false).await;
    for key in [&*world.key, &*disabled, "topo_u_typo"] {
        for query in ["", "limit=x", "bogus=1"] {
            let reply = world.list_as(key, query).await;
            assert!(!String::from_utf8(reply.body).unwrap().contains(key));
        }
    }
}
