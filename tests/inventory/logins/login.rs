//! Conditions of a successful login, accepted addresses, and rehashing of passwords.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::time::Duration;

use argon2::password_hash::PasswordHasher as _;
use argon2::{Algorithm, Argon2, Params, Version};
use fastrand::Rng;
use toposcope::access::{Caller, PasswordCost, PasswordHasher};
use toposcope::inventory::{ErrorKind, Inventory, NewUser, Problem};
use toposcope::model::{Permission, Session, User};
use toposcope::store::{Facets, Key, Name};

use crate::support::{
    Fixture, PASSWORD, at_every_call, concurrently, invalid, refusal, time, with_interference_at_every_call,
};
use crate::users::Change;

#[tokio::test]
async fn login_returns_the_user_and_a_new_session() {
    let fixture = Fixture::new().await;
    let user = fixture.user("a@example.net", Permission::Member, &[fixture.network]).await;
    fixture.clock.set(time("2026-08-15T00:00:00.000001Z"));
    let issued = fixture.log_in(&user).await;
    let expected = Session {
        id: issued.session().id,
        user_id: user.id,
        organization_id: fixture.organization,
        created_at: time("2026-08-15T00:00:00.000001Z"),
        expires_at: time("2026-08-22T00:00:00.000001Z"),
    };
    assert_eq!((issued.user(), issued.session()), (&user, &expected));
    assert_eq!(issued.plaintext().len(), 43);
    assert!(!issued.plaintext().contains(&expected.id.to_string()));
}

#[tokio::test]
async fn failed_login_has_the_same_error_for_every_cause_and_changes_nothing() {
    let (fixture, _) = Fixture::with_owner().await;
    let disabled = fixture.user("disabled@example.net", Permission::Owner, &[]).await;
    fixture.inventory.users().disable(&Caller::system(disabled.organization_id), disabled.id).await.unwrap();
    let without = NewUser::new("without@example.net", Permission::Owner);
    fixture.inventory.users().create(&fixture.system(), without).await.unwrap();
    let long = "x".repeat(100_000);
    let longest_email = format!("{}@example.net", "n".repeat(254 - "@example.net".len()));
    for (email, password) in [
        ("owner@example.net", "battery staple"),
        ("owner@example.net", "Correct horse"),
        ("owner@example.net", "correct horse "),
        ("owner@example.net", ""),
        ("disabled@example.net", PASSWORD),
        ("disabled@example.net", "battery staple"),
        ("without@example.net", PASSWORD),
        ("without@example.net", ""),
        ("nobody@example.net", PASSWORD),
        ("nobody", PASSWORD),
        ("n@e", PASSWORD),
        ("   n@e ", PASSWORD),
        (longest_email.as_str(), PASSWORD),
        ("owner@example.net\u{0}", PASSWORD),
        ("somebody@example.net", long.as_str()),
    ] {
        let attempt = fixture.inventory.log_in(email, password.to_owned());
        assert_eq!(fixture.refusal(attempt).await, ErrorKind::InvalidCredentials);
    }
}

#[tokio::test]
async fn address_of_invalid_length_is_reported_and_is_no_failed_attempt() {
    let fixture = Fixture::new().await;
    let (inventory, probe) = fixture.probed();
    let (too_long, longest) = ("n".repeat(255), "n".repeat(254));
    for (email, problem) in [
        ("", Problem::Empty),
        (" \u{2003}\t", Problem::Empty),
        ("n@", Problem::MinLength { min: 3 }),
        (" 🦀🦀 ", Problem::MinLength { min: 3 }),
        (too_long.as_str(), Problem::MaxLength { max: 254 }),
    ] {
        for _ in 0..6 {
            let refused = inventory.log_in(email, PASSWORD.to_owned()).await;
            assert_eq!(refusal(refused), invalid("email", problem.clone()));
        }
    }
    assert_eq!(probe.calls(), 0, "no user is looked up");
    for email in ["🦀🦀🦀", longest.as_str()] {
        let refused = inventory.log_in(email, PASSWORD.to_owned()).await;
        assert_eq!(refusal(refused), ErrorKind::InvalidCredentials);
    }
}

