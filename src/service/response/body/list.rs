//! A long body: a list that is read while it is sent, or one that is in memory and given up if its client stalls.
//!
//! The body is shared with a timer task, because a body that is no longer polled cannot notice that its client has
//! stalled. The task holds only a weak reference and ends with the body.

use std::collections::VecDeque;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, TryLockError, Weak};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::Frame;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep};

use super::MAX_UNCOUNTED;
use super::pieces::Pieces;
use crate::inventory::Error;
use crate::service::slots::Slot;

/// The error with which the body of a long response is aborted.
///
/// Either the store failed, the caller lost access to the list, or the client read nothing for too long. The server
/// must then abort the response, as hyper does, so that the client does not mistake it for the whole.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct BodyError(Cause);

#[derive(Debug, thiserror::Error)]
enum Cause {
    #[error("the list cannot be read to its end")]
    Unreadable(#[source] Error),
    #[error("the response was aborted because its client stalled")]
    Stalled,
}

/// Minimum number of bytes that count for a list: its further parts have about as many.
const MIN_PART: usize = 1024 * 1024;

/// A future that reads the next part of a list.
pub(in crate::service) type NextPart = Pin<Box<dyn Future<Output = Result<Part, Error>> + Send>>;

/// A part of a list.
pub(in crate::service) enum Part {
    /// Stored documents, and the future that reads the part after them.
    Documents(Vec<Bytes>, NextPart),
    /// The text that closes the list.
    Tail(Bytes),
}

/// What a long body holds until it ends.
pub(in crate::service) struct Holds {
    /// The slot of a list without a limit.
    pub(in crate::service) _list: Option<Slot>,
    /// The bytes that the body takes at a time.
    pub(in crate::service) bytes: Slot,
}

/// A body that ends when its client stalls. A list is read from the store while it is sent.
pub(super) struct ListBody {
    state: Arc<Mutex<ListState>>,
    /// The next frames of a body in memory, so that lock and clock are needed once for several.
    taken: VecDeque<Bytes>,
    /// Number of remaining bytes; `None` until the tail has been read.
    length: Option<u64>,
    /// `None` without a tokio runtime or without a time limit.
    timer: Option<AbortHandle>,
}

enum ListState {
    Open(Box<OpenList>),
    /// Aborted by the timer; the error has not been returned yet.
    Stalled,
    Ended,
}

struct OpenList {
    pieces: Pieces,
    /// `None` once the tail has been read.
    next: Option<NextPart>,
    /// When the client last took a frame; `None` while it waits for the store.
    idle_since: Option<Instant>,
    holds: Holds,
}

impl ListBody {
    /// Creates a body from its first pieces, and the future that reads the next ones, if there are any.
    pub(super) fn new(
        pieces: Pieces,
        next: Option<NextPart>,
        holds: Holds,
        patience: Option<Duration>,
    ) -> Self {
        let idle_since = Some(Instant::now());
        let length = next.is_none().then(|| pieces.remaining());
        let open = Box::new(OpenList { pieces, next, idle_since, holds });
        let state = Arc::new(Mutex::new(ListState::Open(open)));
        let timer = patience.and_then(|patience| start_timer(&state, patience));
        Self { state, taken: VecDeque::new(), length, timer }
    }

    pub(super) const fn length(&self) -> Option<u64> {
        self.length
    }

    /// Polls the next frame. Not inlined, to keep `ResponseBody::poll_frame` small for ordinary pages.
    #[inline(never)]
    pub(super) fn poll_frame(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        if let Some(frame) = self.taken.pop_front() {
            self.length = self.length.map(|length| length.saturating_sub(frame.len() as u64));
            return Poll::Ready(Some(Ok(Frame::data(frame))));
        }
        let is_in_memory = self.length.is_some();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let polled = match &mut *state {
            ListState::Open(open) => ready!(open.poll_frame(context)),
            ListState::Stalled => Some(Err(BodyError(Cause::Stalled))),
            ListState::Ended => None,
        };
        let is_over = match (&mut *state, &polled) {
            (ListState::Open(open), Some(Ok(frame))) => {
                self.length = open.length();
                if is_in_memory {
                    open.take_frames(frame.len(), &mut self.taken);
                }
                open.length() == Some(0)
            }
            _ => {
                self.length = Some(0);
                true
            }
        };
        if is_over {
            // Frees the slot now, even if the server keeps the body.
            *state = ListState::Ended;
        }
        Poll::Ready(polled.map(|frame| frame.map(Frame::data)))
    }
}

impl Drop for ListBody {
    fn drop(&mut self) {
        if let Some(timer) = &self.timer {
            timer.abort();
        }
    }
}

impl OpenList {
    const fn length(&self) -> Option<u64> {
        if self.next.is_none() { Some(self.pieces.remaining()) } else { None }
    }

    fn poll_frame(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyError>>> {
        self.idle_since = None;
        let frame = loop {
            if let Some(frame) = self.pieces.next_frame() {
                break Some(Ok(frame));
            }
            let Some(next) = &mut self.next else { break None };
            let part = ready!(next.as_mut().poll(context));
            self.next = None;
            match part {
                Ok(Part::Documents(documents, next)) => {
                    self.pieces.add_documents(documents);
                    self.holds.bytes.resize(part_bytes(&self.pieces));
                    self.next = Some(next);
                }
                Ok(Part::Tail(tail)) => self.pieces.add_tail(tail),
                Err(error) => break Some(Err(BodyError(Cause::Unreadable(error)))),
            }
        };
        self.idle_since = Some(Instant::now());
        Poll::Ready(frame)
    }

    /// Takes frames behind one of `bytes` bytes, until they have as many as a body that does not count.
    fn take_frames(&mut self, mut bytes: usize, taken: &mut VecDeque<Bytes>) {
        while bytes < MAX_UNCOUNTED
            && let Some(frame) = self.pieces.next_frame()
        {
            bytes += frame.len();
            taken.push_back(frame);
        }
    }
}

/// Returns the number of bytes that count for a list whose current part has these pieces.
pub(super) fn part_bytes(pieces: &Pieces) -> usize {
    usize::try_from(pieces.remaining()).unwrap_or(usize::MAX).max(MIN_PART)
}

fn start_timer(state: &Arc<Mutex<ListState>>, patience: Duration) -> Option<AbortHandle> {
    let runtime = Handle::try_current().ok()?;
    Some(runtime.spawn(abort_when_stalled(Arc::downgrade(state), patience)).abort_handle())
}

async fn abort_when_stalled(state: Weak<Mutex<ListState>>, patience: Duration) {
    // The strong reference is dropped before the task sleeps.
    while let Some(remaining) = state.upgrade().and_then(|state| remaining_patience(&state, patience)) {
        sleep(remaining).await;
    }
}

/// Returns the time until the next check. Aborts the list and returns `None` if its client has stalled.
fn remaining_patience(state: &Mutex<ListState>, patience: Duration) -> Option<Duration> {
    let mut state = match state.try_lock() {
        Ok(state) => state,
        Err(TryLockError::Poisoned(error)) => error.into_inner(),
        // The client is reading.
        Err(TryLockError::WouldBlock) => return Some(patience),
    };
    let ListState::Open(open) = &*state else { return None };
    let idle = open.idle_since.map_or(Duration::ZERO, |since| since.elapsed());
    if idle < patience {
        return Some(patience - idle);
    }
    let stalled = mem::replace(&mut *state, ListState::Stalled);
    drop(state);
    // The ids of a long list take a while to free, so this happens outside of the lock.
    drop(stalled);
    tracing::warn!("a response was aborted: its client has read nothing for {patience:?}");
    None
}
