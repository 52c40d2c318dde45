//! Tasks that end with their callers.

use std::panic::resume_unwind;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::task::{JoinError, JoinHandle};

use super::NotRun;

/// A task that is aborted when its handle is dropped.
pub(super) struct AbortOnDrop<T>(pub(super) JoinHandle<T>);

impl<T> Future for AbortOnDrop<T> {
    type Output = Result<T, NotRun>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(ready!(Pin::new(&mut self.0).poll(context)).map_err(rethrow))
    }
}

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Resumes a job's panic in its caller, as if the caller had run the job.
pub(super) fn rethrow(error: JoinError) -> NotRun {
    match error.try_into_panic() {
        Ok(panic) => resume_unwind(panic),
        Err(_) => NotRun::ShutDown,
    }
}
