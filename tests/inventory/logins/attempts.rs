//! Limits on repeated failed logins for one address.

use std::time::Duration;

use toposcope::access::Clock;
use toposcope::inventory::{Entity, ErrorKind, Inventory, NewUser};
use toposcope::model::{Permission, Timestamp};

use crate::support::{Fault, Faulty, NOW, PASSWORD, World, refusal, time};

const EMAIL: &str = "owner@example.net";

fn after_micros(micros: i64) -> Timestamp {
    time(NOW).plus_micros(micros)
}

fn held_up(retry_after: u64) -> ErrorKind {
    ErrorKind::TooManyAttempts { retry_after }
}

/// Advances the clock to this time.
fn wait_until(world: &World, moment: Timestamp) {
    let micros = moment.unix_micros() - world.clock.now().unix_micros();
    world.clock.advance(Duration::from_micros(micros.try_into().unwrap()));
}

async fn fail(inventory: &Inventory, email: &str, times: usize) {
    for _ in 0..times {
        let refused = inventory.log_in(email, "battery staple".to_owned()).await;
        assert_eq!(refusal(refused), ErrorKind::InvalidCredentials);
    }
}

/// Asserts how long logins for an address are refused, with the right password and with a wrong one.
async fn assert_held_up(inventory: &Inventory, email: &str, retry_after: u64) {
    for password in ["battery staple", PASSWORD, ""] {
        let refused = inventory.log_in(email, password.to_owned()).await;
        assert_eq!(refusal(refused), held_up(retry_after));
    }
}

#[tokio::test]
async fn five_failures_hold_up_a_name_whoever_has_it() {
    let world = World::new().await;
    world.owner().await;
    let without = NewUser::new(world.organization, "without@example.net", Permission::Viewer);
    world.inventory.create_user(without).await.unwrap();
    let longest = "x".repeat(254);
    for email in [EMAIL, "without@example.net", "nobody@example.net", "nobody", &longest] {
        fail(&world.inventory, email, 5).await;
        assert_held_up(&world.inventory, email, 900).await;
    }
}

#[tokio::test]
async fn a_disabled_user_is_held_up_like_everybody() {
    let world = World::new().await;
    let user = world.owner().await;
    world.inventory.disable_user(user.id).await.unwrap();
    for _ in 0..5 {
        let refused = world.inventory.log_in(EMAIL, PASSWORD.to_owned()).await;
        assert_eq!(refusal(refused), ErrorKind::InvalidCredentials);
    }
    assert_held_up(&world.inventory, EMAIL, 900).await;
}

#[tokio::test]
async fn a_name_that_is_held_up_is_so_until_its_oldest_failure_is_fifteen_minutes_old() {
    const SECOND: i64 = 1_000_000;
    let world = World::new().await;
    world.owner().await;
    for failure in 0..5 {
        wait_until(&world, after_micros(failure * 10 * SECOND));
        fail(&world.inventory, EMAIL, 1).await;
    }
    for (micros, retry_after) in [
        (40 * SECOND, 860),
        (40 * SECOND + 1, 860),
        (41 * SECOND - 1, 860),
        (41 * SECOND, 859),
        (898 * SECOND, 2),
        (899 * SECOND - 1, 2),
        (899 * SECOND, 1),
        (899 * SECOND + 1, 1),
        (900 * SECOND - 1, 1),
    ] {
        wait_until(&world, after_micros(micros));
        assert_held_up(&world.inventory, EMAIL, retry_after).await;
    }
    wait_until(&world, after_micros(900 * SECOND));
    world.inventory.log_in(EMAIL, PASSWORD.to_owned()).await.unwrap();
}

#[tokio::test]
async fn the_window_slides_and_lets_one_more_try_in_for_each_failure_that_it_leaves_behind() {
    let world = World::new().await;
    world.owner().await;
    let at = |seconds: i64| after_micros(seconds * 1_000_000);
    for failure in 0..5 {
        wait_until(&world, at(failure * 10));
        fail(&world.inventory, EMAIL, 1).await;
    }
    for round in 1..=3 {
        for failure in 0..5 {
            let moment = round * 900 + failure * 10;
            wait_until(&world, at(moment - 1));
            assert_held_up(&world.inventory, EMAIL, 1).await;
            wait_until(&world, at(moment));
            fail(&world.inventory, EMAIL, 1).await;
            assert_held_up(&world.inventory, EMAIL, if failure == 4 { 860 } else { 10 }).await;
        }
    }
    // A refused attempt is not a failure: after a quarter of an hour without failures, five attempts are
    // available again.
    wait_until(&world, at(3 * 900 + 40 + 900));
    fail(&world.inventory, EMAIL, 5).await;
    assert_held_up(&world.inventory, EMAIL, 900).await;
}

