//! What goes over the wire around the records: the envelope, the error codes, and the reading of queries.

mod code;
mod envelope;
mod error;
mod hosts_query;
mod query;

pub use code::ErrorCode;
pub use envelope::{API_VERSION, Failure, Meta, Pagination, Success};
pub(crate) use error::ApiError;
pub(crate) use hosts_query::read_hosts_query;
pub(crate) use query::read_no_query;
