//! Concurrent changes that conflict with every attempt.

use toposcope::inventory::ErrorKind;

use super::Scene;
use super::changes::CHANGES;
use crate::support::{Fault, refusal};

/// Maximum number of attempts of a change.
const BOUND: usize = 64;

/// Maximum number of conditions of a batch in these tests.
const CONDITIONS: usize = 12;

#[tokio::test]
async fn a_change_that_others_always_come_between_ends_as_a_conflict_of_what_was_to_change() {
    let scene = Scene::new().await;
    let before = scene.fixture.contents().await;
    for change in CHANGES {
        for condition in 0..CONDITIONS {
            scene.probe.set(Fault::Unmet(condition));
            let refused = refusal((change.call)(&scene, &scene.inventory).await);
            let ErrorKind::Conflict { entity, id } = refused else {
                panic!("{}: {refused:?}", change.name);
            };
            assert_eq!(entity, change.entity, "{}", change.name);
            if let Some(expected) = (change.id)(&scene) {
                assert_eq!(id, expected, "{}", change.name);
            }
            assert!((1..=BOUND).contains(&scene.probe.commits()), "{}", change.name);
        }
    }
    assert_eq!(scene.fixture.contents().await, before);
}

#[tokio::test]
async fn whoever_goes_again_after_a_conflict_gets_through() {
    for change in CHANGES {
        let scene = Scene::new().await;
        scene.probe.set(Fault::Unmet(0));
        refusal((change.call)(&scene, &scene.inventory).await);
        scene.probe.set(Fault::None);
        (change.call)(&scene, &scene.inventory).await.unwrap();
    }
}
