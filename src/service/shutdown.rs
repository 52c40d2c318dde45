//! The shutdown of the service: the signal of the host application, and the end of all work.

use std::fmt;
use std::future::pending;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::{Notify, watch};
use tokio::task::AbortHandle;
use tokio::time::sleep;

/// How long the bodies of requests may still arrive once the host application stops.
const UPLOAD_GRACE: Duration = Duration::from_millis(500);

/// The shutdown signal of the host application. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Shutdown(Option<Arc<Shared>>);

/// The stage of a shutdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ShutdownStage {
    /// No shutdown has begun.
    Running,
    /// Streams and whole lists end, and no new ones begin.
    Stopping,
    /// Also the bodies of requests end, whether they have arrived or not.
    Over,
}

struct Shared {
    /// Ready when the host application stops. `None` once a task waits for it.
    signal: Mutex<Option<Signal>>,
    stage: watch::Sender<ShutdownStage>,
    task: Mutex<Option<AbortHandle>>,
    /// Number of requests that are not answered, and of responses whose bodies exist.
    work: AtomicUsize,
    /// Notified when there is no work.
    idle: Notify,
}

type Signal = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A request or a response, for as long as this value exists.
pub(super) struct OpenWork(Arc<Shared>);

impl Shutdown {
    pub(super) fn on(signal: impl Future<Output = ()> + Send + 'static) -> Self {
        let shutdown = Self(Some(Arc::new(Shared {
            signal: Mutex::new(Some(Box::pin(signal))),
            stage: watch::Sender::new(ShutdownStage::Running),
            task: Mutex::default(),
            work: AtomicUsize::new(0),
            idle: Notify::new(),
        })));
        shutdown.listen();
        shutdown
    }

    /// Begins to wait for the signal, if this is a runtime and nothing waits for it yet.
    fn listen(&self) {
        let Some(shared) = &self.0 else { return };
        let Ok(runtime) = Handle::try_current() else { return };
        let Some(signal) = lock(&shared.signal).take() else { return };
        let weak = Arc::downgrade(shared);
        // The strong reference does not outlive the send, so that the task ends with the service.
        let announce = move |stage| weak.upgrade().map(|shared| shared.stage.send_replace(stage));
        let task = runtime.spawn(async move {
            signal.await;
            announce(ShutdownStage::Stopping);
            sleep(UPLOAD_GRACE).await;
            announce(ShutdownStage::Over);
        });
        *lock(&shared.task) = Some(task.abort_handle());
    }

    /// Counts a request until the returned value is dropped. Returns `None` if the host application announces no
    /// shutdown.
    pub(super) fn begin(&self) -> Option<OpenWork> {
        let shared = self.0.as_ref()?;
        self.listen();
        shared.work.fetch_add(1, Ordering::SeqCst);
        Some(OpenWork(Arc::clone(shared)))
    }

    pub(super) fn has_reached(&self, stage: ShutdownStage) -> bool {
        self.0.as_ref().is_some_and(|shared| *shared.stage.borrow() >= stage)
    }

    /// Waits until the shutdown has reached a stage.
    pub(super) fn reached(&self, stage: ShutdownStage) -> impl Future<Output = ()> + Send + use<> {
        let receiver = self.0.as_ref().map(|shared| shared.stage.subscribe());
        async move {
            if let Some(mut receiver) = receiver
                && receiver.wait_for(|present| *present >= stage).await.is_ok()
            {
                return;
            }
            pending::<()>().await;
        }
    }

    /// Waits until the shutdown has begun, also if nothing has waited for the signal yet.
    pub(super) fn stopping(&self) -> impl Future<Output = ()> + Send + use<> {
        let shutdown = self.clone();
        async move {
            // The future may have been made outside of the runtime.
            shutdown.listen();
            shutdown.reached(ShutdownStage::Stopping).await;
        }
    }

    /// Waits until the shutdown has begun and there is no work.
    pub(super) async fn drained(&self) {
        self.stopping().await;
        let Some(shared) = &self.0 else { return };
        loop {
            let mut idle = pin!(shared.idle.notified());
            // From here on, the end of the last work wakes this task.
            idle.as_mut().enable();
            if shared.work.load(Ordering::SeqCst) == 0 {
                return;
            }
            idle.await;
        }
    }
}

impl fmt::Debug for Shutdown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = self.0.as_ref().map(|shared| *shared.stage.borrow());
        formatter.debug_tuple("Shutdown").field(&stage).finish()
    }
}

impl fmt::Debug for OpenWork {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("OpenWork").finish_non_exhaustive()
    }
}

impl Drop for OpenWork {
    fn drop(&mut self) {
        if self.0.work.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.idle.notify_waiters();
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(task) = lock(&self.task).take() {
            task.abort();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
