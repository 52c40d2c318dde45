//! Panics of the host application's code in tasks.

use tokio::task::JoinError;

/// Continues the panic of a task, which can only come from code of the host application. A task that was aborted has none.
pub(super) fn resume(error: JoinError) {
    if let Ok(panic) = error.try_into_panic() {
        std::panic::resume_unwind(panic);
    }
}
