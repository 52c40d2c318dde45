//! A failed login takes the same work with and without an account, so that its time does not reveal accounts.

use std::sync::Arc;
use std::time::Duration;

use toposcope::inventory::{ErrorKind, Inventory, NewUser};
use toposcope::model::Permission;
use toposcope::store::{Batch, Facets, Key, Name, Precondition, Store};

use crate::support::{Calls, PASSWORD, World, refusal};

const HOUR: Duration = Duration::from_secs(60 * 60);

/// A world with accounts of every kind, and an inventory that records its calls of the store.
async fn watched() -> (World, Arc<Calls>, Inventory) {
    let world = World::new().await;
    for name in ["first", "second", "third"] {
        world.user(&format!("{name}@example.net"), Permission::Member, &[world.network]).await;
    }
    let disabled = world.user("disabled@example.net", Permission::Owner, &[]).await;
    world.inventory.disable_user(disabled.id).await.unwrap();
    let without = NewUser::new(world.organization, "without@example.net", Permission::Viewer);
    world.inventory.create_user(without).await.unwrap();
    let calls = Calls::new(world.store.clone());
    let inventory = world.inventory_in(calls.clone());
    (world, calls, inventory)
}

async fn fail(inventory: &Inventory, email: &str, password: &str) {
    let refused = inventory.log_in(email, password.to_owned()).await;
    assert_eq!(refusal(refused), ErrorKind::InvalidCredentials, "{email}");
}

fn names(calls: &Calls) -> (Vec<String>, usize) {
    let made = calls.take();
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
    let (_world, calls, inventory) = watched().await;
    fail(&inventory, "warm-up@example.net", PASSWORD).await;
    calls.take();
    for (email, password) in LOGINS {
        fail(&inventory, email, password).await;
        let made = calls.take();
        let reads: usize = made.iter().map(|call| call.bodies).sum();
        let names: Vec<&str> = made.iter().map(|call| call.name.as_str()).collect();
        assert_eq!(names, ["get_by_unique_key email", "get user password", "get password"], "{email}");
        assert_eq!(reads, 2, "{email}: {made:?}");
        // A store reads the bodies of one call together, so two calls of one body take longer than one of two.
        assert!(made.iter().all(|call| call.bodies <= 1), "{email}: {made:?}");
    }
}

#[tokio::test]
async fn successful_login_makes_the_same_calls_up_to_the_password_check() {
    let (_world, calls, inventory) = watched().await;
    fail(&inventory, "absent@example.net", PASSWORD).await;
    calls.take();
    fail(&inventory, "absent@example.net", PASSWORD).await;
    let (failed, _) = names(&calls);
    inventory.log_in("first@example.net", PASSWORD.to_owned()).await.unwrap();
    let (succeeded, _) = names(&calls);
    assert_eq!(succeeded[..failed.len()], failed);
}

/// The first login after a start, and the first after an hour, read the ids of some accounts in addition.
#[tokio::test]
async fn login_that_chooses_decoys_makes_the_same_calls_for_every_kind_of_account() {
    let mut first = Vec::new();
    for (email, password) in LOGINS {
        let (world, calls, inventory) = watched().await;
        fail(&inventory, email, password).await;
        first.push(names(&calls));
        world.clock.advance(HOUR);
        fail(&inventory, email, password).await;
        first.push(names(&calls));
    }
    first.dedup();
    assert_eq!(first.len(), 1, "{first:?}");
}

#[tokio::test]
async fn address_without_an_account_gets_no_session_with_the_password_of_a_decoy() {
    let (_world, calls, inventory) = watched().await;
    for number in 0..50 {
        fail(&inventory, &format!("absent{number}@example.net"), PASSWORD).await;
    }
    assert!(calls.take().iter().all(|call| call.name != "commit"));
}

#[tokio::test]
async fn decoy_that_was_deleted_is_replaced_by_the_next_login() {
    let (world, calls, inventory) = watched().await;
    fail(&inventory, "absent@example.net", PASSWORD).await;
    for user in world.inventory.users(world.organization).await.unwrap() {
        if user.email != "third@example.net" {
            world.inventory.delete_user(user.id).await.unwrap();
        }
    }
    for number in 0..20 {
        fail(&inventory, &format!("absent{number}@example.net"), PASSWORD).await;
    }
    calls.take();
    fail(&inventory, "absent@example.net", PASSWORD).await;
    assert_eq!(names(&calls).1, 2);
}

#[tokio::test]
async fn login_without_any_account_and_with_an_unreadable_decoy_fails_like_every_other() {
    let world = World::new().await;
    fail(&world.inventory, "absent@example.net", PASSWORD).await;
    let user = world.owner().await;
    let facets = Facets::default().with_organization(world.organization);
    let mut batch = Batch::new();
    batch.put(Key::new(Name::new("password"), user.id), Precondition::Present, facets, vec![0xff; 8]);
    world.store.commit(batch).await.unwrap();
    fail(&world.inventory, "absent@example.net", PASSWORD).await;
}
