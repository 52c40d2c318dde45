//! Following neighbors: from some addresses to the devices of a network.

mod again;
mod event;
mod known;
mod marks;
mod memory;
mod neighbors;
mod options;
mod results;
mod run;
mod secrets;
mod subnets;
mod targets;
mod work;

use std::collections::VecDeque;
use std::fmt;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, ready};

use futures_core::Stream;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::JoinSet;

pub use event::{CrawlEvent, CrawlFailure, CrawlFailureReason, CrawlProgress, CrawledDevice};
pub use memory::CrawlMemory;
pub use options::{CrawlError, CrawlOptions};

use super::gate::Gate;
use super::panics::resume;
use super::secret::SnmpSecrets;
use super::snmp::WalkPool;
use super::sweep::Probes;
use known::DevicesRead;
use secrets::WorkedSecrets;
use subnets::SubnetSweeps;
use targets::{CrawlTarget, CrawlTargets};
use work::{AnsweringAgent, Asking, CrawlStep, DeviceReading, EarlyAddresses};

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
    targets: CrawlTargets,
    /// The events that come before any further work.
    events: VecDeque<CrawlEvent>,
    /// The events that have come while a future of the application ran. They are kept if it is dropped before its end.
    held: VecDeque<CrawlEvent>,
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
    /// The addresses of devices that are being read: at most two messages of each.
    early: UnboundedReceiver<EarlyAddresses>,
    early_sender: UnboundedSender<EarlyAddresses>,
    asking: usize,
    reading: usize,
    progress: CrawlProgress,
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
        let (early_sender, early) = mpsc::unbounded_channel();
        let mut crawl = Self {
            gate: gate.clone(),
            secrets: Arc::new(secrets),
            worked: Arc::default(),
            options,
            targets: CrawlTargets::default(),
            events: VecDeque::new(),
            held: VecDeque::new(),
            answered: VecDeque::new(),
            read: DevicesRead::default(),
            pool,
            memory: None,
            sweeps: None,
            work: JoinSet::new(),
            early,
            early_sender,
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

    /// Waits for the next event, and returns it with those that are there already, at most this many; none: there is nothing left to ask.
    ///
    /// This is for applications that store several reports at once.
    pub async fn next_events(&mut self, most: usize) -> Vec<CrawlEvent> {
        let mut events = Vec::from_iter(self.next().await);
        std::future::poll_fn(|context| {
            while !events.is_empty()
                && events.len() < most
                && let Poll::Ready(Some(event)) = Pin::new(&mut *self).poll_next(context)
            {
                events.push(event);
            }
            Poll::Ready(())
        })
        .await;
        events
    }

    /// Goes on while a future runs, such as one that stores the reports of former events. Returns its output, and the events that have come
    /// meanwhile, at most this many. If there are none, [`next_events`](Self::next_events) waits for the next ones.
    ///
    /// ```no_run
    /// # use toposcope::collect::crawl::{Crawl, CrawlEvent};
    /// # async fn store(events: Vec<CrawlEvent>) {}
    /// # async fn example(mut crawl: Crawl) {
    /// let mut events = crawl.next_events(64).await;
    /// while !events.is_empty() {
    ///     ((), events) = crawl.next_events_during(store(events), 64).await;
    ///     if events.is_empty() {
    ///         events = crawl.next_events(64).await;
    ///     }
    /// }
    /// # }
    /// ```
    pub async fn next_events_during<T>(
        &mut self,
        future: impl Future<Output = T>,
        most: usize,
    ) -> (T, Vec<CrawlEvent>) {
        let (mut future, mut has_ended) = (pin!(future), false);
        let output = std::future::poll_fn(|context| {
            while !has_ended && self.held.len() < most {
                match self.poll_new(context) {
                    Poll::Ready(Some(event)) => self.held.push_back(event),
                    Poll::Ready(None) => has_ended = true,
                    Poll::Pending => break,
                }
            }
            future.as_mut().poll(context)
        })
        .await;
        let events = self.held.len().min(most);
        (output, self.held.drain(..events).collect())
    }

    /// Adds an address, if it may be asked and is within the limits.
    fn add_target(&mut self, target: CrawlTarget) {
        self.progress.left_out += usize::from(self.targets.add(target, &self.gate, &self.options));
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
                follows_next_hops: self.options.follows_next_hops,
                is_remembered: self.memory.is_some(),
                former,
                early: self.early_sender.clone(),
            };
            self.work.spawn(reading.step());
        }
        while self.asking < workers
            && self.answered.len() < workers
            && self.progress.devices + self.reading < self.options.devices
            && let Some(target) = self.targets.next()
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

    /// Counts what is left because of the limits, once.
    fn leave_out_rest(&mut self) {
        let left = self.targets.take_rest() + self.answered.len() + self.read.take_waiting();
        self.progress.left_out += left;
        self.answered.clear();
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

    /// Waits for the next event, without those that are held.
    fn poll_new(&mut self, context: &mut Context<'_>) -> Poll<Option<CrawlEvent>> {
        loop {
            while let Poll::Ready(Some(early)) = self.early.poll_recv(context) {
                self.take_early(early);
            }
            if let Some(event) = self.events.pop_front() {
                return Poll::Ready(Some(event));
            }
            let is_sweeping = self.poll_sweeps(context).is_pending();
            self.begin_work();
            let Some(step) = ready!(self.work.poll_join_next(context)) else {
                if is_sweeping {
                    return Poll::Pending;
                }
                self.leave_out_rest();
                return Poll::Ready(None);
            };
            let event = match step {
                Ok(step) => self.take(step),
                Err(error) => {
                    resume(error);
                    None
                }
            };
            if event.is_some() {
                return Poll::Ready(event);
            }
        }
    }
}

impl Stream for Crawl {
    type Item = CrawlEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<CrawlEvent>> {
        match self.held.pop_front() {
            Some(event) => Poll::Ready(Some(event)),
            None => self.poll_new(context),
        }
    }
}
