//! Dividing work among threads.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Maximum number of threads that share work. More would hardly shorten it, and others need processors too.
const MOST: usize = 4;

/// Work that is done once.
pub(super) type Task<'t> = Box<dyn FnOnce() + Send + 't>;

/// Does all tasks, on several threads if there are processors for them. The longest tasks should be first.
pub(super) fn run_all(tasks: Vec<Task<'_>>) {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let helpers = processors.min(MOST).min(tasks.len()).saturating_sub(1);
    let waiting = Mutex::new(tasks.into_iter());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = || {
        while let Some(task) = next() {
            task();
        }
    };
    thread::scope(|scope| {
        for _ in 0..helpers {
            // If no thread can be started, this thread does all the work.
            _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
}
