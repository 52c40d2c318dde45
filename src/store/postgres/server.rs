//! The server that all connections of a store lead to.
//!
//! After a failover, the old primary may go on beside the new one. Both know the system identifier of their common
//! history, and a promotion begins a new timeline of it, so the server of the highest timeline is the right one. A store
//! never returns to a lower one, and never uses a server with another system identifier.

use std::error::Error as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::addresses::Addresses;
use super::error::Fault;
use super::hosts::ServerAddress;
use super::single_flight::Occasional;
use crate::store::StoreError;

/// Time after the end of its lifetime within which a connection is closed.
const CLOSING_TIME: Duration = Duration::from_secs(5);

/// The history that the data of a server belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct History {
    /// System identifier: all servers that were copied from one have the same.
    pub(super) system: u64,
    /// Number of the timeline, which increases with every promotion. `None` for a standby.
    pub(super) timeline: Option<u32>,
}

impl History {
    /// Returns whether this is a later timeline of the same system.
    fn continues(self, other: Self) -> bool {
        let timelines = self.timeline.zip(other.timeline);
        self.system == other.system && timelines.is_some_and(|(own, other)| own > other)
    }

    /// Returns this history, with the timeline of an earlier observation if it has none.
    fn with_timeline_of(self, before: Option<Self>) -> Self {
        Self { timeline: self.timeline.or_else(|| before?.timeline), ..self }
    }
}

/// A server as a connection has found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Server {
    pub(super) address: ServerAddress,
    pub(super) name: Arc<str>,
    /// `None` if the server does not report it. The database only has the protocol of PostgreSQL, or the user lacks the
    /// right to query it.
    pub(super) history: Option<History>,
    pub(super) is_writable: bool,
}

impl Server {
    /// Returns whether both are one server, which may have several addresses. Only one server of a timeline accepts
    /// writes.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        let is_primary = self.timeline().is_some() && self.is_writable && other.is_writable;
        self == other || (is_primary && self.history == other.history)
    }

    pub(super) fn timeline(&self) -> Option<u32> {
        self.history.and_then(|history| history.timeline)
    }

    /// Returns whether the data of both have different origins.
    pub(super) fn is_unrelated_to(&self, other: &Self) -> bool {
        self.history.zip(other.history).is_some_and(|(own, other)| own.system != other.system)
    }
}

/// Numbers that increase when connections must be closed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Epoch {
    /// Increases when the server changes or is distrusted. It ends the connections for single statements.
    pub(super) trust: u64,
    /// Increases when the server changes. It ends every connection.
    pub(super) server: u64,
}

/// The time within which every instance that reaches a promoted server uses it. It is one interval of the watch and the
/// time for an answer.
///
/// An old primary may go on beside it, for example after a crash of its manager. An instance that does not know of the
/// new one yet returns the state of the old one. Therefore commits on the new one wait for this time.
const NOTICE: Duration = Duration::from_secs(1);

/// The server in use, as it was when an attempt to connect began.
#[derive(Clone, Debug, Default)]
pub(super) struct View {
    pub(super) epoch: Epoch,
    /// The server that was used last.
    pub(super) server: Option<Server>,
    /// When it was chosen. Earlier answers of servers are out of date, because they may have led to the choice.
    pub(super) since: Option<Instant>,
    /// Until when commits are held, because the server was promoted and the one before may go on.
    held_until: Option<Instant>,
    /// Addresses of that server which connections of this epoch lead to.
    pub(super) addresses: Addresses,
    /// Whether all servers have to be asked before the next connection.
    is_distrusted: bool,
    /// The highest timeline that was used or seen, and its system.
    newest: Option<History>,
}

/// Which server is used.
#[derive(Debug, Default)]
pub(super) struct Servers {
    view: Mutex<View>,
    epoch: watch::Sender<Epoch>,
    /// Start of the present outage; `None` if the last attempt succeeded.
    out_since: Mutex<Option<Instant>>,
    /// Number of statements that were late. Connections that are older than the last of them are asked before their
    /// next use whether they still work.
    doubts: AtomicU64,
    /// Servers that answered without reporting their identity.
    unidentified: Mutex<Occasional>,
    /// Attempts to connect to a server that failed.
    pub(super) failed_connects: AtomicU64,
    /// Times another server, or another address of a server, was used than before.
    pub(super) changes: AtomicU64,
}

