//! Passwords: their hashes, their verification, its cost and its concurrency.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc as blocking};

use tokio::sync::mpsc;
use toposcope::access::{PasswordCost, PasswordError, PasswordHasher, RandomError, RandomSource};

use super::{Source, fast, poll_once};

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

/// A source of salts that signals when a hash has begun and holds it until released.
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

/// Lets every task run as far as it can, and lets the blocking threads start the work given to them.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
        tokio::task::spawn_blocking(|| ()).await.unwrap();
    }
}

fn password() -> String {
    "correct horse".to_owned()
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
