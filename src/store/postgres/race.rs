//! Choosing a server for a connection: the hosts are raced, and the best server wins.
//!
//! While the server in use is trusted, it has a head start, and wins as soon as it answers. Otherwise all servers are
//! asked at once. The first one that can be used gives the others a little time, and the highest timeline wins. While a
//! host is silent, the servers that cannot be used are asked again: one of them may be promoted meanwhile.

use std::collections::VecDeque;
use std::pin::{Pin, pin};
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::{Either, select};
use futures_util::stream::FuturesUnordered;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::connection::{Purpose, RawConnection};
use super::connector::{ConnectResult, Connector};
use super::error::{Fault, timed_out};
use super::hosts::ConnectionTarget;
use super::server::{Server, View};

/// Time that a server has to answer before the next host is tried as well.
const HEAD_START: Duration = Duration::from_millis(250);

/// Time that the other servers have to answer after the first one that can be used.
const OTHER_SERVERS_TIMEOUT: Duration = Duration::from_millis(250);

/// Time after which a server that cannot be used is asked again.
const RETRY_DELAY: Duration = Duration::from_millis(250);

/// A result in a race.
enum RaceResult {
    Resolved(Vec<ConnectionTarget>),
    Failed(Fault),
    Found(ConnectionTarget, Box<(RawConnection, Server)>),
    /// The answer to a repeated question, if there is one.
    Repeated(ConnectionTarget, Option<Box<(RawConnection, Server)>>),
}

type Stepping = Pin<Box<dyn Future<Output = RaceResult> + Send>>;

/// A race of the hosts for one connection.
pub(super) struct Race<'r> {
    connector: &'r Connector,
    view: &'r View,
    purpose: Purpose,
    waiting: VecDeque<ConnectionTarget>,
    running: FuturesUnordered<Stepping>,
    /// Number of servers in `running` that have answered, and cannot be used.
    unsuitable: usize,
    /// The best server so far.
    best: Option<(RawConnection, Server)>,
    fault: Option<Fault>,
    /// Set if it cannot be decided which of two servers is the right one.
    conflict: Option<Fault>,
    /// When the next host is tried, or the best server has won.
    next: Instant,
}

impl<'r> Race<'r> {
    pub(super) fn new(connector: &'r Connector, view: &'r View, purpose: Purpose) -> Self {
        let last = view.server.as_ref().map(|last| last.address.host);
        Self {
            connector,
            view,
            purpose,
            waiting: connector.hosts.beginning_with(last).collect(),
            running: FuturesUnordered::new(),
            unsuitable: 0,
            best: None,
            fault: None,
            conflict: None,
            next: Instant::now(),
        }
    }

    pub(super) async fn run(mut self) -> ConnectResult {
        loop {
            self.start();
            // Every host has answered or failed.
            if self.waiting.is_empty() && self.running.len() == self.unsuitable {
                break;
            }
            let is_timed = self.best.is_some() || !self.waiting.is_empty();
            let timer = pin!(until(is_timed.then_some(self.next)));
            let step = match select(self.running.next(), timer).await {
                Either::Left((Some(step), _)) => step,
                Either::Left((None, _)) => break,
                Either::Right(_) if self.best.is_some() => break,
                Either::Right(_) => continue,
            };
            if let Some(found) = self.take(step) {
                return Ok(found);
            }
        }
        let Self { best, fault, conflict, .. } = self;
        if let Some(conflict) = conflict {
            return Err(conflict);
        }
        best.ok_or_else(|| fault.unwrap_or_else(|| timed_out().into()))
    }

