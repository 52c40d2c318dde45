//! Passwords, keys and session ids must not be stored or shown in plain text anywhere.

use std::fmt;
use toposcope::access::Caller;

use http::Request;
use http::header::{AUTHORIZATION, CONTENT_TYPE, SET_COOKIE};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use toposcope::inventory::{IssuedKey, IssuedSession, NewShare, NewUser};
use toposcope::model::{DaemonApiKey, Permission, User, UserApiKey};
use toposcope::service::Api;
use tower::ServiceExt;

use crate::support::{Fixture, in_person, settle};

const PASSWORD: &str = "correct horse battery staple";
const NEXT_PASSWORD: &str = "wrong camel, car insurance";
const SHARE_PASSWORD: &str = "open sesame and everything";

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Returns whether a part of a secret appears that is too long for a coincidence.
fn holds_part(bytes: &[u8], secret: &str) -> bool {
    secret.as_bytes().windows(12).any(|part| holds(bytes, std::str::from_utf8(part).unwrap()))
}

/// Returns a key without its prefix, which is not secret.
fn random_part(key: &str) -> &str {
    &key["topo_u_".len()..]
}

/// A user with one of every kind of secret.
struct Secrets {
    fixture: Fixture,
    user: User,
    key: IssuedKey<UserApiKey>,
    daemon_key: IssuedKey<DaemonApiKey>,
    session: IssuedSession,
}

impl Secrets {
    async fn new() -> Self {
        let fixture = Fixture::new().await;
        let inventory = &fixture.inventory;
        let mut new = NewUser::new("owner@example.net", Permission::Owner);
        new.password = Some(PASSWORD.to_owned());
        let user = inventory.users().create(&fixture.system(), new).await.unwrap();
        inventory.log_in(&user.email, PASSWORD.to_owned()).await.unwrap();
        inventory
            .users()
            .set_password(&Caller::system(user.organization_id), user.id, Some(NEXT_PASSWORD.to_owned()))
            .await
            .unwrap();
        let session = inventory.log_in(&user.email, NEXT_PASSWORD.to_owned()).await.unwrap();
        let mut new = NewShare::new("the office");
        new.password = Some(SHARE_PASSWORD.to_owned());
        let share = inventory.shares().create(&fixture.system(), new).await.unwrap().id;
        assert!(inventory.shares().verify_password(share, SHARE_PASSWORD.to_owned()).await.unwrap());
        let key = fixture.user_key(&user, |_| {}).await;
        let daemon_key = fixture.daemon_key(|_| {}).await;
        inventory.authenticate_user_key(key.plaintext()).await.unwrap();
        inventory.authenticate_daemon_key(daemon_key.plaintext()).await.unwrap();
        inventory.authenticate_session(session.plaintext()).await.unwrap();
        inventory.users().submit_referral(&in_person(&user), "reddit", None).await.unwrap();
        settle().await;
        Self { fixture, user, key, daemon_key, session }
    }

    fn texts(&self) -> [&str; 6] {
        let (key, daemon_key) = (self.key.plaintext(), self.daemon_key.plaintext());
        let session = self.session.plaintext();
        [PASSWORD, NEXT_PASSWORD, SHARE_PASSWORD, random_part(key), random_part(daemon_key), session]
    }
}

#[tokio::test]
async fn no_record_holds_a_password_a_key_or_a_session_id() {
    let secrets = Secrets::new().await;
    let (bodies, unique_keys) = (secrets.fixture.bodies(), secrets.fixture.unique_keys());
    for mark in ["$argon2id$", "topo_u_…", "topo_d_…", "\"verifier\""] {
        assert!(bodies.iter().any(|body| holds(body, mark)), "{mark} is kept in their place");
    }
    let names: Vec<&str> = unique_keys.iter().map(|unique_key| unique_key.name.as_str()).collect();
    assert!(names.contains(&"digest") && names.contains(&"session"), "{names:?}");
    let unique_keys = unique_keys.iter().map(|unique_key| &unique_key.value[..]);
    for bytes in bodies.iter().map(|body| &body[..]).chain(unique_keys) {
        for secret in secrets.texts() {
            assert!(!holds_part(bytes, secret), "{}", String::from_utf8_lossy(bytes));
        }
    }
}

#[tokio::test]
async fn no_record_holds_any_of_many_keys_and_sessions() {
    let secrets = Secrets::new().await;
    let mut texts = Vec::new();
    for _ in 0..8 {
        let (key, daemon_key) =
            tokio::join!(secrets.fixture.user_key(&secrets.user, |_| {}), secrets.fixture.daemon_key(|_| {}));
        texts.extend([key.plaintext(), daemon_key.plaintext()].map(|key| random_part(key).to_owned()));
        let session = secrets.fixture.inventory.log_in(&secrets.user.email, NEXT_PASSWORD.to_owned()).await;
        texts.push(session.unwrap().plaintext().to_owned());
    }
    for body in secrets.fixture.bodies() {
        assert!(texts.iter().all(|text| !holds_part(&body, text)));
    }
}

/// Returns a value in every form of its debug output.
fn shown(value: &dyn fmt::Debug) -> String {
    format!("{value:?} {value:#?} {value:x?}")
}

