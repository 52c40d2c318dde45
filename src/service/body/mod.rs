//! The body of a response, made frame by frame as it is read.

mod list;
mod pieces;

use std::error::Error as StdError;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use self::list::ListBody;
pub(super) use self::list::{Following, Part};
use self::pieces::Pieces;
use super::list_slots::ListSlot;
use crate::inventory::Error;

/// The body of a response. Its length is known in advance, except for a list without a limit.
///
/// A page is made of the stored documents themselves, so that it takes hardly any memory of its own. Of a list without a
/// limit, the next documents are read from the store when those before them have been taken. Dropping the body ends it.
pub struct ResponseBody(Kind);

enum Kind {
    /// Everything is in memory.
    Pieces(Pieces),
    /// A list without a limit.
    List(ListBody),
}

impl ResponseBody {
    pub(super) fn full(bytes: Bytes) -> Self {
        Self(Kind::Pieces(Pieces::full(bytes)))
    }

    /// Creates the body of a list from stored documents and the text that closes it.
    pub(super) fn page(documents: Vec<Bytes>, tail: Bytes) -> Self {
        let mut pieces = Pieces::list(documents);
        pieces.add_tail(tail);
        Self(Kind::Pieces(pieces))
    }

    /// Creates the body of a list without a limit from its first documents.
    ///
    /// It holds `slot` until it ends. If no frame is taken for as long as `patience`, it is broken off.
    pub(super) fn list(
        documents: Vec<Bytes>,
        following: Following,
        slot: ListSlot,
        patience: Option<Duration>,
    ) -> Self {
        Self(Kind::List(ListBody::new(Pieces::list(documents), following, slot, patience)))
    }

    /// Joins a body that is in memory into one piece, and returns any other as it is.
    pub(super) fn into_bytes(self) -> Result<Bytes, Self> {
        match self.0 {
            Kind::Pieces(pieces) => Ok(pieces.into_bytes()),
            Kind::List(_) => Err(self),
        }
    }

    /// Returns the number of bytes that are still to come, if it is known.
    pub(super) const fn length(&self) -> Option<u64> {
        match &self.0 {
            Kind::Pieces(pieces) => Some(pieces.remaining()),
            Kind::List(list) => list.length(),
        }
    }
}

/// An empty body.
impl Default for ResponseBody {
    fn default() -> Self {
        Self(Kind::Pieces(Pieces::default()))
    }
}

/// Without the contents: a response may hold a key.
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
        }
    }

    fn is_end_stream(&self) -> bool {
        self.length() == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        self.length().map_or_else(SizeHint::new, SizeHint::with_exact)
    }
}

/// The error that ends a list without a limit before its end.
///
/// The store failed, the caller lost the right to the list, or the client took nothing for too long. The server must then
/// break off the response, as hyper does, so that the client does not take it for the whole list.
#[derive(Debug)]
pub struct BodyError(Cause);

#[derive(Debug)]
enum Cause {
    Unreadable(Error),
    Stalled,
}

impl fmt::Display for BodyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.0 {
            Cause::Unreadable(_) => "the list cannot be read to its end",
            Cause::Stalled => "the list was broken off because its reader stalled",
        })
    }
}

impl StdError for BodyError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.0 {
            Cause::Unreadable(error) => Some(error),
            Cause::Stalled => None,
        }
    }
}
