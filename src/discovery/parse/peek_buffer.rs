//! Bytes of a reader that are looked at before they are handed out.

use std::io::{self, BufRead};

use super::encoding::HEAD;
use crate::invariant::Invariant;

/// A reader with a buffer of any length.
pub(super) struct PeekBuffer<'r> {
    reader: &'r mut dyn BufRead,
    /// The bytes that were read, from `position` on.
    buffer: Vec<u8>,
    position: usize,
}

impl<'r> PeekBuffer<'r> {
    pub(super) const fn new(reader: &'r mut dyn BufRead) -> Self {
        Self { reader, buffer: Vec::new(), position: 0 }
    }

    /// Returns the bytes that were read and not consumed.
    pub(super) fn rest(&self) -> &[u8] {
        self.buffer.get(self.position..).asserted_or_default()
    }

    /// As [`rest`](Self::rest), for changes.
    pub(super) fn rest_mut(&mut self) -> &mut [u8] {
        self.buffer.get_mut(self.position..).unwrap_or_default()
    }

    /// Reads until there are at least this many bytes, or the input ends.
    pub(super) fn fill(&mut self, length: usize) -> io::Result<()> {
        while self.rest().len() < length && self.read_chunk()? {}
        Ok(())
    }

    /// Consumes bytes and returns them.
    pub(super) fn consume(&mut self, amount: usize) -> &[u8] {
        let begin = self.position;
        self.position = begin.saturating_add(amount).min(self.buffer.len());
        self.buffer.get(begin..self.position).asserted_or_default()
    }

    /// Reads further bytes. Returns whether there may be more.
    fn read_chunk(&mut self) -> io::Result<bool> {
        let chunk = match self.reader.fill_buf() {
            Ok(chunk) => chunk.get(..chunk.len().min(HEAD)).asserted_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(true),
            Err(error) => return Err(error),
        };
        // The consumed bytes are dropped once they are the larger part, so that each byte is moved about once.
        if self.position > self.buffer.len() / 2 {
            self.buffer.drain(..self.position);
            self.position = 0;
        }
        self.buffer.extend_from_slice(chunk);
        let length = chunk.len();
        self.reader.consume(length);
        Ok(length > 0)
    }
}
