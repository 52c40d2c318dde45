use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::inventory::Error;

/// A store that panics costs its request, and not the connection with the others on it. The future stays where the caller has
/// it: moved in here, it would take its room twice.
pub(super) async fn contain_panic<T, E: From<Error>>(
    mut future: Pin<&mut impl Future<Output = Result<T, E>>>,
) -> Result<T, E> {
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
