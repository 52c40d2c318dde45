//! Offloading of long computations to threads where blocking is allowed.

use uuid::Uuid;

use super::{Error, ErrorKind};
use crate::fair_threads::{FairThreads, NotRun};

/// Up to this size, work runs in place: it takes about 2 ms; switching threads costs about 20 µs.
const INLINE_BYTES: usize = 256 * 1024;

/// Runs decoding and encoding of large records on the runtime's blocking threads.
#[derive(Debug, Default)]
pub(super) struct Offload(FairThreads);

impl Offload {
    /// Runs an organization's work on about `bytes` bytes.
    ///
    /// Small work, and any work without a runtime, runs in place.
    ///
    /// # Errors
    /// `Busy` when too much work of the organization is waiting; `Internal` when the runtime is shutting down.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        organization: Uuid,
        bytes: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        if bytes <= INLINE_BYTES {
            return Ok(work());
        }
        self.0.run(organization, work).await.map_err(|reason| match reason {
            NotRun::Busy => ErrorKind::Busy.into(),
            NotRun::ShutDown => Error::internal("the runtime is shutting down"),
        })
    }
}
