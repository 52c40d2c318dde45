//! Who may do what, and the secrets that prove it.

#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc as blocking};
use std::task::Poll;
use std::time::Duration;

use tokio::sync::mpsc;
use toposcope::access::{
    Caller, Clock, Credential, KeyKind, KeyText, ManualClock, PasswordCost, PasswordError, PasswordHasher,
    RandomError, RandomSource, Scope, SecretDigest, SessionId, SystemClock, SystemRandom, uuid_v4, uuid_v7,
};
use toposcope::model::{Permission, Timestamp};
use uuid::{Uuid, Variant};

const LEVELS: [Permission; 4] =
    [Permission::Viewer, Permission::Member, Permission::Admin, Permission::Owner];
const USER_KEY: &str = "topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjhO";
const DAEMON_KEY: &str = "topo_d_0123456789ABCDEFGHIJKLMNOPQRSTUV0r6Ij5";
const SESSION: &str = "4OHi4-Tl5ufo6err7O3u7_Dx8vP09fb3-Pn6-_z9_v8";

/// Counts upwards from a first byte.
#[derive(Debug)]
struct Counting(u8);

impl RandomSource for Counting {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        for (index, byte) in bytes.iter_mut().enumerate() {
            *byte = self.0.wrapping_add(u8::try_from(index).map_err(RandomError::new)?);
        }
        Ok(())
    }
}

#[derive(Debug)]
struct Constant(u8);

impl RandomSource for Constant {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        bytes.fill(self.0);
        Ok(())
    }
}

/// Splitmix64: deterministic, and uniform enough to count characters.
#[derive(Debug, Default)]
struct Stream(AtomicU64);

impl RandomSource for Stream {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        for byte in bytes {
            let seed =
                self.0.fetch_add(1, Ordering::Relaxed).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            *byte = (mixed >> 56) as u8;
        }
        Ok(())
    }
}

#[derive(Debug)]
struct Failing;

impl RandomSource for Failing {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        bytes.fill(7);
        Err(RandomError::new("unplugged"))
    }
}

fn subsets(networks: &[Uuid]) -> Vec<Vec<Uuid>> {
    (0..1_usize << networks.len())
        .map(|mask| (0..networks.len()).filter(|bit| mask >> bit & 1 == 1).map(|bit| networks[bit]).collect())
        .collect()
}

fn networks() -> [Uuid; 4] {
    [1, 2, 3, 4].map(Uuid::from_u128)
}

// Keys

#[test]
fn known_keys_are_read_and_made() {
    for (text, kind) in [
        (USER_KEY, KeyKind::User),
        (DAEMON_KEY, KeyKind::Daemon),
        ("topo_u_000000000000000000000000000000003rn47h", KeyKind::User),
        ("topo_u_zyxwvutsrqponmlkjihgfedcbaZYXWVU0QV6Gu", KeyKind::User),
        ("topo_u_0000000000000000000000000000037700Mbxw", KeyKind::User),
    ] {
        let key = KeyText::parse(text).unwrap_or_else(|| panic!("{text} is refused"));
        assert_eq!((key.kind(), key.expose()), (kind, text));
    }
    for (kind, text) in [(KeyKind::User, USER_KEY), (KeyKind::Daemon, DAEMON_KEY)] {
        assert_eq!(KeyText::generate(kind, &Counting(0)).unwrap().expose(), text);
    }
}

#[test]
fn what_is_no_key_is_refused() {
    for text in [
        "",
        "topo_",
        "topo_u_",
        "topo_x_0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjhO",
        "Topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjhO",
        "TOPO_U_0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjhO",
        "0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjhO",
        "topo_u_topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjhO",
        "topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUV",
        "topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjh",
        "topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjhOO",
        "topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUVsQjhO",
        " topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjhO",
        "topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjhO ",
        "topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjhO\n",
        "topo_u_0123456789ABCDEFGHIJKLMNOPQRST-_0sQjhO",
        "topo_u_0123456789ABCDEFGHIJKLMNOPQRSTé0sQjhO",
        "topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUéV0sQjh",
        "topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUV０sQjhO",
        "topo_u_éééééééééééééééééééééééééééééééééééééé",
    ] {
        assert!(KeyText::parse(text).is_none(), "{text:?} is accepted");
    }
    // The right checksum does not help a character that is not of the alphabet.
    for (random, accepted) in [("a".repeat(32), true), ("_".repeat(32), false), ("é".repeat(16), false)] {
        let before = format!("topo_u_{random}");
        let text = format!("{before}{}", base62(crc32(&before)));
        assert_eq!(KeyText::parse(&text).is_some(), accepted, "{text:?}");
    }
}

