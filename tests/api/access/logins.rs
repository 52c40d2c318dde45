//! Logins, and the limit on failed ones.

use std::sync::LazyLock;
use std::time::Duration;
use toposcope::access::Caller;

use serde_json::{Value, json};
use toposcope::inventory::{ErrorKind, NewUser, Problem};
use toposcope::model::{OrganizationId, Permission};
use toposcope::service::ApiBuilder;

use crate::backend::run_with;
use crate::common::{
    HOSTS, Hook, LAB, LEVELS, OFFICE, PASSWORD, Populated, Reply, Row, at, get, log_in, send_json,
    with_session,
};

#[test]
fn login_returns_the_user_and_a_session_cookie() {
    run_with(Populated::new, async |fixture| {
        fixture.clock.set(at(9));
        for (level, networks) in LEVELS.into_iter().zip([&[][..], &[OFFICE], &[LAB, OFFICE], &[]]) {
            let user = fixture.user(&fixture.home, level, networks).await;
            let reply = fixture.send(log_in(&user.email, PASSWORD)).await;
            let expected = json!({
                "id": user.id,
                "email": user.email,
                "organization_id": fixture.home.organization.id,
                "permissions": level.to_string(),
                "network_ids": networks,
                "is_enabled": true,
                "created_at": at(9),
                "updated_at": at(9),
            });
            assert_eq!(reply.data(), &expected);
            let cookie = reply.header("set-cookie");
            let (session, attributes) = cookie.strip_prefix("session_id=").unwrap().split_once(';').unwrap();
            // 256 bits in base64url, without padding.
            assert_eq!(session.len(), 43);
            assert!(session.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'));
            assert_eq!(attributes, " Path=/; HttpOnly; SameSite=Lax; Max-Age=604800; Secure");
            assert_eq!(fixture.send(with_session(get(HOSTS), session)).await.status, 200);
            assert!(!String::from_utf8(reply.body).unwrap().contains("password"));
        }
    });
}

#[test]
fn sessions_are_distinct() {
    run_with(Populated::new, async |fixture| {
        let mut sessions = Vec::new();
        for _ in 0..20 {
            sessions.push(fixture.sign_in(&fixture.member).await);
        }
        sessions.sort_unstable();
        sessions.dedup();
        assert_eq!(sessions.len(), 20);
    });
}

#[test]
fn login_ignores_case_and_outer_spaces_of_the_address_only() {
    run_with(Populated::new, async |fixture| {
        let mut user = NewUser::new("Größe@Example.NET", Permission::Viewer);
        user.password = Some(" pass word ".to_owned());
        let user = fixture.inventory.users().create(&fixture.system(), user).await.unwrap();
        assert_eq!(user.email, "größe@example.net");
        let mut rows = Vec::new();
        for email in
            ["größe@example.net", "GRÖSSE@EXAMPLE.NET".replace("SS", "ß").as_str(), " Größe@example.net\t"]
        {
            rows.push(Row::succeeds(email, log_in(email, " pass word ")));
            let wrong = log_in(email, "pass word");
            rows.push(Row::refused(email, wrong, "auth_invalid_credentials"));
        }
        fixture.check(rows).await;
    });
}

/// A password that no user has.
static LONG_PASSWORD: LazyLock<String> = LazyLock::new(|| "x".repeat(15_000));

/// Invalid combinations of address and password, each for another reason.
async fn wrong(fixture: &Populated) -> Vec<(String, &'static str)> {
    let disabled = fixture.user(&fixture.home, Permission::Owner, &[]).await;
    fixture.inventory.users().disable(&Caller::system(disabled.organization_id), disabled.id).await.unwrap();
    let without = NewUser::new("without@example.net", Permission::Owner);
    let without = fixture.inventory.users().create(&fixture.system(), without).await.unwrap();
    let deleted = fixture.user(&fixture.home, Permission::Owner, &[]).await;
    fixture.inventory.users().delete(&Caller::system(deleted.organization_id), deleted.id).await.unwrap();
    vec![
        (fixture.member.email.clone(), "wrong password"),
        ("nobody@example.net".to_owned(), PASSWORD),
        ("no address".to_owned(), PASSWORD),
        ("\0\0\0".to_owned(), PASSWORD),
        (without.email, PASSWORD),
        (deleted.email, PASSWORD),
        (disabled.email, PASSWORD),
        (fixture.member.email.clone(), &LONG_PASSWORD),
    ]
}

/// Everything that a client can see of an answer, except the remaining requests.
fn shown(reply: &Reply) -> String {
    let mut headers = reply.headers.clone();
    headers.remove("x-ratelimit-remaining");
    headers.remove("x-ratelimit-reset");
    format!("{} {headers:?} {:?}", reply.status, String::from_utf8(reply.body.clone()))
}

#[test]
fn failed_logins_are_answered_alike_whatever_the_reason() {
    run_with(Populated::new, async |fixture| {
        let mut answers = Vec::new();
        for (email, password) in wrong(&fixture).await {
            let reply = fixture.send(log_in(&email, password)).await;
            assert_eq!(reply.refuses(401, "auth_invalid_credentials"), &json!({}));
            answers.push(shown(&reply));
        }
        answers.dedup();
        assert_eq!(answers.len(), 1, "{answers:?}");
    });
}

/// Equal times require equal work: the same calls of the store, in the same order.
#[test]
fn failed_logins_make_the_same_store_calls_whatever_the_reason() {
    run_with(Populated::new, async |fixture| {
        let logins = wrong(&fixture).await;
        let store = Hook::new();
        let server = fixture.server_with(&store);
        // The first login after a start reads the ids of some accounts in addition.
        server.send(log_in("first@example.net", PASSWORD)).await;
        assert_eq!(store.take_calls().first().map(String::as_str), Some("list password"));
        for (email, password) in logins {
            assert_eq!(server.send(log_in(&email, password)).await.status, 401);
            assert_eq!(
                store.take_calls(),
                ["list user", "get_by_unique_key email", "get user, password", "get password"],
                "{email}"
            );
        }
    });
}

/// Rules for setting passwords, for which no endpoint exists.
#[test]
fn password_must_have_10_to_1000_characters() {
    run_with(Populated::new, async |fixture| {
        let set = async |password: &str| {
            fixture
                .inventory
                .users()
                .set_password(
                    &Caller::system(fixture.member.organization_id),
                    fixture.member.id,
                    Some(password.to_owned()),
                )
                .await
        };
        for (password, problem) in [
            ("😀".repeat(9), Problem::MinLength { min: 10 }),
            ("😀".repeat(1001), Problem::MaxLength { max: 1000 }),
        ] {
            let error = set(&password).await.unwrap_err();
            assert_eq!(*error.kind(), ErrorKind::Invalid { field: "password".to_owned(), problem });
        }
        for password in ["😀".repeat(10), "😀".repeat(1000), " ".repeat(10)] {
            set(&password).await.unwrap();
            let reply = fixture.send(log_in(&fixture.member.email, &password)).await;
            assert_eq!(reply.data()["id"], json!(fixture.member.id));
        }
    });
}

const SECOND: Duration = Duration::from_secs(1);

async fn send(fixture: &Populated, email: &str, password: &str) -> Reply {
    fixture.send(log_in(email, password)).await
}

async fn fails(fixture: &Populated, email: &str) {
    send(fixture, email, "wrong password").await.refuses(401, "auth_invalid_credentials");
}

#[track_caller]
fn is_held_up(reply: &Reply, seconds: u64) {
    assert_eq!(reply.refuses(429, "auth_too_many_attempts"), &json!({"retry_after": seconds}));
    assert_eq!(reply.number("retry-after"), seconds);
}

/// Applies to the right password and to unknown addresses too.
#[test]
fn sixth_login_is_refused_until_the_first_failure_is_fifteen_minutes_old() {
    run_with(Populated::on_one_instance, async |fixture| {
        let member = fixture.member.email.clone();
        for (email, password) in [(&*member, PASSWORD), ("nobody@example.net", PASSWORD), ("no address", "x")]
        {
            for _ in 0..5 {
                fails(&fixture, email).await;
            }
            is_held_up(&send(&fixture, email, password).await, 900);
            is_held_up(&send(&fixture, email, "wrong password").await, 900);
            fixture.clock.advance(SECOND / 2);
            is_held_up(&send(&fixture, email, password).await, 900);
            fixture.clock.advance(899 * SECOND);
            is_held_up(&send(&fixture, email, password).await, 1);
            fixture.clock.advance(SECOND / 2 - Duration::from_micros(1));
            is_held_up(&send(&fixture, email, password).await, 1);
            fixture.clock.advance(Duration::from_micros(1));
            let status = send(&fixture, email, password).await.status;
            assert_eq!(status.as_u16(), if email == member { 200 } else { 401 }, "{email}");
        }
    });
}

#[test]
fn window_of_failed_logins_slides() {
    run_with(Populated::on_one_instance, async |fixture| {
        let email = fixture.member.email.clone();
        for _ in 0..5 {
            fails(&fixture, &email).await;
            fixture.clock.advance(100 * SECOND);
        }
        // The failures are 500, 400, 300, 200 and 100 seconds old.
        is_held_up(&send(&fixture, &email, PASSWORD).await, 400);
        fixture.clock.advance(400 * SECOND);
        fails(&fixture, &email).await;
        is_held_up(&send(&fixture, &email, PASSWORD).await, 100);
        fixture.clock.advance(100 * SECOND);
        assert_eq!(send(&fixture, &email, PASSWORD).await.status, 200);
        assert_eq!(send(&fixture, &email, PASSWORD).await.status, 200);
    });
}

#[test]
fn successful_login_neither_counts_as_a_failure_nor_resets_them() {
    run_with(Populated::on_one_instance, async |fixture| {
        let email = fixture.member.email.clone();
        for _ in 0..4 {
            fails(&fixture, &email).await;
            for _ in 0..3 {
                assert_eq!(send(&fixture, &email, PASSWORD).await.status, 200);
            }
        }
        fails(&fixture, &email).await;
        is_held_up(&send(&fixture, &email, PASSWORD).await, 900);
    });
}

#[test]
fn failed_logins_are_counted_per_normalized_address() {
    run_with(Populated::on_one_instance, async |fixture| {
        let email = fixture.member.email.clone();
        let forms = [
            email.clone(),
            email.to_uppercase(),
            format!(" {email}"),
            format!("{email}\n"),
            email.replace('u', "U"),
        ];
        for form in &forms {
            fails(&fixture, form).await;
        }
        for form in &forms {
            is_held_up(&send(&fixture, form, PASSWORD).await, 900);
        }
        let other = fixture.user(&fixture.home, Permission::Viewer, &[]).await;
        assert_eq!(send(&fixture, &other.email, PASSWORD).await.status, 200);
        fails(&fixture, "nobody@example.net").await;
    });
}

/// Only logins are refused. Sessions and keys keep working, and requests that are not attempts do not count.
#[test]
fn login_limit_affects_neither_sessions_nor_keys() {
    run_with(Populated::on_one_instance, async |fixture| {
        let email = fixture.member.email.clone();
        for _ in 0..10 {
            send(&fixture, &email, "").await.refuses(400, "validation_empty");
        }
        for _ in 0..5 {
            fails(&fixture, &email).await;
        }
        for _ in 0..20 {
            is_held_up(&send(&fixture, &email, PASSWORD).await, 900);
        }
        assert_eq!(fixture.send(fixture.by_session(get(HOSTS))).await.status, 200);
        assert_eq!(fixture.server.get_with(&fixture.member_key, HOSTS).await.status, 200);
        // A refused attempt is not a failure: it does not extend the window.
        fixture.clock.advance(900 * SECOND);
        assert_eq!(send(&fixture, &email, PASSWORD).await.status, 200);
    });
}

#[test]
fn login_with_an_address_of_two_organizations_is_answered_with_the_choice() {
    run_with(Populated::new, async |fixture| {
        let server = fixture.configured(ApiBuilder::shared_emails);
        let ann = || {
            let mut new = NewUser::new("ann@example.net", Permission::Owner);
            new.password = Some(PASSWORD.to_owned());
            new
        };
        let inventory = server.api.inventory();
        let mut choices = Vec::new();
        for site in [&fixture.home, &fixture.abroad] {
            inventory.users().create(&site.system(), ann()).await.unwrap();
            choices.push(json!({"id": site.organization.id, "name": site.organization.name}));
            fixture.clock.advance(SECOND);
        }
        let reply = server.send(log_in("Ann@example.net", PASSWORD)).await;
        let params = reply.refuses(409, "auth_choose_organization");
        assert_eq!(params, &json!({"organizations": choices}));
        assert!(!reply.headers.contains_key("set-cookie"));

        let send = async |organization: &Value| {
            let body = json!({
                "email": "ann@example.net", "password": PASSWORD, "organization_id": organization
            });
            server.send(send_json("POST", "/api/auth/login", &body)).await
        };
        for choice in &choices {
            let reply = send(&choice["id"]).await;
            assert_eq!(reply.data()["organization_id"], choice["id"]);
        }
        send(&json!(OrganizationId::from_u128(7))).await.refuses(401, "auth_invalid_credentials");
        let reply = send(&json!("home")).await;
        assert_eq!(reply.refuses(400, "validation_invalid_format"), &json!({"field": "organization_id"}));

        // Without the option, the address is taken.
        let taken = fixture.inventory.users().create(&fixture.abroad.system(), ann()).await;
        assert!(matches!(taken.unwrap_err().kind(), ErrorKind::AlreadyExists { .. }));
    });
}
