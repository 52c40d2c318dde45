//! Sessions, and credentials that change while a body is read.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use toposcope::access::Caller;

use bytes::Bytes;
use http::{HeaderValue, Request};
use http_body::{Body, Frame};
use serde_json::json;
use tokio::sync::oneshot;
use toposcope::model::{Permission, User};
use toposcope::service::{Api, SameSite, SessionCookie, SessionCookieError};
use toposcope::{Inventory, MemoryStore};

use crate::backend::{run, run_with};
use crate::common::{
    HOSTS, Hook, LOG_OUT, OFFICE, PASSWORD, PORT, Populated, Reply, Row, Server, ample, bare, daemon_body,
    get, log_in, port_body, send_json, with_header, with_key, with_session,
};

const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);
const MICROSECOND: Duration = Duration::from_micros(1);

/// The `Set-Cookie` header that makes a browser discard a session.
const CLEARED: &str = "session_id=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0; Secure";

async fn list(fixture: &Populated, session: &str) -> Reply {
    fixture.send(with_session(get(HOSTS), session)).await
}

/// Logs in over HTTP and returns the session.
async fn sign_in(fixture: &Populated, user: &User) -> String {
    let reply = fixture.send(log_in(&user.email, PASSWORD)).await;
    assert_eq!(reply.status, 200);
    session_of(&reply)
}

fn session_of(reply: &Reply) -> String {
    let header = reply.header("set-cookie");
    let value = header.strip_prefix("session_id=").and_then(|rest| rest.split_once("; "));
    value.expect("the cookie of a session").0.to_owned()
}

#[test]
fn session_expires_seven_days_after_login_even_if_used() {
    run_with(Populated::new, async |fixture| {
        let session = sign_in(&fixture, &fixture.member).await;
        for _ in 0..7 {
            assert_eq!(list(&fixture, &session).await.status, 200);
            fixture.clock.advance(WEEK / 7 - MICROSECOND);
        }
        fixture.clock.advance(6 * MICROSECOND);
        assert_eq!(list(&fixture, &session).await.status, 200, "a microsecond before its end");
        fixture.clock.advance(MICROSECOND);
        assert_eq!(list(&fixture, &session).await.refuses(401, "auth_session_expired"), &json!({}));
        fixture.inventory.purge_expired().await.unwrap();
        assert_eq!(list(&fixture, &session).await.refuses(401, "auth_not_authenticated"), &json!({}));
    });
}

/// Expired sessions are purged without a request for it.
#[test]
fn expired_sessions_are_purged_by_later_logins() {
    run_with(Populated::new, async |fixture| {
        let session = sign_in(&fixture, &fixture.member).await;
        fixture.clock.advance(WEEK);
        list(&fixture, &session).await.refuses(401, "auth_session_expired");
        let new = sign_in(&fixture, &fixture.member).await;
        // Logins do not wait for the purge.
        fixture.store.hook().settle().await;
        list(&fixture, &session).await.refuses(401, "auth_not_authenticated");
        assert_eq!(list(&fixture, &new).await.status, 200);
    });
}

#[test]
fn sessions_of_one_user_are_independent() {
    run_with(Populated::new, async |fixture| {
        let first = sign_in(&fixture, &fixture.member).await;
        fixture.clock.advance(WEEK / 2);
        let second = sign_in(&fixture, &fixture.member).await;
        assert_ne!(first, second);
        fixture.clock.advance(WEEK / 2);
        list(&fixture, &first).await.refuses(401, "auth_session_expired");
        assert_eq!(list(&fixture, &second).await.status, 200);
        let third = sign_in(&fixture, &fixture.member).await;
        let out = fixture.send(with_session(bare("POST", LOG_OUT), &second)).await;
        assert_eq!(out.data(), &json!({}));
        list(&fixture, &second).await.refuses(401, "auth_not_authenticated");
        assert_eq!(list(&fixture, &third).await.status, 200);
    });
}

