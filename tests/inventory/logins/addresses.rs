//! Accepted addresses; a user logs in with any of them in upper or lower case.

use fastrand::Rng;
use toposcope::inventory::{ErrorKind, NewUser, Problem};
use toposcope::model::{Permission, User};

use crate::support::{Fixture, PASSWORD, invalid, refusal};

impl Fixture {
    async fn try_user(&self, email: &str) -> Result<User, toposcope::inventory::Error> {
        let mut new = NewUser::new(self.organization, email, Permission::Viewer);
        new.password = Some(PASSWORD.to_owned());
        self.inventory.create_user(new).await
    }
}

/// Logs a user in with an address.
async fn assert_logs_in(fixture: &Fixture, email: &str, user: &User) {
    let issued = fixture.inventory.log_in(email, PASSWORD.to_owned()).await;
    let issued = issued.unwrap_or_else(|error| panic!("{email:?} for {:?}: {error}", user.email));
    assert_eq!(issued.user().id, user.id, "{email:?}");
}

/// Letters whose lower case has another length, depends on the neighbouring letters, or is that of several
/// letters.
const LETTERS: [char; 24] = [
    'a', 'A', 'z', 'K', 'K', 'k', 'Å', 'å', 'Å', 'İ', 'I', 'i', 'ı', 'ẞ', 'ß', 'Σ', 'σ', 'ς', 'Ǆ', 'ǅ', 'ǆ',
    '.', '\u{307}', '🦀',
];

#[tokio::test]
async fn every_accepted_address_logs_in_in_every_case_variant() {
    let fixture = Fixture::new().await;
    let mut random = Rng::with_seed(1);
    let mut word = |longest: usize| -> String {
        let length = 1 + random.usize(0..longest);
        (0..length).map(|_| LETTERS[random.usize(0..LETTERS.len())]).collect()
    };
    let mut accepted = 0;
    for round in 0..300 {
        let longest = if round % 3 == 0 { 200 } else { 6 };
        let email = format!("{}{round}@{}", word(longest), word(longest));
        let Ok(user) = fixture.try_user(&email).await else { continue };
        accepted += 1;
        let upper: String = email
            .chars()
            .map(|letter| {
                let upper: String = letter.to_uppercase().collect();
                if upper.to_lowercase() == letter.to_string() { upper } else { letter.to_string() }
            })
            .collect();
        for variant in [email.clone(), email.to_lowercase(), user.email.clone(), format!(" {email}\n"), upper]
        {
            // Upper case may map to different letters: these are the variants of the property.
            if variant.trim().to_lowercase() == email.to_lowercase() {
                assert_logs_in(&fixture, &variant, &user).await;
            }
        }
    }
    assert!(accepted > 200, "only {accepted} addresses were accepted");
}

#[tokio::test]
async fn addresses_with_unusual_letters_log_in_in_every_case() {
    let fixture = Fixture::new().await;
    for (created, variants) in [
        ("İstanbul@example.net", &["İstanbul@example.net", "i\u{307}stanbul@EXAMPLE.net"][..]),
        ("STRAẞE@example.net", &["straße@example.net", "Straẞe@example.net"]),
        ("ΣΊΣΥΦΟΣ@example.net", &["σίσυφος@example.net", "σίσυφοσ@example.net", "Σίσυφος@example.net"]),
        ("οδυσσεύς@example.net", &["ΟΔΥΣΣΕΎΣ@example.net", "οδυσσεύσ@example.net"]),
        ("\u{2003}Ünal@example.net\t", &["ünal@example.net", "\nÜNAL@EXAMPLE.NET "]),
        ("ǅ@example.net", &["Ǆ@example.net", "ǆ@example.net"]),
    ] {
        let user = fixture.try_user(created).await.unwrap();
        assert_eq!(user.email, created.trim().to_lowercase());
        for variant in [created].iter().chain(variants) {
            assert_logs_in(&fixture, variant, &user).await;
            let taken = refusal(fixture.try_user(variant).await);
            assert!(matches!(taken, ErrorKind::AlreadyExists { .. }), "{variant:?}: {taken:?}");
        }
    }
}

/// `İ` has one character, and two in lower case, which is the form that is stored and counted.
#[tokio::test]
async fn length_of_an_address_is_counted_in_lower_case_at_creation_and_at_login() {
    let fixture = Fixture::new().await;
    let domain = "@example.net";
    let room = 254 - domain.len();
    let longest = format!("{}{domain}", "İ".repeat(room / 2));
    let one_more = format!("x{longest}");
    assert_eq!((longest.to_lowercase().chars().count(), room % 2), (254, 0));
    let user = fixture.try_user(&longest).await.unwrap();
    assert_logs_in(&fixture, &longest, &user).await;
    assert_logs_in(&fixture, &longest.to_lowercase(), &user).await;
    assert_logs_in(&fixture, &format!("\t{longest} "), &user).await;
    for email in [one_more, format!("{}{domain}", "İ".repeat(200)), "n".repeat(255), "İ".repeat(100_000)] {
        let too_long = invalid("email", Problem::MaxLength { max: 254 });
        assert_eq!(refusal(fixture.try_user(&email).await), too_long);
        assert_eq!(refusal(fixture.inventory.log_in(&email, PASSWORD.to_owned()).await), too_long);
    }
    let shortest = fixture.try_user("İ@").await;
    assert_eq!(refusal(shortest), invalid("email", Problem::InvalidFormat), "three characters in lower case");
}

#[tokio::test]
async fn failures_in_every_case_variant_of_an_address_count_together() {
    let fixture = Fixture::new().await;
    for email in ["ΣΊΣΥΦΟΣ@e.net", "σίσυφος@e.net", "σίσυφοσ@e.net", " Σίσυφος@e.net", "ΣΊΣΥΦΟς@E.NET"]
    {
        let refused = fixture.inventory.log_in(email, PASSWORD.to_owned()).await;
        assert_eq!(refusal(refused), ErrorKind::InvalidCredentials);
    }
    let refused = fixture.inventory.log_in("ΣΊΣΥΦΟΣ@e.net", PASSWORD.to_owned()).await;
    assert_eq!(refusal(refused), ErrorKind::TooManyAttempts { retry_after: 900 });
}