impl View {
    /// Returns the server that is used unless it does not answer.
    pub(super) fn trusted(&self) -> Option<&Server> {
        self.server.as_ref().filter(|_| !self.is_distrusted)
    }

    /// Checks that a server continues the history that was used, as far as it is known. A database that was restored to
    /// a lower timeline or from a dump does not, until the instance is restarted.
    pub(super) fn check(&self, server: &Server) -> Result<(), Fault> {
        match (self.newest, server.history) {
            (Some(newest), Some(found)) if newest.system != found.system => {
                return Err(Fault::replaced_data(server, found, newest));
            }
            (Some(newest), Some(found)) if newest.continues(found) => return Err(Fault::older(server)),
            (Some(_), None) => return Err(Fault::without_history(server)),
            (Some(_), Some(_)) | (None, _) => {}
        }
        // A standby lags behind the primary that was used, even if it has the same address, as behind a proxy. A primary
        // that was made read-only does not.
        let lags = self.server.as_ref().is_some_and(|last| {
            let is_other = last.is_writable && last.address != server.address;
            let is_standby = last.timeline().is_some() && server.timeline().is_none();
            !server.is_writable && (is_other || is_standby)
        });
        if lags { Err(Fault::unsuitable(server)) } else { Ok(()) }
    }

    /// Returns whether the server in use reports its timeline, so that no earlier one is used.
    pub(super) fn reports_timeline(&self) -> bool {
        self.server.as_ref().is_some_and(|server| server.timeline().is_some())
    }

    /// Returns whether a server has a later timeline than the one that was used last, or is the first one.
    fn has_later_timeline(&self, server: &Server) -> bool {
        let last = self.server.as_ref().and_then(Server::timeline);
        server.timeline().is_some_and(|found| last.is_none_or(|last| found > last))
    }

    /// Returns whether commits are held at a time.
    pub(super) fn holds_commits(&self, now: Instant) -> bool {
        self.held_until.is_some_and(|until| now < until)
    }

    /// Returns whether a server passes the [`check`](Self::check).
    pub(super) fn accepts(&self, server: &Server) -> bool {
        self.check(server).is_ok()
    }

    /// Returns whether a server has a later timeline of the history in use.
    pub(super) fn is_outranked_by(&self, server: &Server) -> bool {
        self.newest.zip(server.history).is_some_and(|(newest, found)| found.continues(newest))
    }

    /// Orders servers: first whether they accept writes, then the timeline, and finally the server that was used.
    pub(super) fn rank(&self, server: &Server) -> (bool, Option<u32>, bool) {
        let is_last = self.server.as_ref().is_some_and(|last| last.address == server.address);
        (server.is_writable, server.timeline(), is_last)
    }
}

impl Servers {
    pub(super) fn view(&self) -> View {
        self.lock().clone()
    }

    /// Returns the numbers that a connection compares with its own.
    pub(super) fn epoch(&self) -> watch::Receiver<Epoch> {
        self.epoch.subscribe()
    }

    /// Uses a server that was chosen from a view. Returns the epoch of connections to it, or `None` if the choice is
    /// out of date.
    pub(super) fn settle(&self, chosen_in: &View, server: &Server) -> Option<Epoch> {
        let mut view = self.lock();
        let is_same = view.trusted().is_some_and(|last| last.is_same_as(server));
        let is_current = view.epoch == chosen_in.epoch || view.is_outranked_by(server);
        if !is_same && (!is_current || !view.accepts(server)) {
            return None;
        }
        self.end_outage();
        let is_other = view.server.as_ref().is_some_and(|last| last != server);
        if is_other {
            self.changes.fetch_add(1, Ordering::Relaxed);
            let timeline = server.timeline().unwrap_or_default();
            tracing::warn!("the database server is now {} (timeline {timeline})", server.name);
        }
        if server.history.is_none() && (is_other || view.server.is_none()) {
            tracing::warn!(
                "the database server {} does not tell its system identifier, so only its log shows whether it has the \
                 data of the server before",
                server.name
            );
        }
        if is_same {
            view.addresses.note_connection(server.address);
            view.server = Some(server.clone());
            return Some(view.epoch);
        }
        if view.has_later_timeline(server) {
            view.held_until = Some(Instant::now() + NOTICE);
        }
        view.epoch.server += u64::from(is_other);
        // Choices of others that were made at the same time are out of date now.
        view.epoch.trust += 1;
        view.newest = server.history.map(|history| history.with_timeline_of(view.newest)).or(view.newest);
        view.addresses = Addresses::default();
        view.addresses.note_connection(server.address);
        view.server = Some(server.clone());
        view.since = Some(Instant::now());
        view.is_distrusted = false;
        self.epoch.send_replace(view.epoch);
        Some(view.epoch)
    }

