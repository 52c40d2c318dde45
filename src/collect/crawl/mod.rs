//! Following neighbors: from some addresses to the devices of a network.

mod again;
mod event;
mod known;
mod marks;
mod memory;
mod neighbors;
mod options;
mod secrets;
mod subnets;
mod work;

use std::collections::{HashSet, VecDeque};
use std::fmt;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use tokio::task::{JoinError, JoinSet};

pub use event::{CrawlEvent, CrawlFailure, CrawlFailureReason, CrawlProgress, CrawledDevice};
pub use memory::CrawlMemory;
pub use options::{CrawlError, CrawlOptions};

use super::gate::Gate;
use super::secret::SnmpSecrets;
use super::snmp::{AskError, SnmpAgent, WalkPool};
use super::sweep::Probes;
use crate::discovery::ReporterId;
use crate::model::Timestamp;
use known::{DevicesRead, ReadingTurn};
use secrets::WorkedSecrets;
use subnets::SubnetSweeps;
use work::{Asking, DeviceReading, FoundAgent, ReadDevice, lock};

/// Maximum number of addresses beyond the limits that are counted.
const MAX_LEFT_OUT: usize = 65_536;

/// A crawl, as a stream of the devices that were read and the addresses that could not be.
///
/// It works while it is polled: the number of concurrent requests is bounded, and no further ones begin while the events are
/// not taken. Dropping it stops everything; no packet is sent after that.
///
/// ```no_run
/// use toposcope::collect::crawl::{Crawl, CrawlEvent, CrawlOptions};
/// use toposcope::collect::{Gate, Pace, SnmpSecret, UdpTransport};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let gate = Gate::new(UdpTransport::open().await?, "192.0.2.0/24".parse()?, Pace::default());
/// let secrets = |_| vec![SnmpSecret::v2c("a community")];
/// let mut crawl = Crawl::begin(&gate, ["192.0.2.1".parse()?], secrets, CrawlOptions::default())?;
/// while let Some(event) = crawl.next().await {
///     match event {
///         CrawlEvent::Device(device) => println!("{}: {} devices", device.address, crawl.progress().devices),
///         CrawlEvent::Failed(failure) => println!("{}: {}", failure.address, failure.reason),
///         _ => {}
///     }
/// }
/// # Ok(())
/// # }
/// ```
pub struct Crawl {
    gate: Gate,
    secrets: Arc<dyn SnmpSecrets>,
    worked: Arc<Mutex<WorkedSecrets>>,
    options: CrawlOptions,
    /// The addresses that were ever found.
    found: HashSet<IpAddr>,
    /// The addresses beyond the limit.
    left_out: HashSet<IpAddr>,
    /// The addresses that are to be asked.
    targets: VecDeque<CrawlTarget>,
    /// The agents that have answered and are to be read.
    answered: VecDeque<AnsweringAgent>,
    read: DevicesRead,
    /// The memory of the devices that are read.
    pool: WalkPool,
    /// The knowledge for the next crawl, if it is wanted.
    memory: Option<CrawlMemory>,
    /// The sweeps of the subnets that are found, if they are wanted.
    sweeps: Option<SubnetSweeps>,
    work: JoinSet<CrawlStep>,
    asking: usize,
    reading: usize,
    progress: CrawlProgress,
}

/// An address with its distance from the seeds.
#[derive(Clone, Copy, Debug)]
struct CrawlTarget {
    address: IpAddr,
    depth: u32,
}

/// An agent that has answered, with its distance from the seeds.
#[derive(Debug)]
struct AnsweringAgent {
    agent: SnmpAgent,
    target: CrawlTarget,
}

impl AnsweringAgent {
    /// Returns a name for tables in which the device does not name itself: the name of its first answer, or the address.
    fn name(&self) -> ReporterId {
        let name = self.agent.system().name.as_ref().map(|name| String::from_utf8_lossy(name).into_owned());
        ReporterId::SysName(name.unwrap_or_else(|| self.target.address.to_string()))
    }
}

/// The result of a task.
#[derive(Debug)]
enum CrawlStep {
    Asked(CrawlTarget, Result<Box<FoundAgent>, AskError>),
    Read(Box<ReadDevice>),
}

impl fmt::Debug for Crawl {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Crawl").field("progress", &self.progress).finish_non_exhaustive()
    }
}

impl Crawl {
    /// Begins with some addresses. The crawl must be polled within a tokio runtime.
    ///
    /// # Errors
    /// Returns an error if there are no seeds, or if the allow-list of the gate does not have all of them.
    pub fn begin(
        gate: &Gate,
        seeds: impl IntoIterator<Item = IpAddr>,
        secrets: impl SnmpSecrets,
        options: CrawlOptions,
    ) -> Result<Self, CrawlError> {
        let pool = WalkPool::new(options.table_bytes);
        let mut crawl = Self {
            gate: gate.clone(),
            secrets: Arc::new(secrets),
            worked: Arc::default(),
            options,
            found: HashSet::new(),
            left_out: HashSet::new(),
            targets: VecDeque::new(),
            answered: VecDeque::new(),
            read: DevicesRead::default(),
            pool,
            memory: None,
            sweeps: None,
            work: JoinSet::new(),
            asking: 0,
            reading: 0,
            progress: CrawlProgress::default(),
        };
        for seed in seeds {
            if !gate.allows(seed) {
                return Err(CrawlError::SeedNotAllowed(seed));
            }
            crawl.add_target(CrawlTarget { address: seed, depth: 0 });
        }
        if crawl.targets.is_empty() { Err(CrawlError::NoSeed) } else { Ok(crawl) }
    }

