//! Sessions: how long they last, and how they end.

use std::time::Duration;

use http::HeaderValue;
use serde_json::json;
use toposcope::model::User;
use toposcope::service::Api;

use crate::common::{PASSWORD, Reply, Server, ample, bare, get, with_key, with_session};
use crate::contract::row::{Row, check};
use crate::contract::scene::{HOSTS, LOG_OUT, Scene, log_in};
use crate::contract::store::{Fault, Interposed};

const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);
const MICROSECOND: Duration = Duration::from_micros(1);

/// The `Set-Cookie` header that makes a browser discard a session.
const CLEARED: &str = "session_id=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0; Secure";

async fn list(scene: &Scene, session: &str) -> Reply {
    scene.server().send(with_session(get(HOSTS), session)).await
}

/// Logs in over HTTP and returns the session.
async fn sign_in(scene: &Scene, user: &User) -> String {
    let reply = scene.server().send(log_in(&user.email, PASSWORD)).await;
    assert_eq!(reply.status, 200);
    session_of(&reply)
}

fn session_of(reply: &Reply) -> String {
    let header = reply.header("set-cookie");
    let value = header.strip_prefix("session_id=").and_then(|rest| rest.split_once("; "));
    value.expect("the cookie of a session").0.to_owned()
}

#[tokio::test]
async fn a_session_ends_seven_days_after_its_login_however_often_it_is_used() {
    let scene = Scene::new().await;
    let session = sign_in(&scene, &scene.member).await;
    for _ in 0..7 {
        assert_eq!(list(&scene, &session).await.status, 200);
        scene.world.clock.advance(WEEK / 7 - MICROSECOND);
    }
    scene.world.clock.advance(6 * MICROSECOND);
    assert_eq!(list(&scene, &session).await.status, 200, "a microsecond before its end");
    scene.world.clock.advance(MICROSECOND);
    assert_eq!(list(&scene, &session).await.refuses(401, "auth_session_expired"), &json!({}));
    scene.world.inventory.purge_expired().await.unwrap();
    assert_eq!(list(&scene, &session).await.refuses(401, "auth_not_authenticated"), &json!({}));
}

/// Expired sessions are purged without a request for it.
#[tokio::test]
async fn sessions_that_are_over_are_purged_by_later_logins() {
    let scene = Scene::new().await;
    let session = sign_in(&scene, &scene.member).await;
    scene.world.clock.advance(WEEK);
    list(&scene, &session).await.refuses(401, "auth_session_expired");
    let new = sign_in(&scene, &scene.member).await;
    // Logins do not wait for the purge.
    scene.world.store.settle().await;
    list(&scene, &session).await.refuses(401, "auth_not_authenticated");
    assert_eq!(list(&scene, &new).await.status, 200);
}

#[tokio::test]
async fn sessions_of_one_user_are_each_by_themselves() {
    let scene = Scene::new().await;
    let first = sign_in(&scene, &scene.member).await;
    scene.world.clock.advance(WEEK / 2);
    let second = sign_in(&scene, &scene.member).await;
    assert_ne!(first, second);
    scene.world.clock.advance(WEEK / 2);
    list(&scene, &first).await.refuses(401, "auth_session_expired");
    assert_eq!(list(&scene, &second).await.status, 200);
    let third = sign_in(&scene, &scene.member).await;
    let out = scene.server().send(with_session(bare("POST", LOG_OUT), &second)).await;
    assert_eq!(out.data(), &json!({}));
    list(&scene, &second).await.refuses(401, "auth_not_authenticated");
    assert_eq!(list(&scene, &third).await.status, 200);
}

#[tokio::test]
async fn a_logout_succeeds_also_without_a_session_and_ends_none() {
    let scene = Scene::new().await;
    let log_out = || bare("POST", LOG_OUT);
    let expired = sign_in(&scene, &scene.member).await;
    scene.world.clock.advance(WEEK);
    let session = sign_in(&scene, &scene.member).await;
    for (name, request) in [
        ("none", log_out()),
        ("none that is known", with_session(log_out(), "nonsense")),
        ("an empty one", with_session(log_out(), "")),
        ("one that is over", with_session(log_out(), &expired)),
        ("a key alone", scene.by_key(log_out())),
        ("a session as a key", with_key(log_out(), &session)),
        ("a body", with_session(log_out(), "x").map(|_| "{".to_owned())),
    ] {
        let reply = scene.server().send(request).await;
        assert_eq!(reply.data(), &json!({}), "{name}");
        assert_eq!(reply.header("set-cookie"), CLEARED, "{name}");
    }
    assert_eq!(list(&scene, &session).await.status, 200);
    assert_eq!(scene.server().get_with(&scene.key, HOSTS).await.status, 200);
}

/// Logging out ends every session in the cookie header, whatever else the request carries.
#[tokio::test]
async fn a_logout_ends_the_sessions_of_its_cookies_and_no_other() {
    let scene = Scene::new().await;
    let log_out = || bare("POST", LOG_OUT);
    let mut sessions = Vec::new();
    for _ in 0..6 {
        sessions.push(sign_in(&scene, &scene.member).await);
    }
    let two = format!("session_id={}; a=b; session_id={}", sessions[3], sessions[4]);
    let mut both = log_out();
    both.headers_mut().insert("cookie", two.parse().unwrap());
    let requests = [
        with_session(log_out(), &sessions[0]),
        scene.by_key(with_session(log_out(), &sessions[1])),
        with_key(with_session(log_out(), &sessions[2]), "nonsense"),
        both,
        with_session(log_out(), &sessions[0]),
    ];
    for (request, over) in requests.into_iter().zip([1, 2, 3, 5, 5]) {
        let reply = scene.server().send(request).await;
        assert_eq!((reply.data(), reply.header("set-cookie")), (&json!({}), CLEARED));
        for (place, session) in sessions.iter().enumerate() {
            assert_eq!(list(&scene, session).await.status == 401, place < over, "{place} after {over}");
        }
    }
}

