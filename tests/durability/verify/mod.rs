//! Verification concurrent with commits, checkpoints, and the end of the store.

mod concurrent;
mod ending;

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use toposcope::store::{Batch, Facets, Key, Name, Precondition, SledStore, Store};
use uuid::Uuid;

/// Polls a future at most this many times. Returns `None` if it is not ready by then.
async fn polled<T>(future: &mut Pin<Box<dyn Future<Output = T> + '_>>, times: usize) -> Option<T> {
    let mut left = times;
    poll_fn(|context| {
        if left > 0 {
            left -= 1;
            if let Poll::Ready(outcome) = future.as_mut().poll(context) {
                return Poll::Ready(Some(outcome));
            }
        }
        if left == 0 { Poll::Ready(None) } else { Poll::Pending }
    })
    .await
}

fn key(number: u128) -> Key {
    Key::new(Name::new("note"), Uuid::from_u128(number))
}

fn body(number: u128, round: usize) -> Vec<u8> {
    format!("body {number} of round {round} ").into_bytes().repeat(20)
}

/// Puts records whose bodies contain the round, in one batch.
async fn put(store: &SledStore, numbers: impl IntoIterator<Item = u128>, round: usize) {
    let mut batch = Batch::new();
    for number in numbers {
        batch.put(key(number), Precondition::Any, Facets::default(), body(number, round));
    }
    store.commit(batch).await.unwrap();
}
