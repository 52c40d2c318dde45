use tokio::runtime::Handle;

use super::queue::closed;
use crate::store::StoreError;

/// Has something done on a thread that may wait for the disk.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, StoreError> {
    let runtime = Handle::try_current().map_err(|error| {
        StoreError::invalid("a store in a folder works in a tokio runtime only").with_source(error)
    })?;
    // It does not panic, so it ended with the runtime.
    runtime.spawn_blocking(work).await.map_err(|_| closed())
}
