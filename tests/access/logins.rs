//! Options of logins and their sessions.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use http::Request;
use http::header::{CONTENT_TYPE, SET_COOKIE};
use serde_json::json;
use toposcope::access::{Clock, LoginLimits, ManualClock, PrefixLengths};
use toposcope::inventory::{ErrorKind, NewUser};
use toposcope::model::Permission;
use toposcope::service::ApiBuilder;
use toposcope::store::StoreError;
use toposcope::testing::{Call, Intercept, Interceptor, Reply};
use toposcope::{Api, Inventory, MemoryStore};
use tower::ServiceExt;

use super::{fast, poll_once};

const EMAIL: &str = "owner@example.net";
const PASSWORD: &str = "correct horse";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Lets other tasks run before each operation, so that a login that is polled once is in progress.
#[derive(Debug)]
struct Yields;

#[async_trait]
impl Intercept for Yields {
    async fn intercept(&self, call: Call<'_>) -> Result<Reply, StoreError> {
        tokio::task::yield_now().await;
        call.proceed().await
    }
}

/// An inventory with one user, and its clock.
async fn inventory() -> (Inventory, ManualClock) {
    let clock = ManualClock::new("2026-08-14T12:00:00Z".parse().unwrap());
    let store = Interceptor::new(MemoryStore::new(), Yields);
    let inventory = Inventory::new(store).with_clock(Arc::new(clock.clone())).with_passwords(fast());
    let organization = inventory.create_organization("Example").await.unwrap();
    let mut owner = NewUser::new(organization.id, EMAIL, Permission::Owner);
    owner.password = Some(PASSWORD.to_owned());
    inventory.create_user(owner).await.unwrap();
    (inventory, clock)
}

/// Logs in with this password and returns why that is refused.
async fn refused(inventory: &Inventory, password: &str) -> ErrorKind {
    inventory.log_in(EMAIL, password.to_owned()).await.unwrap_err().kind().clone()
}

/// Logs in over HTTP and returns the attributes of the cookie.
async fn cookie(builder: ApiBuilder) -> String {
    let request = Request::post("/api/auth/login").header(CONTENT_TYPE, "application/json");
    let body = json!({"email": EMAIL, "password": PASSWORD}).to_string();
    let response = builder.build().oneshot(request.body(body).unwrap()).await.unwrap();
    response.headers()[SET_COOKIE].to_str().unwrap().split_once("; ").unwrap().1.to_owned()
}

#[tokio::test]
async fn session_ends_after_its_lifetime() {
    let second = Duration::from_secs(1);
    for (case, option, lifetime) in [
        ("the default", None, 7 * DAY),
        ("half a day", Some(DAY / 2), DAY / 2),
        ("below the minimum", Some(Duration::ZERO), second),
        ("the maximum", Some(400 * DAY), 400 * DAY),
        ("above the maximum", Some(Duration::MAX), 400 * DAY),
    ] {
        let (mut inventory, clock) = inventory().await;
        if let Some(option) = option {
            inventory = inventory.with_session_lifetime(option);
        }
        let session = inventory.log_in(EMAIL, PASSWORD.to_owned()).await.unwrap();
        clock.advance(lifetime - Duration::from_micros(1));
        assert!(inventory.authenticate_session(session.plaintext()).await.is_ok(), "{case}");
        clock.advance(Duration::from_micros(1));
        let ended = inventory.authenticate_session(session.plaintext()).await.unwrap_err();
        assert_eq!(ended.kind(), &ErrorKind::SessionExpired, "{case}");

        let attributes = cookie(Api::builder(inventory)).await;
        let expected = format!("Path=/; HttpOnly; SameSite=Lax; Max-Age={}; Secure", lifetime.as_secs());
        assert_eq!(attributes, expected, "{case}");
    }
}

