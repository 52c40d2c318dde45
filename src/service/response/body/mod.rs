//! Response bodies, which are produced frame by frame as the server polls them.

mod events;
mod held;
mod pieces;
mod room;
mod sweeper;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use tracing::Span;

use self::events::EventBody;
pub(in crate::service) use self::events::{Events, NextEvents};
pub use self::held::BodyError;
use self::held::{HeldBody, chunk_bytes};
pub(in crate::service) use self::held::{Holds, ListChunk, NextChunk};
use self::pieces::Pieces;
#[cfg(feature = "axum")]
pub(in crate::service) use self::room::IncomingBody;
pub(in crate::service) use self::room::RequestRoom;
pub(in crate::service) use self::sweeper::Sweeper;
use crate::service::budget::Reservation;
use crate::service::shutdown::OpenWork;

/// The body of a response. Its length is known in advance, except for long lists and streams of events.
///
/// A short page shares the stored documents, so it takes hardly any memory of its own. A list without a limit, and a page
/// above 1 MiB, reads its next documents from the store once the client has received the previous ones. Dropping the
/// body ends the list.
pub struct ResponseBody {
    kind: Kind,
    /// Counts the body as work of the service.
    work: Option<OpenWork>,
    /// The span of the request, if it is enabled. In a box, since responses are moved often.
    span: Option<Box<Span>>,
}

enum Kind {
    /// Everything is in memory.
    Pieces(Pieces),
    /// A long list, or a body in memory that holds the bytes that it takes.
    Held(HeldBody),
    /// A stream of events.
    Events(EventBody),
}

/// Maximum size in bytes of a body that does not count. A connection takes as much by itself.
const MAX_UNCOUNTED: usize = 16 * 1024;

/// The first chunk of a list.
pub(in crate::service) enum FirstChunk {
    /// Stored documents, each preceded by a comma.
    Documents(Vec<Bytes>),
    Lines(Vec<Bytes>),
}

impl ResponseBody {
    const fn of(kind: Kind) -> Self {
        Self { kind, work: None, span: None }
    }

    /// Counts the body as work of the service until it is dropped.
    pub(in crate::service) fn hold(&mut self, work: Option<OpenWork>) {
        self.work = work;
    }

    /// Reads the body in the span of its request, which ends with it.
    pub(in crate::service) fn keep_in(&mut self, span: Span) {
        self.span = Some(Box::new(span));
    }

    pub(in crate::service) fn full(bytes: Bytes) -> Self {
        Self::of(Kind::Pieces(Pieces::full(bytes)))
    }

    /// Creates the body of a list from stored documents and the text that closes it.
    pub(in crate::service) fn page(documents: Vec<Bytes>, tail: Bytes) -> Self {
        let mut pieces = Pieces::list(documents);
        pieces.add_tail(tail);
        Self::of(Kind::Pieces(pieces))
    }

    /// Creates the body of a list of which the rest is read while it is sent.
    ///
    /// `reserve` takes the bytes that the list holds at a time. The body is aborted if its client stalls.
    ///
    /// # Errors
    /// The errors of `reserve`.
    pub(in crate::service) fn list<E>(
        first: FirstChunk,
        next: NextChunk,
        reserve: impl FnOnce(usize) -> Result<Holds, E>,
        sweeper: &Arc<Sweeper>,
    ) -> Result<Self, E> {
        let pieces = match first {
            FirstChunk::Documents(documents) => Pieces::list(documents),
            FirstChunk::Lines(lines) => Pieces::lines(lines),
        };
        let holds = reserve(chunk_bytes(&pieces))?;
        Ok(Self::of(Kind::Held(HeldBody::list(pieces, next, holds, sweeper))))
    }

    /// Reserves the bytes of a body that is in memory. The body is then aborted if its client stalls. Short bodies, and
    /// those that have a reservation already, are left unchanged.
    ///
    /// # Errors
    /// The errors of `reserve`.
    pub(in crate::service) fn held<E>(
        self,
        reserve: impl FnOnce(usize) -> Result<Reservation, E>,
        sweeper: &Arc<Sweeper>,
    ) -> Result<Self, E> {
        let Kind::Pieces(pieces) = self.kind else { return Ok(self) };
        let length = usize::try_from(pieces.remaining()).unwrap_or(usize::MAX);
        if length <= MAX_UNCOUNTED {
            return Ok(Self::of(Kind::Pieces(pieces)));
        }
        Ok(Self::of(Kind::Held(HeldBody::in_memory(pieces, reserve(length)?, sweeper))))
    }

    /// Creates a body of lines.
    pub(in crate::service) fn lines(lines: Vec<Bytes>) -> Self {
        Self::of(Kind::Pieces(Pieces::lines(lines)))
    }

    /// Creates the body of a stream of events from its first ones.
    ///
    /// The body holds `slot` until it ends, which is with `end` at the latest.
    pub(in crate::service) fn events(
        first: Bytes,
        next: NextEvents,
        slot: Reservation,
        end: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        Self::of(Kind::Events(EventBody::new(first, next, slot, end)))
    }

    /// Joins the pieces of a body that is in memory. Returns any other body unchanged.
    pub(in crate::service) fn into_bytes(self) -> Result<Bytes, Box<Self>> {
        match self.kind {
            Kind::Pieces(pieces) => Ok(pieces.into_bytes()),
            Kind::Held(_) => Err(Box::new(self)),
            Kind::Events(_) => Err(Box::new(self)),
        }
    }

    /// Returns the number of remaining bytes, or `None` if it is unknown.
    pub(in crate::service) fn length(&self) -> Option<u64> {
        match &self.kind {
            Kind::Pieces(pieces) => Some(pieces.remaining()),
            Kind::Held(held) => held.length(),
            Kind::Events(events) => events.has_ended().then_some(0),
        }
    }
}

/// An empty body.
impl Default for ResponseBody {
    fn default() -> Self {
        Self::of(Kind::Pieces(Pieces::default()))
    }
}

/// Omits the contents, because a response may contain a key.
impl fmt::Debug for ResponseBody {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ResponseBody").field("length", &self.length()).finish_non_exhaustive()
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let Self { kind, span, .. } = &mut *self;
        let _entered = span.as_deref().map(Span::enter);
        match kind {
            Kind::Pieces(pieces) => Poll::Ready(pieces.next_frame().map(|frame| Ok(Frame::data(frame)))),
            Kind::Held(held) => held.poll_frame(context),
            Kind::Events(events) => events.poll_frame(context).map(|frame| frame.map(Frame::data).map(Ok)),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.length() == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        self.length().map_or_else(SizeHint::new, SizeHint::with_exact)
    }
}