    /// Continues earlier crawls: tables that are the same as before are not read, and are reported as unchanged.
    ///
    /// `sysUpTime`, `ifTableLastChange` and `lldpStatsRemTablesLastChangeTime` show whether they are. Forwarding databases and
    /// neighbor caches are always read, and so are tables without such a mark: a device of which one of these has changed is
    /// read as a whole, and so is one that has rebooted, and one whose tables were read a day ago. An address that has answered
    /// SNMPv3 before is sent no community.
    #[must_use]
    pub fn with_memory(self, memory: CrawlMemory) -> Self {
        Self { memory: Some(memory), ..self }
    }

    /// Sweeps the subnets of the devices, and asks the addresses that are in use. Subnets and addresses outside of the allow-list
    /// are left out, and so are those beyond 65,536 addresses in all.
    #[must_use]
    pub fn with_sweeps(self, probes: impl Probes) -> Self {
        Self { sweeps: Some(SubnetSweeps::new(probes)), ..self }
    }

    /// Returns the reason why sweeps send no echo requests of ICMP, if there are sweeps and they do not.
    #[must_use]
    pub fn without_echo(&self) -> Option<std::io::ErrorKind> {
        self.sweeps.as_ref()?.without_echo()
    }

    /// Forgets the state of a device, as [`CrawlMemory::forget`] does.
    pub fn forget(&mut self, address: IpAddr) {
        if let Some(memory) = &mut self.memory {
            memory.forget(address);
        }
    }

    /// Returns the knowledge for the next crawl, at any time; `None` without [`with_memory`](Self::with_memory).
    #[must_use]
    pub const fn memory(&self) -> Option<&CrawlMemory> {
        self.memory.as_ref()
    }

    /// Returns the counts so far.
    #[must_use]
    pub const fn progress(&self) -> CrawlProgress {
        self.progress
    }

