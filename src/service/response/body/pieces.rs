use std::vec;

use bytes::Bytes;

use crate::invariant::Invariant;
use crate::inventory::without_comma;

/// Minimum size in bytes of a document that becomes a frame of its own.
///
/// Such a document is shared with the store and not copied. Smaller documents are joined, because every frame has a
/// fixed cost.
const MIN_OWN_FRAME: usize = 2 * 1024;

/// Maximum size in bytes of a frame of joined documents.
const JOINED_FRAME: usize = 16 * 1024;

/// Size in bytes of the frames into which one long piece is split.
///
/// A server that gathers frames before it writes them, as hyper does up to about 400 KB, then writes no more at a
/// time than fits in the processor's cache. Writing megabytes at once takes a third longer.
const MAX_FRAME: usize = 32 * 1024;

/// The opening of a list's envelope.
const LIST: &[u8] = b"{\"success\":true,\"data\":[";

/// The parts of a body that are in memory, from which frames are made.
#[derive(Default)]
pub(super) struct Pieces {
    head: Bytes,
    /// The documents that are not in frames yet. Each starts with a comma, except the first of the list.
    documents: vec::IntoIter<Bytes>,
    has_first: bool,
    tail: Bytes,
    /// Number of bytes that are not in frames yet.
    remaining: u64,
}

impl Pieces {
    pub(super) fn full(bytes: Bytes) -> Self {
        Self { remaining: bytes.len() as u64, head: bytes, ..Self::default() }
    }

    /// Creates the pieces of a list from stored documents.
    pub(super) fn list(documents: Vec<Bytes>) -> Self {
        let mut pieces = Self::full(Bytes::from_static(LIST));
        pieces.add_documents(documents);
        pieces
    }

    /// Creates the pieces of a body of lines, to which further ones may be added.
    pub(super) fn lines(lines: Vec<Bytes>) -> Self {
        // No line begins with a comma that would have to go.
        let mut pieces = Self { has_first: true, ..Self::default() };
        pieces.add_documents(lines);
        pieces
    }

    /// Joins all pieces.
    pub(super) fn into_bytes(self) -> Bytes {
        let mut bytes = Vec::with_capacity(usize::try_from(self.remaining).unwrap_or_default());
        for piece in [&self.head].into_iter().chain(self.documents.as_slice()).chain([&self.tail]) {
            bytes.extend_from_slice(piece);
        }
        bytes.into()
    }

    pub(super) const fn remaining(&self) -> u64 {
        self.remaining
    }

    /// Adds further documents. All previous ones must already be in frames.
    pub(super) fn add_documents(&mut self, mut documents: Vec<Bytes>) {
        if !self.has_first
            && let Some(first) = documents.first_mut()
        {
            *first = without_comma(std::mem::take(first));
            self.has_first = true;
        }
        self.remaining += documents.iter().map(|document| document.len() as u64).sum::<u64>();
        self.documents = documents.into_iter();
    }

    pub(super) fn add_tail(&mut self, tail: Bytes) {
        self.remaining += tail.len() as u64;
        self.tail = tail;
    }

    /// Returns the next frame, or `None` after the last one.
    #[inline]
    pub(super) fn next_frame(&mut self) -> Option<Bytes> {
        if self.remaining == 0 {
            return None;
        }
        let frame = self.cut_frame();
        self.remaining = self.remaining.saturating_sub(frame.len() as u64);
        Some(frame)
    }

    #[inline]
    fn cut_frame(&mut self) -> Bytes {
        match self.documents.as_slice().first() {
            None if self.head.is_empty() => std::mem::take(&mut self.tail),
            None if self.tail.is_empty() => self.head.split_to(self.head.len().min(MAX_FRAME)),
            Some(document) if document.len() >= MIN_OWN_FRAME => {
                if !self.head.is_empty() {
                    return std::mem::take(&mut self.head);
                }
                self.documents.next().asserted_or_default()
            }
            _ => self.join(),
        }
    }

    /// Joins the next pieces into a frame.
    ///
    /// It ends before a document that gets its own frame or does not fit.
    fn join(&mut self) -> Bytes {
        let room =
            usize::try_from(self.remaining).map_or(JOINED_FRAME, |remaining| remaining.min(JOINED_FRAME));
        let mut frame = Vec::with_capacity(room);
        frame.extend_from_slice(&std::mem::take(&mut self.head));
        while let Some(document) = self.documents.as_slice().first() {
            if document.len() >= MIN_OWN_FRAME || frame.len() + document.len() > JOINED_FRAME {
                return frame.into();
            }
            frame.extend_from_slice(document);
            self.documents.next();
        }
        frame.extend_from_slice(&std::mem::take(&mut self.tail));
        frame.into()
    }
}
