//! Refusal of logins after too many failures.

use std::time::Duration;

use serde_json::json;

use crate::common::{PASSWORD, Reply};
use crate::contract::scene::{Scene, log_in};

const SECOND: Duration = Duration::from_secs(1);

async fn send(scene: &Scene, email: &str, password: &str) -> Reply {
    scene.server().send(log_in(email, password)).await
}

async fn fails(scene: &Scene, email: &str) {
    send(scene, email, "wrong password").await.refuses(401, "auth_invalid_credentials");
}

#[track_caller]
fn is_held_up(reply: &Reply, seconds: u64) {
    assert_eq!(reply.refuses(429, "auth_too_many_attempts"), &json!({"retry_after": seconds}));
    assert_eq!(reply.number("retry-after"), seconds);
}

/// Applies to the right password and to unknown addresses too.
#[tokio::test]
async fn the_sixth_attempt_is_held_up_until_the_first_failure_is_fifteen_minutes_old() {
    let scene = Scene::new().await;
    let member = scene.member.email.clone();
    for (email, password) in [(&*member, PASSWORD), ("nobody@example.net", PASSWORD), ("no address", "x")] {
        for _ in 0..5 {
            fails(&scene, email).await;
        }
        is_held_up(&send(&scene, email, password).await, 900);
        is_held_up(&send(&scene, email, "wrong password").await, 900);
        scene.world.clock.advance(SECOND / 2);
        is_held_up(&send(&scene, email, password).await, 900);
        scene.world.clock.advance(899 * SECOND);
        is_held_up(&send(&scene, email, password).await, 1);
        scene.world.clock.advance(SECOND / 2 - Duration::from_micros(1));
        is_held_up(&send(&scene, email, password).await, 1);
        scene.world.clock.advance(Duration::from_micros(1));
        let status = send(&scene, email, password).await.status;
        assert_eq!(status.as_u16(), if email == member { 200 } else { 401 }, "{email}");
    }
}

#[tokio::test]
async fn the_window_slides_with_each_failure() {
    let scene = Scene::new().await;
    let email = scene.member.email.clone();
    for _ in 0..5 {
        fails(&scene, &email).await;
        scene.world.clock.advance(100 * SECOND);
    }
    // The failures are 500, 400, 300, 200 and 100 seconds old.
    is_held_up(&send(&scene, &email, PASSWORD).await, 400);
    scene.world.clock.advance(400 * SECOND);
    fails(&scene, &email).await;
    is_held_up(&send(&scene, &email, PASSWORD).await, 100);
    scene.world.clock.advance(100 * SECOND);
    assert_eq!(send(&scene, &email, PASSWORD).await.status, 200);
    assert_eq!(send(&scene, &email, PASSWORD).await.status, 200);
}

#[tokio::test]
async fn a_success_in_between_neither_counts_nor_forgives() {
    let scene = Scene::new().await;
    let email = scene.member.email.clone();
    for _ in 0..4 {
        fails(&scene, &email).await;
        for _ in 0..3 {
            assert_eq!(send(&scene, &email, PASSWORD).await.status, 200);
        }
    }
    fails(&scene, &email).await;
    is_held_up(&send(&scene, &email, PASSWORD).await, 900);
}

#[tokio::test]
async fn the_address_is_counted_however_it_is_written_and_no_other() {
    let scene = Scene::new().await;
    let email = scene.member.email.clone();
    let forms = [
        email.clone(),
        email.to_uppercase(),
        format!(" {email}"),
        format!("{email}\n"),
        email.replace('u', "U"),
    ];
    for form in &forms {
        fails(&scene, form).await;
    }
    for form in &forms {
        is_held_up(&send(&scene, form, PASSWORD).await, 900);
    }
    let other = scene.world.user(&scene.world.home, toposcope::model::Permission::Viewer, &[]).await;
    assert_eq!(send(&scene, &other.email, PASSWORD).await.status, 200);
    fails(&scene, "nobody@example.net").await;
}

/// Only logins are refused: sessions and keys keep working, and requests that are not attempts do not count.
#[tokio::test]
async fn who_is_held_up_is_still_signed_in() {
    let scene = Scene::new().await;
    let email = scene.member.email.clone();
    for _ in 0..10 {
        send(&scene, &email, "").await.refuses(400, "validation_empty");
    }
    for _ in 0..5 {
        fails(&scene, &email).await;
    }
    for _ in 0..20 {
        is_held_up(&send(&scene, &email, PASSWORD).await, 900);
    }
    let hosts = crate::contract::scene::HOSTS;
    assert_eq!(scene.server().send(scene.by_session(crate::common::get(hosts))).await.status, 200);
    assert_eq!(scene.server().get_with(&scene.key, hosts).await.status, 200);
    // A refused attempt is not a failure: it does not extend the window.
    scene.world.clock.advance(900 * SECOND);
    assert_eq!(send(&scene, &email, PASSWORD).await.status, 200);
}
