//! Opening of connections: the hosts are raced, and the best server wins.
//!
//! While the server in use is trusted, it has a head start, and wins as soon as it answers. Otherwise all servers are
//! asked at once. The first one that can be used gives the others a little time, and the highest timeline wins.

use std::collections::VecDeque;
use std::fmt;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::{Either, select};
use futures_util::stream::FuturesUnordered;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::{Client, Config, Error, Socket};

use super::connection::{Connection, Link, Purpose};
use super::error::{Fault, timed_out};
use super::hosts::{Hosts, Target};
use super::options::Options;
use super::server::{Server, Servers, View};
use super::single_flight::SingleFlight;
use crate::store::StoreError;

/// Time that a server has to answer before the next host is tried as well.
const HEAD_START: Duration = Duration::from_millis(250);

/// Time that the other servers have to answer after the first one that can be used.
const GRACE: Duration = Duration::from_millis(250);

pub(super) type Driver = Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>;
type Connecting = Pin<Box<dyn Future<Output = Result<(Client, Driver), Error>> + Send>>;

/// Opens connections; hides the type of the TLS implementation.
#[derive(Clone)]
pub(super) struct Connector {
    connect: Arc<dyn Fn(Config) -> Connecting + Send + Sync>,
    pub(super) hosts: Arc<Hosts>,
    pub(super) servers: Arc<Servers>,
    /// Asks the server in use whether it still answers.
    pub(super) asking: Arc<SingleFlight<()>>,
    pub(super) options: Arc<Options>,
}

/// A connection and its server, or why there is none.
pub(super) type Attempt = Result<(Link, Server), Fault>;

/// A result in a race.
enum Step {
    Resolved(Vec<Target>),
    Done(Box<Attempt>),
}

type Stepping = Pin<Box<dyn Future<Output = Step> + Send>>;

/// A race of the hosts for one connection.
struct Race<'r> {
    connector: &'r Connector,
    view: &'r View,
    purpose: Purpose,
    waiting: VecDeque<Target>,
    running: FuturesUnordered<Stepping>,
    /// The best server so far.
    best: Option<(Link, Server)>,
    fault: Option<Fault>,
    /// Set if nothing tells which of two servers is meant.
    conflict: Option<Fault>,
    /// When the next host is tried, or the best server has won.
    next: Instant,
}

impl Connector {
    /// # Errors
    /// `Invalid` if the hosts of the configuration do not fit together.
    pub(super) fn new<T>(config: &Config, tls: T, options: Options) -> Result<Self, StoreError>
    where
        T: MakeTlsConnect<Socket> + Clone + Send + Sync + 'static,
        T::Stream: Send + 'static,
        T::TlsConnect: Send,
        <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    {
        let connect = move |config: Config| -> Connecting {
            let tls = tls.clone();
            Box::pin(async move {
                let (client, connection) = config.connect(tls).await?;
                Ok((client, Box::pin(connection) as Driver))
            })
        };
        Ok(Self {
            connect: Arc::new(connect),
            hosts: Arc::new(Hosts::new(config)?),
            servers: Arc::default(),
            asking: Arc::default(),
            options: Arc::new(options),
        })
    }

    /// Opens a connection to the server in use, or else to the best one that answers. Must be called on the runtime of
    /// the store.
    pub(super) async fn connect(&self, purpose: Purpose) -> Result<Connection, Fault> {
        loop {
            let view = self.servers.view();
            let (link, server) = Race::new(self, &view, purpose)
                .run()
                .await
                .inspect_err(|_| self.servers.note_outage(&view))?;
            // Otherwise another caller has found a better server meanwhile.
            if let Some(epoch) = self.servers.settle(&view, &server) {
                return Ok(Connection::new(link, self, purpose, epoch));
            }
        }
    }

    fn step(self, target: Target, purpose: Purpose) -> Stepping {
        Box::pin(async move {
            if !target.is_unresolved() {
                return Step::Done(Box::new(self.attempt(&target, purpose).await));
            }
            match target.resolve(self.options.connect_timeout).await {
                Ok(targets) => Step::Resolved(targets),
                Err(fault) => Step::Done(Box::new(Err(fault))),
            }
        })
    }

