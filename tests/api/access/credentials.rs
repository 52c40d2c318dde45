//! Credentials that are valid, invalid, expired or insufficient.

use std::time::Duration;
use toposcope::access::Caller;

use http::header::{AUTHORIZATION, COOKIE};
use http::{HeaderValue, Request};
use serde_json::json;
use toposcope::inventory::{NewDaemonApiKey, NewUserApiKey};
use toposcope::model::Permission;

use crate::backend::run_with;
use crate::common::{
    DAEMON_KEYS, Fixture, HOSTS, OFFICE, PASSWORD, PORT, Populated, Produced, REFERRAL, Row, Site, VAULT, at,
    bare, daemon_body, get, key_for, key_path, log_in, port_body, put_key, put_port, send_json, with_header,
    with_key, with_session,
};

/// A valid request to every endpoint that authenticates its caller.
fn protected(fixture: &Populated) -> [Request<String>; 6] {
    [
        bare("GET", HOSTS),
        send_json("POST", DAEMON_KEYS, &daemon_body()),
        put_port(PORT, &port_body()),
        put_key(fixture.member_key_id, &fixture.key_body()),
        bare("DELETE", &key_path(fixture.member_key_id)),
        send_json("POST", REFERRAL, &json!({"referral_source": "reddit"})),
    ]
}

/// The last three of them.
fn for_sessions_only(fixture: &Populated) -> impl Iterator<Item = Request<String>> {
    protected(fixture).into_iter().skip(3)
}

async fn unknown(fixture: &Populated) -> Vec<Row> {
    let signed_out = fixture.sign_in(&fixture.member).await;
    fixture.inventory.log_out(&signed_out).await.unwrap();
    let mut rows = Vec::new();
    for request in protected(fixture) {
        let basic = with_header(fixture.by_session(request.clone()), "authorization", "Basic dXNlcjpwYXNz");
        for (name, request) in [
            ("none", request.clone()),
            ("no key", with_key(request.clone(), "topo_u_nonsense")),
            ("no key beside a session", fixture.by_session(with_key(request.clone(), "nonsense"))),
            ("another scheme beside a session", basic),
            ("no session", with_session(request.clone(), "nonsense")),
            ("a key as a session", with_session(request.clone(), &fixture.member_key)),
            ("a session as a key", with_key(request.clone(), &fixture.session)),
            ("a session that was ended", with_session(request, &signed_out)),
        ] {
            rows.push(Row::refused(name, request, "auth_not_authenticated"));
        }
    }
    rows
}

async fn over_or_off(fixture: &Populated) -> Vec<Row> {
    let inventory = &fixture.inventory;
    let key = |change: fn(&mut NewUserApiKey)| {
        let mut key = key_for(&fixture.member, Permission::Member, &[OFFICE]);
        change(&mut key);
        fixture.issue(key)
    };
    let daemon = async |change: fn(&mut NewDaemonApiKey)| {
        let mut key = NewDaemonApiKey::new(OFFICE, "daemon");
        change(&mut key);
        inventory.daemon_api_keys().create(&fixture.system(), key).await.unwrap().plaintext().to_owned()
    };
    let keys = [
        ("User API Key", "entity_expired", key(|key| key.expires_at = Some(at(1))).await),
        ("User API Key", "entity_disabled", key(|key| key.is_enabled = false).await),
        ("Daemon API Key", "entity_expired", daemon(|key| key.expires_at = Some(at(1))).await),
        ("Daemon API Key", "entity_disabled", daemon(|key| key.is_enabled = false).await),
    ];
    fixture.clock.advance(Duration::from_secs(1));
    let disabled = fixture.user(&fixture.home, Permission::Owner, &[]).await;
    let session = fixture.sign_in(&disabled).await;
    let key = fixture.issue(key_for(&disabled, Permission::Owner, &[OFFICE])).await;
    inventory.users().disable(&Caller::system(disabled.organization_id), disabled.id).await.unwrap();
    let mut rows = Vec::new();
    for request in protected(fixture) {
        for (entity, code, key) in &keys {
            let request = with_key(request.clone(), key);
            rows.push(Row::refused_with(*entity, request, code, json!({"entity": entity})));
        }
        let params = json!({"entity": "User"});
        rows.push(Row::refused_with("a user", with_key(request.clone(), &key), "entity_disabled", params));
        // A disabled user has no sessions.
        let request = with_session(request, &session);
        rows.push(Row::refused("a session", request, "auth_not_authenticated"));
    }
    let invalid = [
        ("the password", log_in(&fixture.member.email, "another one")),
        ("the case of the password", log_in(&fixture.member.email, &PASSWORD.to_uppercase())),
        ("the address", log_in("nobody@example.net", PASSWORD)),
        ("no address", log_in("nobody", PASSWORD)),
        ("of a disabled user", log_in(&disabled.email, PASSWORD)),
    ];
    rows.extend(invalid.map(|(name, request)| Row::refused(name, request, "auth_invalid_credentials")));
    let change = json!({"current_password": "another one", "new_password": PASSWORD});
    let change = fixture.by_session(send_json("POST", "/api/auth/password", &change));
    let params = json!({"field": "current_password"});
    rows.push(Row::refused_with("the current password", change, "auth_password_incorrect", params));
    rows
}