#[tokio::test]
async fn concurrent_logins_begin_separate_sessions() {
    let (fixture, user) = Fixture::with_owner().await;
    let log_in = || fixture.inventory.log_in(&user.email, PASSWORD.to_owned());
    let (first, second) = tokio::join!(log_in(), log_in());
    let (first, second) = (first.unwrap(), second.unwrap());
    assert_ne!(first.plaintext(), second.plaintext());
    assert_ne!(first.session().id, second.session().id);
    for issued in [&first, &second] {
        let caller = fixture.by_session(issued).await.unwrap();
        assert_eq!(caller.user_id(), user.id);
    }
    fixture.inventory.log_out(first.plaintext()).await.unwrap();
    assert_eq!(refusal(fixture.by_session(&first).await), ErrorKind::NotAuthenticated);
    fixture.by_session(&second).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn many_concurrent_logins_with_the_right_password_all_succeed() {
    let (fixture, _) = Fixture::with_owner().await;
    let logins = concurrently(&fixture, 16, |fixture, _| async move {
        fixture.try_log_in("owner@example.net").await.unwrap().plaintext().to_owned()
    });
    let texts: BTreeSet<String> = logins.await.into_iter().collect();
    assert_eq!(texts.len(), 16);
}

#[tokio::test]
async fn login_requires_no_api_access() {
    let (fixture, user) = Fixture::with_owner().await;
    fixture.inventory.organizations().disable_api_access(fixture.organization).await.unwrap();
    fixture.clock.advance(Duration::from_secs(1));
    let issued = fixture.log_in(&user).await;
    fixture.by_session(&issued).await.unwrap();
}

impl Fixture {
    async fn try_user(&self, email: &str) -> Result<User, toposcope::inventory::Error> {
        let mut new = NewUser::new(email, Permission::Viewer);
        new.password = Some(PASSWORD.to_owned());
        self.inventory.users().create(&Caller::system(self.organization), new).await
    }
}

/// Logs a user in with an address.
async fn assert_logs_in(fixture: &Fixture, email: &str, user: &User) {
    let issued = fixture.try_log_in(email).await;
    let issued = issued.unwrap_or_else(|error| panic!("{email:?} for {:?}: {error}", user.email));
    assert_eq!(issued.user().id, user.id, "{email:?}");
}

/// Letters that are special in lower case. Its length may differ, it may depend on neighboring letters, or several
/// letters may share it.
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
            if variant.trim().to_lowercase() == email.to_lowercase() && !email.contains('İ') {
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
        ("İstanbul@example.net", &["İSTANBUL@EXAMPLE.net"][..]),
        ("STRAẞE@example.net", &["straße@example.net", "Straẞe@example.net"]),
        ("ΣΊΣΥΦΟΣ@example.net", &["σίσυφος@example.net", "σίσυφοσ@example.net", "Σίσυφος@example.net"]),
        ("οδυσσεύς@example.net", &["ΟΔΥΣΣΕΎΣ@example.net", "οδυσσεύσ@example.net"]),
        ("\u{2003}Ünal@example.net\t", &["ünal@example.net", "\nÜNAL@EXAMPLE.NET "]),
        ("ǅ@example.net", &["Ǆ@example.net", "ǆ@example.net"]),
        ("\u{b5}ſ@example.net", &["\u{39c}S@example.net", "\u{3bc}s@example.net"]),
        ("Jürgen.MÜLLER@Example.NET", &["JÜRGEN.MÜLLER@EXAMPLE.NET", " \tjürgen.müller@example.net\n"]),
    ] {
        let user = fixture.try_user(created).await.unwrap();
        // Without the form of `σ` at the end of a word.
        assert_eq!(
            user.email.replace('ς', "σ"),
            created.trim().to_lowercase().replace("i\u{307}", "İ").replace('ς', "σ")
        );
        for variant in [created].iter().chain(variants) {
            assert_logs_in(&fixture, variant, &user).await;
            let taken = refusal(fixture.try_user(variant).await);
            assert!(matches!(taken, ErrorKind::AlreadyExists { .. }), "{variant:?}: {taken:?}");
        }
    }
}

/// `İ` is two characters in lower case. Only letters that stay one letter are changed, so that its length stays.
#[tokio::test]
async fn length_of_an_address_does_not_depend_on_case() {
    let fixture = Fixture::new().await;
    let domain = "@example.net";
    let longest = format!("{}{domain}", "İ".repeat(254 - domain.len()));
    let user = fixture.try_user(&longest).await.unwrap();
    assert_eq!(user.email, longest);
    assert_logs_in(&fixture, &longest, &user).await;
    assert_logs_in(&fixture, &format!("\t{longest} "), &user).await;
    for email in [format!("x{longest}"), "n".repeat(255), "İ".repeat(100_000)] {
        let too_long = invalid("email", Problem::MaxLength { max: 254 });
        assert_eq!(refusal(fixture.try_user(&email).await), too_long);
        assert_eq!(refusal(fixture.try_log_in(&email).await), too_long);
    }
    let too_short = invalid("email", Problem::MinLength { min: 3 });
    assert_eq!(refusal(fixture.try_user("İ@").await), too_short);
}

