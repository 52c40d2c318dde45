//! The log of failed logins, target `toposcope::security`.
//!
//! A line contains the client's address, and a digest of the account, because users may enter a password as the
//! account. At most one line a minute for each address is written, which counts the failures since the previous one.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::access::ClientPrefix;

/// Minimum time between two lines for an address.
const INTERVAL: Duration = Duration::from_secs(60);

/// Maximum number of addresses that are remembered. Others share one line.
const MAX_ADDRESSES: usize = 1_024;

/// Counts failed logins by the address of the client.
#[derive(Debug, Default)]
pub(super) struct SecurityLog(Mutex<Lines>);

#[derive(Debug, Default)]
struct Lines(HashMap<Address, Line>);

/// The subject of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Address {
    /// `None`: the clients of which no address is known.
    Client(Option<ClientPrefix>),
    /// All addresses beyond the number that is remembered.
    Others,
}

#[derive(Debug)]
struct Line {
    /// Monotonic time of the last line.
    logged_at: Duration,
    /// Number of failures since.
    count: u64,
}

/// A failed attempt with a password.
#[derive(Debug)]
pub(super) struct FailedLogin {
    /// The digest of the account.
    pub(super) account: String,
    /// Whether it was refused after too many failures.
    pub(super) is_locked_out: bool,
}

impl SecurityLog {
    /// Counts a failure at a monotonic time, and writes the lines that are due.
    pub(super) fn note(&self, client: Option<ClientPrefix>, failure: &FailedLogin, now: Duration) {
        let (forgotten, address, count) = self.lock().count(client, now);
        for (address, count) in forgotten {
            log_rest(address, count);
        }
        if let Some(count) = count {
            tracing::warn!(
                target: "toposcope::security",
                address = address.text(),
                account = failure.account,
                locked_out = failure.is_locked_out,
                count,
                "logins failed since the previous line; the account is that of the latest"
            );
        }
    }

    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SecurityLog {
    fn drop(&mut self) {
        for (address, line) in self.lock().0.drain().filter(|(_, line)| line.count > 0) {
            log_rest(address, line.count);
        }
    }
}

impl Lines {
    /// Counts a failure. Returns the forgotten addresses, each with the number of its failures that no line has
    /// reported yet, the address that the failure counts for, and the number of its failures if a line is due.
    fn count(
        &mut self,
        client: Option<ClientPrefix>,
        now: Duration,
    ) -> (Vec<(Address, u64)>, Address, Option<u64>) {
        let mut address = Address::Client(client);
        let mut forgotten = Vec::new();
        if self.0.len() >= MAX_ADDRESSES && !self.0.contains_key(&address) {
            forgotten = self.forget(now);
            if self.0.len() >= MAX_ADDRESSES {
                address = Address::Others;
            }
        }
        let count = match self.0.entry(address) {
            Entry::Vacant(place) => {
                place.insert(Line { logged_at: now, count: 0 });
                Some(1)
            }
            Entry::Occupied(mut place) => place.get_mut().count(now),
        };
        (forgotten, address, count)
    }

    /// Forgets the addresses whose last line is old.
    fn forget(&mut self, now: Duration) -> Vec<(Address, u64)> {
        let old = self.0.extract_if(|_, line| now.saturating_sub(line.logged_at) >= INTERVAL);
        old.map(|(address, line)| (address, line.count)).filter(|(_, count)| *count > 0).collect()
    }
}

impl Line {
    fn count(&mut self, now: Duration) -> Option<u64> {
        self.count = self.count.saturating_add(1);
        if now.saturating_sub(self.logged_at) < INTERVAL {
            return None;
        }
        self.logged_at = now;
        Some(std::mem::take(&mut self.count))
    }
}

impl Address {
    fn text(self) -> String {
        match self {
            Self::Client(Some(client)) => client.address().to_string(),
            Self::Client(None) => "unknown".to_owned(),
            Self::Others => "others".to_owned(),
        }
    }
}

/// Logs failures that no line has reported yet.
fn log_rest(address: Address, count: u64) {
    let address = address.text();
    tracing::warn!(target: "toposcope::security", address, count, "logins failed since the previous line");
}