    /// Returns whether commits have to wait, because other instances may still use an old primary.
    pub(super) fn holds_commits(&self) -> bool {
        self.lock().holds_commits(Instant::now())
    }

    /// Admits commits, because no other server has been a primary since the choice of the server in this view.
    pub(super) fn release_commits(&self, chosen_in: &View) {
        let mut view = self.lock();
        if view.since == chosen_in.since {
            view.held_until = None;
        }
    }

    /// Closes the connections for single statements, unless that was done since this epoch. The next connection is
    /// made to the best of all servers that answer.
    ///
    /// `seen` is a history that a server was found to have. If it is later than the one in use, no server of an older one
    /// is used again, even if the server of the later one takes longer to answer.
    pub(super) fn distrust(&self, epoch: Epoch, seen: Option<History>) {
        let mut view = self.lock();
        let is_outranked = view.newest.zip(seen).is_some_and(|(newest, seen)| seen.continues(newest));
        if is_outranked {
            view.newest = seen;
        }
        if (view.epoch == epoch || is_outranked) && !view.is_distrusted {
            view.is_distrusted = true;
            view.epoch.trust += 1;
            self.epoch.send_replace(view.epoch);
        }
    }

    /// Notes that a statement of an epoch is late. Returns the server that has to be asked whether it still answers,
    /// unless it is distrusted anyway.
    pub(super) fn begin_doubt(&self, epoch: Epoch) -> Option<Server> {
        let view = self.lock();
        let server = view.trusted().filter(|_| view.epoch == epoch)?.clone();
        self.doubts.fetch_add(1, Ordering::Relaxed);
        Some(server)
    }

    /// Returns the number of statements that were late.
    pub(super) fn doubts(&self) -> u64 {
        self.doubts.load(Ordering::Relaxed)
    }

    /// Notes that the server has accepted or refused a write. If it was believed to do otherwise, it is distrusted.
    pub(super) fn note_write(&self, epoch: Epoch, is_accepted: bool) {
        let is_known = self.lock().server.as_ref().is_some_and(|server| server.is_writable == is_accepted);
        if !is_known {
            self.distrust(epoch, None);
        }
    }

    /// Notes that an address has answered a question that was put at a time.
    pub(super) fn note_answer(&self, address: ServerAddress, asked: Instant) {
        self.lock().addresses.note_answer(address, asked);
    }

    /// Forgets the addresses whose last connection is older than the lifetime of connections.
    pub(super) fn forget_addresses(&self, connection_lifetime: Duration) {
        let mut view = self.lock();
        let current = view.server.as_ref().map(|server| server.address);
        view.addresses.forget(current, connection_lifetime.saturating_add(CLOSING_TIME));
    }

    /// Notes that a server answers without reporting its identity.
    pub(super) fn note_unidentified(&self, error: &StoreError) {
        if let Some(count) = lock(&self.unidentified).count() {
            let cause = error.source().map(ToString::to_string).unwrap_or_default();
            tracing::warn!(count, "{error}: {cause}");
        }
    }

    /// Notes that no server could be used, unless the servers have changed since an attempt that began with this view.
    pub(super) fn note_outage(&self, begun_in: &View) {
        let view = self.lock();
        if view.epoch == begun_in.epoch {
            lock(&self.out_since).get_or_insert_with(Instant::now);
        }
    }

    /// Notes that a server answers.
    pub(super) fn end_outage(&self) {
        *lock(&self.out_since) = None;
    }

    /// Returns how long no server could be used; `None` if there is no outage.
    pub(super) fn outage(&self) -> Option<Duration> {
        lock(&self.out_since).map(|since| since.elapsed())
    }

    fn lock(&self) -> MutexGuard<'_, View> {
        lock(&self.view)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
