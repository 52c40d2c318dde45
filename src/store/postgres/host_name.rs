//! Names of hosts, and the addresses that they lead to.
//!
//! A resolver may be silent for any time, and cannot be interrupted. So at most one look-up of a name runs at
//! a time, on a thread of its own: it takes no thread of the runtime, and does not delay the end of the runtime. While it is
//! without an answer, the last known addresses are used.

use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use super::error::Fault;
use super::occasional::Occasional;
use super::single_flight::SingleFlight;

/// Time that the resolver has to answer when other addresses of the name are known.
const PATIENCE: Duration = Duration::from_millis(500);

/// The addresses of a name, or why there are none.
type Found = Result<Vec<IpAddr>, Arc<io::Error>>;

/// A name to resolve.
#[derive(Debug)]
pub(super) struct HostName {
    name: String,
    look_ups: SingleFlight<Found>,
    known: Mutex<Known>,
}

/// What the last look-ups have found.
#[derive(Debug, Default)]
struct Known {
    /// The addresses that the last successful one has found.
    addresses: Vec<IpAddr>,
    failures: Occasional,
}

impl HostName {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), look_ups: SingleFlight::default(), known: Mutex::default() }
    }

    /// Resolves the name, or returns its last known addresses if the resolver does not do so in time.
    pub(super) async fn resolve(self: &Arc<Self>, limit: Duration) -> Result<Vec<IpAddr>, Fault> {
        let limit = if self.lock().addresses.is_empty() { limit } else { limit.min(PATIENCE) };
        let own = Arc::clone(self);
        let found = timeout(limit, self.look_ups.run(|| own.look_up())).await;
        let error = match found {
            Ok(Some(Ok(addresses))) => return Ok(addresses),
            Ok(Some(Err(error))) => error,
            Ok(None) | Err(_) => Arc::new(io::ErrorKind::TimedOut.into()),
        };
        let mut known = self.lock();
        if known.addresses.is_empty() {
            return Err(Fault::unresolved(&self.name, error));
        }
        if let Some(count) = known.failures.count() {
            tracing::warn!(
                count,
                "the name of the host {} cannot be resolved, so its last known addresses are used: {error}",
                self.name
            );
        }
        Ok(known.addresses.clone())
    }

    async fn look_up(self: Arc<Self>) -> Found {
        let (sender, answer) = oneshot::channel();
        let name = self.name.clone();
        let thread = thread::Builder::new().name("toposcope-resolver".to_owned());
        thread.spawn(move || {
            let found = (name.as_str(), 0).to_socket_addrs();
            // Without a receiver, the runtime was shut down meanwhile.
            let _ = sender.send(found.map(|found| found.map(|address| address.ip()).collect()));
        })?;
        let mut addresses: Vec<IpAddr> =
            answer.await.map_err(|_| io::Error::from(io::ErrorKind::Interrupted))??;
        let mut unique = Vec::with_capacity(addresses.len());
        addresses.retain(|address| {
            !unique.contains(address) && {
                unique.push(*address);
                true
            }
        });
        if addresses.is_empty() {
            return Err(Arc::new(io::ErrorKind::NotFound.into()));
        }
        self.lock().addresses.clone_from(&addresses);
        Ok(addresses)
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
