//! API keys, session ids and record ids: how they are generated, recognized and stored.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use toposcope::access::{Caller, ManualClock, RandomError, RandomSource, SystemRandom};
use toposcope::inventory::{ErrorKind, NewDaemonApiKey, NewShare, NewUser, NewUserApiKey};
use toposcope::model::{Network, NetworkId, OrganizationId, Permission, UserId};
use toposcope::store::{Batch, Facets, Name, Precondition, Record, StoreError, UniqueKey};
use toposcope::testing::{Call, Intercept, Interceptor, Operation, Reply};
use toposcope::{Inventory, MemoryStore, Store};
use uuid::{Uuid, Variant};

use super::{Source, fast};

const USER_KEY: &str = "topo_u_0123456789ABCDEFGHIJKLMNOPQRSTUV0sQjhO";
const DAEMON_KEY: &str = "topo_d_0123456789ABCDEFGHIJKLMNOPQRSTUV0r6Ij5";
const SESSION: &str = "4OHi4-Tl5ufo6err7O3u7_Dx8vP09fb3-Pn6-_z9_v8";
const PASSWORD: &str = "correct horse";

/// Counts the reads by unique key: malformed secrets are refused without one.
#[derive(Debug, Default)]
struct LookUps(AtomicUsize);

#[async_trait]
impl Intercept for LookUps {
    async fn intercept(&self, call: Call<'_>) -> Result<Reply, StoreError> {
        if matches!(call.operation(), Operation::GetByUniqueKey(_)) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
        call.proceed().await
    }
}

struct Fixture {
    store: Arc<Interceptor<MemoryStore, Arc<LookUps>>>,
    look_ups: Arc<LookUps>,
    clock: ManualClock,
    organization: OrganizationId,
    network: NetworkId,
    owner: UserId,
}

impl Fixture {
    async fn new() -> Self {
        let look_ups = Arc::<LookUps>::default();
        let store = Arc::new(Interceptor::new(MemoryStore::new(), look_ups.clone()));
        let clock = ManualClock::new("2026-08-14T12:00:00Z".parse().unwrap());
        let nil = Uuid::nil();
        let mut fixture =
            Self { store, look_ups, clock, organization: nil.into(), network: nil.into(), owner: nil.into() };
        let inventory = fixture.inventory(SystemRandom);
        fixture.organization = inventory.organizations().create("Example").await.unwrap().id;
        fixture.network = inventory
            .networks()
            .create(&Caller::system(fixture.organization), Network::new("Office"))
            .await
            .unwrap()
            .id;
        let mut owner = NewUser::new("owner@example.net", Permission::Owner);
        owner.password = Some(PASSWORD.to_owned());
        fixture.owner =
            inventory.users().create(&Caller::system(fixture.organization), owner).await.unwrap().id;
        fixture
    }

    /// Returns the inventory with this source, a millisecond later, so that its ids are new.
    fn inventory(&self, random: impl RandomSource + 'static) -> Inventory {
        self.clock.advance(Duration::from_millis(1));
        let clock = Arc::new(self.clock.clone());
        let inventory = Inventory::new(self.store.clone()).with_clock(clock).with_random(Arc::new(random));
        inventory.with_passwords(fast())
    }

    fn user_key(&self) -> NewUserApiKey {
        NewUserApiKey::new(self.owner, "key", Permission::Owner)
    }

    fn daemon_key(&self) -> NewDaemonApiKey {
        NewDaemonApiKey::new(self.network, "key")
    }

    /// Returns whether an unknown key is well-formed. The store is asked only for well-formed keys.
    async fn is_well_formed(&self, inventory: &Inventory, key: &str) -> bool {
        let before = self.look_ups.0.load(Ordering::SeqCst);
        let refused = inventory.authenticate_user_key(key).await.unwrap_err();
        assert_eq!(refused.kind(), &ErrorKind::NotAuthenticated, "{key:?}");
        self.look_ups.0.load(Ordering::SeqCst) > before
    }

