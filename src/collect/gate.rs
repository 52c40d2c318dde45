//! The one place that sends packets.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use ipnet::Ipv4Net;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until, timeout_at};

use super::allow_list::{AllowList, is_edge};
use super::figures::{CollectCounters, CollectFigures};
use super::pace::{Pace, Pacer};
use super::snmp::{AskError, message_id};
use super::transport::{Datagram, Transport, TransportFuture};

/// Maximum number of answers to one request that wait to be read.
const MAX_WAITING_ANSWERS: usize = 4;

/// Maximum number of known subnets.
const MAX_SUBNETS: usize = 65_536;

/// Maximum number of addresses of which it is kept that they have answered.
const MAX_HOSTS: usize = 65_536;

/// The shortest prefix of a known subnet whose first and last address get no packets.
const MIN_SUBNET_LENGTH: u8 = 8;

/// The delay after a datagram that could not be received.
const RECEIVE_RETRY_DELAY: Duration = Duration::from_millis(10);

/// Sends all packets of a collector: to allowed addresses only, and at its pace.
///
/// Clones share transport, pace and allow-list. When the last one is dropped, nothing is received any more.
#[derive(Clone)]
pub struct Gate {
    state: Arc<GateState>,
}

struct GateState {
    transport: Arc<dyn Transport>,
    allowed: AllowList,
    pacer: Mutex<Pacer>,
    subnets: RwLock<BTreeSet<Ipv4Net>>,
    /// The addresses that have answered, which are no edge of a subnet.
    hosts: RwLock<HashSet<IpAddr>>,
    waiting: Arc<Waiting>,
    counters: Arc<CollectCounters>,
    receiver: JoinHandle<()>,
}

impl Drop for GateState {
    fn drop(&mut self) {
        self.receiver.abort();
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Gate").field("allowed", &self.state.allowed).finish_non_exhaustive()
    }
}

/// The requests that wait for answers.
#[derive(Debug)]
struct Waiting {
    allowed: AllowList,
    requests: Mutex<HashMap<i32, WaitingRequest>>,
    counters: Arc<CollectCounters>,
}

#[derive(Debug)]
struct WaitingRequest {
    source: AnswerSource,
    answers: mpsc::Sender<Datagram>,
}

/// The addresses from which an answer is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerSource {
    /// From one address and port.
    Only(SocketAddr),
    /// From any address of the allow-list, for devices that answer from another address than the one asked.
    AnyAllowed,
}

impl Gate {
    /// Creates a gate, and begins to receive datagrams.
    ///
    /// # Panics
    /// Panics outside of a tokio runtime.
    #[must_use]
    pub fn new(transport: impl Transport, allowed: AllowList, pace: Pace) -> Self {
        let transport: Arc<dyn Transport> = Arc::new(transport);
        let counters = Arc::new(CollectCounters::default());
        let (requests, counted) = (Mutex::default(), Arc::clone(&counters));
        let waiting = Arc::new(Waiting { allowed: allowed.clone(), requests, counters: counted });
        let receiver = tokio::spawn(receive(Arc::clone(&transport), Arc::clone(&waiting)));
        let pacer = Mutex::new(Pacer::new(pace));
        let (subnets, hosts) = (RwLock::default(), RwLock::default());
        let state = GateState { transport, allowed, pacer, subnets, hosts, waiting, counters, receiver };
        Self { state: Arc::new(state) }
    }

    /// Returns the figures since the gate was created, for monitoring.
    ///
    /// They cover its clones, and all crawls and sweeps through them.
    ///
    /// ```no_run
    /// # fn example(gate: &toposcope::collect::Gate) {
    /// let figures = gate.figures();
    /// println!("{} packets, {} without an answer", figures.packets, figures.unanswered);
    /// println!("{}", figures.to_openmetrics());
    /// # }
    /// ```
    #[must_use]
    pub fn figures(&self) -> CollectFigures {
        let waiting = self.state.waiting.lock().len();
        self.state.counters.figures(waiting)
    }

    /// Returns the counters of the figures.
    pub(super) fn counters(&self) -> &CollectCounters {
        &self.state.counters
    }

    /// Returns whether packets may be sent to an address.
    #[must_use]
    pub fn allows(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.state.allowed.contains(address)
            && (self.state.allowed.names(address) || !self.is_edge_of_subnet(address))
    }

    /// Returns whether the allow-list has an address, also if it is the first or the last one of a subnet.
    pub(super) fn lists(&self, address: IpAddr) -> bool {
        self.state.allowed.contains(address)
    }

