//! Response bodies, which are produced frame by frame as the server polls them.

#[cfg(feature = "discovery")]
mod events;
mod list;
mod pieces;

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

#[cfg(feature = "discovery")]
use self::events::EventBody;
#[cfg(feature = "discovery")]
pub(in crate::service) use self::events::{Events, NextEvents};
pub use self::list::BodyError;
use self::list::ListBody;
pub(in crate::service) use self::list::{NextPart, Part};
use self::pieces::Pieces;
use crate::service::slots::Slot;

/// The body of a response. Its length is known in advance, except for a list without a limit and a stream of events.
///
/// A page shares the stored documents, so it takes hardly any memory of its own. A list without a limit reads its
/// next documents from the store once the client has received the previous ones. Dropping the body ends the list.
pub struct ResponseBody(Kind);

enum Kind {
    /// Everything is in memory.
    Pieces(Pieces),
    /// A list without a limit.
    List(ListBody),
    /// A stream of events.
    #[cfg(feature = "discovery")]
    Events(EventBody),
}

impl ResponseBody {
    pub(in crate::service) fn full(bytes: Bytes) -> Self {
        Self(Kind::Pieces(Pieces::full(bytes)))
    }

    /// Creates the body of a list from stored documents and the text that closes it.
    pub(in crate::service) fn page(documents: Vec<Bytes>, tail: Bytes) -> Self {
        let mut pieces = Pieces::list(documents);
        pieces.add_tail(tail);
        Self(Kind::Pieces(pieces))
    }

    /// Creates the body of a list without a limit from its first documents.
    ///
    /// The body holds `slot` until it ends. It is aborted if no frame is polled for `patience`.
    pub(in crate::service) fn list(
        documents: Vec<Bytes>,
        next: NextPart,
        slot: Slot,
        patience: Option<Duration>,
    ) -> Self {
        Self(Kind::List(ListBody::new(Pieces::list(documents), next, slot, patience)))
    }

    /// Creates a body of lines.
    pub(in crate::service) fn lines(lines: Vec<Bytes>) -> Self {
        Self(Kind::Pieces(Pieces::lines(lines)))
    }

    /// Creates the body of a list without a limit as lines, like [`list`](Self::list).
    pub(in crate::service) fn list_of_lines(
        lines: Vec<Bytes>,
        next: NextPart,
        slot: Slot,
        patience: Option<Duration>,
    ) -> Self {
        Self(Kind::List(ListBody::new(Pieces::lines(lines), next, slot, patience)))
    }

    /// Creates the body of a stream of events from its first ones.
    ///
    /// The body holds `slot` until it ends, which is after `lifetime` at the latest.
    #[cfg(feature = "discovery")]
    pub(in crate::service) fn events(first: Bytes, next: NextEvents, slot: Slot, lifetime: Duration) -> Self {
        Self(Kind::Events(EventBody::new(first, next, slot, lifetime)))
    }

    /// Joins the pieces of a body that is in memory. Returns any other body unchanged.
    pub(in crate::service) fn into_bytes(self) -> Result<Bytes, Self> {
        match self.0 {
            Kind::Pieces(pieces) => Ok(pieces.into_bytes()),
            Kind::List(_) => Err(self),
            #[cfg(feature = "discovery")]
            Kind::Events(_) => Err(self),
        }
    }

    /// Returns the number of remaining bytes, or `None` if it is unknown.
    pub(in crate::service) fn length(&self) -> Option<u64> {
        match &self.0 {
            Kind::Pieces(pieces) => Some(pieces.remaining()),
            Kind::List(list) => list.length(),
            #[cfg(feature = "discovery")]
            Kind::Events(events) => events.has_ended().then_some(0),
        }
    }
}

/// An empty body.
impl Default for ResponseBody {
    fn default() -> Self {
        Self(Kind::Pieces(Pieces::default()))
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
        match &mut self.0 {
            Kind::Pieces(pieces) => Poll::Ready(pieces.next_frame().map(|frame| Ok(Frame::data(frame)))),
            Kind::List(list) => list.poll_frame(context),
            #[cfg(feature = "discovery")]
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