    /// Returns the record of a secret, and the second half of the secret's digest. The first half of the digest finds
    /// the record, and the second half is in its body.
    async fn stored_secret(&self, kind: &'static str, lookup: u128) -> (Record, u128) {
        let unique_key = UniqueKey::new(Name::new(kind), lookup.to_be_bytes());
        let record = self.store.get_by_unique_key(&unique_key).await.unwrap().unwrap();
        let body: serde_json::Value = serde_json::from_slice(&record.body).unwrap();
        let verifier: [u8; 16] = serde_json::from_value(body["verifier"].clone()).unwrap();
        (record, u128::from_be_bytes(verifier))
    }
}

#[tokio::test]
async fn generated_keys_have_the_known_form() {
    let fixture = Fixture::new().await;
    let inventory = fixture.inventory(Source::Counting(0));
    for key in [
        USER_KEY,
        DAEMON_KEY,
        "topo_u_000000000000000000000000000000003rn47h",
        "topo_u_zyxwvutsrqponmlkjihgfedcbaZYXWVU0QV6Gu",
        "topo_u_0000000000000000000000000000037700Mbxw",
    ] {
        assert!(fixture.is_well_formed(&inventory, key).await, "{key}");
    }
    let issued = inventory
        .user_api_keys()
        .create(&Caller::system(fixture.organization), fixture.user_key())
        .await
        .unwrap();
    assert_eq!((issued.plaintext(), issued.record().key.as_str()), (USER_KEY, "topo_u_…QjhO"));
    let inventory = fixture.inventory(Source::Counting(0));
    let issued = inventory
        .daemon_api_keys()
        .create(&Caller::system(fixture.organization), fixture.daemon_key())
        .await
        .unwrap();
    assert_eq!((issued.plaintext(), issued.record().key.as_str()), (DAEMON_KEY, "topo_d_…6Ij5"));
}

#[tokio::test]
async fn malformed_key_is_refused_without_a_look_up() {
    let fixture = Fixture::new().await;
    let inventory = fixture.inventory(SystemRandom);
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
        assert!(!fixture.is_well_formed(&inventory, text).await, "{text:?}");
    }
    // A right checksum does not make a character outside the alphabet valid.
    for (random, is_valid) in [("a".repeat(32), true), ("_".repeat(32), false), ("é".repeat(16), false)] {
        let before = format!("topo_u_{random}");
        let text = format!("{before}{}", base62(crc32(&before)));
        assert_eq!(fixture.is_well_formed(&inventory, &text).await, is_valid, "{text:?}");
    }
}

/// Computes a checksum bit by bit, independently of the library's table.
fn crc32(text: &str) -> u32 {
    let step = |crc: u32| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !text.bytes().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(byte), |crc, _| step(crc)))
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

#[tokio::test]
async fn key_with_one_character_replaced_or_missing_is_malformed() {
    let fixture = Fixture::new().await;
    let inventory = fixture.inventory(SystemRandom);
    for key in [USER_KEY, DAEMON_KEY] {
        for position in 0..key.len() {
            let (before, after) = (&key[..position], &key[position + 1..]);
            for other in (' '..='~').chain(['\0', '\u{7f}', 'é', '…']) {
                let text = format!("{before}{other}{after}");
                assert_eq!(fixture.is_well_formed(&inventory, &text).await, text == key, "{text:?}");
            }
            assert!(!fixture.is_well_formed(&inventory, &format!("{before}{after}")).await, "{position}");
        }
    }
}

/// A source that is uniform, and the same in every run.
#[derive(Debug)]
struct Uniform(Mutex<fastrand::Rng>);

impl RandomSource for Uniform {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        self.0.lock().unwrap().fill(bytes);
        Ok(())
    }
}

