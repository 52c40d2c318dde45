use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Context, Poll};

use crate::inventory::Error;

/// A store that panics costs its request, and not the connection with the others on it.
pub(super) async fn contain_panic<T, E: From<Error>>(
    future: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let mut future = pin!(future);
    let poll = |context: &mut Context<'_>| {
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        polled.unwrap_or_else(|payload| {
            let text = payload.downcast_ref::<&str>().copied();
            let text = text.or(payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text");
            Poll::Ready(Err(Error::internal(format!("a panic: {text}")).into()))
        })
    };
    poll_fn(poll).await
}