#[test]
fn logout_without_a_session_succeeds_and_ends_none() {
    run_with(Populated::new, async |fixture| {
        let log_out = || bare("POST", LOG_OUT);
        let expired = sign_in(&fixture, &fixture.member).await;
        fixture.clock.advance(WEEK);
        let session = sign_in(&fixture, &fixture.member).await;
        for (name, request) in [
            ("none", log_out()),
            ("none that is known", with_session(log_out(), "nonsense")),
            ("an empty one", with_session(log_out(), "")),
            ("one that is over", with_session(log_out(), &expired)),
            ("a key alone", fixture.by_key(log_out())),
            ("a session as a key", with_key(log_out(), &session)),
            ("a body", with_session(log_out(), "x").map(|_| "{".to_owned())),
        ] {
            let reply = fixture.send(request).await;
            assert_eq!(reply.data(), &json!({}), "{name}");
            assert_eq!(reply.header("set-cookie"), CLEARED, "{name}");
        }
        assert_eq!(list(&fixture, &session).await.status, 200);
        assert_eq!(fixture.server.get_with(&fixture.member_key, HOSTS).await.status, 200);
    });
}

/// Logging out ends every session in the cookie header, whatever else the request carries.
#[test]
fn logout_ends_the_sessions_of_its_cookies_only() {
    run_with(Populated::new, async |fixture| {
        let log_out = || bare("POST", LOG_OUT);
        let mut sessions = Vec::new();
        for _ in 0..6 {
            sessions.push(sign_in(&fixture, &fixture.member).await);
        }
        let two = format!("session_id={}; a=b; session_id={}", sessions[3], sessions[4]);
        let both = with_header(log_out(), "cookie", two);
        let requests = [
            with_session(log_out(), &sessions[0]),
            fixture.by_key(with_session(log_out(), &sessions[1])),
            with_key(with_session(log_out(), &sessions[2]), "nonsense"),
            both,
            with_session(log_out(), &sessions[0]),
        ];
        for (request, over) in requests.into_iter().zip([1, 2, 3, 5, 5]) {
            let reply = fixture.send(request).await;
            assert_eq!((reply.data(), reply.header("set-cookie")), (&json!({}), CLEARED));
            for (place, session) in sessions.iter().enumerate() {
                assert_eq!(list(&fixture, session).await.status == 401, place < over, "{place} after {over}");
            }
        }
    });
}

#[test]
fn new_password_ends_all_sessions_of_the_user() {
    run_with(Populated::new, async |fixture| {
        let sessions = [sign_in(&fixture, &fixture.member).await, fixture.session.clone()];
        let other = fixture.user(&fixture.home, Permission::Viewer, &[]).await;
        let other = sign_in(&fixture, &other).await;
        let password = Some("another password".to_owned());
        fixture
            .inventory
            .users()
            .set_password(&Caller::system(fixture.member.organization_id), fixture.member.id, password)
            .await
            .unwrap();
        for session in sessions {
            list(&fixture, &session).await.refuses(401, "auth_not_authenticated");
        }
        assert_eq!(list(&fixture, &other).await.status, 200);
        let rows = [
            Row::refused("the old", log_in(&fixture.member.email, PASSWORD), "auth_invalid_credentials"),
            Row::succeeds("the new", log_in(&fixture.member.email, "another password")),
        ];
        fixture.check(rows).await;
    });
}

