use std::sync::{Mutex, PoisonError};

use tokio::runtime::Handle;
use tokio::task::JoinSet;

/// How many are under way at once at most.
const TASKS: usize = 64;

/// Tasks that no request waits for. They end with the inventory.
#[derive(Debug, Default)]
pub(super) struct Tasks(Mutex<JoinSet<()>>);

impl Tasks {
    /// Begins a task, unless there is no room for it, or no runtime; `begins` is asked last.
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
