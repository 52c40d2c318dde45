//! Errors of the database as errors of the store. None of them contains a parameter or a password.

use std::error::Error as _;
use std::io;
use std::sync::Arc;

use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use super::server::{History, Server};
use crate::store::{StoreError, StoreErrorKind};

/// An error, and whether the same call may succeed a moment later, as in a failover.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) error: StoreError,
    pub(super) is_transient: bool,
    /// Whether a server has answered, though with a refusal: it is alive.
    pub(super) is_answer: bool,
    /// Whether nothing listens at the address. A server that has ended answers on no open connection either.
    pub(super) is_down: bool,
}

impl Fault {
    /// Returns the fault for an error of the driver.
    pub(super) fn of(error: &Error) -> Self {
        let (is_transient, is_answer, is_down) = (is_transient(error), is_answer(error), is_down(error));
        Self { error: store_error(error), is_transient, is_answer, is_down }
    }

    /// Returns the fault of a server that supports queries for its identity but fails to answer them.
    pub(super) fn unidentified(name: &str, error: &Error) -> Self {
        let text = format!("the database server {name} was not used, because it does not answer what it is");
        let source = store_error(error);
        let cause = source.source().map_or_else(|| source.to_string(), |cause| format!("{source}: {cause}"));
        let is_answer = is_answer(error);
        let error = StoreError::unavailable(text).with_source(cause);
        Self { error, is_transient: true, is_answer, is_down: false }
    }

    pub(super) fn unresolved(host: &str, error: Arc<io::Error>) -> Self {
        StoreError::unavailable(format!("the name of the host {host} cannot be resolved"))
            .with_source(error)
            .into()
    }

    /// Returns the fault of a server that was ruled out because it accepts writes, or because it does not.
    pub(super) fn unsuitable(server: &Server) -> Self {
        let text = if server.is_writable { "accepts writes" } else { "is read-only" };
        StoreError::unavailable(format!(
            "the database server {} was not used, because it {text}",
            server.name
        ))
        .into()
    }

    /// Returns the fault of a server that a later one has replaced.
    pub(super) fn older(server: &Server) -> Self {
        let timeline = server.timeline().unwrap_or_default();
        let text = format!(
            "the database server {} was not used, because it is on timeline {timeline}, and a later one was seen before: \
             restart this instance if a backup was restored",
            server.name
        );
        StoreError::unavailable(text).into()
    }

    /// Returns the fault of a server whose data do not continue those that were used.
    pub(super) fn replaced_data(server: &Server, found: History, used: History) -> Self {
        let text = format!(
            "the database server {} was not used, because it has other data than the server before: the system identifier \
             is {}, and was {}. If this is intended, restart this instance",
            server.name, found.system, used.system
        );
        StoreError::unavailable(text).into()
    }

    /// Returns the fault of a server that does not report its history, while earlier ones did.
    pub(super) fn without_history(server: &Server) -> Self {
        let text = format!(
            "the database server {} was not used, because it does not tell its system identifier, and the server before \
             did: grant the database user EXECUTE on pg_control_system(), or restart this instance if this is intended",
            server.name
        );
        StoreError::unavailable(text).into()
    }

    /// Returns the fault of two servers that accept writes and have nothing in common.
    pub(super) fn unrelated(one: &Server, other: &Server) -> Self {
        let text = format!(
            "the database servers {} and {} do not belong to one cluster, because their system identifiers differ: \
             remove those of other clusters from the connection string",
            other.name, one.name
        );
        StoreError::invalid(text).into()
    }

    /// Joins the faults of two servers. The error that asks for another configuration is kept. It counts as temporary
    /// while any server is unavailable: a standby may lag behind, and lack a new user or database.
    pub(super) fn or(self, other: Option<Self>) -> Self {
        let Some(other) = other else { return self };
        let is_transient = self.is_transient || other.is_transient;
        let is_answer = self.is_answer || other.is_answer;
        let is_down = self.is_down && other.is_down;
        let error = if self.is_transient { other.error } else { self.error };
        Self { error, is_transient, is_answer, is_down }
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        let is_transient = *error.kind() == StoreErrorKind::Unavailable;
        Self { error, is_transient, is_answer: false, is_down: false }
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        fault.error
    }
}

