use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

/// A document from this size on is a frame of its own, shared with the store and not copied: the socket takes it from
/// where it lies. Smaller ones are joined, because every frame has its own cost.
const SHARED: usize = 2 * 1024;

/// How much of what is smaller is joined into one frame.
const FRAME: usize = 16 * 1024;

/// The body of a response. Its length is known before it is read.
///
/// A page is made frame by frame as it is read, mostly of the stored documents themselves, so that it takes hardly any
/// memory of its own.
#[derive(Default)]
pub struct ResponseBody {
    head: Bytes,
    documents: Vec<Bytes>,
    /// The document that comes next; those before it are given away or joined.
    next: usize,
    comma_due: bool,
    tail: Bytes,
    remaining: u64,
}

impl ResponseBody {
    pub(super) fn full(bytes: Bytes) -> Self {
        Self { remaining: bytes.len() as u64, head: bytes, ..Self::default() }
    }

    /// The documents with commas between them, behind the text that opens their array and before the text that closes it.
    pub(super) fn page(head: Bytes, documents: Vec<Bytes>, tail: Bytes) -> Self {
        let commas = documents.len().saturating_sub(1) as u64;
        let length: u64 = documents.iter().map(|document| document.len() as u64).sum();
        let remaining = (head.len() + tail.len()) as u64 + commas + length;
        Self { head, documents, next: 0, comma_due: false, tail, remaining }
    }

    /// How many bytes are still to come.
    pub(super) const fn remaining(&self) -> u64 {
        self.remaining
    }

    fn next_frame(&mut self) -> Bytes {
        match self.documents.get_mut(self.next) {
            None if self.head.is_empty() => std::mem::take(&mut self.tail),
            None if self.tail.is_empty() => std::mem::take(&mut self.head),
            Some(document) if document.len() >= SHARED => {
                if !self.head.is_empty() {
                    return std::mem::take(&mut self.head);
                }
                if std::mem::take(&mut self.comma_due) {
                    return Bytes::from_static(b",");
                }
                self.comma_due = true;
                self.next += 1;
                std::mem::take(document)
            }
            _ => self.join(),
        }
    }

    /// A frame of what comes next, up to a document that is shared or has no room.
    fn join(&mut self) -> Bytes {
        let room = usize::try_from(self.remaining).map_or(FRAME, |remaining| remaining.min(FRAME));
        let mut frame = Vec::with_capacity(room);
        frame.extend_from_slice(&std::mem::take(&mut self.head));
        while let Some(document) = self.documents.get(self.next) {
            if document.len() >= SHARED || frame.len() + 1 + document.len() > FRAME {
                return frame.into();
            }
            if self.comma_due {
                frame.push(b',');
            }
            frame.extend_from_slice(document);
            self.comma_due = true;
            self.next += 1;
        }
        frame.extend_from_slice(&std::mem::take(&mut self.tail));
        frame.into()
    }
}

/// Without what is in it: an answer may hold a key.
impl fmt::Debug for ResponseBody {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ResponseBody").field("remaining", &self.remaining).finish_non_exhaustive()
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.remaining == 0 {
            return Poll::Ready(None);
        }
        let frame = self.next_frame();
        if frame.is_empty() {
            return Poll::Ready(None);
        }
        self.remaining = self.remaining.saturating_sub(frame.len() as u64);
        Poll::Ready(Some(Ok(Frame::data(frame))))
    }

    fn is_end_stream(&self) -> bool {
        self.remaining == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.remaining)
    }
}
