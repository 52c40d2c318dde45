//! The body of a list without a limit.
//!
//! What the list holds is shared with a timer task, because a body that is no longer polled cannot notice that its reader
//! has stalled. The task holds the list only weakly and ends with the body.

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

use super::pieces::Pieces;
use super::{BodyError, Cause};
use crate::inventory::Error;
use crate::service::list_slots::ListSlot;

/// The next part of a list, as soon as it has been read.
pub(in crate::service) type Following = Pin<Box<dyn Future<Output = Result<Part, Error>> + Send>>;

/// A part of a list.
pub(in crate::service) enum Part {
    /// Stored documents, and what follows them.
    Documents(Vec<Bytes>, Following),
    /// The text that closes the list.
    Tail(Bytes),
}

/// A list that is read from the store while it is sent.
pub(super) struct ListBody {
    state: Arc<Mutex<State>>,
    /// The number of bytes that are still to come, once it is known.
    length: Option<u64>,
    /// `None` without a runtime or without a time limit.
    timer: Option<AbortHandle>,
}

enum State {
    Open(Open),
    /// Broken off by the timer; the reader has not been told yet.
    Stalled,
    Ended,
}

struct Open {
    pieces: Pieces,
    /// `None` once the tail has been read.
    following: Option<Following>,
    /// Since when the reader has taken nothing; `None` while it waits for the store.
    idle_since: Option<Instant>,
    /// Held until the list ends.
    _slot: ListSlot,
}

impl ListBody {
    pub(super) fn new(
        pieces: Pieces,
        following: Following,
        slot: ListSlot,
        patience: Option<Duration>,
    ) -> Self {
        let idle_since = Some(Instant::now());
        let open = Open { pieces, following: Some(following), idle_since, _slot: slot };
        let state = Arc::new(Mutex::new(State::Open(open)));
        let timer = patience.and_then(|patience| start_timer(&state, patience));
        Self { state, length: None, timer }
    }

    pub(super) const fn length(&self) -> Option<u64> {
        self.length
    }

    /// Polls the next frame. Not inlined: the frames of ordinary pages take the same path and must not pay for it.
    #[inline(never)]
    pub(super) fn poll_frame(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let polled = match &mut *state {
            State::Open(open) => ready!(open.poll_frame(context)),
            State::Stalled => Some(Err(BodyError(Cause::Stalled))),
            State::Ended => None,
        };
        self.length = match &*state {
            State::Open(open) if matches!(polled, Some(Ok(_))) => open.length(),
            _ => Some(0),
        };
        if self.length == Some(0) {
            // The slot is free at once, even if the server keeps the body.
            *state = State::Ended;
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

impl Open {
    const fn length(&self) -> Option<u64> {
        if self.following.is_none() { Some(self.pieces.remaining()) } else { None }
    }

    fn poll_frame(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyError>>> {
        self.idle_since = None;
        let frame = loop {
            if let Some(frame) = self.pieces.next_frame() {
                break Some(Ok(frame));
            }
            let Some(following) = &mut self.following else { break None };
            let part = ready!(following.as_mut().poll(context));
            self.following = None;
            match part {
                Ok(Part::Documents(documents, following)) => {
                    self.pieces.add_documents(documents);
                    self.following = Some(following);
                }
                Ok(Part::Tail(tail)) => self.pieces.add_tail(tail),
                Err(error) => break Some(Err(BodyError(Cause::Unreadable(error)))),
            }
        };
        self.idle_since = Some(Instant::now());
        Poll::Ready(frame)
    }
}

fn start_timer(state: &Arc<Mutex<State>>, patience: Duration) -> Option<AbortHandle> {
    let runtime = Handle::try_current().ok()?;
    Some(runtime.spawn(break_off_when_stalled(Arc::downgrade(state), patience)).abort_handle())
}

async fn break_off_when_stalled(state: Weak<Mutex<State>>, patience: Duration) {
    // The strong reference does not live while the task sleeps.
    while let Some(remaining) = state.upgrade().and_then(|state| remaining_patience(&state, patience)) {
        sleep(remaining).await;
    }
}

/// Returns after what time to look again; breaks the list off and returns `None` if its reader has stalled.
fn remaining_patience(state: &Mutex<State>, patience: Duration) -> Option<Duration> {
    let mut state = match state.try_lock() {
        Ok(state) => state,
        Err(TryLockError::Poisoned(error)) => error.into_inner(),
        // It is being read.
        Err(TryLockError::WouldBlock) => return Some(patience),
    };
    let State::Open(open) = &*state else { return None };
    let idle = open.idle_since.map_or(Duration::ZERO, |since| since.elapsed());
    if idle < patience {
        return Some(patience - idle);
    }
    let stalled = mem::replace(&mut *state, State::Stalled);
    drop(state);
    // The ids of a long list take a while to be freed: not under the lock.
    drop(stalled);
    tracing::warn!("a list without a limit is broken off: its reader has taken nothing for {patience:?}");
    None
}
