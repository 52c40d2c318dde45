use toposcope::inventory::Inventory;

use super::{Interposer, World};

/// Runs an action while a concurrent task interferes right before one of the calls of the store, once for
/// each call and each time in a new world.
pub(crate) async fn at_every_moment<S, T, F>(
    prepare: impl AsyncFn(&World) -> S,
    interfere: impl Fn(Inventory, &S) -> F,
    act: impl AsyncFn(Inventory, &S) -> T,
    check: impl AsyncFn(&World, &S, T),
) where
    F: Future<Output = ()> + Send + 'static,
{
    let mut moments = 0;
    loop {
        let world = World::new().await;
        let scene = prepare(&world).await;
        let interference = interfere(world.inventory.clone(), &scene);
        let store = Interposer::new(world.store.clone(), moments, interference);
        let result = act(world.inventory_in(store.clone()), &scene).await;
        if !store.has_fired() {
            break;
        }
        check(&world, &scene, result).await;
        moments += 1;
    }
    assert!(moments > 1, "reading and writing are two moments at least");
}

/// Lets background tasks finish. On a single-threaded runtime, over stores that answer at once, they only
/// need to be scheduled.
pub(crate) async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}
