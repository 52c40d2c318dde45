//! Export of a whole store as JSON lines, and its restoration.

mod error;
mod export;
mod line;
mod restore;

pub use self::error::{TransferError, TransferErrorKind};
pub use self::export::Export;
pub use self::restore::Restore;

/// Maximum number of records in a chunk.
const CHUNK_RECORDS: usize = 1000;

/// Size in bytes at which a chunk that is being restored ends, after the line that reaches it.
const CHUNK_BYTES: usize = 4 * 1024 * 1024;

/// Maximum length of a line, in bytes.
const MAX_LINE: usize = 256 * 1024 * 1024;

/// The progress of an export or a restoration, or its final result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransferReport {
    /// Number of records written: to the output by an export, to the store by a restoration.
    pub records: u64,
    /// Number of bytes written to the output, or read from the input.
    pub bytes: u64,
}