#[tokio::test]
async fn random_characters_of_keys_are_uniform() {
    let fixture = Fixture::new().await;
    let inventory = fixture.inventory(Uniform(Mutex::new(fastrand::Rng::with_seed(7))));
    let key = inventory
        .user_api_keys()
        .create(&Caller::system(fixture.organization), fixture.user_key())
        .await
        .unwrap()
        .record()
        .id;
    let mut counts = BTreeMap::new();
    for _ in 0..4_000 {
        let issued =
            inventory.user_api_keys().rotate(&Caller::system(fixture.organization), key).await.unwrap();
        for character in issued.plaintext()[7..39].chars() {
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

#[tokio::test]
async fn source_that_fails_or_is_not_random_makes_no_secret_and_no_id() {
    let fixture = Fixture::new().await;
    for source in [Source::Failing, Source::Constant(0xff), Source::Constant(62)] {
        let case = format!("{source:?}");
        let inventory = fixture.inventory(source);
        let user_key = inventory
            .user_api_keys()
            .create(&Caller::system(fixture.organization), fixture.user_key())
            .await
            .unwrap_err();
        let daemon_key = inventory
            .daemon_api_keys()
            .create(&Caller::system(fixture.organization), fixture.daemon_key())
            .await
            .unwrap_err();
        assert_eq!(
            (user_key.kind(), daemon_key.kind()),
            (&ErrorKind::Internal, &ErrorKind::Internal),
            "{case}"
        );
    }
    let inventory = fixture.inventory(Source::Failing);
    let session = inventory.log_in("owner@example.net", PASSWORD.to_owned()).await.unwrap_err();
    let organization = inventory.organizations().create("Another").await.unwrap_err();
    let share = inventory
        .shares()
        .create(&Caller::system(fixture.organization), NewShare::new("share"))
        .await
        .unwrap_err();
    for error in [session, organization, share] {
        assert_eq!(error.kind(), &ErrorKind::Internal);
    }
}

#[tokio::test]
async fn stored_digest_is_the_sha_256_of_the_secret() {
    let fixture = Fixture::new().await;
    let inventory = fixture.inventory(Source::Counting(0));
    inventory
        .user_api_keys()
        .create(&Caller::system(fixture.organization), fixture.user_key())
        .await
        .unwrap();
    let (_, verifier) = fixture.stored_secret("digest", 0xad90_afea_0d77_3f8a_bad0_9539_6973_8b43).await;
    assert_eq!(verifier, 0xece2_a3f5_4e8f_90f6_f364_d62f_7066_a8b5);

    let inventory = fixture.inventory(Source::Counting(224));
    let session = inventory.log_in("owner@example.net", PASSWORD.to_owned()).await.unwrap();
    assert_eq!(session.plaintext(), SESSION);
    let (_, verifier) = fixture.stored_secret("session", 0xd90b_ad97_3841_8127_3203_dd0f_8cc3_0e16).await;
    assert_eq!(verifier, 0xa817_bef7_a51b_026e_b6bf_0a7f_cba3_312a);

    let unique_key = UniqueKey::new(Name::new("digest"), [0xad; 16]);
    for shown in [format!("{unique_key:?}"), format!("{unique_key:#?}"), format!("{unique_key:x?}")] {
        assert_eq!(shown, "UniqueKey(digest, 16 bytes)");
    }
}

#[tokio::test]
async fn key_is_refused_unless_every_byte_of_the_stored_verifier_matches() {
    let fixture = Fixture::new().await;
    let inventory = fixture.inventory(Source::Counting(0));
    inventory
        .user_api_keys()
        .create(&Caller::system(fixture.organization), fixture.user_key())
        .await
        .unwrap();
    let lookup = 0xad90_afea_0d77_3f8a_bad0_9539_6973_8b43_u128;
    let (record, _) = fixture.stored_secret("digest", lookup).await;
    let secret: serde_json::Value = serde_json::from_slice(&record.body).unwrap();
    let mut facets = Facets::default();
    facets.organization = Some(fixture.organization.uuid());
    facets.unique_keys.push(UniqueKey::new(Name::new("digest"), lookup.to_be_bytes()));
    let store = async |secret: &serde_json::Value| {
        let mut batch = Batch::new();
        batch.put(record.key, Precondition::Any, facets.clone(), serde_json::to_vec(secret).unwrap());
        fixture.store.commit(batch).await.unwrap();
        inventory.authenticate_user_key(USER_KEY).await.map_err(|error| error.kind().clone())
    };
    for byte in 0..16 {
        let mut other = secret.clone();
        other["verifier"][byte] = (secret["verifier"][byte].as_u64().unwrap() ^ 1).into();
        assert_eq!(store(&other).await, Err(ErrorKind::NotAuthenticated), "byte {byte}");
    }
    assert!(store(&secret).await.is_ok());
}

#[tokio::test]
async fn malformed_session_id_is_refused_without_a_look_up() {
    let fixture = Fixture::new().await;
    let inventory = fixture.inventory(SystemRandom);
    let (padded, surplus_bits) = (format!("{SESSION}="), format!("{}9", &SESSION[..42]));
    for (text, is_well_formed) in [
        (SESSION, true),
        ("", false),
        (&SESSION[..42], false),
        (&SESSION[..40], false),
        (&padded, false),
        (&surplus_bits, false),
        ("4OHi4+Tl5ufo6err7O3u7/Dx8vP09fb3+Pn6+/z9/v8", false),
        ("4OHi4-Tl5ufo6err7O3u7_Dx8vP09fb3-Pn6-_z9_v8A", false),
        ("4OHi4-Tl5ufo6err7O3u7_Dx8vP09fb3-Pn6-_z9_v ", false),
        ("éOHi4-Tl5ufo6err7O3u7_Dx8vP09fb3-Pn6-_z9_v8", false),
    ] {
        let before = fixture.look_ups.0.load(Ordering::SeqCst);
        let refused = inventory.authenticate_session(text).await.unwrap_err();
        assert_eq!(refused.kind(), &ErrorKind::NotAuthenticated, "{text:?}");
        assert_eq!(fixture.look_ups.0.load(Ordering::SeqCst) > before, is_well_formed, "{text:?}");
    }
}

#[tokio::test]
async fn record_ids_have_their_version_and_time() {
    let fixture = Fixture::new().await;
    let share = async |inventory: Inventory| {
        inventory
            .shares()
            .create(&Caller::system(fixture.organization), NewShare::new("share"))
            .await
            .unwrap()
            .id
    };
    let organization = async |byte: u8, time: &str| {
        let clock = Arc::new(ManualClock::new(time.parse().unwrap()));
        let inventory = Inventory::new(MemoryStore::new()).with_clock(clock);
        let inventory = inventory.with_random(Arc::new(Source::Constant(byte)));
        inventory.organizations().create("Example").await.unwrap().id
    };
    let four = share(fixture.inventory(Source::Constant(0xff))).await;
    assert_eq!(four.to_string(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
    assert_ne!(share(fixture.inventory(SystemRandom)).await, share(fixture.inventory(SystemRandom)).await);

    // The example of RFC 9562, appendix A.6, has this time.
    let seven = organization(0, "2022-02-22T19:22:22Z").await;
    assert_eq!(seven.to_string(), "017f22e2-79b0-7000-8000-000000000000");
    assert_eq!([four.uuid().get_variant(), seven.uuid().get_variant()], [Variant::RFC4122; 2]);
    let later = organization(0, "2022-02-22T19:22:22.001Z").await;
    assert!(organization(0xff, "2022-02-22T19:22:22Z").await < later);
    assert_eq!(organization(0, "1969-12-31T00:00:00Z").await, organization(0, "1970-01-01T00:00:00Z").await);
}
