//! Access control, and the secrets that authenticate callers.

#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "helpers of tests are tests")]

mod digests_and_sessions;
mod ids_and_time;
mod keys;
mod options;
mod password_concurrency;
mod passwords;
mod scopes;
mod support;
