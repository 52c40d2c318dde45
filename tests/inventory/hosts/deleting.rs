use toposcope::inventory::{Entity, ErrorKind, Inventory, Written};

use crate::support::{Interposer, World, bare_host, id, refusal, rich_host};

#[tokio::test]
async fn a_deleted_host_is_gone_with_everything_in_it() {
    let world = World::new().await;
    let host = rich_host(1, world.network, &world.tags);
    let other = rich_host(2, world.network, &world.tags);
    world.put(&host).await;
    world.put(&other).await;
    world.inventory.delete_host(world.organization, host.id).await.unwrap();
    let not_found = ErrorKind::NotFound { entity: Entity::Host, id: host.id };
    assert_eq!(refusal(world.inventory.host(world.organization, host.id).await), not_found);
    assert_eq!(refusal(world.inventory.delete_host(world.organization, host.id).await), not_found);
    assert_eq!(world.documents().await, [serde_json::to_vec(&other).unwrap()]);
    let written = world.inventory.put_host(world.organization, host.clone()).await.unwrap();
    assert_eq!(written, Written::Created);
    assert_eq!(world.host(host.id).await, host);
}

/// Deletes a host while a concurrent task acts right before a call of the store, once for each of the calls.
async fn delete_at_every_moment<F: Future<Output = ()> + Send + 'static>(
    interfere: impl Fn(Inventory, Scene) -> F,
    check: impl AsyncFn(&World, Scene, Result<(), toposcope::inventory::Error>),
) {
    let mut moments = 0;
    loop {
        let world = World::new().await;
        let foreign = world.foreign().await;
        let scene = Scene {
            organization: world.organization,
            network: world.network,
            foreign: foreign.organization,
            foreign_network: foreign.network,
        };
        world.put(&bare_host(id(1), world.network)).await;
        let interference = interfere(world.inventory.clone(), scene);
        let store = Interposer::new(world.store.clone(), moments, interference);
        let inventory = Inventory::new(store.clone());
        let result = inventory.delete_host(world.organization, id(1)).await;
        if !store.has_fired() {
            break;
        }
        check(&world, scene, result).await;
        moments += 1;
    }
    assert!(moments > 1, "reading and writing are two moments at least");
}

#[derive(Clone, Copy)]
struct Scene {
    organization: uuid::Uuid,
    network: uuid::Uuid,
    foreign: uuid::Uuid,
    foreign_network: uuid::Uuid,
}

#[tokio::test]
async fn of_two_who_delete_a_host_at_once_one_finds_it_gone() {
    delete_at_every_moment(
        |inventory, scene| async move { inventory.delete_host(scene.organization, id(1)).await.unwrap() },
        async |world, _, result| {
            let not_found = ErrorKind::NotFound { entity: Entity::Host, id: id(1) };
            assert_eq!(refusal(result), not_found);
            assert!(world.documents().await.is_empty());
        },
    )
    .await;
}

#[tokio::test]
async fn a_host_that_is_replaced_meanwhile_is_deleted_all_the_same() {
    delete_at_every_moment(
        |inventory, scene| async move {
            let replacement = rich_host(1, scene.network, &[]);
            assert_eq!(inventory.put_host(scene.organization, replacement).await.unwrap(), Written::Replaced);
        },
        async |world, _, result| {
            result.unwrap();
            assert!(world.documents().await.is_empty());
        },
    )
    .await;
}

/// An id passes to another organization when its host is deleted and a client there takes it. A caller who
/// still means the old host must not delete the new one.
#[tokio::test]
async fn a_host_that_has_become_another_organizations_is_not_deleted() {
    delete_at_every_moment(
        |inventory, scene| async move {
            inventory.delete_host(scene.organization, id(1)).await.unwrap();
            let theirs = bare_host(id(1), scene.foreign_network);
            inventory.put_host(scene.foreign, theirs).await.unwrap();
        },
        async |world, scene, result| {
            assert!(
                world.inventory.host(scene.foreign, id(1)).await.is_ok(),
                "the host of another organization was deleted ({result:?})"
            );
            let not_found = ErrorKind::NotFound { entity: Entity::Host, id: id(1) };
            assert_eq!(refusal(result), not_found);
        },
    )
    .await;
}
