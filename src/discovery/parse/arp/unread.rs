//! The lines of a table that have no known meaning.

use super::Sink;

/// The lines without addresses since the last entry. They are titles if a heading follows.
#[derive(Default)]
pub(super) struct UnreadLines {
    count: u64,
    line: u64,
    example: String,
}

impl UnreadLines {
    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn add(&mut self, text: &str, sink: &Sink<'_>) {
        if self.count == 0 {
            self.line = sink.meter.line();
            text.clone_into(&mut self.example);
        }
        self.count += 1;
    }

    /// Returns whether the only line is a heading in a language whose titles are not known.
    pub(super) fn is_foreign_heading(&self) -> bool {
        let has_digit = self.example.contains(|character: char| character.is_ascii_digit());
        self.count == 1 && !self.example.is_ascii() && !has_digit
    }

    /// Counts the lines as entries that cannot be read.
    pub(super) fn skip(&mut self, sink: &mut Sink<'_>) {
        let Self { count, line, example } = std::mem::take(self);
        if count > 0 {
            sink.skip_malformed(count, line, &example);
        }
    }
}