#[test]
fn only_valid_session_cookie_is_used_and_those_of_two_users_are_rejected() {
    run_with(Populated::new, async |fixture| {
        let session = &fixture.session;
        let second = &sign_in(&fixture, &fixture.member).await;
        let other = fixture.user(&fixture.home, Permission::Member, &[OFFICE]).await;
        let foreign = &sign_in(&fixture, &other).await;
        let send = async |cookies: &[String]| {
            let mut request = get(HOSTS);
            for cookie in cookies {
                request.headers_mut().append("cookie", HeaderValue::from_bytes(cookie.as_bytes()).unwrap());
            }
            fixture.send(request).await.status.as_u16()
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
            (vec![format!("session_id={session}; session_id=other")], 200),
            (vec![format!("session_id=; session_id={session}")], 200),
            (vec!["session_id=other".to_owned(), format!("session_id={session}")], 200),
            (vec![format!("session_id={session}; session_id={second}")], 200),
            (vec![format!("session_id={second}; session_id=other; session_id={session}")], 200),
            (vec![format!("session_id={session}; session_id={foreign}")], 401),
            (vec![format!("session_id={foreign}"), format!("session_id={session}")], 401),
            (vec!["session_id=stale; session_id=other".to_owned()], 401),
            (vec![format!("Session_Id={session}")], 401),
            (vec![format!("xsession_id={session}")], 401),
            (vec![format!("__Host-session_id={session}")], 401),
            (vec![format!("session_id={session}x")], 401),
            (vec![format!("session_id={}", &session[1..])], 401),
            (vec![format!("session_id={}", session.to_lowercase())], 401),
        ] {
            assert_eq!(send(&cookies).await, status, "{cookies:?}");
        }
    });
}

#[test]
fn session_cookie_is_secure_unless_configured_otherwise() {
    run_with(Populated::new, async |fixture| {
        let builder = || Api::builder(fixture.inventory.clone());
        for (server, suffix) in [
            (Server::built(builder(), ample()), "; Secure"),
            (Server::built(builder(), ample()), "; Secure"),
            (Server::built(builder().insecure_cookies(), ample()), ""),
        ] {
            let reply = server.send(log_in(&fixture.member.email, PASSWORD)).await;
            let session = session_of(&reply);
            let expected =
                format!("session_id={session}; Path=/; HttpOnly; SameSite=Lax; Max-Age=604800{suffix}");
            assert_eq!(reply.header("set-cookie"), expected);
            let reply = server.send(with_session(bare("POST", LOG_OUT), &session)).await;
            let expected = format!("session_id=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0{suffix}");
            assert_eq!(reply.header("set-cookie"), expected);
        }
    });
}

#[test]
fn expired_session_beside_a_valid_one_is_passed_over_and_named_alone() {
    run_with(Populated::new, async |fixture| {
        let old = sign_in(&fixture, &fixture.member).await;
        fixture.clock.advance(WEEK);
        let cookies = |value: String| with_header(get(HOSTS), "cookie", value);
        let reply = fixture.send(cookies(format!("session_id=unknown; session_id={old}"))).await;
        reply.refuses(401, "auth_session_expired");
        let new = sign_in(&fixture, &fixture.member).await;
        for value in
            [format!("session_id={old}; session_id={new}"), format!("session_id={new}; session_id={old}")]
        {
            assert_eq!(fixture.send(cookies(value)).await.status, 200);
        }
    });
}

#[test]
fn new_password_keeps_the_session_that_authenticates_the_request() {
    run_with(Populated::new, async |fixture| {
        let session = sign_in(&fixture, &fixture.member).await;
        let body = json!({"current_password": PASSWORD, "new_password": "another password"});
        let request = send_json("POST", "/api/auth/password", &body);
        let request = with_header(request, "cookie", format!("session_id=stale; session_id={session}"));
        assert_eq!(fixture.send(request).await.data(), &json!({}));
        assert_eq!(list(&fixture, &session).await.status, 200);
        list(&fixture, &fixture.session).await.refuses(401, "auth_not_authenticated");
    });
}

/// Logs in at a server with this cookie. Returns the name and value, and the attributes.
async fn cookie_of(server: &Server, user: &User) -> (String, String) {
    let reply = server.send(log_in(&user.email, PASSWORD)).await;
    let (pair, attributes) = reply.header("set-cookie").split_once("; ").unwrap();
    (pair.to_owned(), attributes.to_owned())
}

