//! The end of a JSON document in a stream of bytes.

/// The place within a document of JSON.
#[derive(Default)]
pub(super) struct Nesting {
    /// The number of open brackets.
    depth: usize,
    is_quoted: bool,
    /// Whether a backslash precedes the place.
    is_escaped: bool,
}

impl Nesting {
    /// Notes bytes of a document. Returns whether the last bracket that they close ends it.
    pub(super) fn note(&mut self, bytes: &[u8]) -> bool {
        let mut is_ended = false;
        for byte in bytes {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.is_quoted => self.is_escaped = true,
                b'"' => self.is_quoted = !self.is_quoted,
                b'{' | b'[' if !self.is_quoted => self.depth = self.depth.saturating_add(1),
                b'}' | b']' if !self.is_quoted => {
                    self.depth = self.depth.saturating_sub(1);
                    is_ended = self.depth == 0;
                }
                _ => {}
            }
        }
        is_ended
    }
}

/// Returns the number of bytes up to the next bracket that may end a document, itself included, or all of them.
pub(super) fn up_to_bracket(bytes: &[u8]) -> usize {
    memchr::memchr2(b'}', b']', bytes).map_or(bytes.len(), |place| place + 1)
}
