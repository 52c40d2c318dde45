use std::io;
use std::time::Duration;

use tokio::sync::watch;

use super::note;

/// Tells when the program is asked to end: by Ctrl-C, or by what a service manager sends. However many wait for it, all
/// learn of it, also those that begin to wait later.
#[derive(Clone, Debug)]
pub(crate) struct Stop(watch::Receiver<bool>);

impl Stop {
    /// How long requests that are under way when the program is asked to end may still take.
    pub(crate) const GRACE: Duration = Duration::from_secs(10);

    /// Begins to listen. From here on Ctrl-C no longer kills the program.
    pub(crate) fn listen() -> Self {
        let (sender, receiver) = watch::channel(false);
        tokio::spawn(async move {
            match signal().await {
                Ok(()) => {
                    note("Stopping.");
                    sender.send_replace(true);
                }
                Err(error) => note(format_args!("Signals cannot be listened for: {error}.")),
            }
        });
        Self(receiver)
    }

    pub(crate) async fn asked(mut self) {
        // An error means that no signal will ever be heard of.
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