/// Bit by bit, to be independent of the library's table.
fn crc32(text: &str) -> u32 {
    !text.bytes().fold(u32::MAX, |crc, byte| {
        (0..8).fold(
            crc ^ u32::from(byte),
            |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 },
        )
    })
}

fn base62(mut number: u32) -> String {
    let digits: Vec<char> = ('0'..='9').chain('A'..='Z').chain('a'..='z').collect();
    let mut text = String::new();
    for _ in 0..6 {
        text.insert(0, digits[(number % 62) as usize]);
        number /= 62;
    }
    text
}

#[test]
fn every_corruption_of_one_character_is_refused() {
    for key in [USER_KEY, DAEMON_KEY] {
        for position in 0..key.len() {
            for other in (' '..='~').chain(['\0', '\u{7f}', 'é', '…']) {
                let corrupt: String = key
                    .chars()
                    .enumerate()
                    .map(|(at, was)| if at == position { other } else { was })
                    .collect();
                assert_eq!(KeyText::parse(&corrupt).is_some(), corrupt == key, "{corrupt:?}");
            }
            let missing: String =
                key.chars().enumerate().filter(|(at, _)| *at != position).map(|(_, kept)| kept).collect();
            assert!(KeyText::parse(&missing).is_none(), "{missing:?}");
        }
    }
}

#[test]
fn the_random_characters_are_uniform() {
    let source = Stream::default();
    let mut counts = BTreeMap::new();
    for _ in 0..4_000 {
        let key = KeyText::generate(KeyKind::User, &source).unwrap();
        assert!(KeyText::parse(key.expose()).is_some());
        for character in key.expose()[7..39].chars() {
            *counts.entry(character).or_insert(0_u32) += 1;
        }
    }
    assert_eq!(counts.len(), 62);
    let expected = 4_000.0 * 32.0 / 62.0;
    let chi_squared: f64 =
        counts.values().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
    // 61 degrees of freedom: 120 is passed once in 10^5 times; a modulo bias gives thousands.
    assert!(chi_squared < 120.0, "{chi_squared}: {counts:?}");
}

#[test]
fn a_source_that_fails_or_is_not_random_makes_no_key() {
    for source in [&Failing as &dyn RandomSource, &Constant(0xff), &Constant(62)] {
        assert!(KeyText::generate(KeyKind::User, source).is_err(), "{source:?}");
    }
    assert!(SessionId::generate(&Failing).is_err());
    assert!(uuid_v4(&Failing).is_err());
    assert!(uuid_v7(&Failing, Timestamp::UNIX_EPOCH).is_err());
}

#[test]
fn a_masked_key_shows_its_kind_and_its_end() {
    assert_eq!(KeyText::parse(USER_KEY).unwrap().masked(), "topo_u_…QjhO");
    assert_eq!(KeyText::parse(DAEMON_KEY).unwrap().masked(), "topo_d_…6Ij5");
}

// Digests and sessions

