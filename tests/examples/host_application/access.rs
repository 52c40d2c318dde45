//! Tenants, tokens, the endpoint and the policy of the application.

use std::time::Duration;

use base64ct::{Base64UrlUnpadded, Encoding};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use toposcope::model::{OrganizationId, Permission};

use super::{Answer, HOSTS, SECRET, Site, asset};
use crate::host_app::application::{ACME, GLOBEX};

#[tokio::test]
async fn member_of_a_tenant_sees_nothing_of_another() {
    for site in Site::both().await {
        let host = site.host().await;
        assert!(host.starts_with(HOSTS), "{host}");
        let own = site.log_in(ACME, Permission::Member).await;
        assert_eq!(site.get(&host, &own).await.data()["name"], "printer");
        assert_eq!(site.get(HOSTS, &own).await.data().as_array().unwrap().len(), 1);

        let foreign = site.log_in(GLOBEX, Permission::Member).await;
        assert_eq!(site.get(HOSTS, &foreign).await.data(), json!([]));
        site.get(&host, &foreign).await.refuses(404, "entity_not_found");
        let rename = site.ask("PATCH", &host, &foreign, &json!({"name": "mine"})).await;
        rename.refuses(404, "entity_not_found");
        site.ask("DELETE", &host, &foreign, &Value::Null).await.refuses(404, "entity_not_found");
        let tag = site.ask("PUT", &asset("A-17", &host), &foreign, &Value::Null).await;
        tag.refuses(404, "entity_not_found");
    }
}

#[tokio::test]
async fn token_is_accepted_until_it_expires() {
    let site = Site::in_process().await;
    let token = site.log_in(ACME, Permission::Viewer).await;
    site.clock.advance(Duration::from_secs(15 * 60 - 1));
    assert_eq!(site.get(HOSTS, &token).await.status, 200);
    site.clock.advance(Duration::from_secs(1));
    site.get(HOSTS, &token).await.refuses(401, "auth_session_expired");
}

#[tokio::test]
async fn later_login_has_the_present_level() {
    let site = Site::in_process().await;
    let host = site.host().await;
    for (level, status) in [(Permission::Viewer, 403), (Permission::Member, 200)] {
        let token = site.application.log_in(ACME, "max", level).await.unwrap();
        let renamed = site.ask("PATCH", &host, &format!("Bearer {token}"), &json!({"name": "copier"})).await;
        assert_eq!(renamed.status, status, "{level}");
    }
}

/// Returns a token with this header, signed with the key of the application.
fn signed(header: &str, payload: &str) -> String {
    let signed = [header, payload].map(|part| Base64UrlUnpadded::encode_string(part.as_bytes())).join(".");
    let signature = Hmac::<Sha256>::new(&SECRET.into()).chain_update(&signed).finalize().into_bytes();
    format!("Bearer {signed}.{}", Base64UrlUnpadded::encode_string(&signature))
}

#[tokio::test]
async fn token_that_the_application_has_not_issued_is_refused() {
    let site = Site::in_process().await;
    let valid = site.log_in(ACME, Permission::Viewer).await;
    let (signed_part, signature) = valid.rsplit_once('.').unwrap();
    let (header, payload) = signed_part.strip_prefix("Bearer ").unwrap().split_once('.').unwrap();
    let decode = |part| String::from_utf8(Base64UrlUnpadded::decode_vec(part).unwrap()).unwrap();
    let (header, payload) = (decode(header), decode(payload));
    assert_eq!(site.get(HOSTS, &signed(&header, &payload)).await.status, 200, "the same token");

    let owner = payload.replace("Viewer", "Owner");
    assert_ne!(owner, payload);
    let owner = Base64UrlUnpadded::encode_string(owner.as_bytes());
    let [header_part, _] = [&header, &payload].map(|part| Base64UrlUnpadded::encode_string(part.as_bytes()));
    for (token, why) in [
        (format!("Bearer {header_part}.{owner}.{signature}"), "another payload"),
        (format!("{signed_part}."), "no signature"),
        (signed_part.to_owned(), "two parts"),
        (format!("{signed_part}.{}", &signature[..40]), "a shorter signature"),
        (signed(&header.replace("HS256", "none"), &payload), "another algorithm"),
        (signed(&header, "{}"), "no claims"),
        (valid.replace("Bearer ", "Basic "), "another scheme"),
        ("Bearer ...".to_owned(), "no parts"),
    ] {
        assert_eq!(site.get(HOSTS, &token).await.status, 401, "{why}");
    }
}

#[tokio::test]
async fn own_endpoint_has_the_credentials_the_errors_and_the_rate_limit_of_the_api() {
    for site in Site::both().await {
        let host = site.host().await;
        let target = asset("A-17", &host);
        site.ask("PUT", &target, "", &Value::Null).await.refuses(401, "auth_not_authenticated");
        let viewer = site.log_in(ACME, Permission::Viewer).await;
        site.ask("PUT", &target, &viewer, &Value::Null).await.refuses(403, "auth_permission_denied");
        let member = site.log_in(ACME, Permission::Member).await;
        let missing = format!("/inventory/assets/A-17/{}", OrganizationId::nil());
        site.ask("PUT", &missing, &member, &Value::Null).await.refuses(404, "entity_not_found");

        let malformed = site.ask("PUT", "/inventory/assets/A-17/printer", &member, &Value::Null).await;
        let [id, tag] = ["host", "tag"].map(|field| json!({"field": field}));
        assert_eq!(malformed.refuses(400, "validation_invalid_format"), id);
        let no_tag = site.ask("PUT", &asset("17", &host), &member, &Value::Null).await;
        assert_eq!(no_tag.refuses(400, "assets.no_tag"), tag);

        let tagged = site.ask("PUT", &target, &member, &Value::Null).await;
        assert_eq!(tagged.data()["custom"], json!({"asset_tag": "A-17"}));
        let listed = site.get(&format!("{HOSTS}?custom.asset_tag=A-17"), &member).await;
        let remaining =
            |answer: &Answer| answer.headers["x-ratelimit-remaining"].to_str().unwrap().to_owned();
        let [before, after] = [&tagged, &listed].map(|answer| remaining(answer).parse::<u32>().unwrap());
        assert_eq!(after, before - 1);
        assert_eq!(listed.data().as_array().unwrap().len(), 1);
        assert_eq!(site.get(&format!("{HOSTS}?custom.asset_tag=A-18"), &member).await.data(), json!([]));
    }
}

#[tokio::test]
async fn policy_keeps_hosts_that_are_in_the_books() {
    for site in Site::both().await {
        let host = site.host().await;
        let member = site.log_in(ACME, Permission::Member).await;
        site.ask("PUT", &asset("A-17", &host), &member, &Value::Null).await.data();
        let without_tag = json!({"custom": {"asset_tag": null}});
        for (method, target, body) in [
            ("DELETE", &host, Value::Null),
            ("PATCH", &host, without_tag),
            ("PUT", &asset("A-18", &host), Value::Null),
        ] {
            let params = site.ask(method, target, &member, &body).await.refuses(422, "policy.asset_in_books");
            assert_eq!(params["field"], "custom.asset_tag", "{method}");
        }
        // Everything else can change.
        assert_eq!(
            site.ask("PATCH", &host, &member, &json!({"name": "copier"})).await.data()["name"],
            "copier"
        );
    }
}