async fn insufficient(fixture: &Populated) -> Vec<Row> {
    let mut rows = Vec::new();
    let viewer = fixture.user(&fixture.home, Permission::Viewer, &[OFFICE, VAULT]).await;
    let session = fixture.sign_in(&viewer).await;
    let key = fixture.issue(key_for(&viewer, Permission::Viewer, &[OFFICE])).await;
    let weak = fixture.issue(key_for(&fixture.member, Permission::Viewer, &[OFFICE])).await;
    for request in protected(fixture).into_iter().skip(1).take(2) {
        for (name, request) in [
            ("a Viewer", with_session(request.clone(), &session)),
            ("a Viewer's key", with_key(request.clone(), &key)),
            ("a Member's key for Viewers", with_key(request, &weak)),
        ] {
            rows.push(Row::refused(name, request, "auth_permission_denied"));
        }
    }
    for request in for_sessions_only(fixture) {
        let request = fixture.by_key(fixture.by_session(request));
        rows.push(Row::refused("a key", request, "auth_user_context_required"));
    }
    let free = fixture.free_site().await;
    let owner = fixture.user(&free, Permission::Owner, &[]).await;
    let free = fixture.issue(key_for(&owner, Permission::Owner, &free.networks)).await;
    for request in protected(fixture) {
        let daemon = fixture.by_session(with_key(request.clone(), &fixture.daemon_key));
        rows.push(Row::refused("a daemon's", daemon, "auth_user_context_required"));
        let (params, request) = (json!({"feature": "api_access"}), with_key(request, &free));
        rows.push(Row::refused_with("not paid", request, "billing_feature_not_available", params));
    }
    for request in protected(fixture).into_iter().skip(1) {
        for (name, value) in [("origin", "https://evil.example"), ("sec-fetch-site", "cross-site")] {
            let mut request = fixture.by_session(request.clone());
            request.headers_mut().insert(name, value.parse().unwrap());
            rows.push(Row::refused(name, request, "auth_cross_site_request"));
        }
    }
    rows
}

async fn session_over() -> Produced {
    let fixture = Populated::new().await;
    fixture.clock.advance(Duration::from_secs(7 * 24 * 60 * 60));
    let requests = protected(&fixture).map(|request| fixture.by_session(request));
    let row = |request| Row::refused("over", request, "auth_session_expired");
    fixture.check(requests.map(row)).await
}

pub(crate) async fn rows() -> Produced {
    let fixture = Populated::new().await;
    let mut rows = unknown(&fixture).await;
    rows.extend(over_or_off(&fixture).await);
    rows.extend(insufficient(&fixture).await);
    let before = fixture.stored().await;
    let mut produced = fixture.check(rows).await;
    assert_eq!(fixture.stored().await, before, "nothing of what is refused is stored");
    produced.extend(session_over().await);
    produced
}