/// Full case folding would give one person's mail to another.
#[tokio::test]
async fn addresses_that_only_full_case_folding_makes_equal_are_different() {
    let fixture = Fixture::new().await;
    for (one, other) in
        [("maße", "masse"), ("ﬁnance", "finance"), ("İvan", "i\u{307}van"), ("ılker", "ilker")]
    {
        let [one, other] = [one, other].map(|name| format!("{name}@example.net"));
        let user = fixture.try_user(&one).await.unwrap();
        let another = fixture.try_user(&other).await.unwrap();
        assert_logs_in(&fixture, &one, &user).await;
        assert_logs_in(&fixture, &other, &another).await;
    }
}

#[tokio::test]
async fn address_with_a_control_or_format_character_is_refused() {
    let fixture = Fixture::new().await;
    for hidden in ['\0', '\u{1b}', '\u{ad}', '\u{200b}', '\u{200d}', '\u{202e}', '\u{feff}'] {
        let refused = refusal(fixture.try_user(&format!("ow{hidden}ner@example.net")).await);
        assert_eq!(refused, invalid("email", Problem::InvalidFormat), "{hidden:?}");
    }
}

const PASSWORD_KIND: Name = Name::new("password");

/// Returns an inventory that differs from the fixture's in the cost of passwords only.
fn at_another_cost(inventory: Inventory) -> Inventory {
    inventory.with_passwords(PasswordHasher::new().with_cost(PasswordCost::new(16, 2).unwrap()))
}

/// Returns the stored password record of a user.
async fn stored_hash(fixture: &Fixture, user: &User) -> String {
    let contents = fixture.contents().await;
    let key = Key::new(PASSWORD_KIND, user.id.into());
    let stored = contents.into_iter().find(|stored| stored.record.key == key).expect("there is a password");
    String::from_utf8(stored.record.body.to_vec()).unwrap()
}

#[tokio::test]
async fn password_of_another_cost_is_rehashed_at_the_next_login() {
    let (fixture, user) = Fixture::with_owner().await;
    let before = stored_hash(&fixture, &user).await;
    assert!(before.starts_with("$argon2id$v=19$m=8,t=1,p=1$"), "{before}");
    let inventory = at_another_cost(fixture.second_inventory());
    let issued = inventory.log_in(&user.email, PASSWORD.to_owned()).await.unwrap();
    let rehashed = stored_hash(&fixture, &user).await;
    assert!(rehashed.starts_with("$argon2id$v=19$m=16,t=2,p=1$"), "{rehashed}");
    inventory.log_in(&user.email, PASSWORD.to_owned()).await.unwrap();
    assert_eq!(stored_hash(&fixture, &user).await, rehashed, "it is of the present cost now");
    inventory.authenticate_session(issued.plaintext()).await.unwrap();
    let refused = inventory.log_in(&user.email, "battery staple".to_owned()).await;
    assert_eq!(refusal(refused), ErrorKind::InvalidCredentials);
}

#[tokio::test]
async fn refused_login_rehashes_nothing() {
    let (fixture, user) = Fixture::with_owner().await;
    let inventory = at_another_cost(fixture.second_inventory());
    let wrong = inventory.log_in(&user.email, "battery staple".to_owned());
    assert_eq!(fixture.refusal(wrong).await, ErrorKind::InvalidCredentials);
    fixture.inventory.users().disable(&Caller::system(user.organization_id), user.id).await.unwrap();
    let disabled = inventory.log_in(&user.email, PASSWORD.to_owned());
    assert_eq!(fixture.refusal(disabled).await, ErrorKind::InvalidCredentials);
}

#[tokio::test]
async fn password_that_changes_during_the_rehashing_of_the_old_one_is_kept() {
    for change in [Change::SetPassword("battery staple"), Change::RemovePassword] {
        at_every_call(
            async |fixture: &Fixture| fixture.owner().await,
            async |inventory, user| change.apply(inventory, user.organization_id, user.id).await.unwrap(),
            async |inventory, user| {
                at_another_cost(inventory.clone()).log_in(&user.email, PASSWORD.to_owned()).await
            },
            async |fixture, user, result| {
                assert_eq!(refusal(result), ErrorKind::InvalidCredentials);
                let log_in = async |password: &str| {
                    fixture.inventory.log_in(&user.email, password.to_owned()).await.map(drop)
                };
                assert_eq!(refusal(log_in(PASSWORD).await), ErrorKind::InvalidCredentials);
                if let Change::SetPassword(password) = change {
                    log_in(password).await.unwrap();
                }
            },
        )
        .await;
    }
}