    /// Waits for the next event; `None`: there is nothing left to ask.
    pub async fn next(&mut self) -> Option<CrawlEvent> {
        std::future::poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// Adds an address that was not found before, may be asked, and is within the limits.
    fn add_target(&mut self, target: CrawlTarget) {
        let target = CrawlTarget { address: target.address.to_canonical(), ..target };
        let is_wanted = target.depth <= self.options.depth
            && !self.found.contains(&target.address)
            && !self.options.skipped_addresses.contains(&target.address)
            && self.gate.allows(target.address);
        if !is_wanted {
            return;
        }
        if self.found.len() >= self.options.targets {
            if self.left_out.len() < MAX_LEFT_OUT && self.left_out.insert(target.address) {
                self.progress.left_out += 1;
            }
            return;
        }
        self.found.insert(target.address);
        self.targets.push_back(target);
    }

    /// Begins as much work as may be done at the same time. Reading comes first, because it finds the next addresses.
    fn begin_work(&mut self) {
        let workers = self.options.workers.max(1);
        while self.reading < workers
            && self.progress.devices + self.reading < self.options.devices
            && let Some(answering) = self.answered.pop_front()
        {
            self.reading += 1;
            let former = self.memory.as_ref().and_then(|memory| memory.state(answering.target.address));
            let reading = DeviceReading {
                answering,
                limits: self.options.walk,
                pool: self.pool.clone(),
                reads_next_hops: self.options.follows_next_hops,
                is_remembered: self.memory.is_some(),
                former,
            };
            self.work.spawn(reading.step());
        }
        while self.asking < workers
            && self.answered.len() < workers
            && self.progress.devices + self.reading < self.options.devices
            && let Some(target) = self.targets.pop_front()
        {
            self.asking += 1;
            self.progress.asked += 1;
            self.gate.counters().asked.increment();
            let asking = Asking {
                gate: self.gate.clone(),
                secrets: Arc::clone(&self.secrets),
                worked: Arc::clone(&self.worked),
                target,
                port: self.options.port,
                former: self.memory.as_ref().and_then(|memory| memory.secret(target.address)),
            };
            self.work.spawn(asking.step());
        }
    }

    /// Takes the result of a task. Returns an event, unless it is of no interest to the caller.
    fn take(&mut self, step: CrawlStep) -> Option<CrawlEvent> {
        match step {
            CrawlStep::Asked(target, Err(error)) => {
                self.asking -= 1;
                Some(self.failed(target.address, CrawlFailureReason::NotAnswered(error)))
            }
            CrawlStep::Asked(target, Ok(found)) => {
                self.asking -= 1;
                self.progress.answered += 1;
                let FoundAgent { agent, secret } = *found;
                if agent.answers_from().is_none() {
                    self.gate.learn_host(target.address);
                }
                if let Some(memory) = &mut self.memory {
                    memory.note_answer(target.address, secret, Timestamp::now());
                }
                self.begin_reading(AnsweringAgent { agent, target })
            }
            CrawlStep::Read(device) => {
                self.reading -= 1;
                Some(self.finish_reading(*device))
            }
        }
    }

    /// Reads an agent, unless it is skipped, or one of a device that was read, or of one that is being read.
    fn begin_reading(&mut self, answering: AnsweringAgent) -> Option<CrawlEvent> {
        let address = answering.target.address;
        let system = answering.agent.system();
        let is_skipped = system
            .object_id
            .as_ref()
            .is_some_and(|id| self.options.skipped_object_ids.iter().any(|skipped| id.is_within(skipped)));
        if is_skipped {
            return Some(CrawlEvent::Skipped(address));
        }
        match self.read.turn(answering) {
            ReadingTurn::Read(answering) => self.answered.push_back(*answering),
            ReadingTurn::Wait => {}
            ReadingTurn::IsRead => return Some(CrawlEvent::Repeated(address)),
        }
        None
    }

    /// Takes the addresses that sweeps find. Ready: there is nothing to sweep at present.
    fn poll_sweeps(&mut self, context: &mut Context<'_>) -> Poll<()> {
        while let Some(sweeps) = &mut self.sweeps {
            match ready!(sweeps.poll(&self.gate, context)) {
                Some(target) => self.add_target(target),
                None => break,
            }
        }
        Poll::Ready(())
    }

    /// Counts an address of which there is no report.
    fn failed(&mut self, address: IpAddr, reason: CrawlFailureReason) -> CrawlEvent {
        self.progress.failed += 1;
        self.gate.counters().count_failure(&reason);
        CrawlEvent::Failed(CrawlFailure { address, reason })
    }

    fn finish_reading(&mut self, device: ReadDevice) -> CrawlEvent {
        let ReadDevice { answering, report, truncated, next_hops, state, is_unchanged, budget } = device;
        drop(budget);
        let AnsweringAgent { agent, target } = answering;
        let report = match report {
            Ok(report) => report,
            Err(error) => {
                self.answered.extend(self.read.finish(&agent, &[]));
                return self.failed(target.address, CrawlFailureReason::NotReported(error));
            }
        };
        let mut found = neighbors::FoundNeighbors::of(&report);
        if let Some(state) = state.as_ref().filter(|_| is_unchanged) {
            (found.neighbors, found.links) = (state.neighbors.clone(), state.links);
        }
        if let Some(memory) = &mut self.memory {
            memory.note_state(target.address, state);
        }
        if agent.is_v3() {
            lock(&self.worked).secure(&found.own_addresses);
        }
        self.answered.extend(self.read.finish(&agent, &found.own_addresses));
        for subnet in subnets::of_device(&self.gate, &found.subnets) {
            self.gate.learn_subnet(subnet);
        }
        if let Some(sweeps) = self.sweeps.as_mut().filter(|_| target.depth < self.options.depth) {
            found.subnets.iter().for_each(|subnet| sweeps.add(*subnet, target.depth + 1));
        }
        found.neighbors.extend(next_hops);
        if self.options.follows_arp {
            found.neighbors.extend(neighbors::cached(&report));
        }
        for address in found.neighbors {
            self.add_target(CrawlTarget { address, depth: target.depth + 1 });
        }
        self.progress.devices += 1;
        self.progress.unchanged += usize::from(is_unchanged);
        self.progress.links += found.links;
        let truncated: Vec<_> = truncated.into_iter().filter_map(CrawledDevice::truncation).collect();
        let counters = self.gate.counters();
        counters.devices.increment();
        counters.unchanged.add(u64::from(is_unchanged));
        truncated.iter().for_each(|(_, reason)| counters.count_truncation(*reason));
        CrawlEvent::Device(Box::new(CrawledDevice {
            address: target.address,
            answers_from: agent.answers_from().map(|from| from.ip()),
            depth: target.depth,
            report,
            truncated,
        }))
    }
}

impl Stream for Crawl {
    type Item = CrawlEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<CrawlEvent>> {
        loop {
            let is_sweeping = self.poll_sweeps(context).is_pending();
            self.begin_work();
            let Some(step) = ready!(self.work.poll_join_next(context)) else {
                if is_sweeping {
                    return Poll::Pending;
                }
                self.progress.left_out += self.targets.len() + self.answered.len();
                self.targets.clear();
                self.answered.clear();
                return Poll::Ready(None);
            };
            let event = match step {
                Ok(step) => self.take(step),
                Err(error) => resume(error),
            };
            if event.is_some() {
                return Poll::Ready(event);
            }
        }
    }
}

/// Continues the panic of a task, which can only come from the secrets of the host application.
fn resume(error: JoinError) -> Option<CrawlEvent> {
    match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(_) => None,
    }
}