    /// Returns the parts of a prefix of which the allow-list has addresses.
    pub(super) fn parts_of(&self, net: Ipv4Net) -> Vec<Ipv4Net> {
        self.state.allowed.parts_of(net)
    }

    /// Learns that an address has answered, so that no subnet that a device states makes it an address of no host.
    ///
    /// At most 65,536 addresses are kept.
    pub(super) fn learn_host(&self, address: IpAddr) {
        let mut hosts = self.state.hosts.write().unwrap_or_else(PoisonError::into_inner);
        if hosts.len() < MAX_HOSTS {
            hosts.insert(address.to_canonical());
        }
    }

    /// Learns a subnet, whose first and last address get no packets from now on, unless they have answered before.
    ///
    /// At most 65,536 subnets are kept, and none of less than 8 bits.
    pub fn learn_subnet(&self, subnet: Ipv4Net) {
        let is_usable = (MIN_SUBNET_LENGTH..31).contains(&subnet.prefix_len());
        let mut subnets = self.state.subnets.write().unwrap_or_else(PoisonError::into_inner);
        if is_usable && subnets.len() < MAX_SUBNETS {
            subnets.insert(subnet.trunc());
        }
    }

    fn is_edge_of_subnet(&self, address: IpAddr) -> bool {
        let IpAddr::V4(address) = address else { return false };
        let subnets = self.state.subnets.read().unwrap_or_else(PoisonError::into_inner);
        let prefix = |length| Ipv4Net::new(address, length).map(|net| net.trunc());
        let is_known = |net: &Ipv4Net| is_edge(*net, address) && subnets.contains(net);
        (MIN_SUBNET_LENGTH..31).filter_map(|length| prefix(length).ok()).any(|net| is_known(&net))
            && !self.is_host(IpAddr::V4(address))
    }

    fn is_host(&self, address: IpAddr) -> bool {
        self.state.hosts.read().unwrap_or_else(PoisonError::into_inner).contains(&address)
    }

    /// Begins a request, whose messages all have one random id.
    pub(super) fn begin(&self, to: SocketAddr, source: AnswerSource) -> Result<GatedRequest, AskError> {
        let to = SocketAddr::new(to.ip().to_canonical(), to.port());
        if !self.allows(to.ip()) {
            return Err(AskError::NotAllowed);
        }
        let (sender, answers) = mpsc::channel(MAX_WAITING_ANSWERS);
        let mut requests = self.state.waiting.lock();
        let id = loop {
            let id = random_id()?;
            if !requests.contains_key(&id) {
                break id;
            }
        };
        requests.insert(id, WaitingRequest { source, answers: sender });
        drop(requests);
        Ok(GatedRequest { gate: self.clone(), to, id, answers })
    }

    /// Sends a datagram as soon as the pace allows it.
    async fn send(&self, to: SocketAddr, datagram: &[u8]) -> Result<(), AskError> {
        self.send_by(to.ip(), || self.state.transport.send(to, datagram)).await
    }

    /// Makes and runs a future that sends one packet to an address, as soon as the pace allows it. Its error states that the packet was not
    /// sent.
    pub(super) async fn send_by<'f, T>(
        &self,
        to: IpAddr,
        sending: impl FnOnce() -> TransportFuture<'f, T>,
    ) -> Result<T, AskError> {
        let is_allowed = || if self.allows(to) { Ok(()) } else { Err(AskError::NotAllowed) };
        is_allowed()?;
        loop {
            let admitted = self.pacer().admit(to, Instant::now());
            match admitted {
                Ok(()) => break,
                Err(time) => sleep_until(time).await,
            }
        }
        // A subnet may have been learned while the packet waited.
        is_allowed()?;
        let mut packet = SentPacket { counters: self.counters(), is_sent: true };
        let sent = sending().await;
        packet.is_sent = sent.is_ok();
        sent.map_err(|error| AskError::NotSent(error.kind()))
    }

    fn pacer(&self) -> MutexGuard<'_, Pacer> {
        self.state.pacer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A packet, which is counted when this is dropped, unless it was not sent. A future that is dropped has sent it.
struct SentPacket<'c> {
    counters: &'c CollectCounters,
    is_sent: bool,
}

impl Drop for SentPacket<'_> {
    fn drop(&mut self) {
        if self.is_sent {
            self.counters.packets.increment();
        }
    }
}

/// The time of an answer. If several messages were sent, it is not known which one was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AnswerTime {
    pub(super) since_first: Duration,
    pub(super) since_last: Duration,
}

impl AnswerTime {
    fn new((first, last): (Instant, Instant)) -> Self {
        let now = Instant::now();
        Self { since_first: now - first, since_last: now - last }
    }

