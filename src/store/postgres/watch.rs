//! Observation of all servers of the connection string while the store runs.
//!
//! An old primary may go on answering, so that its clients would never get an error that makes them look for the new
//! one. A silent server would be noticed only when a statement times out.
//!
//! Each server is asked for its identity on a connection that is kept: most servers are standbys, and a promotion
//! leaves their connections open. But an address may lead to another server by now, as that of a proxy or a Kubernetes
//! service does, while the old one keeps answering on its connections. So another connection is made from time to time,
//! beside the one that is kept, and replaces it once the server has answered on it.

use std::collections::{HashMap, HashSet};
use std::pin::{Pin, pin};
use std::sync::Weak;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::{Either, join_all, select};
use futures_util::stream::FuturesUnordered;
use tokio::time::{Instant, sleep_until, timeout};

use super::connection::{Purpose, RawConnection};
use super::connector::{ConnectResult, Connector};
use super::doubt::PROBE_TIMEOUT;
use super::error::timed_out;
use super::hosts::{ConnectionTarget, ServerAddress};
use super::server::Server;
use super::shared::Shared;

/// Time between two questions to a server.
pub(super) const INTERVAL: Duration = Duration::from_millis(500);

/// Number of intervals after which another connection is made to one of the hosts, in turn.
const INTERVALS_OF_A_LINK: u64 = 3;

/// Time that a server has to answer on the connection that is kept, before another one is made.
const HEAD_START: Duration = Duration::from_millis(500);

/// Time of silence of an address in use before the store uses another server that answers. It must be silent on the
/// kept connection and on another one.
const SILENCE_LIMIT: Duration = Duration::from_secs(1);

/// An address that is watched.
struct Watched {
    target: ConnectionTarget,
    /// The connection that is kept, unless it is being asked.
    link: Option<RawConnection>,
    /// Number of connections that were kept so far. An answer on an earlier one is out of date.
    links: u64,
    /// When the question that the connection has not answered yet was sent.
    asked: Option<Instant>,
    is_connecting: bool,
    /// Whether another connection may be made before the next interval.
    may_connect: bool,
    /// When the first question since the last answer was sent.
    silent_since: Option<Instant>,
    /// The identity of the server in its last answer, and when that question was sent.
    found: Option<(Server, Instant)>,
    /// When the last question whose answer showed that the address has no primary was sent.
    no_primary: Option<Instant>,
}

enum Event {
    /// All hosts, with the addresses of their names.
    Resolved(Vec<ConnectionTarget>),
    Answered(ServerState),
}

struct ServerState {
    address: ServerAddress,
    /// When the question was sent.
    asked: Instant,
    /// Number of the connection that is kept; `None` if another one was made.
    link: Option<u64>,
    outcome: Box<ConnectResult>,
}

type Asking = Pin<Box<dyn Future<Output = Event> + Send>>;

/// The state of the observation: the servers, and their last answers.
struct Watch {
    connector: Connector,
    watched: HashMap<ServerAddress, Watched>,
    asking: FuturesUnordered<Asking>,
    is_resolving: bool,
    /// Number of intervals.
    count: u64,
}

/// Runs until the store is dropped.
pub(super) async fn run(shared: Weak<Shared>) {
    let Some(connector) = shared.upgrade().map(|shared| shared.pool.connector.clone()) else { return };
    let (watched, asking) = (HashMap::new(), FuturesUnordered::new());
    let mut watch = Watch { connector, watched, asking, is_resolving: false, count: 0 };
    let mut next = Instant::now();
    while shared.strong_count() > 0 {
        if Instant::now() >= next {
            next = Instant::now() + INTERVAL;
            watch.ask_all();
        }
        watch.release_commits();
        let wake = [watch.connect_late(), watch.decide()].into_iter().flatten().fold(next, Instant::min);
        let timer = pin!(sleep_until(wake));
        if watch.asking.is_empty() {
            timer.await;
        } else if let Either::Left((Some(event), _)) = select(watch.asking.next(), timer).await {
            match event {
                Event::Resolved(targets) => watch.set_targets(targets),
                Event::Answered(answer) => watch.note(answer),
            }
        }
    }
}

