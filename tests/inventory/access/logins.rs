//! Passwords and their hashes, and the options of logins and their sessions.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc as blocking};
use std::task::Poll;
use std::time::Duration;

use async_trait::async_trait;
use http::Request;
use http::header::{CONTENT_TYPE, SET_COOKIE};
use serde_json::json;
use tokio::sync::mpsc;
use toposcope::access::{
    Caller, Clock, LoginLimits, ManualClock, PasswordCost, PasswordError, PasswordHasher, PrefixLengths,
    RandomError, RandomSource,
};
use toposcope::inventory::{ErrorKind, NewUser};
use toposcope::model::Permission;
use toposcope::service::{ApiBuilder, SessionCookie, SessionCookieError};
use toposcope::store::StoreError;
use toposcope::testing::{Call, Intercept, Interceptor, Reply};
use toposcope::{Api, Inventory, MemoryStore};
use tower::ServiceExt;

use super::{Source, fast, poll_once};

const EMAIL: &str = "owner@example.net";
const PASSWORD: &str = "correct horse";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[tokio::test]
async fn hash_verifies_its_own_password_only() {
    let hasher = fast();
    let hash = hasher.hash("pässwörd 🔑 long".to_owned()).await.unwrap();
    assert!(hash.starts_with("$argon2id$v=19$m=8,t=1,p=1$"), "{hash}");
    assert!(hasher.verify("pässwörd 🔑 long".to_owned(), hash.clone()).await.unwrap());
    for wrong in ["", "pässwörd 🔑 lon", "pässwörd 🔑 long ", "Pässwörd 🔑 long"] {
        assert!(!hasher.verify(wrong.to_owned(), hash.clone()).await.unwrap(), "{wrong:?}");
    }
    let again = hasher.hash("pässwörd 🔑 long".to_owned()).await.unwrap();
    assert_ne!(hash, again, "the salt is the same");
    let salted =
        fast().with_random(Arc::new(Source::Constant(0))).hash("0123456789".to_owned()).await.unwrap();
    assert!(salted.contains(&format!("${}$", "A".repeat(22))), "{salted}");
}

#[tokio::test]
async fn hash_of_another_implementation_and_cost_verifies() {
    // From the test vectors of the reference implementation.
    let hash = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";
    assert!(fast().verify("password".to_owned(), hash.to_owned()).await.unwrap());
    assert!(!fast().verify("passwore".to_owned(), hash.to_owned()).await.unwrap());
}

#[tokio::test]
async fn malformed_hash_is_an_error() {
    for hash in [
        "",
        "password",
        "$argon2id$v=19$m=8,t=1,p=1",
        "$argon2id$v=19$m=8,t=1,p=1$c29tZXNhbHQ",
        "$argon2id$v=18$m=8,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=7,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=4294967295,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=8,t=4294967295,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "$scrypt$ln=4,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    ] {
        let result = fast().verify("password".to_owned(), hash.to_owned()).await;
        assert!(matches!(result, Err(PasswordError::MalformedHash)), "{hash:?}: {result:?}");
    }
}

#[tokio::test]
async fn password_of_an_absent_user_costs_a_hash_and_no_error() {
    fast().verify_absent("whatever".to_owned()).await.unwrap();
    PasswordHasher::new().verify_absent(String::new()).await.unwrap();
}

#[tokio::test]
async fn length_is_counted_in_characters_and_checked_before_hashing() {
    for password in ["🔑".repeat(10), "é".repeat(1000), "x".repeat(10), "x".repeat(1000)] {
        assert!(fast().hash(password).await.is_ok());
    }
    let unable = fast().with_random(Arc::new(Source::Failing));
    for password in [String::new(), "x".repeat(9), "🔑".repeat(9)] {
        assert!(matches!(unable.hash(password).await, Err(PasswordError::TooShort { min: 10 })));
    }
    for password in ["x".repeat(1001), "é".repeat(1001)] {
        assert!(matches!(unable.hash(password).await, Err(PasswordError::TooLong { max: 1000 })));
    }
    assert!(matches!(unable.hash("x".repeat(10)).await, Err(PasswordError::Random(_))));
}

#[test]
fn cost_out_of_range_is_refused() {
    for (memory, passes, fits) in [
        (8, 1, true),
        (1 << 20, 100, true),
        (0, 1, false),
        (7, 1, false),
        ((1 << 20) + 1, 1, false),
        (u32::MAX, 1, false),
        (8, 0, false),
        (8, 101, false),
    ] {
        assert_eq!(PasswordCost::new(memory, passes).is_ok(), fits, "{memory} KiB, {passes} passes");
    }
    assert_eq!(PasswordCost::default(), PasswordCost::new(19_456, 2).unwrap());
    let shown = "PasswordHasher { cost: PasswordCost { memory_kib: 19456, passes: 2 }, .. }";
    assert_eq!(format!("{:?}", PasswordHasher::new()), shown);
}

/// A source of salts that signals when a hash begins, and holds it until released.
#[derive(Debug)]
struct Gate {
    begun: mpsc::UnboundedSender<()>,
    passes: Mutex<blocking::Receiver<()>>,
    inside: AtomicUsize,
    most: AtomicUsize,
}