    /// Adds the time to the usual one of an agent, which no answer shortens that may be one to an earlier message.
    pub(super) fn usual(self, former: Option<Duration>) -> Duration {
        let Some(former) = former else { return self.since_first };
        let usual = (former * 3 + self.since_last) / 4;
        if self.since_first == self.since_last { usual } else { usual.max(former) }
    }
}

/// A request that waits for its answer. Answers that arrive after it is dropped are ignored.
#[derive(Debug)]
pub(super) struct GatedRequest {
    gate: Gate,
    to: SocketAddr,
    id: i32,
    answers: mpsc::Receiver<Datagram>,
}

impl GatedRequest {
    /// Returns the id that all messages of the request have.
    pub(super) const fn id(&self) -> i32 {
        self.id
    }

    /// Sends a message once for each timeout, until an answer is accepted. A message that the system does not send counts as lost, unless
    /// it will not send any to the address.
    pub(super) async fn ask<T>(
        &mut self,
        message: &[u8],
        timeouts: &[Duration],
        mut accept: impl FnMut(&Datagram) -> Option<T>,
    ) -> Result<(T, AnswerTime), AskError> {
        let mut times: Option<(Instant, Instant)> = None;
        let mut failure = AskError::Silent;
        for timeout in timeouts {
            // A late answer to an earlier message spares the next one.
            while let Ok(answer) = self.answers.try_recv() {
                if let (Some(accepted), Some(times)) = (accept(&answer), times) {
                    return Ok((accepted, self.answered(times)));
                }
            }
            let is_sent = match self.gate.send(self.to, message).await {
                Ok(()) => {
                    let now = Instant::now();
                    times = Some((times.map_or(now, |(first, _)| first), now));
                    true
                }
                // Without an address of the same version, none will be sent later.
                Err(error @ AskError::NotSent(io::ErrorKind::AddrNotAvailable)) => return Err(error),
                // Systems refuse packets for a moment, such as without room in a buffer.
                Err(error @ AskError::NotSent(_)) => {
                    failure = error;
                    false
                }
                Err(error) => return Err(error),
            };
            let ends = Instant::now() + *timeout;
            while let Ok(Some(answer)) = timeout_at(ends, self.answers.recv()).await {
                if let (Some(accepted), Some(times)) = (accept(&answer), times) {
                    return Ok((accepted, self.answered(times)));
                }
            }
            if is_sent {
                self.gate.counters().unanswered.increment();
            }
        }
        // If any message was sent, it is the agent that is silent.
        Err(if times.is_some() { AskError::Silent } else { failure })
    }

    /// Counts an answer to messages of which the first and the last one were sent at these times, and returns its time.
    fn answered(&self, times: (Instant, Instant)) -> AnswerTime {
        let time = AnswerTime::new(times);
        self.gate.counters().answer_times.record(time.since_last);
        time
    }
}

impl Drop for GatedRequest {
    fn drop(&mut self) {
        self.gate.state.waiting.lock().remove(&self.id);
    }
}

impl Waiting {
    fn lock(&self) -> MutexGuard<'_, HashMap<i32, WaitingRequest>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a datagram to the request that it answers. Any other datagram is dropped.
    fn receive(&self, datagram: Datagram) {
        if self.deliver(datagram).is_none() {
            self.counters.ignored.increment();
        }
    }

    /// Gives a datagram to the request that it answers; `None`: there is none.
    fn deliver(&self, mut datagram: Datagram) -> Option<()> {
        datagram.from.set_ip(datagram.from.ip().to_canonical());
        let id = message_id(&datagram.bytes)?;
        let requests = self.lock();
        let request = requests.get(&id)?;
        let is_expected = match request.source {
            AnswerSource::Only(address) => {
                (address.ip().to_canonical(), address.port()) == (datagram.from.ip(), datagram.from.port())
            }
            AnswerSource::AnyAllowed => self.allowed.contains(datagram.from.ip()),
        };
        // A request that has as many unread answers needs no more.
        if is_expected { request.answers.try_send(datagram).ok() } else { None }
    }
}

async fn receive(transport: Arc<dyn Transport>, waiting: Arc<Waiting>) {
    loop {
        match transport.receive().await {
            Ok(datagram) => waiting.receive(datagram),
            Err(_) => sleep(RECEIVE_RETRY_DELAY).await,
        }
    }
}

/// Returns a random number above 0.
fn random_id() -> Result<i32, AskError> {
    let number = getrandom::u32().map_err(|_| AskError::NoRandomNumbers)?;
    Ok((number >> 1).max(1).cast_signed())
}