#[tokio::test]
async fn a_new_password_ends_all_sessions_of_the_user() {
    let scene = Scene::new().await;
    let sessions = [sign_in(&scene, &scene.member).await, scene.session.clone()];
    let other = scene.world.user(&scene.world.home, toposcope::model::Permission::Viewer, &[]).await;
    let other = sign_in(&scene, &other).await;
    let password = Some("another password".to_owned());
    scene.world.inventory.set_user_password(scene.member.id, password).await.unwrap();
    for session in sessions {
        list(&scene, &session).await.refuses(401, "auth_not_authenticated");
    }
    assert_eq!(list(&scene, &other).await.status, 200);
    let rows = [
        Row::refused(
            "the old",
            log_in(&scene.member.email, PASSWORD),
            401,
            "auth_invalid_credentials",
            json!({}),
        ),
        Row::succeeds("the new", log_in(&scene.member.email, "another password")),
    ];
    check(scene.server(), rows).await;
}

#[tokio::test]
async fn the_cookie_is_found_among_others_and_two_that_differ_are_none() {
    let scene = Scene::new().await;
    let session = &scene.session;
    let send = async |cookies: &[String]| {
        let mut request = get(HOSTS);
        for cookie in cookies {
            request.headers_mut().append("cookie", HeaderValue::from_bytes(cookie.as_bytes()).unwrap());
        }
        scene.server().send(request).await.status.as_u16()
    };
    for (cookies, status) in [
        (vec![format!("session_id={session}")], 200),
        (vec![format!("a=b; session_id={session}; c=d")], 200),
        (vec![format!("a=b;session_id={session};c=d")], 200),
        (vec!["a=b".to_owned(), format!("session_id={session}")], 200),
        (vec!["=; ;a; é=ü".to_owned(), format!("session_id={session}")], 200),
        (vec![format!("é=ü; session_id={session}")], 200),
        (vec![format!("session_id=\"{session}\"")], 200),
        (vec![format!("session_id={session}; session_id={session}")], 200),
        (vec![format!("session_id={session}"), format!("session_id={session}")], 200),
        (vec![format!("session_id={session}; session_id=other")], 401),
        (vec![format!("session_id=; session_id={session}")], 401),
        (vec!["session_id=other".to_owned(), format!("session_id={session}")], 401),
        (vec![format!("Session_Id={session}")], 401),
        (vec![format!("xsession_id={session}")], 401),
        (vec![format!("__Host-session_id={session}")], 401),
        (vec![format!("session_id={session}x")], 401),
        (vec![format!("session_id={}", &session[1..])], 401),
        (vec![format!("session_id={}", session.to_lowercase())], 401),
    ] {
        assert_eq!(send(&cookies).await, status, "{cookies:?}");
    }
}

#[tokio::test]
async fn the_cookie_is_secure_unless_that_is_switched_off() {
    let scene = Scene::new().await;
    let builder = || Api::builder(scene.world.inventory.clone());
    for (server, suffix) in [
        (Server::built(builder(), ample()), "; Secure"),
        (Server::built(builder().insecure_cookies(), ample()), ""),
    ] {
        let reply = server.send(log_in(&scene.member.email, PASSWORD)).await;
        let session = session_of(&reply);
        let expected =
            format!("session_id={session}; Path=/; HttpOnly; SameSite=Lax; Max-Age=604800{suffix}");
        assert_eq!(reply.header("set-cookie"), expected);
        let reply = server.send(with_session(bare("POST", LOG_OUT), &session)).await;
        let expected = format!("session_id=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0{suffix}");
        assert_eq!(reply.header("set-cookie"), expected);
    }
}

#[tokio::test]
async fn request_with_thousands_of_session_cookies_costs_a_bounded_number_of_store_calls() {
    let scene = Scene::new().await;
    let (first, fourth, fifth) = (
        sign_in(&scene, &scene.member).await,
        sign_in(&scene, &scene.member).await,
        sign_in(&scene, &scene.member).await,
    );
    let store = Interposed::new(&scene, Fault::None);
    let server = store.server(&scene);
    // 32 bytes in base64url are 43 characters, the last of which has four significant bits.
    let unknown = |number: usize| format!("{number:042}A");
    let flood = || {
        let mut cookies = vec![first.clone(), unknown(1), unknown(2), fourth.clone(), fifth.clone()];
        cookies.extend((3..7000).map(unknown));
        let text: Vec<String> = cookies.iter().map(|cookie| format!("session_id={cookie}")).collect();
        HeaderValue::from_str(&text.join("; ")).unwrap()
    };
    for (mut request, status, most) in [(bare("POST", LOG_OUT), 200, 16), (get(HOSTS), 401, 0)] {
        request.headers_mut().insert("cookie", flood());
        assert_eq!(server.send(request).await.status, status);
        let asked = store.take_asked();
        assert!(asked.len() <= most, "{} calls: {:?} …", asked.len(), &asked[..20.min(asked.len())]);
    }
    for (session, status) in [(&first, 401), (&fourth, 401), (&fifth, 200)] {
        assert_eq!(list(&scene, session).await.status, status, "the first four cookies are looked at");
    }
}
