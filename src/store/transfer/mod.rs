//! A whole store as JSON lines, out and in again.

mod error;
mod export;
mod line;
mod restore;

pub use self::error::{TransferError, TransferErrorKind};
pub use self::export::Export;
pub use self::restore::Restore;

/// So many records, or so many bytes, are transferred together at most; a larger record goes alone.
const PIECE_RECORDS: usize = 1000;
const PIECE_BYTES: usize = 4 * 1024 * 1024;

/// The longest line, in bytes.
const MAX_LINE: usize = 256 * 1024 * 1024;

/// What an export or a restoration did, so far or in the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransferReport {
    /// Records written to the medium, or to the store.
    pub records: u64,
    /// Bytes written to the medium, or read from it.
    pub bytes: u64,
}