fn hex(digest: &SecretDigest) -> String {
    let verifier = serde_json::to_value(digest.verifier()).unwrap();
    let verifier: Vec<u8> = serde_json::from_value(verifier).unwrap();
    digest.lookup().iter().chain(&verifier).map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_digest_is_the_sha_256_of_the_text() {
    assert_eq!(
        hex(&KeyText::parse(USER_KEY).unwrap().digest()),
        "ad90afea0d773f8abad0953969738b43ece2a3f54e8f90f6f364d62f7066a8b5"
    );
    assert_eq!(
        hex(&SessionId::parse(SESSION).unwrap().digest()),
        "d90bad97384181273203dd0f8cc30e16a817bef7a51b026eb6bf0a7fcba3312a"
    );
}

#[test]
fn a_verifier_matches_its_own_secret_only() {
    let user = KeyText::parse(USER_KEY).unwrap().digest();
    let daemon = KeyText::parse(DAEMON_KEY).unwrap().digest();
    let stored = serde_json::from_str(&serde_json::to_string(&user.verifier()).unwrap()).unwrap();
    assert!(user.verifier().matches(&stored));
    assert!(!daemon.verifier().matches(&stored));
    let bytes: Vec<u8> = serde_json::from_value(serde_json::to_value(user.verifier()).unwrap()).unwrap();
    for at in 0..bytes.len() {
        let mut other = bytes.clone();
        other[at] ^= 1;
        let other = serde_json::from_value(other.into()).unwrap();
        assert!(!user.verifier().matches(&other), "byte {at}");
    }
}

#[test]
fn session_ids_are_base64url_of_256_bits() {
    assert_eq!(SessionId::generate(&Counting(224)).unwrap().expose(), SESSION);
    assert_eq!(SessionId::parse(SESSION).unwrap().expose(), SESSION);
    let padded = format!("{SESSION}=");
    let with_bits_left_over = format!("{}9", &SESSION[..42]);
    for text in [
        "",
        &SESSION[..42],
        &SESSION[..40],
        &padded,
        &with_bits_left_over,
        "4OHi4+Tl5ufo6err7O3u7/Dx8vP09fb3+Pn6+/z9/v8",
        "4OHi4-Tl5ufo6err7O3u7_Dx8vP09fb3-Pn6-_z9_v8A",
        "4OHi4-Tl5ufo6err7O3u7_Dx8vP09fb3-Pn6-_z9_v ",
        "éOHi4-Tl5ufo6err7O3u7_Dx8vP09fb3-Pn6-_z9_v8",
    ] {
        assert!(SessionId::parse(text).is_none(), "{text:?} is accepted");
    }
}

#[test]
fn debug_shows_no_secret() {
    let key = KeyText::parse(USER_KEY).unwrap();
    let session = SessionId::parse(SESSION).unwrap();
    let hasher = PasswordHasher::new();
    let shown = format!(
        "{key:?} {session:?} {:?} {:?} {:?} {hasher:?}",
        key.digest(),
        key.digest().verifier(),
        session.digest()
    );
    assert_eq!(
        shown,
        "KeyText(topo_u_…) SessionId(..) SecretDigest(..) Verifier(..) SecretDigest(..) \
         PasswordHasher { cost: PasswordCost { memory_kib: 19456, passes: 2 }, .. }"
    );
}

// Ids and time

#[test]
fn uuids_carry_their_version_and_time() {
    let four = uuid_v4(&Constant(0xff)).unwrap();
    assert_eq!(four.to_string(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
    let time: Timestamp = "2022-02-22T19:22:22Z".parse().unwrap();
    // The example of RFC 9562, appendix A.6, has this time.
    let seven = uuid_v7(&Constant(0), time).unwrap();
    assert_eq!(seven.to_string(), "017f22e2-79b0-7000-8000-000000000000");
    for uuid in [four, seven] {
        assert_eq!(uuid.get_variant(), Variant::RFC4122);
    }
    let later = uuid_v7(&Constant(0), time.plus_micros(1_000)).unwrap();
    assert!(uuid_v7(&Constant(0xff), time).unwrap() < later);
    let early = uuid_v7(&Constant(0), "1969-12-31T00:00:00Z".parse().unwrap()).unwrap();
    assert_eq!(early, uuid_v7(&Constant(0), Timestamp::UNIX_EPOCH).unwrap());
    assert_ne!(uuid_v4(&SystemRandom).unwrap(), uuid_v4(&SystemRandom).unwrap());
}

#[test]
fn a_manual_clock_moves_when_it_is_moved() {
    let time: Timestamp = "2026-08-14T12:00:00Z".parse().unwrap();
    let clock = ManualClock::new(time);
    let shared: Arc<dyn Clock> = Arc::new(clock.clone());
    assert_eq!((shared.now(), shared.now()), (time, time));
    clock.advance(Duration::from_micros(1));
    assert_eq!(shared.now(), time.plus_micros(1));
    clock.set(Timestamp::UNIX_EPOCH);
    assert_eq!(shared.now(), Timestamp::UNIX_EPOCH);
    clock.advance(Duration::MAX);
    clock.advance(Duration::MAX);
    assert_eq!(shared.now().to_string(), "9999-12-31T23:59:59.999999Z");
    clock.set(time);
    assert_eq!(format!("{clock:?}"), "ManualClock(2026-08-14T12:00:00Z)");

    let before = Timestamp::now();
    let now = SystemClock.now();
    assert!(before <= now && now <= Timestamp::now());
}

// Access

#[test]
fn scopes_are_sets() {
    let all = networks();
    let mut scopes = vec![Scope::all()];
    scopes.extend(subsets(&all[..3]).into_iter().map(Scope::only));
    for one in &scopes {
        assert_eq!(&one.intersect(one), one);
        assert_eq!(&one.intersect(&Scope::all()), one);
        for network in all {
            assert_eq!(
                one.allows(network),
                one.networks().is_none_or(|networks| networks.contains(&network))
            );
            assert_eq!(one.narrowed_to(network), one.intersect(&Scope::only([network])));
        }
        for other in &scopes {
            let both = one.intersect(other);
            assert_eq!(both, other.intersect(one));
            for network in all {
                assert_eq!(both.allows(network), one.allows(network) && other.allows(network));
            }
            for third in &scopes {
                assert_eq!(both.intersect(third), one.intersect(&other.intersect(third)));
            }
        }
    }
}

#[test]
fn a_scope_lists_its_networks_sorted_and_once() {
    let [a, b, c, _] = networks();
    assert_eq!(Scope::only([c, a, b, a, c]).networks(), Some(&[a, b, c][..]));
    assert_eq!(Scope::only([]).networks(), Some(&[][..]));
    assert_eq!(Scope::all().networks(), None);
}

#[test]
fn the_level_decides_what_a_grant_means() {
    let [a, b, ..] = networks();
    for level in [Permission::Owner, Permission::Admin] {
        assert_eq!(Scope::granted(level, [a]), Scope::all());
    }
    for level in [Permission::Member, Permission::Viewer] {
        assert_eq!(Scope::granted(level, [b, a]), Scope::only([a, b]));
        assert_eq!(Scope::granted(level, []), Scope::only([]));
    }
}

#[test]
fn a_key_acts_with_the_lower_level_in_the_networks_of_both() {
    let (organization, user, id) = (Uuid::from_u128(7), Uuid::from_u128(8), Uuid::from_u128(9));
    let all = networks();
    let rank = |level| LEVELS.iter().position(|known| *known == level).unwrap();
    for owner in LEVELS {
        for level in LEVELS {
            for granted in subsets(&all[..3]) {
                for listed in subsets(&all[1..]) {
                    let scope = Scope::granted(owner, granted.clone());
                    let caller =
                        Caller::new(organization, user, owner, scope).through_key(id, level, listed.clone());
                    assert_eq!(rank(caller.permission()), rank(owner).min(rank(level)));
                    let reached: Vec<Uuid> = listed
                        .into_iter()
                        .filter(|network| rank(owner) >= 2 || granted.contains(network))
                        .collect();
                    assert_eq!(caller.scope().networks(), Some(&reached[..]), "{owner:?} {level:?}");
                    assert_eq!((caller.organization_id(), caller.user_id()), (organization, user));
                    assert_eq!(caller.credential(), Credential::UserApiKey { id });
                }
            }
        }
    }
}

#[test]
fn a_key_is_no_session_and_a_host_counts_as_one() {
    let [a, b, c, _] = networks();
    let host = Caller::new(a, b, Permission::Viewer, Scope::all());
    assert_eq!(host.credential(), Credential::Host);
    assert!(host.credential().is_session());
    let session = host.clone().through_session();
    assert_eq!(session.credential(), Credential::Session);
    assert!(session.credential().is_session());
    assert_eq!((session.permission(), session.scope()), (host.permission(), host.scope()));
    assert!(!host.through_key(c, Permission::Viewer, []).credential().is_session());
}

// Passwords

fn fast() -> PasswordHasher {
    PasswordHasher::new().with_cost(PasswordCost::new(8, 1).unwrap())
}

#[tokio::test]
async fn a_hash_verifies_its_own_password_only() {
    let hasher = fast();
    let hash = hasher.hash("pässwörd 🔑 long".to_owned()).await.unwrap();
    assert!(hash.starts_with("$argon2id$v=19$m=8,t=1,p=1$"), "{hash}");
    assert!(hasher.verify("pässwörd 🔑 long".to_owned(), hash.clone()).await.unwrap());
    for wrong in ["", "pässwörd 🔑 lon", "pässwörd 🔑 long ", "Pässwörd 🔑 long"] {
        assert!(!hasher.verify(wrong.to_owned(), hash.clone()).await.unwrap(), "{wrong:?}");
    }
    let again = hasher.hash("pässwörd 🔑 long".to_owned()).await.unwrap();
    assert_ne!(hash, again, "the salt is the same");
    let salted = fast().with_random(Arc::new(Constant(0))).hash("0123456789".to_owned()).await.unwrap();
    assert!(salted.contains(&format!("${}$", "A".repeat(22))), "{salted}");
}

#[tokio::test]
async fn hashes_of_others_and_of_another_cost_verify() {
    // From the test vectors of the reference implementation.
    let hash = "$argon2id$v=19$m=256,t=2,p=1$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4";
    assert!(fast().verify("password".to_owned(), hash.to_owned()).await.unwrap());
    assert!(!fast().verify("passwore".to_owned(), hash.to_owned()).await.unwrap());
}

#[tokio::test]
async fn what_is_no_hash_is_an_error() {
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
async fn an_absent_user_costs_a_hash_and_no_error() {
    fast().verify_absent("whatever".to_owned()).await.unwrap();
    PasswordHasher::new().verify_absent(String::new()).await.unwrap();
}

#[tokio::test]
async fn the_length_is_counted_in_characters_and_checked_first() {
    for password in ["🔑".repeat(10), "é".repeat(1000), "x".repeat(10), "x".repeat(1000)] {
        assert!(fast().hash(password).await.is_ok());
    }
    let unable = fast().with_random(Arc::new(Failing));
    for password in [String::new(), "x".repeat(9), "🔑".repeat(9)] {
        assert!(matches!(unable.hash(password).await, Err(PasswordError::TooShort { min: 10 })));
    }
    for password in ["x".repeat(1001), "é".repeat(1001)] {
        assert!(matches!(unable.hash(password).await, Err(PasswordError::TooLong { max: 1000 })));
    }
    assert!(matches!(unable.hash("x".repeat(10)).await, Err(PasswordError::Random(_))));
}

#[test]
fn nonsensical_costs_are_refused() {
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
}

/// A source of salts that tells when a hash has begun and holds it until it is let through.
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
        // An error means that the test is over; nobody may then be kept waiting.
        let _ = self.passes.lock().unwrap().recv();
        self.inside.fetch_sub(1, Ordering::SeqCst);
        bytes.fill(1);
        Ok(())
    }
}

async fn poll_once<F: Future>(future: &mut Pin<Box<F>>) -> Poll<F::Output> {
    poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await
}

/// Lets every task run as far as it can, and the blocking threads take up what was given to them.
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
async fn only_so_many_hashes_at_once() {
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
async fn two_at_once_unless_told_otherwise() {
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
async fn a_dropped_future_keeps_its_place_until_its_work_is_done() {
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
