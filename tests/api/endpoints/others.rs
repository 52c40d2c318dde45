//! Daemon keys, referrals and public shares.

use http::HeaderValue;
use serde_json::{Value, json};
use toposcope::access::Caller;
use toposcope::inventory::NewShare;
use toposcope::model::{
    DaemonApiKeyId, NetworkId, Permission, Referral, ShareId, ShareOptions, referral_source,
};

use crate::backend::run_with;
use crate::common::{
    DAEMON_KEYS, ELSEWHERE, LAB, LEVELS, NOBODY, OFFICE, PASSWORD, Populated, REFERRAL, Row, VAULT, at, bare,
    daemon_body, send_json, share_path, with, with_key, with_session,
};

/// Creates a key with this body and returns its data.
async fn create(fixture: &Populated, body: &Value) -> Value {
    fixture.send(fixture.create_daemon_key(body)).await.data().clone()
}

/// Returns the parts of an answer that the request does not determine.
fn id_and_key(data: &Value) -> (DaemonApiKeyId, String) {
    (data["api_key"]["id"].as_str().unwrap().parse().unwrap(), data["key"].as_str().unwrap().to_owned())
}

#[test]
fn daemon_key_creation_returns_the_record_and_the_key() {
    run_with(Populated::new, async |fixture| {
        let [red, green, _] = fixture.home.tags;
        fixture.clock.set(at(5));
        let full = json!({
            "name": " scanner ",
            "network_id": LAB,
            "tags": [green, red],
            "expires_at": "2026-08-14T14:00:05.000001+02:00",
            "is_enabled": false,
        });
        let least = json!({
            "name": "scanner", "network_id": OFFICE, "tags": [], "expires_at": null, "is_enabled": true,
        });
        let nulls = with(&with(&daemon_body(), "expires_at", Value::Null), "is_enabled", Value::Null);
        let all = json!({
            "name": "scanner",
            "network_id": LAB,
            "tags": [green, red],
            "expires_at": "2026-08-14T12:00:05.000001Z",
            "is_enabled": false,
        });
        let repeated = with(&daemon_body(), "tags", json!([red, green, red, red]));
        for (body, expected) in [
            (daemon_body(), least.clone()),
            (nulls, least.clone()),
            (full, all),
            (repeated, with(&least, "tags", json!([red, green]))),
        ] {
            let data = create(&fixture, &body).await;
            let (id, key) = id_and_key(&data);
            let mut record = expected;
            for (field, value) in [
                ("id", json!(id)),
                ("key", json!(key)),
                ("last_used", Value::Null),
                ("created_at", json!("2026-08-14T12:00:05Z")),
                ("updated_at", json!("2026-08-14T12:00:05Z")),
            ] {
                record = with(&record, field, value);
            }
            assert_eq!(data, json!({"api_key": record, "key": key}));
        }
    });
}

#[test]
fn daemon_key_authenticates_a_daemon_and_is_masked_when_stored() {
    run_with(Populated::new, async |fixture| {
        let (id, key) = id_and_key(&create(&fixture, &daemon_body()).await);
        assert_eq!(key.len(), "topo_d_".len() + 32 + 6);
        assert!(key.starts_with("topo_d_"));
        let stored = fixture.inventory.daemon_api_keys().get(&fixture.system(), id).await.unwrap();
        assert_eq!(stored.key, format!("topo_d_…{}", &key[key.len() - 4..]));
        let daemon = fixture.inventory.authenticate_daemon_key(&key).await.unwrap();
        assert_eq!((daemon.key_id, daemon.network_id), (id, OFFICE));
        let other = id_and_key(&create(&fixture, &daemon_body()).await);
        assert_ne!((id, key), other);
    });
}

#[test]
fn server_fields_of_a_new_daemon_key_are_ignored() {
    run_with(Populated::new, async |fixture| {
        let mut body = daemon_body();
        for (field, value) in [
            ("id", json!(NOBODY)),
            ("key", json!("topo_d_mine")),
            ("created_at", json!("1970-01-01T00:00:00Z")),
            ("updated_at", json!("no time at all")),
            ("last_used", json!(5)),
            ("organization_id", json!(fixture.abroad.organization.id)),
            ("user_id", json!(NOBODY)),
            ("permissions", json!("Owner")),
        ] {
            body = with(&body, field, value);
        }
        let data = create(&fixture, &body).await;
        let (id, key) = id_and_key(&data);
        assert!(id != NOBODY.into() && key != "topo_d_mine");
        let record = &data["api_key"];
        assert_eq!(record["created_at"], json!(at(0)));
        assert_eq!((&record["updated_at"], &record["last_used"]), (&json!(at(0)), &Value::Null));
        for field in ["organization_id", "user_id", "permissions"] {
            assert!(record.get(field).is_none(), "{field}");
        }
        let keys = fixture.inventory.daemon_api_keys().all(&fixture.system()).await.unwrap();
        assert!(keys.iter().any(|key| key.id == id));
    });
}