fn with_authorization(values: &[&[u8]]) -> Request<String> {
    let mut request = get(HOSTS);
    for value in values {
        request.headers_mut().append(AUTHORIZATION, HeaderValue::from_bytes(value).unwrap());
    }
    request
}

#[test]
fn bearer_scheme_is_accepted_in_any_case_and_with_several_spaces() {
    run_with(Fixture::with_one_host, async |fixture| {
        for scheme in ["Bearer", "bearer", "BEARER", "bEaReR", "Bearer ", "Bearer    "] {
            let value = format!("{scheme} {}", fixture.key);
            let reply = fixture.send(with_authorization(&[value.as_bytes()])).await;
            assert_eq!(reply.ids(), [1], "{scheme:?}");
        }
    });
}

#[test]
fn authorization_without_exactly_one_known_key_is_401() {
    run_with(Fixture::with_one_host, async |fixture| {
        let key = fixture.key.as_str();
        let (prefix, checksum) = key.split_at(key.len() - 6);
        let flipped: String = key
            .chars()
            .map(|c| if c.is_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() })
            .collect();
        let last = if key.ends_with('0') { '1' } else { '0' };
        let unknown = "topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjhO";
        let daemon = "topo_d_0123456789ABCDEFGHIJKLMNOPQRSTUV0r6Ij5";
        let masked = format!("topo_u_…{}", &key[key.len() - 4..]);
        let texts = [
            "".to_owned(),
            " ".to_owned(),
            "Bearer".to_owned(),
            "Bearer ".to_owned(),
            "Bearer    ".to_owned(),
            key.to_owned(),
            format!(" {key}"),
            format!("Bearer{key}"),
            format!("Bearer\t{key}"),
            format!("Bearer: {key}"),
            format!("Bearer={key}"),
            format!("Bearer \"{key}\""),
            format!("Bearer {key} {key}"),
            format!("Bearer {key}, Bearer {key}"),
            format!("Bearer {key},"),
            format!("Bearer {key}0"),
            format!("Bearer {}", &key[..key.len() - 1]),
            format!("Bearer {}", &key[1..]),
            format!("Bearer {prefix}"),
            format!("Bearer {}{last}", &key[..key.len() - 1]),
            format!("Bearer {prefix}000000"),
            format!("Bearer {prefix}zzzzzz"),
            format!("Bearer topo_d_{}", &key[7..]),
            format!("Bearer TOPO_U_{}", &key[7..]),
            format!("Bearer topo_u_{checksum}"),
            format!("Bearer {}", key.to_uppercase()),
            format!("Bearer {}", key.to_lowercase()),
            format!("Bearer {flipped}"),
            format!("Bearer {masked}"),
            format!("Bearer {}", unknown),
            format!("Bearer {}", daemon),
            format!("Bearer {}", key.replacen("topo_u_", "topo_u_é", 1)),
            format!("Bearer {}", "é".repeat(22)),
            format!("Bearer {}", "0".repeat(100_000)),
            format!("Basic {key}"),
            format!("Basic dXNlcjo{key}"),
            format!("Token {key}"),
            format!("Bear {key}"),
            format!("Béarer {key}"),
        ];
        let bytes = [b"Bearer \xff\xfe".to_vec(), [b"Bearer ", key.as_bytes(), b"\x80"].concat()];
        for row in texts.into_iter().map(String::into_bytes).chain(bytes) {
            let reply = fixture.send(with_authorization(&[&row])).await;
            let params = reply.refuses(401, "auth_not_authenticated");
            assert_eq!(params, &json!({}), "{}", String::from_utf8_lossy(&row));
        }
        fixture.server.get(HOSTS).await.refuses(401, "auth_not_authenticated");
    });
}

#[test]
fn two_authorization_headers_are_rejected() {
    run_with(Fixture::new, async |fixture| {
        let valid = format!("Bearer {}", fixture.key);
        for pair in [[&*valid, &*valid], [&*valid, "Bearer x"], ["Bearer x", &*valid], ["", &*valid]] {
            let reply = fixture.send(with_authorization(&[pair[0].as_bytes(), pair[1].as_bytes()])).await;
            reply.refuses(401, "auth_not_authenticated");
        }
    });
}

