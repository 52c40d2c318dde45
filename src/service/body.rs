use std::error::Error as StdError;
use std::fmt;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use crate::inventory::{Error, without_comma};

/// A document from this size on is a frame of its own, shared with the store and not copied: the socket takes it from
/// where it lies. Smaller ones are joined, because every frame has its own cost.
const SHARED: usize = 2 * 1024;

/// How much of what is smaller is joined into one frame.
const FRAME: usize = 16 * 1024;

/// How much of one long piece is a frame. A server that gathers frames before it writes them, as hyper does up to some
/// 400 KB, then writes no more at a time than the processor's cache holds: megabytes in one go take a third longer.
const PIECE: usize = 32 * 1024;

/// What opens the envelope of a list.
const LIST: &[u8] = b"{\"success\":true,\"data\":[";

/// The body of a response. Its length is known before it is read, unless it is a list without a limit.
///
/// A page is made frame by frame as it is read, mostly of the stored documents themselves, so that it takes hardly any
/// memory of its own. Of a list without a limit no more is read from the store than the next documents, when those before
/// them are given away; dropping the body ends it.
#[derive(Default)]
pub struct ResponseBody {
    head: Bytes,
    /// Each behind a comma, but for the first of all.
    documents: Vec<Bytes>,
    /// The document that comes next; those before it are given away or joined.
    next: usize,
    has_first: bool,
    tail: Bytes,
    /// How many bytes are still to come of what is there.
    remaining: u64,
    /// Behind a lock that nobody takes: whoever wraps bodies may ask that they can be shared between threads.
    following: Option<Mutex<Following>>,
}

/// The part of a list that comes next, as soon as it is read.
pub(super) type Following = Pin<Box<dyn Future<Output = Result<Part, Error>> + Send>>;

/// A part of a list.
pub(super) enum Part {
    /// Documents as they are stored, with what follows them.
    Documents(Vec<Bytes>, Following),
    /// The text that closes it.
    Tail(Bytes),
}

impl ResponseBody {
    pub(super) fn full(bytes: Bytes) -> Self {
        Self { remaining: bytes.len() as u64, head: bytes, ..Self::default() }
    }

    /// A list of documents as they are stored, with the text that closes it.
    pub(super) fn page(documents: Vec<Bytes>, tail: Bytes) -> Self {
        let mut body = Self::full(Bytes::from_static(LIST));
        body.add_documents(documents);
        body.add_tail(tail);
        body
    }

    /// The same, with documents that are still to be read behind those that are there, and the tail behind these.
    pub(super) fn list(documents: Vec<Bytes>, following: Following) -> Self {
        let mut body = Self::full(Bytes::from_static(LIST));
        body.add(Part::Documents(documents, following));
        body
    }

    /// What is there, in one piece.
    pub(super) fn into_bytes(self) -> Bytes {
        let mut bytes = Vec::with_capacity(usize::try_from(self.remaining).unwrap_or_default());
        let documents = self.documents.iter().skip(self.next);
        for piece in [&self.head].into_iter().chain(documents).chain([&self.tail]) {
            bytes.extend_from_slice(piece);
        }
        bytes.into()
    }

    /// How many bytes are still to come, if that is known.
    pub(super) const fn length(&self) -> Option<u64> {
        if self.following.is_none() { Some(self.remaining) } else { None }
    }

    fn add(&mut self, part: Part) {
        match part {
            Part::Documents(documents, following) => {
                self.add_documents(documents);
                self.following = Some(Mutex::new(following));
            }
            Part::Tail(tail) => self.add_tail(tail),
        }
    }

    /// Puts documents behind others, which are all given away.
    fn add_documents(&mut self, mut documents: Vec<Bytes>) {
        if !self.has_first
            && let Some(first) = documents.first_mut()
        {
            *first = without_comma(std::mem::take(first));
            self.has_first = true;
        }
        self.remaining += documents.iter().map(|document| document.len() as u64).sum::<u64>();
        self.documents = documents;
        self.next = 0;
    }

    fn add_tail(&mut self, tail: Bytes) {
        self.remaining += tail.len() as u64;
        self.tail = tail;
    }

    fn next_frame(&mut self) -> Bytes {
        match self.documents.get_mut(self.next) {
            None if self.head.is_empty() => std::mem::take(&mut self.tail),
            None if self.tail.is_empty() => self.head.split_to(self.head.len().min(PIECE)),
            Some(document) if document.len() >= SHARED => {
                if !self.head.is_empty() {
                    return std::mem::take(&mut self.head);
                }
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
            if document.len() >= SHARED || frame.len() + document.len() > FRAME {
                return frame.into();
            }
            frame.extend_from_slice(document);
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
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        while self.remaining == 0 {
            let Some(following) = &mut self.following else { return Poll::Ready(None) };
            let following = following.get_mut().unwrap_or_else(PoisonError::into_inner);
            let part = ready!(following.as_mut().poll(context));
            self.following = None;
            match part {
                Ok(part) => self.add(part),
                Err(error) => return Poll::Ready(Some(Err(BodyError(error)))),
            }
        }
        let frame = self.next_frame();
        self.remaining = self.remaining.saturating_sub(frame.len() as u64);
        Poll::Ready(Some(Ok(Frame::data(frame))))
    }

    fn is_end_stream(&self) -> bool {
        self.length() == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = SizeHint::new();
        match self.length() {
            Some(length) => hint.set_exact(length),
            None => hint.set_lower(self.remaining),
        }
        hint
    }
}

/// Why a list without a limit ends before its end: the store failed, or the caller lost the right to it. The server must
/// then break off the response, as hyper does, so that nobody takes it for the whole list.
#[derive(Debug)]
pub struct BodyError(Error);

impl fmt::Display for BodyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the list cannot be read to its end")
    }
}

impl StdError for BodyError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&self.0)
    }
}
