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
    pub(super) options: Arc<Options>,
}

/// A connection and its server, or why there is none.
pub(super) type Attempt = Result<(Link, Server), Fault>;

/// A result in a race.
enum Step {
    Resolved(Vec<Target>),
    Done(Attempt),
}

type Running = FuturesUnordered<Pin<Box<dyn Future<Output = Step> + Send>>>;

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
            options: Arc::new(options),
        })
    }

    /// Opens a connection to the server in use, or else to the best one that answers. Must be called on the runtime of
    /// the store.
    pub(super) async fn connect(&self, purpose: Purpose) -> Result<Connection, Fault> {
        loop {
            let view = self.servers.view();
            let (link, server) = self.race(&view, purpose).await.inspect_err(|_| {
                self.servers.is_out.store(true, Ordering::Relaxed);
            })?;
            // Otherwise another caller has found a better server meanwhile.
            if let Some(epoch) = self.servers.settle(&view, &server) {
                return Ok(Connection::new(link, self, purpose, epoch));
            }
        }
    }

    async fn race(&self, view: &View, purpose: Purpose) -> Attempt {
        let mut waiting: VecDeque<Target> =
            self.hosts.beginning_with(view.server.as_ref().map(|last| last.address.host)).collect();
        let mut running = Running::new();
        let (mut best, mut fault): (Option<(Link, Server)>, Option<Fault>) = (None, None);
        let mut next = Instant::now();
        loop {
            let asks_all = best.is_some() || view.trusted().is_none();
            while !waiting.is_empty() && (asks_all || running.is_empty() || Instant::now() >= next) {
                running.extend(waiting.pop_front().map(|target| self.clone().step(target, purpose)));
                next = Instant::now() + HEAD_START;
            }
            let is_over_at = (best.is_some() || !waiting.is_empty()).then_some(next);
            let step = match select(running.next(), pin!(until(is_over_at))).await {
                Either::Left((step, _)) => step,
                Either::Right(_) => match best {
                    Some(best) => return Ok(best),
                    None => continue,
                },
            };
            match step {
                // Nobody is left.
                None => return best.ok_or_else(|| fault.unwrap_or_else(|| timed_out().into())),
                Some(Step::Resolved(mut targets)) => {
                    let last = view.server.as_ref().map(|last| last.address);
                    targets.sort_by_key(|target| Some(target.address) != last);
                    targets.into_iter().rev().for_each(|target| waiting.push_front(target));
                    next = Instant::now();
                }
                Some(Step::Done(Ok((link, server)))) => {
                    if view.trusted() == Some(&server) {
                        return Ok((link, server));
                    }
                    if !view.accepts(&server) {
                        fault = Some(Fault::older(&server));
                        continue;
                    }
                    if best.is_none() {
                        next = Instant::now() + GRACE;
                    }
                    if best.as_ref().is_none_or(|(_, best)| view.rank(&server) > view.rank(best)) {
                        best = Some((link, server));
                    }
                }
                Some(Step::Done(Err(error))) => {
                    self.servers.failed_connects.fetch_add(1, Ordering::Relaxed);
                    fault = Some(error.or(fault));
                }
            }
        }
    }

    fn step(self, target: Target, purpose: Purpose) -> Pin<Box<dyn Future<Output = Step> + Send>> {
        Box::pin(async move {
            if !target.is_unresolved() {
                return Step::Done(self.attempt(&target, purpose).await);
            }
            match timeout(self.options.connect_timeout, target.resolve()).await {
                Ok(Ok(targets)) if !targets.is_empty() => Step::Resolved(targets),
                Ok(Err(error)) => Step::Done(Err(Fault::unresolved(&target.name, error))),
                _ => Step::Done(Err(timed_out().into())),
            }
        })
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
