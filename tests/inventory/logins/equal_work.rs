//! A failed login takes the same work with and without an account.
//!
//! Its time therefore does not reveal whether an account exists.

use std::sync::Arc;
use std::time::Duration;
use toposcope::access::Caller;

use toposcope::inventory::{ErrorKind, Inventory, NewUser};
use toposcope::model::Permission;
use toposcope::store::{Facets, Key, Name};

use crate::support::{Fixture, PASSWORD, Probe, refusal};

const HOUR: Duration = Duration::from_secs(60 * 60);

/// Returns a fixture with accounts of every kind, and an inventory over a probe.
async fn watched() -> (Fixture, Arc<Probe>, Inventory) {
    let fixture = Fixture::new().await;
    for name in ["first", "second", "third"] {
        fixture.user(&format!("{name}@example.net"), Permission::Member, &[fixture.network]).await;
    }
    let disabled = fixture.user("disabled@example.net", Permission::Owner, &[]).await;
    fixture.inventory.users().disable(&Caller::system(disabled.organization_id), disabled.id).await.unwrap();
    let without = NewUser::new("without@example.net", Permission::Viewer);
    fixture.inventory.users().create(&fixture.system(), without).await.unwrap();
    let (inventory, probe) = fixture.probed();
    (fixture, probe, inventory)
}

async fn fail(inventory: &Inventory, email: &str, password: &str) {
    let refused = inventory.log_in(email, password.to_owned()).await;
    assert_eq!(refusal(refused), ErrorKind::InvalidCredentials, "{email}");
}

fn names(probe: &Probe) -> (Vec<String>, usize) {
    let made = probe.take_passed();
    let bodies = made.iter().map(|call| call.bodies).sum();
    (made.into_iter().map(|call| call.name).collect(), bodies)
}

const LOGINS: [(&str, &str); 9] = [
    ("first@example.net", "battery staple"),
    ("second@example.net", ""),
    ("absent@example.net", PASSWORD),
    ("another absent one@example.net", "battery staple"),
    ("no address", PASSWORD),
    ("disabled@example.net", PASSWORD),
    ("disabled@example.net", "battery staple"),
    ("without@example.net", PASSWORD),
    ("without@example.net", ""),
];

#[tokio::test]
async fn failed_login_makes_the_same_calls_and_reads_as_many_bodies_for_every_kind_of_account() {
    let (_fixture, probe, inventory) = watched().await;
    fail(&inventory, "warm-up@example.net", PASSWORD).await;
    probe.take_passed();
    for (email, password) in LOGINS {
        fail(&inventory, email, password).await;
        let made = probe.take_passed();
        let reads: usize = made.iter().map(|call| call.bodies).sum();
        let names: Vec<&str> = made.iter().map(|call| call.name.as_str()).collect();
        assert_eq!(
            names,
            ["list user", "get_by_unique_key email", "get user password", "get password"],
            "{email}"
        );
        assert_eq!(reads, 2, "{email}: {made:?}");
        // A store reads the bodies of one call together, so two calls of one body take longer than one of two.
        assert!(made.iter().all(|call| call.bodies <= 1), "{email}: {made:?}");
    }
}

#[tokio::test]
async fn successful_login_makes_the_same_calls_up_to_the_password_check() {
    let (_fixture, probe, inventory) = watched().await;
    fail(&inventory, "absent@example.net", PASSWORD).await;
    probe.take_passed();
    fail(&inventory, "absent@example.net", PASSWORD).await;
    let (failed, _) = names(&probe);
    inventory.log_in("first@example.net", PASSWORD.to_owned()).await.unwrap();
    let (succeeded, _) = names(&probe);
    assert_eq!(succeeded[..failed.len()], failed);
}

/// Two logins read the ids of some accounts in addition. They are the first login after a start, and the first login
/// after an hour.
#[tokio::test]
async fn login_that_chooses_decoys_makes_the_same_calls_for_every_kind_of_account() {
    let mut first = Vec::new();
    for (email, password) in LOGINS {
        let (fixture, probe, inventory) = watched().await;
        fail(&inventory, email, password).await;
        first.push(names(&probe));
        fixture.clock.advance(HOUR);
        fail(&inventory, email, password).await;
        first.push(names(&probe));
    }
    first.dedup();
    assert_eq!(first.len(), 1, "{first:?}");
}

#[tokio::test]
async fn address_without_an_account_gets_no_session_with_the_password_of_a_decoy() {
    let (_fixture, probe, inventory) = watched().await;
    for number in 0..50 {
        fail(&inventory, &format!("absent{number}@example.net"), PASSWORD).await;
    }
    assert!(probe.take_passed().iter().all(|call| call.name != "commit"));
}

#[tokio::test]
async fn decoy_that_was_deleted_is_replaced_by_the_next_login() {
    let (fixture, probe, inventory) = watched().await;
    fail(&inventory, "absent@example.net", PASSWORD).await;
    for user in fixture.inventory.users().all(&fixture.system()).await.unwrap() {
        if user.email != "third@example.net" {
            fixture.inventory.users().delete(&Caller::system(user.organization_id), user.id).await.unwrap();
        }
    }
    for number in 0..20 {
        fail(&inventory, &format!("absent{number}@example.net"), PASSWORD).await;
    }
    probe.take_passed();
    fail(&inventory, "absent@example.net", PASSWORD).await;
    assert_eq!(names(&probe).1, 2);
}

#[tokio::test]
async fn login_without_any_account_and_with_an_unreadable_decoy_fails_like_every_other() {
    let fixture = Fixture::new().await;
    fail(&fixture.inventory, "absent@example.net", PASSWORD).await;
    let user = fixture.owner().await;
    let facets = Facets::default().with_organization(fixture.organization.uuid());
    fixture.overwrite(Key::new(Name::new("password"), user.id.uuid()), facets, vec![0xff; 8]).await;
    fail(&fixture.inventory, "absent@example.net", PASSWORD).await;
}
