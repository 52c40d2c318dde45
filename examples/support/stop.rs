use std::io;
use std::time::Duration;

use tokio::sync::watch;

use super::note;

/// A stop request, by Ctrl-C or by the SIGTERM of a service manager.
///
/// Any number of tasks can wait for it, and a task that starts waiting later sees it too.
#[derive(Clone, Debug)]
pub(crate) struct Stop(watch::Receiver<bool>);

impl Stop {
    /// Time that running requests have to finish after a stop request.
    pub(crate) const GRACE: Duration = Duration::from_secs(10);

    /// Starts to listen. From then on Ctrl-C no longer kills the program.
    pub(crate) fn listen() -> Self {
        let (sender, receiver) = watch::channel(false);
        tokio::spawn(async move {
            match signal().await {
                Ok(()) => {
                    note("Stopping.");
                    sender.send_replace(true);
                }
                Err(error) => note(format_args!("Failed to listen for signals: {error}.")),
            }
        });
        Self(receiver)
    }

    pub(crate) async fn asked(mut self) {
        // An error means that no signal will ever arrive.
        if self.0.wait_for(|asked| *asked).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    pub(crate) async fn grace_over(self) {
        self.asked().await;
        tokio::time::sleep(Self::GRACE).await;
    }
}

#[cfg(unix)]
async fn signal() -> io::Result<()> {
    use tokio::signal::unix;

    let mut terminate = unix::signal(unix::SignalKind::terminate())?;
    tokio::select! {
        outcome = tokio::signal::ctrl_c() => outcome,
        _ = terminate.recv() => Ok(()),
    }
}

#[cfg(not(unix))]
async fn signal() -> io::Result<()> {
    tokio::signal::ctrl_c().await
}
