use std::sync::{Arc, Weak};

use tokio::runtime::Handle;

use crate::erased_job::{erase, result_of};
use crate::store::StoreError;
use crate::store::log::queue::closed;

/// Runs work on a blocking thread. The work continues when the future is dropped.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, StoreError> {
    let runtime = Handle::try_current().map_err(|error| {
        StoreError::invalid("a SledStore needs a tokio runtime: call it from a task").with_source(error)
    })?;
    // The work does not panic, so a failed join means that the runtime has shut down.
    let done = runtime.spawn_blocking(erase(work)).await.map_err(|_| closed())?;
    result_of(done).ok_or_else(closed)
}

/// Runs long work on a blocking thread, and cancels it when the future is dropped.
pub(super) async fn cancellable<T: Send + 'static>(
    work: impl FnOnce(&Cancellation) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let caller = Arc::new(());
    let cancellation = Cancellation(Arc::downgrade(&caller));
    let outcome = blocking(move || work(&cancellation)).await?;
    drop(caller);
    outcome
}

/// Lets work on another thread detect that its caller has dropped the future that holds the counterpart.
#[derive(Debug)]
pub(super) struct Cancellation(Weak<()>);

impl Cancellation {
    /// Checks that the work has not been cancelled.
    ///
    /// # Errors
    /// `Unavailable` when it has been cancelled.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        if self.0.strong_count() == 0 {
            return Err(StoreError::unavailable("the call was cancelled before it completed"));
        }
        Ok(())
    }
}