/// The password is shorter than any password that is accepted today.
#[tokio::test]
async fn password_shorter_than_the_current_minimum_is_accepted_and_not_rehashed() {
    let (fixture, user) = Fixture::with_owner().await;
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::new(8, 1, 1, None).unwrap());
    let hash = argon2.hash_password_with_salt(b"short", b"0123456789abcdef").unwrap().to_string();
    let facets = Facets::default().with_organization(fixture.organization.uuid());
    fixture.overwrite(Key::new(PASSWORD_KIND, user.id.into()), facets, hash.clone().into_bytes()).await;
    let inventory = at_another_cost(fixture.second_inventory());
    for _ in 0..2 {
        inventory.log_in(&user.email, "short".to_owned()).await.unwrap();
        assert_eq!(stored_hash(&fixture, &user).await, hash);
    }
}

#[tokio::test]
async fn longest_password_logs_in_and_a_longer_one_does_not() {
    let (fixture, user) = Fixture::with_owner().await;
    let longest = "🦀".repeat(1000);
    fixture
        .inventory
        .users()
        .set_password(&Caller::system(user.organization_id), user.id, Some(longest.clone()))
        .await
        .unwrap();
    fixture.inventory.log_in(&user.email, longest.clone()).await.unwrap();
    for wrong in [format!("{longest}x"), longest.repeat(2), "x".repeat(1 << 20)] {
        let refused = fixture.inventory.log_in(&user.email, wrong).await;
        assert_eq!(refusal(refused), ErrorKind::InvalidCredentials);
    }
}

#[tokio::test]
async fn login_is_refused_if_the_user_is_disabled_or_deleted_or_gets_another_password_meanwhile() {
    for change in
        [Change::SetPassword("battery staple"), Change::RemovePassword, Change::Disable, Change::Delete]
    {
        let calls = with_interference_at_every_call(
            async |fixture: &Fixture| fixture.owner().await,
            async |inventory, user| change.apply(inventory, user.organization_id, user.id).await.unwrap(),
            async |inventory, user| inventory.log_in(&user.email, PASSWORD.to_owned()).await,
            async |fixture, user, result| {
                assert_eq!(refusal(result), ErrorKind::InvalidCredentials, "{change:?}");
                assert_eq!(fixture.sessions_of(user.id).await, 0);
            },
        )
        .await;
        assert!(calls > 2, "the change came between the verification and the commit as well");
    }
}

#[tokio::test]
async fn password_that_becomes_the_right_one_during_a_login_logs_in_until_the_hash_is_read() {
    let refusals = Cell::new(0);
    at_every_call(
        async |fixture: &Fixture| fixture.owner().await,
        async |inventory, user| {
            let password = "battery staple".to_owned();
            inventory
                .users()
                .set_password(&Caller::system(user.organization_id), user.id, Some(password))
                .await
                .unwrap();
        },
        async |inventory, user| inventory.log_in(&user.email, "battery staple".to_owned()).await,
        async |_, user, result| match result {
            Ok(issued) => assert_eq!(issued.user(), user),
            Err(error) => {
                assert_eq!(*error.kind(), ErrorKind::InvalidCredentials);
                refusals.set(refusals.get() + 1);
            }
        },
    )
    .await;
    assert_eq!(
        refusals.get(),
        1,
        "one call follows the one that reads the hash, before the password is verified"
    );
}

#[tokio::test]
async fn rights_that_change_during_a_login_apply_to_its_session() {
    at_every_call(
        async |fixture: &Fixture| fixture.owner().await,
        async |inventory, user| {
            inventory
                .users()
                .set_rights(&Caller::system(user.organization_id), user.id, Permission::Viewer, vec![])
                .await
                .unwrap()
        },
        async |inventory, user| inventory.log_in(&user.email, PASSWORD.to_owned()).await.unwrap(),
        async |fixture, _, issued| {
            let caller = fixture.by_session(&issued).await.unwrap();
            assert_eq!(caller.permission(), Permission::Viewer);
        },
    )
    .await;
}

#[tokio::test]
async fn concurrent_logins_of_one_user_both_succeed() {
    at_every_call(
        async |fixture: &Fixture| fixture.owner().await,
        async |inventory, user| inventory.log_in(&user.email, PASSWORD.to_owned()).await.unwrap(),
        async |inventory, user| inventory.log_in(&user.email, PASSWORD.to_owned()).await,
        async |fixture, _, result| {
            fixture.inventory.authenticate_session(result.unwrap().plaintext()).await.unwrap();
        },
    )
    .await;
}