/// Returns the error of the store for an error of the driver.
pub(super) fn store_error(error: &Error) -> StoreError {
    let Some(database) = error.as_db_error() else {
        let text = if error.is_closed() {
            "the connection to the database was lost"
        } else {
            "the database cannot be reached"
        };
        let cause = error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}"));
        return StoreError::unavailable(text).with_source(cause);
    };
    let text = explain(database.code());
    // Without the detail of the server's error, which may quote a row.
    let cause = format!("{} (SQLSTATE {})", database.message(), database.code().code());
    if [SqlState::DATA_CORRUPTED, SqlState::INDEX_CORRUPTED].contains(database.code()) {
        return StoreError::corrupt("the database reports damaged data").with_source(cause);
    }
    StoreError::unavailable(text).with_source(cause)
}

fn explain(code: &SqlState) -> &'static str {
    match code.code() {
        "28000" | "28P01" => "the database rejects the user or the password",
        "3D000" => "the server has no such database",
        "3F000" | "42P01" | "42703" => "a table of the store is missing in the database",
        "42501" => "the database user lacks a privilege that the store needs",
        "25006" => "the database server is read-only",
        "53100" => "the disk of the database server is full",
        "53300" => "the database server has too many connections",
        "57014" => "a statement took longer than its timeout",
        "26000" | "42P05" => {
            "the connections lead to a pooler that assigns a server connection to each transaction: call \
             `transaction_pooling(true)` on the builder"
        }
        "57P01" | "57P02" | "57P03" => "the database server is starting or shutting down",
        _ => "the database server reports an error",
    }
}

/// Returns whether another transaction came first, so that the same transaction may succeed later.
pub(super) fn is_conflict(error: &Error) -> bool {
    let conflicts = [SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED];
    error.code().is_some_and(|code| conflicts.contains(code))
}

/// Returns whether the server ended the connection. The same statement may succeed on another connection.
pub(super) fn is_disconnect(error: &Error) -> bool {
    let ends = [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN, SqlState::IDLE_SESSION_TIMEOUT];
    error.code().map_or(error.is_closed(), |code| ends.contains(code))
}

/// Returns whether the cause is a server that starts, ends or cannot be reached, rather than the configuration.
fn is_transient(error: &Error) -> bool {
    error
        .as_db_error()
        .is_none_or(|error| ["57P", "08", "53"].iter().any(|class| error.code().code().starts_with(class)))
}

/// Returns whether the error comes from a server that is up, such as one with too many connections. A pooler reports
/// with the class 08 that it cannot reach its server, or has no place.
fn is_answer(error: &Error) -> bool {
    let is_up = |code: &SqlState| !["57P", "08"].iter().any(|class| code.code().starts_with(class));
    error.as_db_error().is_some_and(|error| is_up(error.code()))
}

/// Returns whether nothing listens at the address, or the Unix socket does not exist.
fn is_down(error: &Error) -> bool {
    let cause = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    cause.is_some_and(|cause| {
        matches!(cause.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound)
    })
}

/// Returns whether the server cannot report its identity: it lacks a function, or the user may not call it.
pub(super) fn is_unsupported(error: &Error) -> bool {
    error.code().is_some_and(|code| ["0A", "42"].iter().any(|class| code.code().starts_with(class)))
}

/// Returns whether the server refuses writes, as one that has become a standby does.
pub(super) fn is_read_only(error: &Error) -> bool {
    error.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION)
}

/// Returns whether a table or its schema does not exist.
pub(super) fn is_missing_table(error: &Error) -> bool {
    let missing = [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME];
    error.code().is_some_and(|code| missing.contains(code))
}

/// Returns the error of a commit that has to wait until other instances know of a promotion.
pub(super) fn held() -> StoreError {
    StoreError::unavailable(
        "a server was promoted, and others may not know it yet, so it takes no commits for a second",
    )
}

pub(super) fn timed_out() -> StoreError {
    StoreError::unavailable("the database does not answer in time")
}

/// Returns the error of a statement whose server is no longer used.
pub(super) fn replaced() -> StoreError {
    StoreError::unavailable("the database does not answer in time, or another server has replaced it")
}

pub(super) fn undecodable() -> StoreError {
    StoreError::corrupt("a row of the database cannot be decoded")
}
