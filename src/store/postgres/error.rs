//! Errors of the database as errors of the store. None of them contains a parameter or a password.

use std::error::Error as _;

use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use crate::store::StoreError;

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
    let ends = [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN];
    error.code().map_or(error.is_closed(), |code| ends.contains(code))
}

/// Returns whether a table or its schema does not exist.
pub(super) fn is_missing_table(error: &Error) -> bool {
    let missing = [SqlState::UNDEFINED_TABLE, SqlState::INVALID_SCHEMA_NAME];
    error.code().is_some_and(|code| missing.contains(code))
}

pub(super) fn timed_out() -> StoreError {
    StoreError::unavailable("the database does not answer in time")
}

pub(super) fn undecodable() -> StoreError {
    StoreError::corrupt("a row of the database cannot be decoded")
}