#[tokio::test]
async fn a_login_that_succeeds_is_no_failure_and_does_not_make_up_for_any() {
    let world = World::new().await;
    let user = world.owner().await;
    for _ in 0..6 {
        world.log_in(&user).await;
    }
    fail(&world.inventory, EMAIL, 4).await;
    for _ in 0..6 {
        world.log_in(&user).await;
    }
    fail(&world.inventory, EMAIL, 1).await;
    assert_held_up(&world.inventory, EMAIL, 900).await;
}

#[tokio::test]
async fn a_name_is_the_same_in_every_case() {
    let world = World::new().await;
    world.user("jürgen@example.net", Permission::Owner, &[]).await;
    let cases = ["jürgen@example.net", "JÜRGEN@EXAMPLE.NET", " Jürgen@Example.Net\n", "jürgeN@example.net"];
    for email in cases {
        fail(&world.inventory, email, 1).await;
    }
    fail(&world.inventory, "\tJüRGEN@example.net", 1).await;
    for email in cases {
        assert_held_up(&world.inventory, email, 900).await;
    }
}

#[tokio::test]
async fn one_name_does_not_hold_up_another() {
    let world = World::new().await;
    let users = [world.owner().await, world.user("owner@example.net.", Permission::Viewer, &[]).await];
    fail(&world.inventory, EMAIL, 5).await;
    fail(&world.inventory, "wner@example.net", 5).await;
    assert_held_up(&world.inventory, &users[0].email, 900).await;
    world.log_in(&users[1]).await;
}

/// Times before and after [`NOW`].
const JUMPS: [&str; 4] =
    ["2020-01-01T00:00:00Z", "2026-08-13T12:00:00Z", "2026-08-15T12:00:00Z", "9999-12-31T23:59:59Z"];

#[tokio::test]
async fn wall_clock_jump_does_not_end_a_lock_out() {
    for moment in JUMPS {
        let world = World::new().await;
        world.owner().await;
        fail(&world.inventory, EMAIL, 5).await;
        world.clock.set(time(moment));
        assert_held_up(&world.inventory, EMAIL, 900).await;
        world.clock.advance(Duration::from_secs(899));
        assert_held_up(&world.inventory, EMAIL, 1).await;
        world.clock.advance(Duration::from_secs(1));
        world.inventory.log_in(EMAIL, PASSWORD.to_owned()).await.unwrap();
    }
}

#[tokio::test]
async fn wall_clock_jump_neither_forgets_nor_repeats_failures() {
    for moment in JUMPS {
        let world = World::new().await;
        world.owner().await;
        fail(&world.inventory, EMAIL, 3).await;
        world.clock.advance(Duration::from_secs(60));
        world.clock.set(time(moment));
        fail(&world.inventory, EMAIL, 2).await;
        world.clock.set(time(NOW));
        assert_held_up(&world.inventory, EMAIL, 840).await;
        world.clock.advance(Duration::from_secs(840));
        world.inventory.log_in(EMAIL, PASSWORD.to_owned()).await.unwrap();
    }
}

#[tokio::test]
async fn what_a_store_fails_at_is_no_failure_of_the_name() {
    let world = World::new().await;
    world.owner().await;
    let store = Faulty::new(world.store.clone());
    let inventory = world.inventory_in(store.clone());
    fail(&inventory, EMAIL, 4).await;
    for password in [PASSWORD, "battery staple"] {
        for _ in 0..6 {
            store.set(Fault::Unavailable);
            let refused = inventory.log_in(EMAIL, password.to_owned()).await;
            assert_eq!(refusal(refused), ErrorKind::StoreUnavailable);
        }
    }
    for _ in 0..3 {
        store.set(Fault::Unmet(0));
        let refused = refusal(inventory.log_in(EMAIL, PASSWORD.to_owned()).await);
        assert!(matches!(refused, ErrorKind::Conflict { entity: Entity::User, .. }), "{refused:?}");
    }
    store.set(Fault::None);
    fail(&inventory, EMAIL, 1).await;
    assert_held_up(&inventory, EMAIL, 900).await;
}

#[tokio::test]
async fn each_inventory_counts_for_itself_and_clones_are_one() {
    let world = World::new().await;
    world.owner().await;
    fail(&world.inventory, EMAIL, 3).await;
    fail(&world.inventory.clone(), EMAIL, 2).await;
    assert_held_up(&world.inventory, EMAIL, 900).await;
    let other = world.inventory_in(world.store.clone());
    other.log_in(EMAIL, PASSWORD.to_owned()).await.unwrap();
    fail(&other, EMAIL, 5).await;
}