/// A caller with access to all networks can create daemon keys for each of them.
#[test]
fn daemon_key_requires_a_network_that_the_caller_can_access() {
    run_with(Populated::new, async |fixture| {
        let admin = fixture.user(&fixture.home, Permission::Admin, &[]).await;
        let admin = fixture.sign_in(&admin).await;
        let request = |network: NetworkId| {
            let body = with(&daemon_body(), "network_id", json!(network));
            send_json("POST", DAEMON_KEYS, &body)
        };
        let mut rows = Vec::new();
        for network in [OFFICE, LAB, VAULT] {
            rows.push(Row::succeeds("an Admin's", with_session(request(network), &admin)));
        }
        for network in [OFFICE, LAB] {
            rows.push(Row::succeeds("a Member's", fixture.by_key(request(network))));
            rows.push(Row::succeeds("a Member's", fixture.by_session(request(network))));
        }
        for network in [ELSEWHERE, NOBODY.into()] {
            let params = json!({"entity": "Network", "id": network});
            let request = with_session(request(network), &admin);
            rows.push(Row::refused_with("an Admin's", request, "entity_access_denied", params));
        }
        fixture.check(rows).await;
    });
}

async fn submit(fixture: &Populated, body: &Value) {
    assert_eq!(fixture.send(fixture.submit_referral(body)).await.data(), &json!({}));
}

async fn stored(fixture: &Populated) -> Vec<Referral> {
    fixture.inventory.users().referrals(&fixture.system()).await.unwrap()
}

#[test]
fn repeated_referral_of_a_user_replaces_the_first() {
    run_with(Populated::new, async |fixture| {
        submit(&fixture, &json!({"referral_source": "other", "referral_source_other": "a friend"})).await;
        let first = stored(&fixture).await;
        assert_eq!(first.len(), 1);
        assert_eq!(
            (first[0].user_id, first[0].organization_id),
            (fixture.member.id, fixture.member.organization_id)
        );
        assert_eq!(
            (&*first[0].referral_source, first[0].referral_source_other.as_deref()),
            ("other", Some("a friend"))
        );
        fixture.clock.set(at(5));
        submit(&fixture, &json!({"referral_source": "reddit"})).await;
        let second = stored(&fixture).await;
        let expected = Referral {
            referral_source: "reddit".to_owned(),
            referral_source_other: None,
            updated_at: at(5),
            ..first[0].clone()
        };
        assert_eq!(second, [expected]);
    });
}

#[test]
fn every_user_of_every_organization_has_an_own_referral() {
    run_with(Populated::new, async |fixture| {
        for site in [&fixture.home, &fixture.abroad] {
            for level in LEVELS {
                let user = fixture.user(site, level, &[]).await;
                let session = fixture.sign_in(&user).await;
                let request = send_json("POST", REFERRAL, &json!({"referral_source": "youtube"}));
                fixture.send(with_session(request, &session)).await.data();
            }
            let referrals =
                fixture.inventory.users().referrals(&Caller::system(site.organization.id)).await.unwrap();
            assert_eq!(referrals.len(), 4);
        }
    });
}

#[test]
fn referral_source_may_be_a_known_one_or_any_text() {
    run_with(Populated::new, async |fixture| {
        let known = [
            "search_engine",
            "ai_assistant",
            "youtube",
            "tiktok",
            "blog_article",
            "reddit",
            "hacker_news",
            "social_media",
            "word_of_mouth",
            "proxmox_community_scripts",
            "self_hosted",
            "other",
            "prefer_not_to_say",
        ];
        assert_eq!(referral_source::ALL, known);
        for source in known.into_iter().chain(["Reddit", "größe 😀", "a\0b", "  padded  "]) {
            submit(&fixture, &json!({"referral_source": source})).await;
            assert_eq!(stored(&fixture).await[0].referral_source, source.trim());
        }
    });
}