impl Watch {
    /// Begins an interval: asks all servers, and resolves the names of the hosts.
    fn ask_all(&mut self) {
        self.count += 1;
        self.connector.servers.forget_addresses(self.connector.options.connection_lifetime);
        if !self.is_resolving {
            self.is_resolving = true;
            let connector = self.connector.clone();
            self.asking.push(Box::pin(async move { Event::Resolved(resolve(&connector).await) }));
        }
        let turn = self.count / INTERVALS_OF_A_LINK % self.connector.hosts.count().max(1) as u64;
        let is_turn = self.count.is_multiple_of(INTERVALS_OF_A_LINK);
        for watched in self.watched.values_mut() {
            watched.may_connect = true;
            let question = watched.ask(&self.connector);
            let is_due = watched.asked.is_none() || (is_turn && watched.target.address.host as u64 == turn);
            let connection = if is_due { watched.connect(&self.connector) } else { None };
            self.asking.extend(question.into_iter().chain(connection));
        }
    }

    /// Watches these hosts, and addresses in use to which their names no longer resolve. If a name resolves to several
    /// servers in turn, the others must still be observed.
    fn set_targets(&mut self, targets: Vec<ConnectionTarget>) {
        self.is_resolving = false;
        let view = self.connector.servers.view();
        let in_use = view.addresses.iter().filter_map(|address| self.connector.hosts.target(address));
        let targets: HashMap<ServerAddress, ConnectionTarget> =
            targets.into_iter().chain(in_use).map(|target| (target.address, target)).collect();
        self.watched.retain(|address, _| targets.contains_key(address));
        for (address, target) in targets {
            let watched = self.watched.entry(address).or_insert_with(|| Watched::new(target));
            if watched.links == 0 {
                self.asking.extend(watched.connect(&self.connector));
            }
        }
    }

    /// Connects to the servers that do not answer on the connection that is kept. Returns when the next one is due.
    fn connect_late(&mut self) -> Option<Instant> {
        let now = Instant::now();
        let mut next: Option<Instant> = None;
        for watched in self.watched.values_mut().filter(|watched| watched.may_connect) {
            let due = match watched.asked {
                Some(asked) => asked + HEAD_START,
                // It was closed.
                None if watched.link.is_none() => now,
                None => continue,
            };
            if due <= now {
                self.asking.extend(watched.connect(&self.connector));
            } else {
                next = Some(next.map_or(due, |next| next.min(due)));
            }
        }
        next
    }

    fn note(&mut self, ServerState { address, asked, link, outcome }: ServerState) {
        let Some(watched) = self.watched.get_mut(&address) else { return };
        match link {
            Some(number) if number != watched.links => return,
            Some(_) => watched.asked = None,
            None => watched.is_connecting = false,
        }
        let is_answer = match *outcome {
            Ok((kept, server)) => {
                if link.is_none() {
                    watched.links += 1;
                    watched.asked = None;
                }
                watched.link = Some(kept);
                watched.no_primary = (!server.is_writable).then_some(asked);
                watched.found = Some((server, asked));
                true
            }
            Err(fault) => {
                watched.no_primary = fault.is_down.then_some(asked);
                fault.is_answer
            }
        };
        if is_answer {
            watched.silent_since = None;
            self.connector.servers.note_answer(address, asked.into_std());
        }
    }

    /// Lets commits pass on a promoted server once there is no primary at all other addresses.
    fn release_commits(&self) {
        let view = self.connector.servers.view();
        let Some(since) = view.since.filter(|_| view.holds_commits(std::time::Instant::now())) else {
            return;
        };
        let hosts: HashSet<usize> = self.watched.keys().map(|address| address.host).collect();
        let is_used = |address: &ServerAddress| view.addresses.iter().any(|used| used == *address);
        let mut others = self.watched.iter().filter(|(address, _)| !is_used(address));
        let is_later = |asked: Instant| asked.into_std() > since;
        let has_no_other = others.all(|(_, watched)| {
            let is_same = |(server, asked): &(Server, Instant)| {
                is_later(*asked) && view.trusted().is_some_and(|used| used.is_same_as(server))
            };
            watched.no_primary.is_some_and(is_later) || watched.found.as_ref().is_some_and(is_same)
        });
        if hosts.len() == self.connector.hosts.count() && has_no_other {
            self.connector.servers.release_commits(&view);
        }
    }

