//! `last_used` of keys, which is stored in a record of its own and updated in the background.

use std::time::Duration;

use toposcope::model::Timestamp;
use toposcope::store::{Name, StoreError};

use crate::common::{Server, at, get, with_key};
use crate::contract::scene::{HOSTS, Scene};
use crate::contract::store::{Fault, Interposed};

async fn last_used(scene: &Scene) -> Option<Timestamp> {
    scene.world.inventory.user_api_key(scene.key_id).await.unwrap().last_used
}

/// Uses the member's key.
async fn list(scene: &Scene, server: &Server) {
    assert_eq!(server.get_with(&scene.key, HOSTS).await.status, 200);
}

#[tokio::test]
async fn it_is_the_time_of_a_use_at_most_a_minute_ago() {
    let scene = Scene::new().await;
    assert_eq!(last_used(&scene).await, None);
    for (second, noted) in [(0, 0), (1, 0), (59, 0), (60, 60), (119, 60), (120, 120), (1000, 1000)] {
        scene.world.clock.set(at(second));
        list(&scene, scene.server()).await;
        scene.world.store.settle().await;
        assert_eq!(last_used(&scene).await, Some(at(noted)), "used after {second} seconds");
    }
}

/// Every read of a key shows its use, also the answer to an update; a use does not change the key itself.
#[tokio::test]
async fn it_is_shown_with_the_key_and_is_no_change_of_it() {
    let scene = Scene::new().await;
    scene.world.clock.set(at(5));
    list(&scene, scene.server()).await;
    scene.world.store.settle().await;
    let key = scene.world.inventory.user_api_key(scene.key_id).await.unwrap();
    assert_eq!((key.last_used, key.updated_at), (Some(at(5)), at(0)));
    scene.world.clock.set(at(6));
    let reply = scene.server().send(scene.put_key(scene.key_id, &scene.key_body())).await;
    assert_eq!(reply.data()["last_used"], at(5).to_string());
    assert_eq!(reply.data()["updated_at"], at(6).to_string());
}

#[tokio::test]
async fn a_daemons_key_is_noted_and_one_that_does_not_work_is_not() {
    let scene = Scene::new().await;
    let noted = async || {
        scene.world.store.settle().await;
        scene.world.inventory.daemon_api_key(scene.daemon_key_id).await.unwrap().last_used
    };
    assert_eq!(noted().await, None);
    let reply = scene.server().send(with_key(get(HOSTS), &scene.daemon_key)).await;
    reply.refuses(403, "auth_user_context_required");
    assert_eq!(noted().await, Some(at(0)), "a daemon was there with it");
    scene.world.inventory.disable_user_api_key(scene.key_id).await.unwrap();
    scene.server().get_with(&scene.key, HOSTS).await.refuses(401, "entity_disabled");
    scene.world.store.settle().await;
    assert_eq!(last_used(&scene).await, None, "what does not work is not used");
}

#[tokio::test]
async fn it_is_written_once_a_minute_and_the_record_of_the_key_never() {
    let scene = Scene::new().await;
    let store = Interposed::new(&scene, Fault::None);
    let server = store.server(&scene);
    let mut writes = Vec::new();
    for second in (0..180).step_by(5) {
        scene.world.clock.set(at(second));
        for _ in 0..3 {
            list(&scene, &server).await;
        }
        scene.world.store.settle().await;
        writes.extend(store.take_written().iter().map(|write| write.key()));
    }
    assert_eq!(writes.len(), 3, "{writes:?}");
    assert!(writes.iter().all(|key| key.kind.as_str() == "key_use" && key.id == scene.key_id), "{writes:?}");
}

/// Other servers on the same store, and the one before a restart, have written it as well.
#[tokio::test]
async fn servers_on_one_store_write_it_once_a_minute_together() {
    let scene = Scene::new().await;
    let store = Interposed::new(&scene, Fault::None);
    for number in 0..5 {
        scene.world.clock.set(at(number));
        let server = store.server(&scene);
        list(&scene, &server).await;
        scene.world.store.settle().await;
    }
    assert_eq!(store.take_written().len(), 1);
    assert_eq!(last_used(&scene).await, Some(at(0)));
}

#[tokio::test]
async fn that_it_cannot_be_written_harms_no_request() {
    let scene = Scene::new().await;
    let kind = Name::new("key_use");
    for fault in [
        Fault::Commit(kind, |_| StoreError::unavailable("down")),
        Fault::Commit(kind, StoreError::conflict),
        Fault::Commit(kind, |_| panic!("down")),
    ] {
        let store = Interposed::new(&scene, fault);
        let server = store.server(&scene);
        for _ in 0..3 {
            list(&scene, &server).await;
            scene.world.store.settle().await;
            scene.world.clock.advance(Duration::from_secs(60));
        }
        let tried = store.take_asked().iter().filter(|call| *call == "commit key_use").count();
        assert_eq!(tried, 3, "once a minute, and no more often");
    }
    assert_eq!(last_used(&scene).await, None);
}

/// The answer is complete before the use is written.
#[tokio::test]
async fn no_request_waits_for_it() {
    let scene = Scene::new().await;
    let store = Interposed::new(&scene, Fault::None);
    let server = store.server(&scene);
    list(&scene, &server).await;
    assert_eq!(store.take_written().len(), 0);
    assert!(store.take_asked().iter().all(|call| !call.contains("key_use")));
    scene.world.store.settle().await;
    assert_eq!(store.take_written().len(), 1);
}
