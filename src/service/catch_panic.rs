use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::inventory::Error;

/// Runs a future and turns a panic into an internal error.
///
/// A panic, for example in a store, then fails one request and not the connection with all others on it. The future
/// is borrowed because moving it in here would double the size of the caller's future.
pub(super) async fn catch_panic<T, E: From<Error>>(
    mut future: Pin<&mut impl Future<Output = Result<T, E>>>,
) -> Result<T, E> {
    let poll = |context: &mut Context<'_>| {
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        polled.unwrap_or_else(|payload| {
            let text = payload.downcast_ref::<&str>().copied();
            let text =
                text.or(payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message");
            Poll::Ready(Err(Error::internal(format!("a request panicked: {text}")).into()))
        })
    };
    poll_fn(poll).await
}