#[tokio::test]
async fn address_is_locked_out_by_the_configured_number_of_failures() {
    let minute = Duration::from_secs(60);
    for (case, limits, failures, window) in [
        ("the default", LoginLimits::default(), 5, 15 * minute),
        ("two a minute", LoginLimits::default().failures(2, minute), 2, minute),
        ("below the minimum", LoginLimits::default().failures(0, Duration::ZERO), 1, minute / 60),
        ("above the maximum", LoginLimits::default().failures(1000, Duration::MAX), 100, DAY),
    ] {
        let (inventory, clock) = inventory().await;
        let inventory = inventory.with_login_limits(limits);
        for _ in 0..failures {
            assert_eq!(refused(&inventory, "battery staple").await, ErrorKind::InvalidCredentials, "{case}");
        }
        let retry_after = window.as_secs();
        let locked = ErrorKind::TooManyAttempts { retry_after };
        assert_eq!(refused(&inventory, PASSWORD).await, locked, "{case}");
        clock.advance(window - Duration::from_micros(1));
        let locked = ErrorKind::TooManyAttempts { retry_after: 1 };
        assert_eq!(refused(&inventory, PASSWORD).await, locked, "{case}, at {:?}", clock.now());
        clock.advance(Duration::from_micros(1));
        assert!(inventory.log_in(EMAIL, PASSWORD.to_owned()).await.is_ok(), "{case}");
    }
}

#[tokio::test]
async fn concurrent_logins_are_bounded_in_total_and_by_client() {
    let prefix =
        |last: u8| Some(PrefixLengths::default().prefix_of(std::net::Ipv4Addr::new(192, 0, 2, last).into()));
    for (case, limits, of_one_client, in_all) in [
        ("one", LoginLimits::default().concurrent(1), 1, 1),
        ("below the minimum", LoginLimits::default().concurrent(0).client_share(0), 1, 1),
        // A client may hold a quarter of the free places, rounded up: of 8, of 7, and then of 6 no third one.
        ("a quarter of eight", LoginLimits::default().concurrent(8).client_share(4), 2, 8),
        ("half of what was free", LoginLimits::default().concurrent(8).client_share(1), 4, 8),
    ] {
        let (inventory, _) = inventory().await;
        let inventory = inventory.with_login_limits(limits);
        let log_in = async |client: u8, number: usize| {
            let email = format!("user{number}@domain{number}.example");
            inventory.log_in_from(prefix(client), &email, "battery staple".to_owned()).await
        };
        let mut begun: Vec<_> = Vec::new();
        let mut begins = async |client: u8| {
            let mut login = Box::pin(log_in(client, begun.len()));
            match poll_once(&mut login).await {
                Poll::Pending => begun.push(login),
                Poll::Ready(outcome) => {
                    assert_eq!(outcome.unwrap_err().kind(), &ErrorKind::Busy, "{case}");
                    return false;
                }
            }
            true
        };
        for _ in 0..of_one_client {
            assert!(begins(1).await, "{case}");
        }
        assert!(!begins(1).await, "{case}");
        for other in 0..in_all - of_one_client {
            assert!(begins(2 + u8::try_from(other).unwrap()).await, "{case}");
        }
        assert!(!begins(100).await, "{case}");
        for login in begun {
            assert_eq!(login.await.unwrap_err().kind(), &ErrorKind::InvalidCredentials, "{case}");
        }
        let mut last = Box::pin(log_in(1, 0));
        assert!(poll_once(&mut last).await.is_pending(), "{case}: a place is not free again");
    }
}

#[tokio::test]
async fn cookie_has_the_configured_path() {
    let (inventory, _) = inventory().await;
    let longest = format!("/{}", "x".repeat(1023));
    for path in ["/", "/inventory", "/a/b%20c/", &longest] {
        let attributes = cookie(Api::builder(inventory.clone()).cookie_path(path).unwrap()).await;
        assert_eq!(attributes, format!("Path={path}; HttpOnly; SameSite=Lax; Max-Age=604800; Secure"));
    }
    for path in ["", "inventory", "/a; Domain=example.net", "/a b", "/ä", "/a\r\nb", &format!("{longest}x")]
    {
        assert!(Api::builder(inventory.clone()).cookie_path(path).is_err(), "{path:?}");
    }
}
