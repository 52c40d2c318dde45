//! Passwords: their hashes, their verification and its cost.

use std::sync::Arc;

use toposcope::access::{PasswordCost, PasswordError, PasswordHasher};

use crate::support::{Constant, Failing, fast};

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
