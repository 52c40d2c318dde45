//! The parts of the protocol that a client shares: response envelopes, error codes and pagination.

mod code;
mod envelope;

pub use code::ErrorCode;
pub(crate) use envelope::MAX_LIMIT;
pub use envelope::{API_VERSION, Failure, Meta, Pagination, Success};
