//! Logins at providers that a program from npm plays.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "clippy allows them in test functions only, and this file has helpers"
)]

mod support;

use axum::body::Body;
use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use toposcope::access::Caller;
use toposcope::model::Permission;
use toposcope_oidc::SESSION_LIFETIME;

use support::{ACME, Browser, GLOBEX, Site};

async fn create_tag(browser: &mut Browser, origin: &str) -> StatusCode {
    let headers = [("content-type", "application/json"), ("origin", origin)];
    let body = Body::from(r#"{"name": "spare", "color": "Blue"}"#);
    browser.send(Method::POST, "/inventory/api/v1/tags", &headers, body).await.status
}

const ORIGIN: &str = "https://app.example.net";

#[tokio::test]
async fn login_gives_the_level_of_the_highest_group() {
    let site = Site::new().await;
    let mut browser = site.browser();
    let answer = browser.log_in("acme", "ann", &["visitors", "staff", "network-admins"]).await;
    assert_eq!((answer.status, answer.location.as_deref()), (StatusCode::SEE_OTHER, Some("/")));
    assert_eq!(browser.networks().await, Ok(vec!["acme".to_owned()]));
    assert_eq!(create_tag(&mut browser, ORIGIN).await, StatusCode::OK);
    let user = site.user(ACME, "ann").await.unwrap();
    assert_eq!((user.permissions, user.email.as_str()), (Permission::Admin, ""));

    let answer = browser.log_in("acme", "ann", &["staff"]).await;
    assert_eq!(answer.status, StatusCode::SEE_OTHER);
    assert_eq!(create_tag(&mut browser, ORIGIN).await, StatusCode::FORBIDDEN);
    let again = site.user(ACME, "ann").await.unwrap();
    assert_eq!((again.id, again.permissions), (user.id, Permission::Viewer));
}

#[tokio::test]
async fn user_without_a_known_group_is_refused_and_not_stored() {
    let site = Site::new().await;
    for claims in [json!({ "sub": "eve", "groups": ["visitors"] }), json!({ "sub": "eve" })] {
        let mut browser = site.browser();
        assert_eq!(browser.log_in_with("acme", &claims).await.status, StatusCode::FORBIDDEN);
        assert!(!browser.cookies.contains_key("__Host-session"));
        assert_eq!(site.user(ACME, "eve").await, None);
    }
}

#[tokio::test]
async fn disabled_user_is_refused() {
    let site = Site::new().await;
    let mut browser = site.browser();
    browser.log_in("acme", "ann", &["staff"]).await;
    let user = site.user(ACME, "ann").await.unwrap();
    site.inventory.users().disable(&Caller::system(ACME), user.id).await.unwrap();
    assert_eq!(site.browser().log_in("acme", "ann", &["staff"]).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn logout_ends_the_session_and_no_other() {
    let site = Site::new().await;
    let (mut browser, mut other) = (site.browser(), site.browser());
    browser.log_in("acme", "ann", &["staff"]).await;
    other.log_in("acme", "ann", &["staff"]).await;
    let mut stolen = browser.clone();
    let answer = browser.send(Method::POST, "/logout", &[], Body::empty()).await;
    assert_eq!(answer.status, StatusCode::NO_CONTENT);
    assert!(browser.cookies.is_empty(), "{:?}", browser.cookies);
    for ended in [&mut browser, &mut stolen] {
        assert_eq!(ended.networks().await, Err("auth_not_authenticated".to_owned()));
    }
    assert!(other.networks().await.is_ok());
}

#[tokio::test]
async fn session_ends_with_its_lifetime() {
    let site = Site::new().await;
    let mut browser = site.browser();
    browser.log_in("acme", "ann", &["staff"]).await;
    site.clock.advance(SESSION_LIFETIME - std::time::Duration::from_secs(1));
    assert!(browser.networks().await.is_ok());
    site.clock.advance(std::time::Duration::from_secs(1));
    assert_eq!(browser.networks().await, Err("auth_session_expired".to_owned()));
}

#[tokio::test]
async fn id_token_that_is_not_for_this_login_is_refused() {
    let site = Site::new().await;
    let ann = |extra: Value| {
        let mut claims = json!({ "sub": "ann", "groups": ["staff"] });
        claims.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        claims
    };
    let cases = [
        ("nonce", ann(json!({ "nonce": "of another login" })), ""),
        ("audience", ann(json!({ "aud": "another application" })), ""),
        ("issuer", ann(json!({ "iss": site.issuers[1] })), ""),
        ("expired", ann(json!({ "exp": 1_700_000_000 })), ""),
        ("signature", ann(json!({})), "claims"),
        ("unsigned", ann(json!({})), "unsigned"),
    ];
    for (case, claims, forge) in cases {
        let mut browser = site.browser();
        let back = browser.authenticate("acme", &claims, forge).await;
        assert_eq!(browser.get(&back).await.status, StatusCode::FORBIDDEN, "{case}");
        assert!(!browser.cookies.contains_key("__Host-session"), "{case}");
    }
    for subject in ["ann", "root"] {
        assert_eq!(site.user(ACME, subject).await, None);
    }
    assert_eq!(site.browser().log_in_with("acme", &ann(json!({}))).await.status, StatusCode::SEE_OTHER);
}

#[tokio::test]
async fn callback_in_another_browser_or_of_another_login_is_refused() {
    let site = Site::new().await;
    let claims = json!({ "sub": "ann", "groups": ["staff"] });
    let mut browser = site.browser();
    let back = browser.authenticate("acme", &claims, "").await;
    // An attacker could make a browser use the attacker's account.
    assert_eq!(site.browser().get(&back).await.status, StatusCode::BAD_REQUEST);
    let other_state = back.replace("state=", "state=x");
    assert_eq!(browser.clone().get(&other_state).await.status, StatusCode::BAD_REQUEST);
    // The code of one tenant, at the callback of another.
    let other_tenant = back.replace("/acme/", "/globex/");
    assert_eq!(browser.clone().get(&other_tenant).await.status, StatusCode::BAD_REQUEST);
    let mut begun_again = browser.clone();
    begun_again.get("/login/acme").await;
    assert_eq!(begun_again.get(&back).await.status, StatusCode::BAD_REQUEST);

    assert_eq!(browser.get(&back).await.status, StatusCode::SEE_OTHER);
    assert_eq!(browser.get(&back).await.status, StatusCode::BAD_REQUEST, "replayed");
}

#[tokio::test]
async fn code_is_worthless_without_its_verifier() {
    let site = Site::new().await;
    let mut browser = site.browser();
    let back = browser.authenticate("acme", &json!({ "sub": "ann", "groups": ["staff"] }), "").await;
    let login = browser.cookies.get_mut("__Host-login").unwrap();
    let verifier = login.rfind('.').unwrap();
    login.replace_range(verifier + 1.., &"x".repeat(43));
    assert_eq!(browser.get(&back).await.status, StatusCode::BAD_GATEWAY);
    assert_eq!(site.user(ACME, "ann").await, None);
}

#[tokio::test]
async fn user_whom_the_provider_refuses_is_refused() {
    let site = Site::new().await;
    let mut browser = site.browser();
    let back = browser.authenticate("acme", &json!({ "sub": "ann" }), "").await;
    let state = back.split_once("state=").unwrap().1;
    let refused = format!("/login/acme/callback?error=access_denied&state={state}");
    assert_eq!(browser.get(&refused).await.status, StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn tenants_with_users_of_one_name_stay_apart() {
    let site = Site::new().await;
    let (mut acme, mut globex) = (site.browser(), site.browser());
    acme.log_in("acme", "ann", &["staff"]).await;
    globex.log_in("globex", "ann", &["network-admins"]).await;
    assert_eq!(acme.networks().await, Ok(vec!["acme".to_owned()]));
    assert_eq!(globex.networks().await, Ok(vec!["globex".to_owned()]));
    let [of_acme, of_globex] =
        [site.user(ACME, "ann").await.unwrap(), site.user(GLOBEX, "ann").await.unwrap()];
    assert_ne!(of_acme.id, of_globex.id);
    assert_eq!([of_acme.permissions, of_globex.permissions], [Permission::Viewer, Permission::Admin]);

    // The cookie names the tenant, and its sender may change that.
    let session = acme.cookies.get_mut("__Host-session").unwrap();
    *session = session.replace("acme.", "globex.");
    assert_eq!(acme.networks().await, Err("auth_not_authenticated".to_owned()));
    assert_eq!(site.browser().get("/login/initech").await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn page_of_another_site_cannot_use_the_session() {
    let site = Site::new().await;
    let mut browser = site.browser();
    browser.log_in("acme", "ann", &["network-admins"]).await;
    assert_eq!(create_tag(&mut browser, "https://evil.example.net").await, StatusCode::FORBIDDEN);
    assert_eq!(create_tag(&mut browser, ORIGIN).await, StatusCode::OK);
}

#[tokio::test]
async fn provider_that_does_not_answer_gives_502() {
    // Nothing listens on this port.
    let site = Site::with_issuers(vec!["http://127.0.0.1:1".to_owned(); 2]).await;
    assert_eq!(site.browser().get("/login/acme").await.status, StatusCode::BAD_GATEWAY);
}

#[test]
fn mapping_takes_at_most_60_lines() {
    let lines = include_str!("../src/caller.rs").lines().count();
    assert!(lines <= 60, "{lines} lines");
}