#[test]
fn session_cookie_has_the_configured_name_and_attributes() {
    let new = SessionCookie::new;
    let cookies = [
        (new(), "session_id", "Path=/; HttpOnly; SameSite=Lax; Max-Age=604800"),
        (
            new().with_name("inventory").unwrap().with_path("/netinv").unwrap(),
            "inventory",
            "Path=/netinv; HttpOnly; SameSite=Lax; Max-Age=604800",
        ),
        (
            new().with_domain("example.net").unwrap().with_same_site(SameSite::Strict),
            "session_id",
            "Path=/; Domain=example.net; HttpOnly; SameSite=Strict; Max-Age=604800",
        ),
        (
            new().with_same_site(SameSite::None),
            "session_id",
            "Path=/; HttpOnly; SameSite=None; Max-Age=604800; Secure",
        ),
        (
            new().with_name("inventory").unwrap().with_host_prefix(),
            "__Host-inventory",
            "Path=/; HttpOnly; SameSite=Lax; Max-Age=604800; Secure",
        ),
    ];
    run_with(Populated::new, async |fixture| {
        for (cookie, name, attributes) in cookies.clone() {
            let server = fixture
                .configured(|builder| builder.session_cookie(cookie.clone()).unwrap().insecure_cookies());
            let (pair, given) = cookie_of(&server, &fixture.member).await;
            assert_eq!((pair.split_once('=').unwrap().0, given.as_str()), (name, attributes));
            let by_cookie = |pair: &str| with_header(get(HOSTS), "cookie", pair);
            assert_eq!(server.send(by_cookie(&pair)).await.status, 200);
            let other_name = pair.replace(name, "other");
            server.send(by_cookie(&other_name)).await.refuses(401, "auth_not_authenticated");
            let reply = server.send(with_header(bare("POST", LOG_OUT), "cookie", &pair)).await;
            assert!(reply.header("set-cookie").starts_with(&format!("{name}=; ")), "{reply:?}");
            server.send(by_cookie(&pair)).await.refuses(401, "auth_not_authenticated");
            #[cfg(feature = "openapi")]
            {
                let described = server.get("/openapi.json").await.json;
                assert_eq!(described["components"]["securitySchemes"]["session"]["name"], name);
            }
        }
    });
}

#[test]
fn attributes_that_browsers_would_refuse_are_rejected() {
    let new = SessionCookie::new;
    for name in ["", "a b", "a=b", "a;b", "ä", "__Host-a", "__host-a", "__Secure-a", &"x".repeat(1025)] {
        assert_eq!(new().with_name(name), Err(SessionCookieError::Name), "{name:?}");
    }
    for domain in ["", ".", "example.net;", "example..net", ".example.net", "a b", "ä.example", "[::1]"] {
        assert_eq!(new().with_domain(domain), Err(SessionCookieError::Domain), "{domain:?}");
    }
    for cookie in [new().with_path("/netinv").unwrap(), new().with_domain("example.net").unwrap()]
        .map(|cookie| cookie.with_host_prefix())
    {
        let builder = Api::builder(Inventory::new(MemoryStore::new()));
        assert_eq!(builder.session_cookie(cookie).err(), Some(SessionCookieError::HostPrefix));
    }
}

#[test]
fn thousands_of_session_cookies_cost_a_bounded_number_of_store_calls() {
    run_with(Populated::new, async |fixture| {
        let (first, fourth, fifth) = (
            sign_in(&fixture, &fixture.member).await,
            sign_in(&fixture, &fixture.member).await,
            sign_in(&fixture, &fixture.member).await,
        );
        let store = Hook::new();
        let server = fixture.server_with(&store);
        // 32 bytes in base64url are 43 characters, the last of which has four significant bits.
        let unknown = |number: usize| format!("{number:042}A");
        let flood = || {
            let mut cookies = vec![first.clone(), unknown(1), unknown(2), fourth.clone(), fifth.clone()];
            cookies.extend((3..7000).map(unknown));
            let text: Vec<String> = cookies.iter().map(|cookie| format!("session_id={cookie}")).collect();
            HeaderValue::from_str(&text.join("; ")).unwrap()
        };
        for (mut request, status, most) in [(bare("POST", LOG_OUT), 200, 24), (get(HOSTS), 401, 8)] {
            request.headers_mut().insert("cookie", flood());
            assert_eq!(server.send(request).await.status, status);
            let asked = store.take_calls();
            assert!(asked.len() <= most, "{} calls: {:?} …", asked.len(), &asked[..20.min(asked.len())]);
        }
        for (session, status) in [(&first, 401), (&fourth, 401), (&fifth, 200)] {
            assert_eq!(list(&fixture, session).await.status, status, "only the first four cookies count");
        }
    });
}