#[tokio::test]
async fn debug_output_holds_no_password_no_key_and_no_session_id() {
    let secrets = Secrets::new().await;
    let (fixture, inventory) = (&secrets.fixture, &secrets.fixture.inventory);
    let mut user = NewUser::new("owner@example.net", Permission::Owner);
    user.password = Some(PASSWORD.to_owned());
    let mut share = NewShare::new("the office");
    share.password = Some(SHARE_PASSWORD.to_owned());
    let caller = inventory.authenticate_user_key(secrets.key.plaintext()).await.unwrap();
    let in_person = inventory.authenticate_session(secrets.session.plaintext()).await.unwrap();
    let daemon = inventory.authenticate_daemon_key(secrets.daemon_key.plaintext()).await.unwrap();
    let values: [&dyn fmt::Debug; 13] = [
        &user,
        &share,
        &secrets.key,
        &secrets.daemon_key,
        &secrets.session,
        &caller,
        &in_person,
        &daemon,
        inventory,
        &fixture.store,
        &fixture.contents().await,
        &fixture.unique_keys(),
        &inventory.users().referrals(&fixture.system()).await.unwrap(),
    ];
    for value in values {
        let shown = shown(value);
        for secret in secrets.texts() {
            assert!(!holds_part(shown.as_bytes(), secret), "{shown}");
        }
    }
}

#[tokio::test]
async fn debug_output_of_responses_holds_no_key_and_no_session_id() {
    let secrets = Secrets::new().await;
    let api = Api::builder(secrets.fixture.inventory.clone()).build();
    let login = json!({"email": secrets.user.email, "password": NEXT_PASSWORD});
    let daemon_key = json!({"name": "scanner", "network_id": secrets.fixture.network, "tags": []});
    let fixture = &secrets.fixture;
    let key = fixture.user_key(&secrets.user, |new| new.network_ids = vec![fixture.network]).await;
    for (path, body) in [("/api/auth/login", login), ("/api/v1/auth/daemon", daemon_key)] {
        let request = Request::post(path)
            .header(CONTENT_TYPE, "application/json")
            .header(AUTHORIZATION, format!("Bearer {}", key.plaintext()))
            .body(body.to_string());
        let response = api.clone().oneshot(request.unwrap()).await.unwrap();
        assert_eq!(response.status(), 200);
        let shown = shown(&response);
        let cookie = response.headers().get(SET_COOKIE).map(|cookie| cookie.to_str().unwrap().to_owned());
        let session = cookie.and_then(|cookie| Some(cookie.split_once('=')?.1.split_once(';')?.0.to_owned()));
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let body: Value = serde_json::from_slice(&body).unwrap();
        let key = body["data"]["key"].as_str().map(|key| random_part(key).to_owned());
        let secret = session.or(key).expect("each has one");
        assert!(!holds_part(shown.as_bytes(), &secret), "{shown}");
    }
}

/// Debug output omits secrets only: it still identifies the value.
#[tokio::test]
async fn debug_output_identifies_the_value() {
    let secrets = Secrets::new().await;
    let mut user = NewUser::new("b@example.net", Permission::Owner);
    user.password = Some(PASSWORD.to_owned());
    let mut share = NewShare::new("the office");
    share.password = Some(SHARE_PASSWORD.to_owned());
    let key = secrets.key.record();
    let daemon_key = secrets.daemon_key.record();
    let session = secrets.session.session();
    for (value, parts) in [
        (&user as &dyn fmt::Debug, ["b@example.net".to_owned(), "Owner".to_owned()]),
        (&share, ["the office".to_owned(), "requires_password: true".to_owned()]),
        (&secrets.key, [key.id.to_string(), key.key.clone()]),
        (&secrets.daemon_key, [daemon_key.id.to_string(), daemon_key.key.clone()]),
        (&secrets.session, [session.id.to_string(), secrets.user.email.clone()]),
    ] {
        let shown = format!("{value:?}");
        assert!(parts.iter().all(|part| shown.contains(part)), "{shown}");
    }
}

#[tokio::test]
async fn errors_do_not_repeat_secrets() {
    const SHORT: &str = "hunter2!!";
    const KEY: &str = "0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjhO";
    let secrets = Secrets::new().await;
    let inventory = &secrets.fixture.inventory;
    let mut user = NewUser::new("b@example.net", Permission::Owner);
    user.password = Some(SHORT.to_owned());
    let mut share = NewShare::new("the office");
    share.password = Some(SHORT.to_owned());
    let long = SHORT.repeat(200);
    let mut errors = vec![
        inventory.users().create(&Caller::system(secrets.fixture.organization), user).await.unwrap_err(),
        inventory.shares().create(&Caller::system(secrets.fixture.organization), share).await.unwrap_err(),
        inventory
            .users()
            .set_password(
                &Caller::system(secrets.user.organization_id),
                secrets.user.id,
                Some(SHORT.to_owned()),
            )
            .await
            .unwrap_err(),
        inventory
            .users()
            .set_password(&Caller::system(secrets.user.organization_id), secrets.user.id, Some(long))
            .await
            .unwrap_err(),
        inventory.authenticate_user_key(&format!("topo_u_{KEY}")).await.unwrap_err(),
        inventory.authenticate_daemon_key(&format!("topo_d_{KEY}")).await.unwrap_err(),
        inventory.authenticate_session(KEY).await.unwrap_err(),
    ];
    for _ in 0..6 {
        errors.push(inventory.log_in(&secrets.user.email, SHORT.to_owned()).await.unwrap_err());
    }
    for error in errors {
        let shown = format!("{error} {}", shown(&error));
        assert!(!shown.contains(SHORT) && !shown.contains(&KEY[..12]), "{shown}");
    }
}
