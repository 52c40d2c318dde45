use std::sync::{Mutex, PoisonError};

use tokio::runtime::Handle;
use tokio::task::JoinSet;

/// The maximum number of concurrent tasks.
const TASKS: usize = 64;

/// Background tasks, aborted when the inventory is dropped.
#[derive(Debug, Default)]
pub(super) struct Tasks(Mutex<JoinSet<()>>);

impl Tasks {
    /// Spawns a task if there is capacity and a runtime, and then `begins` returns true.
    pub(super) fn spawn(
        &self,
        begins: impl FnOnce() -> bool,
        task: impl Future<Output = ()> + Send + 'static,
    ) {
        let Ok(runtime) = Handle::try_current() else { return };
        let mut tasks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        if tasks.len() < TASKS && begins() {
            tasks.spawn_on(task, &runtime);
        }
    }
}