/// A body that arrives when the test releases it.
struct Held {
    released: oneshot::Receiver<()>,
    body: Option<Bytes>,
}

impl Body for Held {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.body.is_some() && Pin::new(&mut self.released).poll(context).is_pending() {
            return Poll::Pending;
        }
        Poll::Ready(self.body.take().map(|body| Ok(Frame::data(body))))
    }
}

/// Sends a request and runs `meanwhile` before its body arrives.
async fn send(fixture: &Populated, request: Request<String>, meanwhile: impl Future<Output = ()>) -> Reply {
    let (release, released) = oneshot::channel();
    let request = request.map(|body| Held { released, body: Some(body.into()) });
    let happens = async {
        tokio::task::yield_now().await;
        meanwhile.await;
        release.send(()).expect("the body is waited for");
    };
    tokio::join!(fixture.send(request), happens).0
}

/// A request to each endpoint that takes a body from an authenticated caller.
fn requests(fixture: &Populated) -> [Request<String>; 4] {
    [
        fixture.create_daemon_key(&daemon_body()),
        fixture.put_port(PORT, &port_body()),
        fixture.put_own_key(&fixture.key_body()),
        fixture.refer(),
    ]
}

#[test]
fn credential_that_ends_while_the_body_is_read_is_rejected() {
    run(async || {
        for number in 0..4 {
            let fixture = Populated::new().await;
            let request = requests(&fixture)[number].clone();
            let is_by_key = number < 2;
            let before = fixture.stored().await;
            let end = async {
                if is_by_key {
                    fixture
                        .inventory
                        .user_api_keys()
                        .disable(&fixture.system(), fixture.member_key_id)
                        .await
                        .unwrap();
                } else {
                    fixture.inventory.log_out(&fixture.session).await.unwrap();
                }
            };
            let reply = send(&fixture, request, end).await;
            if is_by_key {
                assert_eq!(reply.refuses(401, "entity_disabled"), &json!({"entity": "User API Key"}));
                fixture
                    .inventory
                    .user_api_keys()
                    .enable(&fixture.system(), fixture.member_key_id)
                    .await
                    .unwrap();
            } else {
                assert_eq!(reply.refuses(401, "auth_not_authenticated"), &json!({}));
            }
            assert_eq!(fixture.stored().await, before);
        }
    });
}

#[test]
fn rights_withdrawn_while_the_body_is_read_no_longer_apply() {
    run_with(Populated::new, async |fixture| {
        for request in requests(&fixture).into_iter().take(2) {
            let networks = || fixture.member.network_ids.clone();
            let set = async |level| {
                fixture
                    .inventory
                    .users()
                    .set_rights(
                        &Caller::system(fixture.member.organization_id),
                        fixture.member.id,
                        level,
                        networks(),
                    )
                    .await
                    .unwrap();
            };
            let reply = send(&fixture, request, set(Permission::Viewer)).await;
            assert_eq!(reply.refuses(403, "auth_permission_denied"), &json!({}));
            set(Permission::Member).await;
        }
    });
}

#[test]
fn slow_body_is_accepted() {
    run_with(Populated::new, async |fixture| {
        for request in requests(&fixture) {
            assert_eq!(send(&fixture, request, async {}).await.status, 200);
        }
    });
}