    /// Returns whether a call that has found no server may try again: at the beginning of an outage. Later calls fail at
    /// once, so that requests of several calls do not wait for each of them.
    pub(super) fn may_wait(&self) -> bool {
        self.servers.outage().is_none_or(|outage| outage < self.options.patience())
    }

    /// Connects to a server whose address is known, within the time limit of a connection.
    async fn attempt(&self, target: &Target, purpose: Purpose) -> Attempt {
        let found = self.find(target, purpose);
        let (link, server) =
            timeout(self.options.connect_timeout, found).await.map_err(|_| Fault::from(timed_out()))??;
        if self.hosts.can_use(&server) { Ok((link, server)) } else { Err(Fault::unsuitable(&server)) }
    }

    /// Connects to a server without a time limit, whether or not it accepts writes.
    pub(super) async fn find(&self, target: &Target, purpose: Purpose) -> Attempt {
        let (client, driver) =
            (self.connect)(target.config.clone()).await.map_err(|error| Fault::of(&error))?;
        let link = Link::new(client, driver);
        let server = link.set_up(target, purpose, &self.options).await?;
        Ok((link, server))
    }
}

impl<'r> Race<'r> {
    fn new(connector: &'r Connector, view: &'r View, purpose: Purpose) -> Self {
        let last = view.server.as_ref().map(|last| last.address.host);
        Self {
            connector,
            view,
            purpose,
            waiting: connector.hosts.beginning_with(last).collect(),
            running: FuturesUnordered::new(),
            best: None,
            fault: None,
            conflict: None,
            next: Instant::now(),
        }
    }

    async fn run(mut self) -> Attempt {
        loop {
            self.start();
            let is_timed = self.best.is_some() || !self.waiting.is_empty();
            let timer = pin!(until(is_timed.then_some(self.next)));
            let step = match select(self.running.next(), timer).await {
                Either::Left((Some(step), _)) => step,
                // No host is left.
                Either::Left((None, _)) => break,
                Either::Right(_) if self.best.is_some() => break,
                Either::Right(_) => continue,
            };
            match step {
                Step::Resolved(targets) => self.queue(targets),
                Step::Done(attempt) => match *attempt {
                    Ok((link, server)) if self.view.trusted() == Some(&server) => return Ok((link, server)),
                    Ok((link, server)) => self.consider(link, server),
                    Err(fault) => {
                        self.connector.servers.failed_connects.fetch_add(1, Ordering::Relaxed);
                        self.fault = Some(fault.or(self.fault.take()));
                    }
                },
            }
        }
        let Self { best, fault, conflict, .. } = self;
        if let Some(conflict) = conflict {
            return Err(conflict);
        }
        best.ok_or_else(|| fault.unwrap_or_else(|| timed_out().into()))
    }

    /// Tries all hosts at once if the server in use is in doubt, and otherwise the next one if it is its turn.
    fn start(&mut self) {
        let asks_all = self.best.is_some() || self.view.trusted().is_none();
        while asks_all || self.running.is_empty() || Instant::now() >= self.next {
            let Some(target) = self.waiting.pop_front() else { return };
            self.running.push(self.connector.clone().step(target, self.purpose));
            if self.best.is_none() {
                self.next = Instant::now() + HEAD_START;
            }
        }
    }

    /// Tries the addresses of a host next, first the one that was used last.
    fn queue(&mut self, mut targets: Vec<Target>) {
        let last = self.view.server.as_ref().map(|last| last.address);
        targets.sort_by_key(|target| Some(target.address) != last);
        targets.into_iter().rev().for_each(|target| self.waiting.push_front(target));
        if self.best.is_none() {
            self.next = Instant::now();
        }
    }

    /// Keeps a server if it is the best so far. The first one gives the others a little time.
    fn consider(&mut self, link: Link, server: Server) {
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
            self.next = Instant::now() + GRACE;
        }
        let rank = |server: &Server| self.view.rank(server);
        if self.best.as_ref().is_none_or(|(_, best)| rank(&server) > rank(best)) {
            self.best = Some((link, server));
        }
    }
}

/// Waits until a time; `None`: forever.
async fn until(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time).await,
        None => std::future::pending().await,
    }
}

impl fmt::Debug for Connector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Connector").field("options", &self.options).finish_non_exhaustive()
    }
}
