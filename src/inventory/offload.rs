//! Work that would hold up a runtime's thread for too long runs where blocking is allowed.

use uuid::Uuid;

use super::{Error, ErrorKind};
use crate::fair_threads::{FairThreads, NotRun};

/// Up to this many bytes are decoded or encoded in place, which takes about 2 ms; a change of thread costs some 20 µs.
const INLINE_BYTES: usize = 256 * 1024;

/// Runs the decoding and encoding of large records on the runtime's blocking threads.
#[derive(Debug, Default)]
pub(super) struct Offload(FairThreads);

impl Offload {
    /// Runs work of an organization on about this many bytes: in place when they are few, or when there is no runtime.
    ///
    /// # Errors
    /// `Busy` when too much work of the organization waits; `Internal` when the runtime is shutting down.
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