#[test]
fn key_outside_of_the_authorization_header_is_ignored() {
    run_with(Fixture::new, async |fixture| {
        let key = &fixture.key;
        for (name, value) in [
            ("x-api-key", key.clone()),
            ("proxy-authorization", format!("Bearer {key}")),
            ("cookie", format!("session_id={key}")),
            ("cookie", format!("authorization=Bearer {key}")),
        ] {
            fixture.send(with_header(get(HOSTS), name, value)).await.refuses(401, "auth_not_authenticated");
        }
        let in_query = fixture.server.get(&format!("{HOSTS}?access_token={key}")).await;
        in_query.refuses(401, "auth_not_authenticated");
    });
}

#[test]
fn cookie_without_a_session_changes_nothing() {
    run_with(Fixture::with_one_host, async |fixture| {
        for cookie in
            ["session_id=", "session_id=abc", "session_id", "=", "\u{e9}", "a=b; session_id=0; session_id=1"]
        {
            let cookie = HeaderValue::from_bytes(cookie.as_bytes()).unwrap();
            let send = async |authorization: &[&[u8]]| {
                let mut request = with_authorization(authorization);
                request.headers_mut().insert(COOKIE, cookie.clone());
                fixture.send(request).await
            };
            send(&[]).await.refuses(401, "auth_not_authenticated");
            send(&[b"Bearer x"]).await.refuses(401, "auth_not_authenticated");
            assert_eq!(send(&[format!("Bearer {}", fixture.key).as_bytes()]).await.ids(), [1]);
        }
    });
}

#[test]
fn key_is_rejected_from_the_microsecond_it_expires() {
    run_with(Fixture::with_one_host, async |fixture| {
        let owner = fixture.user(&fixture.home, Permission::Owner, &[]).await;
        let mut key = key_for(&owner, Permission::Viewer, &[OFFICE]);
        key.expires_at = Some(at(60));
        let key = fixture.issue(key).await;
        let microsecond = Duration::from_micros(1);
        assert_eq!(fixture.list_as(&key, "").await.ids(), [1]);
        fixture.clock.advance(Duration::from_secs(60) - microsecond);
        assert_eq!(fixture.list_as(&key, "").await.ids(), [1]);
        fixture.clock.advance(microsecond);
        let over = fixture.list_as(&key, "").await;
        assert_eq!(over.refuses(401, "entity_expired"), &json!({"entity": "User API Key"}));
        fixture.clock.set("2199-12-31T23:59:59Z".parse().unwrap());
        fixture.list_as(&key, "").await.refuses(401, "entity_expired");
        assert_eq!(fixture.ids("").await, [1], "a key without an end");
    });
}

async fn issue(fixture: &Fixture, site: &Site, change: impl FnOnce(&mut NewUserApiKey)) -> String {
    let owner = fixture.user(site, Permission::Owner, &[]).await;
    let mut key = key_for(&owner, Permission::Owner, &site.networks);
    change(&mut key);
    fixture.issue(key).await
}

/// An invalid credential is 401, before missing rights are 403.
#[test]
fn expired_or_disabled_key_without_api_access_is_401() {
    run_with(Fixture::new, async |fixture| {
        let site = fixture.free_site().await;
        let disabled = issue(&fixture, &site, |key| key.is_enabled = false).await;
        let expired = issue(&fixture, &site, |key| key.expires_at = Some(at(1))).await;
        fixture.clock.advance(Duration::from_secs(1));
        fixture.list_as(&disabled, "").await.refuses(401, "entity_disabled");
        fixture.list_as(&expired, "").await.refuses(401, "entity_expired");
    });
}

#[test]
fn no_answer_contains_the_key_that_was_sent() {
    run_with(Fixture::with_one_host, async |fixture| {
        let disabled = issue(&fixture, &fixture.home, |key| key.is_enabled = false).await;
        for key in [&*fixture.key, &*disabled, "topo_u_typo"] {
            for query in ["", "limit=x", "bogus=1"] {
                let reply = fixture.list_as(key, query).await;
                assert!(!String::from_utf8(reply.body).unwrap().contains(key));
            }
        }
    });
}
