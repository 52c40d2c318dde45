//! Names of hosts, and the addresses that they lead to.
//!
//! A resolver may be silent for any time, and cannot be interrupted. So at most one look-up of a name is awaited at
//! a time, on a thread of its own: it takes no thread of the runtime, and does not delay the end of the runtime. While it is
//! without an answer, the last known addresses are used.
//!
//! A look-up that hangs for long is given up, so that the next one can succeed once the resolver works again. Its
//! thread is left behind. Each look-up that hangs doubles the time limit of the next one, so that the number of threads
//! grows with the logarithm of time.

use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;

use super::error::Fault;
use super::single_flight::Occasional;
use super::single_flight::SingleFlight;

/// Time that the resolver has to answer when other addresses of the name are known.
const KNOWN_NAME_TIMEOUT: Duration = Duration::from_millis(500);

/// Time after which the first look-up is given up. It doubles with each one that hangs. A resolver that works takes less, even
/// if it asks several servers in vain.
const MAX_LOOKUP_TIME: Duration = Duration::from_secs(30);

/// Asks for the addresses of a name; blocks.
type Resolver = fn(&str) -> io::Result<Vec<IpAddr>>;

/// The addresses of a name, or why there are none.
type Found = Result<Vec<IpAddr>, Arc<io::Error>>;

/// A name to resolve.
#[derive(Debug)]
pub(super) struct HostName {
    name: String,
    resolver: Resolver,
    longest_look_up: Duration,
    look_ups: SingleFlight<Found>,
    /// Number of threads that look the name up.
    threads: Arc<AtomicU32>,
    known: Mutex<Known>,
}

/// The results of the last look-ups.
#[derive(Debug, Default)]
struct Known {
    /// The addresses that the last successful one has found.
    addresses: Vec<IpAddr>,
    failures: Occasional,
}

impl HostName {
    pub(super) fn new(name: &str) -> Self {
        Self::with(name, ask_system, MAX_LOOKUP_TIME)
    }

    fn with(name: &str, resolver: Resolver, longest_look_up: Duration) -> Self {
        Self {
            name: name.to_owned(),
            resolver,
            longest_look_up,
            look_ups: SingleFlight::default(),
            threads: Arc::default(),
            known: Mutex::default(),
        }
    }

    /// Resolves the name, or returns its last known addresses if the resolver does not do so in time.
    pub(super) async fn resolve(self: &Arc<Self>, limit: Duration) -> Result<Vec<IpAddr>, Fault> {
        let limit = if self.lock().addresses.is_empty() { limit } else { limit.min(KNOWN_NAME_TIMEOUT) };
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
        let (name, resolver, threads) = (self.name.clone(), self.resolver, Arc::clone(&self.threads));
        let hanging = threads.fetch_add(1, Ordering::Relaxed);
        let counted = Counted(threads);
        let thread = thread::Builder::new().name("toposcope-resolver".to_owned());
        thread.spawn(move || {
            let found = resolver(&name);
            drop(counted);
            // Without a receiver, the look-up was given up, or the runtime was shut down.
            let _ = sender.send(found);
        })?;
        let limit = self.longest_look_up.saturating_mul(2_u32.saturating_pow(hanging));
        let answer = timeout(limit, answer).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?;
        let mut addresses = answer.map_err(|_| io::Error::from(io::ErrorKind::Interrupted))??;
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

/// Counts a thread until it ends, or could not be started.
struct Counted(Arc<AtomicU32>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn ask_system(name: &str) -> io::Result<Vec<IpAddr>> {
    Ok((name, 0).to_socket_addrs()?.map(|address| address.ip()).collect())
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    /// Number of look-ups that hang for ever.
    const HANGING: u32 = 3;

    static LOOK_UPS: AtomicU32 = AtomicU32::new(0);

    fn resolver_that_hangs_at_first(_: &str) -> io::Result<Vec<IpAddr>> {
        if LOOK_UPS.fetch_add(1, Ordering::Relaxed) < HANGING {
            loop {
                thread::park();
            }
        }
        Ok(vec![ADDRESS])
    }

    #[tokio::test]
    async fn look_up_that_hangs_for_ever_does_not_stop_the_later_ones() {
        let limit = Duration::from_millis(10);
        let name = Arc::new(HostName::with("database", resolver_that_hangs_at_first, limit));
        for hanging in 1..=HANGING {
            assert!(name.resolve(Duration::from_secs(60)).await.is_err());
            assert_eq!(name.threads.load(Ordering::Relaxed), hanging);
        }
        // A thread may begin too late for its look-up, on a machine with busy neighbors.
        for _ in 0..10 {
            if let Ok(found) = name.resolve(Duration::from_secs(60)).await {
                assert_eq!(found, [ADDRESS]);
                return;
            }
        }
        panic!("the later look-ups fail as well");
    }
}
