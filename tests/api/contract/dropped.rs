//! Requests dropped before they are answered, as a server does when the client disconnects.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use http::Request;
use serde_json::json;
use toposcope::inventory::Inventory;

use super::scene::{HOST, NEIGHBOUR, PORT, Scene, port_body, with};
use crate::common::{Server, Yielding, ample};

/// Changes that can be requested repeatedly, each time about another record.
const CHANGES: [fn(&Scene, usize) -> Request<String>; 3] = [
    |scene, number| {
        let host = [NEIGHBOUR, HOST][number % 2];
        scene.put_port(PORT, &with(&with(&port_body(), "host_id", json!(host)), "number", 5000 + number))
    },
    |scene, number| scene.put_key(scene.key_id, &with(&scene.key_body(), "name", format!("key {number}"))),
    |scene, number| {
        let source = ["reddit", "youtube"][number % 2];
        scene.submit_referral(&json!({"referral_source": source}))
    },
];

/// Polls a future at most this often, each time that it is woken, and drops it then. Returns `None` if it is
/// not ready.
async fn dropped_after<F: Future>(polls: usize, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut left = polls;
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        match future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if left == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

#[tokio::test]
async fn a_request_that_is_dropped_anywhere_is_carried_out_wholly_or_not_at_all() {
    for change in CHANGES {
        let scene = Scene::new().await;
        let inventory = Inventory::new(Arc::new(Yielding::new(scene.world.store.clone())));
        let inventory = inventory.with_clock(Arc::new(scene.world.clock.clone()));
        let server = Server::new(inventory, ample());
        for polls in 0.. {
            scene.world.clock.advance(Duration::from_secs(1));
            let request = change(&scene, polls);
            let before = scene.stored().await;
            let is_answered = dropped_after(polls, server.send(request.clone())).await.is_some();
            // Writes still in progress complete before any later request.
            scene.world.inventory.purge_expired().await.unwrap();
            let after = scene.stored().await;
            assert_eq!(server.send(request).await.status, 200, "the next request is answered");
            let whole = scene.stored().await;
            assert_ne!(whole, before);
            assert!(after == whole || (after == before && !is_answered), "dropped after {polls} polls");
            if is_answered {
                break;
            }
        }
    }
}
