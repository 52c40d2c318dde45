//! The body of a stream of server-sent events.
//!
//! The stream is shared with a timer task, because a body that is no longer polled cannot notice that its time is over.
//! The task holds only a weak reference and ends with the body.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use crate::service::budget::Reservation;

/// A future that waits for the next events.
pub(in crate::service) type NextEvents = Pin<Box<dyn Future<Output = Events> + Send>>;

/// A part of a stream of events.
pub(in crate::service) enum Events {
    /// The text of events, and the future that waits for those after them.
    Some(Bytes, NextEvents),
    /// The stream ends.
    End,
}

/// A stream of events that ends after some time.
pub(super) struct EventBody {
    /// `None` once the stream has ended.
    stream: Arc<Mutex<Option<OpenStream>>>,
    /// `None` without a tokio runtime.
    timer: Option<AbortHandle>,
}

struct OpenStream {
    first: Option<Bytes>,
    next: NextEvents,
    waker: Option<Waker>,
    /// Held until the stream ends.
    _slot: Reservation,
}

impl EventBody {
    pub(super) fn new(
        first: Bytes,
        next: NextEvents,
        slot: Reservation,
        end: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        let open = OpenStream { first: Some(first), next, waker: None, _slot: slot };
        let stream = Arc::new(Mutex::new(Some(open)));
        let runtime = Handle::try_current().ok();
        let timer =
            runtime.map(|runtime| runtime.spawn(end_with(Arc::downgrade(&stream), end)).abort_handle());
        Self { stream, timer }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    pub(super) fn poll_frame(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(open) = &mut *stream else { return Poll::Ready(None) };
        if let Some(first) = open.first.take() {
            return Poll::Ready(Some(first));
        }
        match open.next.as_mut().poll(context) {
            Poll::Pending => {
                open.waker = Some(context.waker().clone());
                Poll::Pending
            }
            Poll::Ready(Events::Some(events, next)) => {
                open.next = next;
                Poll::Ready(Some(events))
            }
            Poll::Ready(Events::End) => {
                // Frees the slot now, even if the server keeps the body.
                *stream = None;
                Poll::Ready(None)
            }
        }
    }
}

impl Drop for EventBody {
    fn drop(&mut self) {
        if let Some(timer) = &self.timer {
            timer.abort();
        }
    }
}

async fn end_with(stream: Weak<Mutex<Option<OpenStream>>>, end: impl Future<Output = ()>) {
    end.await;
    let Some(stream) = stream.upgrade() else { return };
    let ended = stream.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(waker) = ended.and_then(|ended| ended.waker) {
        waker.wake();
    }
}
