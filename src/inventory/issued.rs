use std::fmt;

use crate::access::KeyText;

/// An API key just created or rotated, with its plaintext, which cannot be retrieved later.
///
/// `R` is the stored record: a [`UserApiKey`](crate::model::UserApiKey) or a
/// [`DaemonApiKey`](crate::model::DaemonApiKey).
pub struct IssuedKey<R> {
    record: R,
    text: KeyText,
}

impl<R> IssuedKey<R> {
    pub(super) const fn new(record: R, text: KeyText) -> Self {
        Self { record, text }
    }

    /// Returns the stored record, with `key` masked.
    #[must_use]
    pub const fn record(&self) -> &R {
        &self.record
    }

    /// Returns the plaintext key. Hand it to its owner and do not store it.
    #[must_use]
    pub fn plaintext(&self) -> &str {
        self.text.expose()
    }
}

/// Omits the plaintext.
impl<R: fmt::Debug> fmt::Debug for IssuedKey<R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("IssuedKey").field("record", &self.record).finish_non_exhaustive()
    }
}
