//! Writing to the index. A write is one batch of any size, or all records when a store is opened; large ones are divided
//! among threads.

mod apply;
mod check;
mod difference;
mod insert;
#[cfg(any(feature = "sled", feature = "postgres"))]
mod load;
mod pack;

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread;

pub(crate) use self::difference::ReplacedRows;
#[cfg(any(feature = "sled", feature = "postgres"))]
pub(crate) use self::load::Loader;
#[cfg(all(test, any(feature = "sled", feature = "postgres")))]
pub(super) use self::load::MIN_THREADED_ROWS;
#[cfg(feature = "sled")]
pub(crate) use self::pack::Packer;
pub(crate) use self::pack::{Packs, is_large};

/// Maximum number of threads that share work. More would hardly shorten it, and others need processors too.
const MAX_THREADS: usize = 4;

/// Work that is done once.
type Task<'t> = Box<dyn FnOnce() + Send + 't>;

/// Does all tasks, on several threads if there are processors for them. The longest tasks should be first.
fn run_all(tasks: Vec<Task<'_>>) {
    let processors = thread::available_parallelism().map_or(1, NonZero::get);
    let helpers = processors.min(MAX_THREADS).min(tasks.len()).saturating_sub(1);
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
