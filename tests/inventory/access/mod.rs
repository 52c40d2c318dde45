//! Callers, the secrets that authenticate them, and the options of logins.

#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "helpers of tests are tests")]

mod callers;
mod keys;
mod logins;

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

use toposcope::access::{PasswordCost, PasswordHasher, RandomError, RandomSource};

/// A source of predictable bytes.
#[derive(Debug)]
enum Source {
    /// Counts upwards from a first byte.
    Counting(u8),
    Constant(u8),
    Failing,
}

impl RandomSource for Source {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), RandomError> {
        let mut next = 7;
        if let Self::Counting(byte) | Self::Constant(byte) = self {
            next = *byte;
        }
        for byte in bytes {
            *byte = next;
            next = next.wrapping_add(u8::from(matches!(self, Self::Counting(_))));
        }
        if matches!(self, Self::Failing) { Err(RandomError::new("unplugged")) } else { Ok(()) }
    }
}

/// A hasher of the lowest cost.
fn fast() -> PasswordHasher {
    PasswordHasher::new().with_cost(PasswordCost::new(8, 1).unwrap())
}

async fn poll_once<F: Future>(future: &mut Pin<Box<F>>) -> Poll<F::Output> {
    poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await
}
