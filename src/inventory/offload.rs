//! Work that would hold up a runtime's thread for too long runs where blocking is allowed.

use std::num::NonZeroUsize;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread::available_parallelism;

use tokio::runtime::Handle;
use tokio::sync::Semaphore;

use super::Error;

/// Up to so many bytes are decoded or encoded in place, which takes about 2 ms; a change of thread costs some 20 µs.
const INLINE_BYTES: usize = 256 * 1024;

/// Runs the decoding and encoding of large records on the runtime's blocking threads.
///
/// As many jobs run at once as the machine has processors; others wait in order. A job whose caller is gone still holds
/// its permit until it ends.
#[derive(Debug)]
pub(super) struct Offload {
    permits: Arc<Semaphore>,
}

impl Default for Offload {
    fn default() -> Self {
        let processors = available_parallelism().map_or(1, NonZeroUsize::get);
        Self { permits: Arc::new(Semaphore::new(processors)) }
    }
}

impl Offload {
    /// Runs work on about so many bytes: in place when they are few, or when there is no runtime.
    ///
    /// # Errors
    /// `Internal` when the runtime is shutting down.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        if bytes <= INLINE_BYTES {
            return Ok(work());
        }
        let Ok(runtime) = Handle::try_current() else { return Ok(work()) };
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(Error::internal)?;
        let job = runtime.spawn_blocking(move || {
            let done = work();
            drop(permit);
            done
        });
        job.await.map_err(|error| match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(error) => Error::internal(error),
        })
    }
}
