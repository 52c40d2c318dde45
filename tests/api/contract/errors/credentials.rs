//! Credentials that are invalid, expired or insufficient.

use std::time::Duration;

use http::Request;
use serde_json::json;
use toposcope::inventory::{NewDaemonApiKey, NewUserApiKey};
use toposcope::model::Permission;

use crate::common::{OFFICE, PASSWORD, Site, VAULT, at, bare, key_for, send_json, with_key, with_session};
use crate::contract::row::{Produced, Row, check};
use crate::contract::scene::{
    DAEMON_KEYS, HOSTS, PORT, REFERRAL, Scene, daemon_body, key_path, log_in, port_body, put_key, put_port,
};

/// A valid request to every endpoint that authenticates its caller.
fn protected(scene: &Scene) -> [Request<String>; 6] {
    [
        bare("GET", HOSTS),
        send_json("POST", DAEMON_KEYS, &daemon_body()),
        put_port(PORT, &port_body()),
        put_key(scene.key_id, &scene.key_body()),
        bare("DELETE", &key_path(scene.key_id)),
        send_json("POST", REFERRAL, &json!({"referral_source": "reddit"})),
    ]
}

/// The last three of them.
fn for_sessions_only(scene: &Scene) -> impl Iterator<Item = Request<String>> {
    protected(scene).into_iter().skip(3)
}

async fn unknown(scene: &Scene) -> Vec<Row> {
    let signed_out = scene.world.sign_in(&scene.member).await;
    scene.world.inventory.log_out(&signed_out).await.unwrap();
    let mut rows = Vec::new();
    for request in protected(scene) {
        let basic = {
            let mut request = scene.by_session(request.clone());
            request.headers_mut().insert("authorization", "Basic dXNlcjpwYXNz".parse().unwrap());
            request
        };
        for (name, request) in [
            ("none", request.clone()),
            ("no key", with_key(request.clone(), "topo_u_nonsense")),
            ("no key beside a session", scene.by_session(with_key(request.clone(), "nonsense"))),
            ("another scheme beside a session", basic),
            ("no session", with_session(request.clone(), "nonsense")),
            ("a key as a session", with_session(request.clone(), &scene.key)),
            ("a session as a key", with_key(request.clone(), &scene.session)),
            ("a session that was ended", with_session(request, &signed_out)),
        ] {
            rows.push(Row::refused(name, request, 401, "auth_not_authenticated", json!({})));
        }
    }
    rows
}

async fn over_or_off(scene: &Scene) -> Vec<Row> {
    let inventory = &scene.world.inventory;
    let key = |change: fn(&mut NewUserApiKey)| {
        let mut key = key_for(&scene.member, Permission::Member, &[OFFICE]);
        change(&mut key);
        scene.world.issue(key)
    };
    let daemon = async |change: fn(&mut NewDaemonApiKey)| {
        let mut key = NewDaemonApiKey::new(OFFICE, "daemon");
        change(&mut key);
        inventory.create_daemon_api_key(key).await.unwrap().plaintext().to_owned()
    };
    let keys = [
        ("User API Key", "entity_expired", key(|key| key.expires_at = Some(at(1))).await),
        ("User API Key", "entity_disabled", key(|key| key.is_enabled = false).await),
        ("Daemon API Key", "entity_expired", daemon(|key| key.expires_at = Some(at(1))).await),
        ("Daemon API Key", "entity_disabled", daemon(|key| key.is_enabled = false).await),
    ];
    scene.world.clock.advance(Duration::from_secs(1));
    let disabled = scene.world.user(&scene.world.home, Permission::Owner, &[]).await;
    let session = scene.world.sign_in(&disabled).await;
    let key = scene.world.issue(key_for(&disabled, Permission::Owner, &[OFFICE])).await;
    inventory.disable_user(disabled.id).await.unwrap();
    let mut rows = Vec::new();
    for request in protected(scene) {
        for (entity, code, key) in &keys {
            let request = with_key(request.clone(), key);
            rows.push(Row::refused(*entity, request, 401, code, json!({"entity": entity})));
        }
        let params = json!({"entity": "User"});
        rows.push(Row::refused("a user", with_key(request.clone(), &key), 401, "entity_disabled", params));
        // A disabled user has no sessions.
        let request = with_session(request, &session);
        rows.push(Row::refused("a session", request, 401, "auth_not_authenticated", json!({})));
    }
    let invalid = [
        ("the password", log_in(&scene.member.email, "another one")),
        ("the case of the password", log_in(&scene.member.email, &PASSWORD.to_uppercase())),
        ("the address", log_in("nobody@example.net", PASSWORD)),
        ("no address", log_in("nobody", PASSWORD)),
        ("of a disabled user", log_in(&disabled.email, PASSWORD)),
    ];
    rows.extend(
        invalid
            .map(|(name, request)| Row::refused(name, request, 401, "auth_invalid_credentials", json!({}))),
    );
    rows
}

