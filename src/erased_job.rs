//! Jobs of one type, for results of any type.
//!
//! The code with which the runtime spawns a task or a blocking job is compiled for every type of job. With one type for all
//! of them, it is compiled once.

use std::any::Any;

use crate::invariant::Invariant;

/// A job with a result of any type.
pub(crate) type ErasedJob = Box<dyn FnOnce() -> ErasedResult + Send>;

/// The result of an [`ErasedJob`].
pub(crate) type ErasedResult = Box<dyn Any + Send>;

/// Erases the type of a job and of its result.
pub(crate) fn erase<T: Send + 'static>(job: impl FnOnce() -> T + Send + 'static) -> ErasedJob {
    Box::new(move || Box::new(job()))
}

/// Returns the result of a job that was erased with this type. It is never `None`.
pub(crate) fn result_of<T: 'static>(result: ErasedResult) -> Option<T> {
    result.downcast().ok().asserted().map(|result| *result)
}
