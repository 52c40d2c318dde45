//! What goes over the wire around the records: the envelope, the error codes, and the reading of paths,
//! queries and bodies.

mod bodies;
mod code;
mod envelope;
mod error;
mod fields;
mod hosts_query;
mod path;
mod query;

pub(crate) use bodies::{read_daemon_key, read_login, read_port_update, read_referral, read_user_key_update};
pub use code::ErrorCode;
pub use envelope::{API_VERSION, Failure, Meta, Pagination, Success};
pub(crate) use error::ApiError;
pub(crate) use hosts_query::read_hosts_query;
pub(crate) use path::read_id;
pub(crate) use query::read_no_query;
