//! Bodies that hold budget.
//!
//! Such a body is a list that is read while it is sent, or has more than 16 KiB in memory.
//!
//! The body is shared with the sweeper, because a body that is no longer polled cannot notice that its client has
//! stalled.

use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::Frame;
use tokio::time::Instant;

use super::pieces::Pieces;
use super::sweeper::{Registration, Sweeper};
use crate::inventory::Error;
use crate::service::budget::Reservation;
use crate::service::revocations::Revocable;

/// The error with which the body of a long response is aborted.
///
/// Either the store failed, the caller lost access to the list or was revoked, the client read nothing for too long, or the
/// server is stopping. The server must then abort the response, as hyper does, so that the client does not mistake it for the whole.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct BodyError(Cause);

#[derive(Debug, thiserror::Error)]
enum Cause {
    #[error("the list cannot be read to its end")]
    Unreadable(#[source] Error),
    #[error("the response was aborted because its client stalled")]
    Stalled,
    #[error("the list was broken off because the server is stopping")]
    Stopped,
    #[error("the list was broken off because its user was revoked")]
    Revoked,
}

/// Minimum number of bytes that count for a list: its further chunks have about as many.
const MIN_PART: usize = 1024 * 1024;

/// A future that reads the next chunk of a list.
pub(in crate::service) type NextChunk = Pin<Box<dyn Future<Output = Result<ListChunk, Error>> + Send>>;

/// A chunk of a list.
pub(in crate::service) enum ListChunk {
    /// Stored documents, and the future that reads the chunk after them.
    Documents(Vec<Bytes>, NextChunk),
    /// The text that closes the list.
    Tail(Bytes),
    /// The server is stopping.
    Stopped,
    /// The host application has revoked the user.
    Revoked,
}

/// The reservations of a body, until it ends.
pub(in crate::service) struct Holds {
    /// The slot of a list without a limit.
    pub(in crate::service) _list: Option<Reservation>,
    /// The bytes that the body takes at a time.
    pub(in crate::service) bytes: Reservation,
    /// The signal that ends a list; `None` for a body that is in memory.
    pub(in crate::service) revocable: Option<Arc<Revocable>>,
}

impl Holds {
    fn is_revoked(&self) -> bool {
        self.revocable.as_ref().is_some_and(|revocable| revocable.is_revoked())
    }
}

/// A body that ends when its client stalls.
pub(super) struct HeldBody {
    state: Arc<SharedBody>,
    /// Number of remaining bytes; `None` until the tail has been read.
    length: Option<u64>,
    /// `None` without a time limit.
    registration: Option<Registration>,
}

/// The part of a body that the sweeper can free.
pub(super) struct SharedBody(Mutex<BodyState>);

#[allow(clippy::large_enum_variant, reason = "every body begins with the large variant")]
enum BodyState {
    Open(OpenBody),
    /// Aborted by the sweeper; the error has not been returned yet.
    Stalled,
    Ended,
}

struct OpenBody {
    pieces: Pieces,
    /// `None` once the tail has been read.
    next: Option<NextChunk>,
    activity: Activity,
    holds: Holds,
}

/// When the client last took a frame.
#[derive(Clone, Copy)]
enum Activity {
    /// After the sweeper last looked. Frames in memory are too cheap to read the clock for each.
    Recent,
    Since(Instant),
    /// The client waits for the store.
    Waiting,
}

impl HeldBody {
    /// Creates a body that is in memory.
    pub(super) fn in_memory(pieces: Pieces, bytes: Reservation, sweeper: &Arc<Sweeper>) -> Self {
        let length = Some(pieces.remaining());
        let holds = Holds { _list: None, bytes, revocable: None };
        Self::new(OpenBody { pieces, next: None, activity: Activity::Recent, holds }, length, sweeper)
    }

    /// Creates the body of a list from its first pieces, and the future that reads the next ones.
    pub(super) fn list(pieces: Pieces, next: NextChunk, holds: Holds, sweeper: &Arc<Sweeper>) -> Self {
        let activity = Activity::Since(Instant::now());
        Self::new(OpenBody { pieces, next: Some(next), activity, holds }, None, sweeper)
    }

    fn new(open: OpenBody, length: Option<u64>, sweeper: &Arc<Sweeper>) -> Self {
        let state = Arc::new(SharedBody(Mutex::new(BodyState::Open(open))));
        let registration = sweeper.register(&state, length.is_none());
        Self { state, length, registration }
    }

    pub(super) const fn length(&self) -> Option<u64> {
        self.length
    }

