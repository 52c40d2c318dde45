use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::store::StoreError;

/// Calls what panics on damaged files.
pub(super) fn guarded<T>(
    folder: &Path,
    call: impl FnOnce() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| Err(damaged("a file of the records", folder)))
}

/// What is said where no single record can be named.
pub(super) fn damaged(what: &str, folder: &Path) -> StoreError {
    StoreError::corrupt(format!("{what} in {} is damaged", folder.display()))
}

/// What can be tried again, in the words of what was to be done to the records.
pub(super) fn unavailable(what: &str, folder: &Path) -> StoreError {
    StoreError::unavailable(format!("the records in {} {what}", folder.display()))
}

/// What sled has to say, by what can be done about it.
pub(super) fn failed(what: &str, folder: &Path, error: ::sled::Error) -> StoreError {
    let said = match &error {
        ::sled::Error::Io(_) => unavailable(what, folder),
        _ => StoreError::corrupt(format!("the records in {} {what}", folder.display())),
    };
    said.with_source(error)
}
