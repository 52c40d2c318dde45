//! No line of the log, and no figure, has a secret.

use serde_json::json;
use toposcope::inventory::NewShare;
use toposcope::model::Permission;
use tracing::dispatcher::set_default;

use crate::backend::run_with;
use crate::common::{
    Fixture, LAB, Log, OFFICE, PASSWORD, get, log_in, send_json, with_header, with_key, with_session,
};

/// Secrets, and texts that may be some, as they are entered.
const WRONG_PASSWORD: &str = "wrong-password-8c1d";
const WRONG_KEY: &str = "tsu_wrong-key-5b2e";
const WRONG_SHARE_PASSWORD: &str = "wrong-share-password-77aa";
/// A password that a user enters in the wrong field.
const ACCOUNT: &str = "password-as-account-19f0@example.net";
const NEW_PASSWORD: &str = "new-password-40ce";
const SHARE_PASSWORD: &str = "share-password-a6d3";

#[test]
fn no_line_and_no_figure_has_a_password_a_key_a_session_a_token_an_account_or_the_id_of_a_share() {
    run_with(
        async || Fixture::new().await.on_one_instance(),
        async |fixture| {
            let log = Log::default();
            let _guard = set_default(&log.dispatch_with_spans());
            let user = fixture.user(&fixture.home, Permission::Owner, &[OFFICE, LAB]).await;
            let mut share = NewShare::new("a share");
            share.password = Some(SHARE_PASSWORD.to_owned());
            let share = fixture.inventory.shares().create(&fixture.system(), share).await.unwrap();
            let verify = format!("/api/v1/shares/public/{}/verify", share.id);

            for _ in 0..7 {
                fixture.send(log_in(&user.email, WRONG_PASSWORD)).await;
                fixture.send(log_in(ACCOUNT, WRONG_PASSWORD)).await;
                fixture.send(send_json("POST", &verify, &json!({"password": WRONG_SHARE_PASSWORD}))).await;
                fixture.send(with_key(get("/api/v1/hosts"), WRONG_KEY)).await;
                fixture.send(with_session(get("/api/v1/hosts"), WRONG_KEY)).await;
                fixture.clock.advance(std::time::Duration::from_secs(61));
            }
            fixture.clock.advance(std::time::Duration::from_secs(24 * 60 * 60));
            let login = fixture.send(log_in(&user.email, PASSWORD)).await;
            let session = login.header("set-cookie").split(['=', ';']).nth(1).unwrap().to_owned();
            let by_session = |request| with_session(request, &session);
            let token = fixture.send(send_json("POST", &verify, &json!({"password": SHARE_PASSWORD}))).await;
            let token = token.data()["token"].as_str().unwrap().to_owned();
            let path = format!("/api/v1/shares/{}", share.id);
            let renamed = json!({"name": "another name"});
            assert_eq!(fixture.send(by_session(send_json("PATCH", &path, &renamed))).await.status, 200);
            let of_share = share.id.to_string();
            let key = json!({"name": "a key", "permissions": "Viewer", "network_ids": [OFFICE]});
            let key = fixture.send(by_session(send_json("POST", "/api/v1/auth/keys", &key))).await;
            let key = key.data()["key"].as_str().unwrap().to_owned();
            fixture.send(with_header(with_key(get("/api/v1/hosts"), &key), "x-request-id", "one")).await;
            let change = json!({"current_password": PASSWORD, "new_password": NEW_PASSWORD});
            assert_eq!(
                fixture.send(by_session(send_json("POST", "/api/auth/password", &change))).await.status,
                200
            );
            fixture.send(by_session(send_json("POST", "/api/auth/logout", &json!({})))).await;

            let figures = format!(
                "{:?}{}",
                fixture.server.api.figures(),
                fixture.server.api.figures().to_openmetrics()
            );
            drop(fixture);
            let log = log.take();
            let shortened = format!("update share {}…", &of_share[..8]);
            for expected in ["toposcope::security", "toposcope::audit", "toposcope::request", &shortened] {
                assert!(log.contains(expected), "{expected}");
            }
            let secrets: [&str; 12] = [
                WRONG_PASSWORD,
                WRONG_KEY,
                WRONG_SHARE_PASSWORD,
                ACCOUNT,
                NEW_PASSWORD,
                SHARE_PASSWORD,
                PASSWORD,
                &user.email,
                &session,
                &token,
                &key,
                &of_share,
            ];
            for secret in secrets {
                assert!(!log.contains(secret), "{secret}");
                assert!(!figures.contains(secret), "{secret}");
            }
        },
    );
}
