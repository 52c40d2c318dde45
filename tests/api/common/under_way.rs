//! Requests that are held while another future runs.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;

use super::{Hook, Reply};

/// Polls a request beside another future until that future is ready. The request must not end before.
pub(crate) async fn until<T>(
    mut request: Pin<&mut impl Future<Output = Reply>>,
    other: impl Future<Output = T>,
) -> T {
    let mut other = pin!(other);
    poll_fn(|context| {
        if let Poll::Ready(output) = other.as_mut().poll(context) {
            return Poll::Ready(output);
        }
        if let Poll::Ready(reply) = request.as_mut().poll(context) {
            panic!("the request has ended: {reply:?}");
        }
        Poll::Pending
    })
    .await
}

/// Polls a request until it has asked for this many commits.
pub(crate) async fn until_commits(
    mut request: Pin<&mut impl Future<Output = Reply>>,
    hook: &Hook,
    commits: usize,
) {
    while hook.commits() < commits {
        until(request.as_mut(), tokio::task::yield_now()).await;
    }
}
