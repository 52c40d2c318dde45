//! The request to end a crawl in order, by Ctrl-C.

use tokio::sync::watch;

/// A request to end in order. Clones are the same request.
#[derive(Clone)]
pub(crate) struct Stop(watch::Sender<bool>);

impl Default for Stop {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl Stop {
    pub(crate) fn request(&self) {
        self.0.send_replace(true);
    }

    pub(crate) fn is_requested(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it is requested.
    pub(crate) async fn requested(&self) {
        // The sender lives as long as this.
        let _ = self.0.subscribe().wait_for(|is_requested| *is_requested).await;
    }

    /// Requests it at the first Ctrl-C, and waits for the second one. Without signals, it waits for ever.
    pub(crate) async fn at_interrupts(&self) {
        for is_first in [true, false] {
            if tokio::signal::ctrl_c().await.is_err() {
                return std::future::pending().await;
            }
            if is_first {
                self.request();
            }
        }
    }
}
