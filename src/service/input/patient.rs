//! Request bodies that fail when their client stalls.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame};
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use super::BodyReadError;

/// A body that fails when its client sends nothing for some time. Only time in which the body is awaited counts.
pub(super) struct PatientBody<B> {
    body: B,
    /// `None` without a time limit.
    patience: Option<Duration>,
    /// When the body began to wait for its next frame; `None` while it does not wait.
    waiting_since: Option<Instant>,
    /// A task that ends when it is time to look at the clock. A runtime without a time driver makes it panic, which
    /// must not fail the request.
    timer: JoinSet<()>,
}

impl<B> PatientBody<B> {
    pub(super) fn new(body: B) -> Self {
        Self { body, patience: None, waiting_since: None, timer: JoinSet::new() }
    }

    pub(super) const fn set_patience(&mut self, patience: Option<Duration>) {
        self.patience = patience;
    }

    /// Waits until the client has stalled for too long.
    fn poll_stalled(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(patience) = self.patience else { return Poll::Pending };
        let since = *self.waiting_since.get_or_insert_with(Instant::now);
        loop {
            if self.timer.is_empty() {
                let remaining = patience.saturating_sub(since.elapsed());
                if remaining.is_zero() {
                    return Poll::Ready(());
                }
                let Ok(runtime) = Handle::try_current() else { return Poll::Pending };
                // The timer runs on when a frame arrives, because most frames arrive long before it ends.
                self.timer.spawn_on(async move { sleep(remaining).await }, &runtime);
            }
            if let Some(Err(_)) = ready!(self.timer.poll_join_next(context)) {
                self.patience = None;
                return Poll::Pending;
            }
        }
    }
}

impl<B> PatientBody<B>
where
    B: Body<Data = Bytes, Error = BodyReadError> + Unpin,
{
    pub(super) fn poll_frame(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyReadError>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if polled.is_ready() {
            self.waiting_since = None;
            return polled;
        }
        ready!(self.poll_stalled(context));
        Poll::Ready(Some(Err(BodyReadError::Stalled)))
    }
}
