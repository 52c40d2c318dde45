//! A copy of an inventory in an SQLite database, kept current over HTTP, with a signed webhook for each change.
//!
//! ```text
//! server ── lists, once ─────► follow ── one transaction: rows, position, outbox ──► SQLite
//!    └───── changes, always ──►                                                         │
//!                              webhook ◄── the first message of the outbox ─────────────┘
//!                                 └── POST ──► receiver
//! ```
//!
//! * [`follow`](follow()) reads the lists and then the history. A transaction has the rows of a change together with
//!   its position, so that a killed process continues exactly at its position.
//! * [`copied`] has the kinds of records that are copied, and their states after changes.
//! * [`Database`] has the transactions.
//! * [`Webhook`] posts the messages of the outbox in their order, each until the receiver has accepted it.
//! * [`signature`] signs them, and verifies them at the receiver.

pub mod arguments;
mod backoff;
pub mod copied;
mod database;
mod error;
mod follow;
mod http;
pub mod signature;
mod webhook;

use std::fmt;

pub use self::backoff::Backoff;
pub use self::database::Database;
pub use self::error::Error;
pub use self::follow::follow;
pub use self::http::{HttpClient, http_client};
pub use self::webhook::Webhook;

/// Prints a line for the person who runs the program.
fn note(line: impl fmt::Display) {
    use std::io::Write;
    // The work continues if standard error is closed.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