    /// Takes a result. Returns the connection if it leads to the server in use.
    fn take(&mut self, step: RaceResult) -> Option<(RawConnection, Server)> {
        let (target, (link, server)) = match step {
            RaceResult::Resolved(targets) => {
                self.queue(targets);
                return None;
            }
            RaceResult::Failed(fault) => {
                self.note_failure(fault);
                return None;
            }
            RaceResult::Found(target, found) => {
                if !self.connector.hosts.can_use(&found.1) {
                    self.note_failure(Fault::unsuitable(&found.1));
                }
                (target, *found)
            }
            RaceResult::Repeated(target, found) => {
                self.unsuitable -= 1;
                (target, *found?)
            }
        };
        if !self.connector.hosts.can_use(&server) {
            self.ask_again(target, link);
        } else if self.is_in_use(&server) {
            return Some((link, server));
        } else {
            self.consider(link, server);
        }
        None
    }

    /// Tries all hosts at once if the server in use is in doubt. Otherwise it tries the next host if its turn has come.
    fn start(&mut self) {
        let asks_all = self.best.is_some() || self.view.trusted().is_none();
        while asks_all || self.running.is_empty() || Instant::now() >= self.next {
            let Some(target) = self.waiting.pop_front() else { return };
            self.running.push(try_host(self.connector.clone(), target, self.purpose));
            if self.best.is_none() {
                self.next = Instant::now() + HEAD_START;
            }
        }
    }

    /// Tries the addresses of a host next, first the one that was used last.
    fn queue(&mut self, mut targets: Vec<ConnectionTarget>) {
        let last = self.view.server.as_ref().map(|last| last.address);
        targets.sort_by_key(|target| Some(target.address) != last);
        targets.into_iter().rev().for_each(|target| self.waiting.push_front(target));
        if self.best.is_none() {
            self.next = Instant::now();
        }
    }

    /// Returns whether a server is the one in use. Others may have found it since the race began.
    fn is_in_use(&self, server: &Server) -> bool {
        self.view.trusted() == Some(server) || self.connector.servers.view().trusted() == Some(server)
    }

    fn note_failure(&mut self, fault: Fault) {
        self.connector.servers.failed_connects.fetch_add(1, Ordering::Relaxed);
        self.fault = Some(fault.or(self.fault.take()));
    }

    /// Asks a server that cannot be used a little later, on the same connection.
    fn ask_again(&mut self, target: ConnectionTarget, link: RawConnection) {
        self.unsuitable += 1;
        let limit = self.connector.options.connect_timeout;
        self.running.push(Box::pin(async move {
            sleep(RETRY_DELAY).await;
            let server = timeout(limit, link.identify(&target)).await.ok().and_then(Result::ok);
            RaceResult::Repeated(target, server.map(|server| Box::new((link, server))))
        }));
    }

    /// Keeps a server if it is the best so far. The first one gives the others a little time.
    fn consider(&mut self, link: RawConnection, server: Server) {
        if let Err(fault) = self.view.check(&server) {
            self.fault = Some(fault);
            return;
        }
        if let Some((_, best)) = &self.best
            && server.is_unrelated_to(best)
        {
            self.conflict = Some(Fault::unrelated(&server, best));
        }
        if self.best.is_none() {
            self.next = Instant::now() + OTHER_SERVERS_TIMEOUT;
        }
        let rank = |server: &Server| self.view.rank(server);
        if self.best.as_ref().is_none_or(|(_, best)| rank(&server) > rank(best)) {
            self.best = Some((link, server));
        }
    }
}

/// Connects to a host, or resolves its name.
fn try_host(connector: Connector, target: ConnectionTarget, purpose: Purpose) -> Stepping {
    Box::pin(async move {
        if !target.is_unresolved() {
            return match connector.attempt(&target, purpose).await {
                Ok(found) => RaceResult::Found(target, Box::new(found)),
                Err(fault) => RaceResult::Failed(fault),
            };
        }
        match target.resolve(connector.options.connect_timeout).await {
            Ok(targets) => RaceResult::Resolved(targets),
            Err(fault) => RaceResult::Failed(fault),
        }
    })
}

/// Waits until a time; `None`: forever.
async fn until(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}