    /// Switches to another server if it is better than the one in use. It has a later timeline, accepts writes while
    /// the one in use does not, or answers while an address in use is silent. Returns when an address will have been
    /// silent for long enough.
    fn decide(&self) -> Option<Instant> {
        let servers = &self.connector.servers;
        let view = servers.view();
        let used = view.trusted()?;
        let now = Instant::now();
        let silences = view.addresses.iter().filter_map(|address| self.watched.get(&address)?.silent_since);
        let (over, coming): (Vec<Instant>, Vec<Instant>) =
            silences.map(|since| since + SILENCE_LIMIT).partition(|end| *end <= now);
        let is_silent = !over.is_empty();
        let is_better = |server: &&Server| {
            let is_preferred = view.is_outranked_by(server) || (server.is_writable && !used.is_writable);
            let is_usable = self.connector.hosts.can_use(server) && view.accepts(server);
            is_usable && (is_silent || is_preferred)
        };
        let answering = self.watched.values().filter_map(|watched| watched.answering(now, view.since));
        if let Some(server) = answering.filter(is_better).max_by_key(|server| view.rank(server)) {
            let reason = if is_silent { "answers, and an address in use does not" } else { "accepts writes" };
            tracing::warn!("the database server {} {reason}: closing all connections", server.name);
            servers.distrust(view.epoch, server.history);
            // All others were asked as well, so there is no need to ask them again.
            servers.settle(&servers.view(), server);
            return Some(now);
        }
        coming.into_iter().min()
    }
}

impl Watched {
    const fn new(target: ConnectionTarget) -> Self {
        Self {
            target,
            link: None,
            links: 0,
            asked: None,
            is_connecting: false,
            may_connect: true,
            silent_since: None,
            found: None,
            no_primary: None,
        }
    }

    /// Asks on the connection that is kept, unless there is none, or it has not answered the last question.
    fn ask(&mut self, connector: &Connector) -> Option<Asking> {
        let link = self.link.take()?;
        let (asked, number) = (Instant::now(), self.links);
        self.asked = Some(asked);
        self.silent_since.get_or_insert(asked);
        let (target, limit) = (self.target.clone(), connector.options.connect_timeout);
        Some(Box::pin(async move {
            let answer = timeout(limit, link.identify(&target)).await;
            let outcome = answer.unwrap_or_else(|_| Err(timed_out().into())).map(|server| (link, server));
            let (address, outcome) = (target.address, Box::new(outcome));
            Event::Answered(ServerState { address, asked, link: Some(number), outcome })
        }))
    }

    /// Makes another connection, at most once in an interval.
    fn connect(&mut self, connector: &Connector) -> Option<Asking> {
        if self.is_connecting || !self.may_connect {
            return None;
        }
        (self.is_connecting, self.may_connect) = (true, false);
        let asked = Instant::now();
        self.silent_since.get_or_insert(asked);
        let (target, connector) = (self.target.clone(), connector.clone());
        Some(Box::pin(async move {
            let outcome = Box::new(connector.attempt(&target, Purpose::LongRead).await);
            Event::Answered(ServerState { address: target.address, asked, link: None, outcome })
        }))
    }

    /// Returns the identity of the server, unless its last answer is too old, or older than the choice of the server in
    /// use.
    fn answering(&self, now: Instant, chosen: Option<std::time::Instant>) -> Option<&Server> {
        let (server, asked) = self.found.as_ref()?;
        let is_later = chosen.is_none_or(|chosen| asked.into_std() > chosen);
        (is_later && now.duration_since(*asked) < SILENCE_LIMIT).then_some(server)
    }
}

/// Returns all addresses of all hosts.
async fn resolve(connector: &Connector) -> Vec<ConnectionTarget> {
    let resolving = connector
        .hosts
        .beginning_with(None)
        .map(|host| async move { host.resolve(PROBE_TIMEOUT).await.unwrap_or_default() });
    join_all(resolving).await.into_iter().flatten().collect()
}