async fn insufficient(scene: &Scene) -> Vec<Row> {
    let world = &scene.world;
    let mut rows = Vec::new();
    let viewer = world.user(&world.home, Permission::Viewer, &[OFFICE, VAULT]).await;
    let session = world.sign_in(&viewer).await;
    let key = world.issue(key_for(&viewer, Permission::Viewer, &[OFFICE])).await;
    let weak = world.issue(key_for(&scene.member, Permission::Viewer, &[OFFICE])).await;
    for request in protected(scene).into_iter().skip(1).take(2) {
        for (name, request) in [
            ("a Viewer", with_session(request.clone(), &session)),
            ("a Viewer's key", with_key(request.clone(), &key)),
            ("a Member's key for Viewers", with_key(request, &weak)),
        ] {
            rows.push(Row::refused(name, request, 403, "auth_permission_denied", json!({})));
        }
    }
    for request in for_sessions_only(scene) {
        let request = scene.by_key(scene.by_session(request));
        rows.push(Row::refused("a key", request, 403, "auth_user_context_required", json!({})));
    }
    let free = Site::new(&world.inventory, "Free plan", false, 0x300).await;
    let owner = world.user(&free, Permission::Owner, &[]).await;
    let free = world.issue(key_for(&owner, Permission::Owner, &free.networks)).await;
    for request in protected(scene) {
        let daemon = scene.by_session(with_key(request.clone(), &scene.daemon_key));
        rows.push(Row::refused("a daemon's", daemon, 403, "auth_user_context_required", json!({})));
        let (params, request) = (json!({"feature": "api_access"}), with_key(request, &free));
        rows.push(Row::refused("not paid", request, 403, "billing_feature_not_available", params));
    }
    for request in protected(scene).into_iter().skip(1) {
        for (name, value) in [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")] {
            let mut request = scene.by_session(request.clone());
            request.headers_mut().insert(name, value.parse().unwrap());
            rows.push(Row::refused(name, request, 403, "auth_cross_site_request", json!({})));
        }
    }
    rows
}

async fn session_over() -> Produced {
    let scene = Scene::new().await;
    scene.world.clock.advance(Duration::from_secs(7 * 24 * 60 * 60));
    let requests = protected(&scene).map(|request| scene.by_session(request));
    let row = |request| Row::refused("over", request, 401, "auth_session_expired", json!({}));
    check(scene.server(), requests.map(row)).await
}

pub(super) async fn rows() -> Produced {
    let scene = Scene::new().await;
    let mut rows = unknown(&scene).await;
    rows.extend(over_or_off(&scene).await);
    rows.extend(insufficient(&scene).await);
    let before = scene.stored().await;
    let mut produced = check(scene.server(), rows).await;
    assert_eq!(scene.stored().await, before, "nothing of what is refused is stored");
    produced.extend(session_over().await);
    produced
}

#[tokio::test]
async fn a_credential_that_does_not_do_is_refused_by_the_reason() {
    rows().await;
}
