//! A store that is temporarily unavailable.

use toposcope::inventory::ErrorKind;

use super::changes::CHANGES;
use super::reads::READS;
use super::{Call, Scene};
use crate::support::{Fault, refusal, settle};

/// The other changing methods, by name.
const REST: [(&str, Call); 7] = [
    ("create_organization", |_, inventory| {
        Box::pin(async { inventory.create_organization("another").await.map(drop) })
    }),
    ("create_network", |scene, inventory| {
        Box::pin(async { inventory.create_network(scene.fixture.organization, "another").await.map(drop) })
    }),
    ("create_tag", |scene, inventory| {
        Box::pin(async { inventory.create_tag(scene.fixture.organization, "another").await.map(drop) })
    }),
    ("put_host", |scene, inventory| {
        Box::pin(async { inventory.put_host(scene.fixture.organization, scene.host.clone()).await.map(drop) })
    }),
    ("delete_host", |scene, inventory| {
        Box::pin(inventory.delete_host(scene.fixture.organization, scene.host.id))
    }),
    ("log_out", |scene, inventory| Box::pin(inventory.log_out(scene.session.plaintext()))),
    ("authenticate_user_key, of a daemon", |scene, inventory| {
        Box::pin(async {
            match inventory.authenticate_user_key(scene.daemon_key.plaintext()).await {
                Err(error) if *error.kind() == ErrorKind::UserContextRequired => Ok(()),
                other => other.map(drop),
            }
        })
    }),
];

fn calls() -> impl Iterator<Item = (&'static str, Call)> {
    READS.into_iter().chain(CHANGES.into_iter().map(|change| (change.name, change.call))).chain(REST)
}

#[tokio::test]
async fn over_a_store_that_is_down_every_method_says_so_and_changes_nothing() {
    let scene = Scene::new().await;
    scene.probe.set(Fault::Unavailable);
    let before = scene.fixture.contents().await;
    for (name, call) in calls() {
        let refused = refusal(call(&scene, &scene.inventory).await);
        assert_eq!(refused, ErrorKind::StoreUnavailable, "{name}");
    }
    assert_eq!(scene.fixture.contents().await, before);
    scene.probe.set(Fault::None);
    scene.inventory.authenticate_session(scene.session.plaintext()).await.unwrap();
}

/// Each call of the store fails in turn, until the method makes no further call.
#[tokio::test]
async fn a_method_of_which_one_call_fails_changes_nothing() {
    for (name, call) in calls() {
        let scene = Scene::new().await;
        let before = scene.fixture.contents().await;
        let mut failures = 0;
        loop {
            scene.probe.set(Fault::UnavailableAt(failures));
            let result = call(&scene, &scene.inventory).await;
            settle().await;
            let Err(error) = result else { break };
            assert_eq!(*error.kind(), ErrorKind::StoreUnavailable, "{name}");
            assert_eq!(scene.fixture.contents().await, before, "{name}");
            failures += 1;
        }
        assert!(failures > 0, "{name}");
    }
}
