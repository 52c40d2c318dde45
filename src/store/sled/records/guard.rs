use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::store::StoreError;

/// Calls what panics on damaged files.
pub(super) fn guarded<T>(call: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(call))
        .unwrap_or_else(|_| Err(StoreError::corrupt("the files of the records are damaged")))
}

/// What sled has to say, by what can be done about it.
pub(super) fn failed(what: &str, error: ::sled::Error) -> StoreError {
    let said = match &error {
        ::sled::Error::Io(_) => StoreError::unavailable(what),
        _ => StoreError::corrupt(what),
    };
    said.with_source(error)
}