impl Gate {
    fn new() -> (Arc<Self>, mpsc::UnboundedReceiver<()>, blocking::Sender<()>) {
        let (begun, begins) = mpsc::unbounded_channel();
        let (pass, passes) = blocking::channel();
        let gate = Self {
            begun,
            passes: Mutex::new(passes),
            inside: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
        };
        (Arc::new(gate), begins, pass)
    }
}

impl RandomSource for Gate {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        let inside = self.inside.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(inside, Ordering::SeqCst);
        let _ = self.begun.send(());
        // An error means that the test is over; the hash must not be blocked then.
        let _ = self.passes.lock().unwrap().recv();
        self.inside.fetch_sub(1, Ordering::SeqCst);
        bytes.fill(1);
        Ok(())
    }
}

/// Lets every task and every blocking thread run as far as it can.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
        tokio::task::spawn_blocking(|| ()).await.unwrap();
    }
}

fn password() -> String {
    PASSWORD.to_owned()
}

#[tokio::test]
async fn concurrent_hashes_are_bounded() {
    for bound in [1, 2, 3] {
        let (gate, mut begins, pass) = Gate::new();
        let hasher = fast().with_concurrency(NonZeroUsize::new(bound).unwrap()).with_random(gate.clone());
        let hashes: Vec<_> = (0..8)
            .map(|_| {
                let clone = hasher.clone();
                tokio::spawn(async move { clone.hash(password()).await })
            })
            .collect();
        for _ in 0..bound {
            begins.recv().await.unwrap();
        }
        settle().await;
        assert!(begins.try_recv().is_err(), "more than {bound} began");
        for _ in bound..8 {
            pass.send(()).unwrap();
            begins.recv().await.unwrap();
        }
        for _ in 0..bound {
            pass.send(()).unwrap();
        }
        for hash in hashes {
            hash.await.unwrap().unwrap();
        }
        assert_eq!(gate.most.load(Ordering::SeqCst), bound);
    }
}

#[tokio::test]
async fn two_hashes_run_at_once_by_default() {
    let (gate, mut begins, pass) = Gate::new();
    let hasher = fast().with_random(gate);
    let mut hashes: Vec<_> = (0..3).map(|_| Box::pin(hasher.hash(password()))).collect();
    for hash in &mut hashes {
        assert!(poll_once(hash).await.is_pending());
    }
    begins.recv().await.unwrap();
    begins.recv().await.unwrap();
    settle().await;
    assert!(begins.try_recv().is_err());
    drop(pass);
    for hash in hashes {
        hash.await.unwrap();
    }
}

#[tokio::test]
async fn dropped_future_keeps_its_place_until_its_work_is_done() {
    let (gate, mut begins, pass) = Gate::new();
    let hasher = fast().with_concurrency(NonZeroUsize::MIN).with_random(gate.clone());
    let mut first = Box::pin(hasher.hash(password()));
    assert!(poll_once(&mut first).await.is_pending());
    begins.recv().await.unwrap();
    drop(first);

    let mut given_up = Box::pin(hasher.hash(password()));
    assert!(poll_once(&mut given_up).await.is_pending());
    let mut second = Box::pin(hasher.hash(password()));
    assert!(poll_once(&mut second).await.is_pending());
    let mut login = Box::pin(hasher.verify_absent(password()));
    assert!(poll_once(&mut login).await.is_pending());
    settle().await;
    assert!(poll_once(&mut second).await.is_pending());
    assert!(poll_once(&mut login).await.is_pending());
    assert!(begins.try_recv().is_err(), "the dropped future gave its place away");

    drop(given_up);
    pass.send(()).unwrap();
    pass.send(()).unwrap();
    second.await.unwrap();
    login.await.unwrap();
    begins.recv().await.unwrap();
    assert!(begins.try_recv().is_err(), "the future that was given up did work");
    assert_eq!(gate.most.load(Ordering::SeqCst), 1);
}

/// A hook that lets other tasks run before each operation. A login that is polled once is then in progress.
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
    let organization = inventory.organizations().create("Example").await.unwrap();
    let mut owner = NewUser::new(EMAIL, Permission::Owner);
    owner.password = Some(PASSWORD.to_owned());
    inventory.users().create(&Caller::system(organization.id), owner).await.unwrap();
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
    let with_cookie = |cookie| Api::builder(inventory.clone()).session_cookie(cookie).unwrap();
    let longest = format!("/{}", "x".repeat(1023));
    for path in ["/", "/inventory", "/a/b%20c/", &longest] {
        let attributes = cookie(with_cookie(SessionCookie::new().with_path(path).unwrap())).await;
        assert_eq!(attributes, format!("Path={path}; HttpOnly; SameSite=Lax; Max-Age=604800; Secure"));
    }
    for path in ["", "inventory", "/a; Domain=example.net", "/a b", "/ä", "/a\r\nb", &format!("{longest}x")]
    {
        assert_eq!(SessionCookie::new().with_path(path), Err(SessionCookieError::Path), "{path:?}");
    }
}