    /// Polls the next frame. Not inlined, to keep `ResponseBody::poll_frame` small for short bodies.
    #[inline(never)]
    pub(super) fn poll_frame(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let mut state = self.state.lock();
        if let BodyState::Open(open) = &mut *state
            && open.next.is_none()
            && !open.holds.is_revoked()
            && let Some(frame) = open.pieces.next_frame()
        {
            open.activity = Activity::Recent;
            let length = open.pieces.remaining();
            self.length = Some(length);
            if length == 0 {
                // Frees the budget now, even if the server keeps the body.
                *state = BodyState::Ended;
            }
            return Poll::Ready(Some(Ok(Frame::data(frame))));
        }
        let polled = ready!(state.poll_list(context));
        self.length = state.length();
        Poll::Ready(polled.map(|frame| frame.map(Frame::data)))
    }
}

impl Drop for HeldBody {
    fn drop(&mut self) {
        if let Some(registration) = self.registration.take() {
            registration.end();
        }
    }
}

impl BodyState {
    /// Polls the next frame of a list, or the end of any body. Not inlined, to keep frames in memory cheap.
    #[inline(never)]
    fn poll_list(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyError>>> {
        let polled = match self {
            Self::Open(open) => ready!(open.poll_list(context)),
            Self::Stalled => Some(Err(BodyError(Cause::Stalled))),
            Self::Ended => None,
        };
        if !matches!(&polled, Some(Ok(_))) || self.length() == Some(0) {
            *self = Self::Ended;
        }
        Poll::Ready(polled)
    }

    const fn length(&self) -> Option<u64> {
        match self {
            Self::Open(OpenBody { next: Some(_), .. }) => None,
            Self::Open(open) => Some(open.pieces.remaining()),
            Self::Stalled | Self::Ended => Some(0),
        }
    }
}

impl OpenBody {
    fn poll_list(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyError>>> {
        self.activity = Activity::Waiting;
        let frame = loop {
            if self.holds.is_revoked() {
                break Some(Err(BodyError(Cause::Revoked)));
            }
            if let Some(frame) = self.pieces.next_frame() {
                break Some(Ok(frame));
            }
            let Some(next) = &mut self.next else { break None };
            let chunk = ready!(next.as_mut().poll(context));
            self.next = None;
            match chunk {
                Ok(ListChunk::Documents(documents, next)) => {
                    self.pieces.add_documents(documents);
                    self.holds.bytes.resize(chunk_bytes(&self.pieces));
                    self.next = Some(next);
                }
                Ok(ListChunk::Tail(tail)) => self.pieces.add_tail(tail),
                Ok(ListChunk::Revoked) => break Some(Err(BodyError(Cause::Revoked))),
                Ok(ListChunk::Stopped) => break Some(Err(BodyError(Cause::Stopped))),
                Err(error) => break Some(Err(BodyError(Cause::Unreadable(error)))),
            }
        };
        self.activity = Activity::Since(Instant::now());
        Poll::Ready(frame)
    }
}

/// Returns the number of bytes that count for a list whose current chunk has these pieces.
pub(super) fn chunk_bytes(pieces: &Pieces) -> usize {
    usize::try_from(pieces.remaining()).unwrap_or(usize::MAX).max(MIN_PART)
}

impl SharedBody {
    fn lock(&self) -> MutexGuard<'_, BodyState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts the time of a body in memory now, instead of at the next sweep.
    pub(super) fn begin_time(&self, now: Instant) {
        if let BodyState::Open(open) = &mut *self.lock() {
            open.activity = Activity::Since(now);
        }
    }

    /// Returns the time after which the client will have stalled, if there is one. Aborts the body if it has.
    pub(super) fn sweep(&self, now: Instant, stall_timeout: Duration) -> Option<Duration> {
        let mut state = match self.0.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(error)) => error.into_inner(),
            // The client is reading.
            Err(TryLockError::WouldBlock) => return None,
        };
        let BodyState::Open(open) = &mut *state else { return None };
        let idle = match open.activity {
            Activity::Recent => {
                open.activity = Activity::Since(now);
                Duration::ZERO
            }
            Activity::Since(since) => now.saturating_duration_since(since),
            Activity::Waiting => return None,
        };
        if idle < stall_timeout {
            return Some(stall_timeout - idle);
        }
        let stalled = mem::replace(&mut *state, BodyState::Stalled);
        drop(state);
        // The ids of a long list take a while to free, so this happens outside of the lock.
        drop(stalled);
        tracing::warn!("a response was aborted: its client has read nothing for {stall_timeout:?}");
        None
    }
}
