//! A reader that limits the size of single elements.

use std::io::{self, BufRead, Read};

use crate::invariant::Invariant;

/// The largest element, comment or text. The results of scripts are attributes of one element.
const MAX_EVENT: usize = 4 * 1024 * 1024;

/// A reader that counts the bytes of each XML event. The XML reader keeps a whole event in memory.
pub(super) struct LimitedReader<'r> {
    reader: &'r mut dyn BufRead,
    event_bytes: usize,
    is_at_end: bool,
}

impl<'r> LimitedReader<'r> {
    pub(super) fn new(reader: &'r mut dyn BufRead) -> Self {
        Self { reader, event_bytes: 0, is_at_end: false }
    }

    pub(super) const fn begin_event(&mut self) {
        self.event_bytes = 0;
    }

    /// Returns whether the end of the input was reached.
    pub(super) const fn is_at_end(&self) -> bool {
        self.is_at_end
    }

    pub(super) const fn is_too_large(&self) -> bool {
        self.event_bytes > MAX_EVENT
    }
}

impl Read for LimitedReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(buffer)?;
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for LimitedReader<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.is_too_large() {
            return Err(io::Error::other("too large"));
        }
        let chunk = self.reader.fill_buf()?;
        self.is_at_end = chunk.is_empty();
        // A reader over memory has all input in one chunk.
        Ok(chunk.get(..chunk.len().min(64 * 1024)).asserted_or_default())
    }

    fn consume(&mut self, amount: usize) {
        self.event_bytes = self.event_bytes.saturating_add(amount);
        self.reader.consume(amount);
    }
}
