//! Files of bounded size.

use std::fmt;
use std::io;

use serde::Serialize;

use crate::fair_threads::yield_turn;
use crate::invariant::Invariant;

/// Maximum size of a file in bytes, unless a picture sets another one.
pub const MAX_FILE: usize = 64 * 1024 * 1024;

/// The error for a graph whose file would be larger than the maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the file would be larger than {limit} bytes")]
#[non_exhaustive]
pub struct FileTooLarge {
    /// The maximum size, in bytes.
    pub limit: usize,
}

/// Returns the JSON of a value.
///
/// # Errors
/// [`FileTooLarge`] if it is larger than `limit` bytes.
pub(crate) fn json(value: &impl Serialize, limit: usize) -> Result<String, FileTooLarge> {
    let mut file = File::new(limit);
    // Numbers, strings and maps with string keys always have a JSON form, so that only a full file is an error.
    serde_json::to_writer(&mut file, value).unwrap_or_default();
    file.finish()
}

/// A file that is being written. Text beyond its maximum size is dropped.
pub(super) struct File {
    bytes: Vec<u8>,
    limit: usize,
    is_cut: bool,
}

impl File {
    pub(super) const fn new(limit: usize) -> Self {
        Self { bytes: Vec::new(), limit, is_cut: false }
    }

    pub(super) fn push_str(&mut self, text: &str) {
        self.push_bytes(text.as_bytes());
    }

    fn push_bytes(&mut self, bytes: &[u8]) {
        yield_turn();
        if self.is_cut || self.bytes.len().saturating_add(bytes.len()) > self.limit {
            // Frees the memory at once.
            self.bytes = Vec::new();
            self.is_cut = true;
        } else {
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Returns the file.
    ///
    /// # Errors
    /// [`FileTooLarge`] if any text was dropped.
    pub(super) fn finish(self) -> Result<String, FileTooLarge> {
        // Only texts are written, each as a whole.
        let text = String::from_utf8(self.bytes).ok().asserted_or_default();
        if self.is_cut { Err(FileTooLarge { limit: self.limit }) } else { Ok(text) }
    }
}

impl fmt::Write for File {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push_str(text);
        if self.is_cut { Err(fmt::Error) } else { Ok(()) }
    }
}

impl io::Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.push_bytes(bytes);
        if self.is_cut { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