/// The detail is required for the source `other`, and stored for every source.
#[test]
fn referral_detail_is_stored_unchanged() {
    run_with(Populated::new, async |fixture| {
        let longest = "😀".repeat(500);
        for (sent, kept) in [
            (json!("  with spaces  "), Some("  with spaces  ")),
            (json!(""), Some("")),
            (json!("a\0\u{1b}"), Some("a\0\u{1b}")),
            (json!(longest), Some(&*longest)),
            (Value::Null, None),
        ] {
            submit(&fixture, &with(&json!({"referral_source": "reddit"}), "referral_source_other", sent))
                .await;
            assert_eq!(stored(&fixture).await[0].referral_source_other.as_deref(), kept);
        }
    });
}

/// A share of the fixture's organization, with these options.
async fn share(fixture: &Populated, options: [bool; 4], password: Option<&str>) -> ShareId {
    let mut share = NewShare::new("The office\0");
    let [show_export_button, show_inspect_panel, show_minimap, show_zoom_controls] = options;
    share.options = ShareOptions { show_export_button, show_inspect_panel, show_minimap, show_zoom_controls };
    share.password = password.map(str::to_owned);
    share.network_id = Some(OFFICE);
    share.expires_at = Some(at(60));
    fixture.inventory.shares().create(&fixture.system(), share).await.unwrap().id
}

fn metadata(id: ShareId, requires_password: bool, options: [bool; 4]) -> Value {
    json!({
        "id": id,
        "name": "The office\0",
        "requires_password": requires_password,
        "options": {
            "show_export_button": options[0],
            "show_inspect_panel": options[1],
            "show_minimap": options[2],
            "show_zoom_controls": options[3],
        },
    })
}

#[test]
fn share_metadata_contains_name_options_and_password_flag_only() {
    run_with(Populated::new, async |fixture| {
        let mut rows = Vec::new();
        for chosen in 0..16_u32 {
            let options = [0, 1, 2, 3].map(|place| chosen >> place & 1 == 1);
            let password = (chosen % 3 == 0).then_some(PASSWORD);
            let id = share(&fixture, options, password).await;
            rows.push(Row::gives(
                format!("{options:?}"),
                bare("GET", &share_path(id)),
                metadata(id, password.is_some(), options),
            ));
        }
        fixture.check(rows).await;
    });
}

#[test]
fn share_is_returned_whatever_the_credential() {
    run_with(Populated::new, async |fixture| {
        let id = share(&fixture, [true; 4], None).await;
        let expected = || metadata(id, false, [true; 4]);
        let request = || bare("GET", &share_path(id));
        let mut twice = with_key(request(), "x");
        twice.headers_mut().append("authorization", HeaderValue::from_static("Bearer y"));
        let mut cross_site = fixture.by_session(request());
        cross_site.headers_mut().insert("origin", HeaderValue::from_static("https://evil.example"));
        let requests = [
            ("none", request()),
            ("a key", fixture.by_key(request())),
            ("no key", with_key(request(), "nonsense")),
            ("two keys", twice),
            ("a daemon's key", with_key(request(), &fixture.daemon_key)),
            ("a session", fixture.by_session(request())),
            ("no session", with_session(request(), "nonsense")),
            ("another site", cross_site),
        ];
        fixture.check(requests.map(|(name, request)| Row::gives(name, request, expected()))).await;
        let owner = fixture.owner_key(&fixture.abroad).await;
        fixture.check([Row::gives("abroad", with_key(request(), &owner), expected())]).await;
    });
}

#[test]
fn share_is_found_until_it_is_disabled_expired_or_deleted_without_a_reason() {
    run_with(Populated::new, async |fixture| {
        let id = share(&fixture, [false; 4], Some(PASSWORD)).await;
        let send = async || fixture.server.get(&share_path(id)).await;
        assert_eq!(send().await.status, 200);
        fixture.inventory.shares().disable(&fixture.system(), id).await.unwrap();
        let disabled = send().await;
        assert_eq!(disabled.status, 404);
        fixture.inventory.shares().enable(&fixture.system(), id).await.unwrap();
        fixture.clock.set(at(60).plus_micros(-1));
        assert_eq!(send().await.status, 200);
        fixture.clock.set(at(60));
        assert_eq!(send().await.body, disabled.body);
        fixture.inventory.shares().delete(&fixture.system(), id).await.unwrap();
        assert_eq!(send().await.body, disabled.body);
    });
}
