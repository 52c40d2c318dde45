use std::sync::LazyLock;

use serde_json::json;
use toposcope::inventory::{ErrorKind, NewUser, Problem};
use toposcope::model::Permission;

use crate::common::{LAB, OFFICE, PASSWORD, Reply, at, get, with_session};
use crate::contract::row::{Row, check};
use crate::contract::scene::{HOSTS, LEVELS, Scene, log_in};
use crate::contract::store::{Fault, Interposed};

#[tokio::test]
async fn a_login_is_answered_with_the_user_and_a_session() {
    let scene = Scene::new().await;
    scene.world.clock.set(at(9));
    for (level, networks) in LEVELS.into_iter().zip([&[][..], &[OFFICE], &[LAB, OFFICE], &[]]) {
        let user = scene.world.user(&scene.world.home, level, networks).await;
        let reply = scene.server().send(log_in(&user.email, PASSWORD)).await;
        let expected = json!({
            "id": user.id,
            "email": user.email,
            "organization_id": scene.world.home.organization.id,
            "permissions": level.to_string(),
            "network_ids": networks,
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
        assert_eq!(scene.server().send(with_session(get(HOSTS), session)).await.status, 200);
        assert!(!String::from_utf8(reply.body).unwrap().contains("password"));
    }
}

#[tokio::test]
async fn no_two_sessions_are_alike() {
    let scene = Scene::new().await;
    let mut sessions = Vec::new();
    for _ in 0..20 {
        sessions.push(scene.world.sign_in(&scene.member).await);
    }
    sessions.sort_unstable();
    sessions.dedup();
    assert_eq!(sessions.len(), 20);
}

#[tokio::test]
async fn the_case_of_the_address_and_spaces_around_it_do_not_matter_those_of_the_password_do() {
    let scene = Scene::new().await;
    let mut user = NewUser::new(scene.world.home.organization.id, "Größe@Example.NET", Permission::Viewer);
    user.password = Some(" pass word ".to_owned());
    let user = scene.world.inventory.create_user(user).await.unwrap();
    assert_eq!(user.email, "größe@example.net");
    let mut rows = Vec::new();
    for email in
        ["größe@example.net", "GRÖSSE@EXAMPLE.NET".replace("SS", "ß").as_str(), " Größe@example.net\t"]
    {
        rows.push(Row::succeeds(email, log_in(email, " pass word ")));
        let wrong = log_in(email, "pass word");
        rows.push(Row::refused(email, wrong, 401, "auth_invalid_credentials", json!({})));
    }
    check(scene.server(), rows).await;
}

/// A password that no user has.
static LONG: LazyLock<String> = LazyLock::new(|| "x".repeat(500_000));

/// Invalid combinations of address and password, each for another reason.
async fn wrong(scene: &Scene) -> Vec<(String, &'static str)> {
    let world = &scene.world;
    let disabled = world.user(&world.home, Permission::Owner, &[]).await;
    world.inventory.disable_user(disabled.id).await.unwrap();
    let without = NewUser::new(world.home.organization.id, "without@example.net", Permission::Owner);
    let without = world.inventory.create_user(without).await.unwrap();
    let deleted = world.user(&world.home, Permission::Owner, &[]).await;
    world.inventory.delete_user(deleted.id).await.unwrap();
    vec![
        (scene.member.email.clone(), "wrong password"),
        ("nobody@example.net".to_owned(), PASSWORD),
        ("no address".to_owned(), PASSWORD),
        ("\0\0\0".to_owned(), PASSWORD),
        (without.email, PASSWORD),
        (deleted.email, PASSWORD),
        (disabled.email, PASSWORD),
        (scene.member.email.clone(), &LONG),
    ]
}

/// Everything that a client can see of an answer, except the remaining requests.
fn shown(reply: &Reply) -> String {
    let mut headers = reply.headers.clone();
    headers.remove("x-ratelimit-remaining");
    headers.remove("x-ratelimit-reset");
    format!("{} {headers:?} {:?}", reply.status, String::from_utf8(reply.body.clone()))
}

#[tokio::test]
async fn nothing_of_the_answer_tells_why_a_login_fails() {
    let scene = Scene::new().await;
    let mut answers = Vec::new();
    for (email, password) in wrong(&scene).await {
        let reply = scene.server().send(log_in(&email, password)).await;
        assert_eq!(reply.refuses(401, "auth_invalid_credentials"), &json!({}));
        answers.push(shown(&reply));
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
}

/// Equal times require equal work: the same calls of the store, in the same order.
#[tokio::test]
async fn failed_login_makes_the_same_store_calls_whatever_is_wrong() {
    let scene = Scene::new().await;
    let logins = wrong(&scene).await;
    let store = Interposed::new(&scene, Fault::None);
    let server = store.server(&scene);
    // The first login after a start reads the ids of some accounts in addition.
    server.send(log_in("first@example.net", PASSWORD)).await;
    assert_eq!(store.take_asked().first().map(String::as_str), Some("list password"));
    for (email, password) in logins {
        assert_eq!(server.send(log_in(&email, password)).await.status, 401);
        assert_eq!(
            store.take_asked(),
            ["get_by_unique_key email", "get user, password", "get password"],
            "{email}"
        );
    }
}

/// Rules for setting passwords, for which no endpoint exists.
#[tokio::test]
async fn a_password_has_10_to_1000_characters() {
    let scene = Scene::new().await;
    let set = async |password: &str| {
        scene.world.inventory.set_user_password(scene.member.id, Some(password.to_owned())).await
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
        let reply = scene.server().send(log_in(&scene.member.email, &password)).await;
        assert_eq!(reply.data()["id"], json!(scene.member.id));
    }
}
