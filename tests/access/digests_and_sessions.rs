//! Digests of secrets and ids of sessions, neither of which is shown.

use toposcope::access::{KeyText, PasswordHasher, SecretDigest, SessionId};

use crate::support::{Counting, DAEMON_KEY, USER_KEY};

const SESSION: &str = "4OHi4-Tl5ufo6err7O3u7_Dx8vP09fb3-Pn6-_z9_v8";

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
