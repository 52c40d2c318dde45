//! Request bodies that fail when they do not arrive in time.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame};
use tokio::runtime::Handle;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

use super::BodyReadError;
use crate::service::shutdown::{Shutdown, ShutdownStage};

/// The bytes a second that a client has to send at least, beyond the time that it may stall.
const MIN_RATE: u64 = 32 * 1024;

/// The bytes of an announced size that count before they arrive. A client must not gain any time by announcing more.
const MAX_ANNOUNCED: u64 = 64 * 1024 * 1024;

/// A body that fails when its client sends nothing for some time, or too little.
///
/// In all, the body may be awaited for the stall timeout plus one second for each [`MIN_RATE`] bytes: of the whole body
/// if its size is known, and otherwise of the bytes that have arrived. Time in which the service does not wait for the
/// body does not count.
pub(super) struct TimeoutBody<B> {
    body: B,
    /// `None`: the size is not known before the end.
    size: Option<u64>,
    received: u64,
    /// `None` without a time limit.
    stall_timeout: Option<Duration>,
    /// How long the frames that have arrived were awaited.
    waited: Duration,
    /// When the body began to wait for its next frame; `None` while it does not wait.
    waiting_since: Option<Instant>,
    /// Whether the rest is read to be dropped. It is not worth a wait without end.
    is_rest: bool,
    shutdown: Shutdown,
    /// A task that ends at the next check of the clock, or when the service stops. A runtime without a time driver
    /// makes it panic, which must not fail the request.
    timer: JoinSet<()>,
}

impl<B> TimeoutBody<B> {
    pub(super) fn new(body: B, size: Option<u64>) -> Self {
        Self {
            body,
            size,
            received: 0,
            stall_timeout: None,
            waited: Duration::ZERO,
            waiting_since: None,
            is_rest: false,
            shutdown: Shutdown::default(),
            timer: JoinSet::new(),
        }
    }

    pub(super) fn limit(&mut self, stall_timeout: Option<Duration>, shutdown: &Shutdown) {
        self.stall_timeout = stall_timeout;
        self.shutdown = shutdown.clone();
    }

    /// Allows this much time for the rest of the body, whatever its size, and none where there is no clock. Returns the number of bytes
    /// that are known to be missing.
    pub(super) fn limit_rest(&mut self, time: Duration) -> u64 {
        let missing = self.size.map_or(0, |size| size.saturating_sub(self.received));
        // No time is added for the size.
        (self.size, self.stall_timeout, self.is_rest) = (Some(0), Some(time), true);
        (self.waited, self.waiting_since) = (Duration::ZERO, None);
        self.timer = JoinSet::new();
        missing
    }

    /// Returns how long the next frame may be awaited from the beginning of the wait.
    fn allowed(&self, stall_timeout: Duration) -> Duration {
        let ahead = self.received.saturating_add(MAX_ANNOUNCED);
        let bytes = self.size.map_or(self.received, |size| size.min(ahead));
        let for_bytes = Duration::from_millis(bytes.saturating_mul(1_000) / MIN_RATE);
        stall_timeout.min(stall_timeout.saturating_add(for_bytes).saturating_sub(self.waited))
    }

    /// Waits until the client has taken too long, or the service stops.
    fn poll_too_late(&mut self, context: &mut Context<'_>) -> Poll<BodyReadError> {
        let since = *self.waiting_since.get_or_insert_with(Instant::now);
        loop {
            if self.timer.is_empty() {
                let remaining = self
                    .stall_timeout
                    .map(|stall_timeout| self.allowed(stall_timeout).saturating_sub(since.elapsed()));
                if remaining.is_some_and(|remaining| remaining.is_zero()) {
                    return Poll::Ready(BodyReadError::TooSlow);
                }
                let Ok(runtime) = Handle::try_current() else {
                    return if self.is_rest { Poll::Ready(BodyReadError::TooSlow) } else { Poll::Pending };
                };
                let stopped = self.shutdown.reached(ShutdownStage::Over);
                // The timer runs on when a frame arrives, because most frames arrive long before it ends. The next
                // deadline is never before its end.
                self.timer.spawn_on(time_over(remaining, stopped), &runtime);
            }
            match ready!(self.timer.poll_join_next(context)) {
                Some(Err(_)) if self.is_rest => return Poll::Ready(BodyReadError::TooSlow),
                Some(Err(_)) => self.stall_timeout = None,
                Some(Ok(())) | None => {}
            }
            if self.shutdown.has_reached(ShutdownStage::Over) {
                return Poll::Ready(BodyReadError::Stopped);
            }
        }
    }

    /// Ends a wait.
    fn note(&mut self, data: Option<&Bytes>) {
        if let Some(since) = self.waiting_since.take() {
            self.waited = self.waited.saturating_add(since.elapsed());
        }
        self.received = self.received.saturating_add(data.map_or(0, |data| data.len() as u64));
    }
}

impl<B> TimeoutBody<B>
where
    B: Body<Data = Bytes, Error = BodyReadError> + Unpin,
{
    pub(super) fn poll_frame(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyReadError>>> {
        if self.shutdown.has_reached(ShutdownStage::Over) {
            return Poll::Ready(Some(Err(BodyReadError::Stopped)));
        }
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(frame) = polled {
            self.note(frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref()));
            return Poll::Ready(frame);
        }
        let error = ready!(self.poll_too_late(context));
        Poll::Ready(Some(Err(error)))
    }
}

/// Waits until it is time to look at the clock, or the service stops.
async fn time_over(remaining: Option<Duration>, stopped: impl Future<Output = ()>) {
    match remaining {
        Some(remaining) => timeout(remaining, stopped).await.unwrap_or_default(),
        None => stopped.await,
    }
}
