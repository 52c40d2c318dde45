//! The tasks of a crawl: asking an address, and reading a device.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::UnboundedSender;

use super::again::DeviceState;
use super::marks::DeviceMarks;
use super::neighbors::FoundNeighbors;
use super::run::DeviceRun;
use super::secrets::{SecretPlace, WorkedSecrets};
use super::targets::CrawlTarget;
use crate::collect::gate::Gate;
use crate::collect::secret::{SnmpSecret, SnmpSecrets};
use crate::collect::snmp::{
    AskError, SnmpAgent, SystemIdentity, TableEnd, TruncationReason, WalkBudget, WalkLimits, WalkPool,
    WalkedTable,
};
use crate::collect::tables::{self, MarkCoverage};
use crate::discovery::{ParseError, ParseErrorKind, ParseOptions, Report, ReporterId};
use crate::invariant::Invariant;
use crate::model::Timestamp;

/// An agent that has answered, with its distance from the seeds.
#[derive(Debug)]
pub(super) struct AnsweringAgent {
    pub(super) agent: SnmpAgent,
    pub(super) target: CrawlTarget,
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
pub(super) enum CrawlStep {
    Asked(CrawlTarget, Result<Box<FoundAgent>, AskError>),
    Read(Box<ReadDevice>),
}

/// An address that is asked.
pub(super) struct Asking {
    pub(super) gate: Gate,
    pub(super) secrets: Arc<dyn SnmpSecrets>,
    pub(super) worked: Arc<Mutex<WorkedSecrets>>,
    pub(super) target: CrawlTarget,
    pub(super) port: u16,
    /// The secret to which the address has answered an earlier crawl.
    pub(super) former: Option<SecretPlace>,
}

/// An agent that has answered.
#[derive(Debug)]
pub(super) struct FoundAgent {
    pub(super) agent: SnmpAgent,
    /// The secret to which it has answered.
    pub(super) secret: SecretPlace,
}

pub(super) fn lock(worked: &Mutex<WorkedSecrets>) -> MutexGuard<'_, WorkedSecrets> {
    worked.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Asking {
    pub(super) async fn step(self) -> CrawlStep {
        CrawlStep::Asked(self.target, self.ask().await.map(Box::new))
    }

    /// Asks the address with the secrets of the host application, and notes the one to which it answers.
    async fn ask(&self) -> Result<FoundAgent, AskError> {
        let Self { gate, target, former, .. } = self;
        let address = target.address;
        let secrets = self.secrets.for_target(address);
        let ordered = lock(&self.worked).order(address, secrets, *former);
        let secrets: Vec<SnmpSecret> = ordered.iter().map(|placed| placed.secret.clone()).collect();
        let socket = SocketAddr::new(address, self.port);
        let (agent, position) = SnmpAgent::find_in_order(gate, socket, &secrets).await?;
        let Some(placed) = ordered.get(position).asserted() else { return Err(AskError::NoSecret) };
        lock(&self.worked).note(address, &placed.secret);
        Ok(FoundAgent { agent, secret: placed.place() })
    }
}

/// A device that is read.
pub(super) struct DeviceReading {
    pub(super) answering: AnsweringAgent,
    pub(super) limits: WalkLimits,
    pub(super) pool: WalkPool,
    pub(super) follows_next_hops: bool,
    /// Whether the crawl remembers the device.
    pub(super) is_remembered: bool,
    /// The state that an earlier crawl has left.
    pub(super) former: Option<Box<DeviceState>>,
    /// Takes the addresses of the device and its neighbors before the rest of it was read.
    pub(super) early: UnboundedSender<EarlyAddresses>,
}

/// A device that was read.
#[derive(Debug)]
pub(super) struct ReadDevice {
    pub(super) answering: AnsweringAgent,
    pub(super) report: Result<Report, ParseError>,
    pub(super) truncated: Vec<WalkedTable>,
    /// The next hops of the routes, if they are followed.
    pub(super) next_hops: Vec<IpAddr>,
    /// The state for the next crawl.
    pub(super) state: Option<Box<DeviceState>>,
    pub(super) is_unchanged: bool,
    /// Holds the memory of the device until its report is taken.
    pub(super) budget: WalkBudget,
}

/// The addresses of a device that is being read, and of its neighbors.
#[derive(Debug)]
pub(super) struct EarlyAddresses {
    pub(super) found: FoundNeighbors,
    pub(super) system: SystemIdentity,
    pub(super) target: CrawlTarget,
    pub(super) is_v3: bool,
}

/// The tables of a device, as they were read at one time.
struct DeviceTables {
    read: Vec<WalkedTable>,
    report: Result<Report, ParseError>,
    next_hops: Vec<IpAddr>,
    state: Option<Box<DeviceState>>,
    is_unchanged: bool,
    observed_at: Timestamp,
    budget: WalkBudget,
}

impl DeviceReading {
    pub(super) async fn step(mut self) -> CrawlStep {
        let run = DeviceRun::begin(&self.answering.agent);
        let limits = self.limits;
        let tables = self.read(&limits).await;
        let Some(later) = self.change(&run, &tables).await else { return self.finish(tables) };
        let left = tables.budget.time_left();
        if left <= run.elapsed() {
            let changed = self.changed(tables);
            return self.finish(changed);
        }
        // Its memory is given back before more is taken.
        drop(tables);
        let tables = self.read(&limits.with_time(left)).await;
        let tables = match self.change(&later, &tables).await {
            Some(_) => self.changed(tables),
            None => tables,
        };
        self.finish(tables)
    }

    /// Returns the run of the device from now on if its tables may not belong together.
    async fn change(&mut self, run: &DeviceRun, tables: &DeviceTables) -> Option<DeviceRun> {
        let has_stopped = |table: &WalkedTable| table.end == TableEnd::Truncated(TruncationReason::Silent);
        match tables.read.last().is_some_and(has_stopped) {
            true => None,
            false => run.change(&mut self.answering.agent).await,
        }
    }

    /// Marks the tables as ones that may not belong together. The next crawl reads all of them.
    fn changed(&self, mut tables: DeviceTables) -> DeviceTables {
        for table in &mut tables.read {
            if !matches!(table.end, TableEnd::Truncated(_)) {
                table.end = TableEnd::Truncated(TruncationReason::Changed);
            }
        }
        let report = self.report(&tables.read, tables.observed_at);
        DeviceTables { report, state: None, is_unchanged: false, ..tables }
    }

    /// Reads the tables of the device, without those that are the same as at an earlier crawl.
    async fn read(&mut self, limits: &WalkLimits) -> DeviceTables {
        let observed_at = Timestamp::now();
        let mut budget = WalkBudget::new(limits).sharing(&self.pool);
        let marks = match self.is_remembered {
            true => DeviceMarks::read(&mut self.answering.agent).await,
            false => None,
        };
        let former = marks.zip(self.former.take()).and_then(|(marks, former)| {
            let coverage = former.coverage(&marks, observed_at)?;
            Some((marks, former, coverage))
        });
        let coverage = former.as_ref().map(|(.., coverage)| *coverage).unwrap_or_default();
        let on_addresses = self.announcing(observed_at);
        let agent = &mut self.answering.agent;
        let mut read = tables::read_uncovered(agent, &mut budget, coverage, on_addresses).await;
        if let Some((marks, former, _)) = former {
            let report = self.report(&read, observed_at).ok();
            let next_hops = self.next_hops(report.as_ref());
            if let Some(report) = report.and_then(|report| former.unchanged(report)) {
                let (report, state) = (Ok(report), Some(Box::new(former.with_marks(marks))));
                return DeviceTables {
                    read,
                    report,
                    next_hops,
                    state,
                    is_unchanged: true,
                    observed_at,
                    budget,
                };
            }
            let agent = &mut self.answering.agent;
            tables::read_covered(agent, &mut budget, coverage, &mut read).await;
        }
        let report = self.report(&read, observed_at);
        let state = marks.zip(report.as_ref().ok()).and_then(|(marks, report)| {
            let neighbors = marks.has_neighbors() && tables::has_covered_neighbors(&read);
            let coverage = MarkCoverage { interfaces: true, neighbors };
            let uncovered = read.iter().filter(|table| !tables::is_covered(table, coverage));
            let uncovered = self.report(uncovered, observed_at).ok()?;
            DeviceState::new(marks, observed_at, coverage, report, &uncovered).map(Box::new)
        });
        let next_hops = self.next_hops(report.as_ref().ok());
        DeviceTables { read, report, next_hops, state, is_unchanged: false, observed_at, budget }
    }

    /// Returns the next hops of the routes in a report, if they are followed.
    fn next_hops(&self, report: Option<&Report>) -> Vec<IpAddr> {
        let reports = report.into_iter().filter(|_| self.follows_next_hops);
        let tables = reports.flat_map(|report| &report.devices).flat_map(|device| &device.tables.routes);
        tables.flat_map(|table| &table.rows).filter_map(|route| route.next_hop).collect()
    }

    /// Returns a function that hands tables with addresses to the crawl, so that neighbors are asked while the rest is read.
    fn announcing(&self, observed_at: Timestamp) -> impl FnMut(&[&WalkedTable]) + use<> {
        let (early, target) = (self.early.clone(), self.answering.target);
        let (system, is_v3) = (self.answering.agent.system().clone(), self.answering.agent.is_v3());
        let options = ParseOptions::new(observed_at).with_reporter(self.answering.name());
        move |tables| {
            let Ok(report) = tables::report_of(tables.iter().copied(), &options) else { return };
            let found = FoundNeighbors::of(&report);
            // A crawl that was dropped takes no more addresses.
            let _ = early.send(EarlyAddresses { found, system: system.clone(), target, is_v3 });
        }
    }

    /// Makes a report of tables. A device that does not name itself has the name of its first answer, or its address.
    fn report<'t>(
        &self,
        read: impl IntoIterator<Item = &'t WalkedTable> + Clone,
        observed_at: Timestamp,
    ) -> Result<Report, ParseError> {
        let options = ParseOptions::new(observed_at).with_complete_tables();
        match tables::report_of(read.clone().into_iter(), &options) {
            Err(error) if matches!(error.kind(), ParseErrorKind::ReporterRequired) => {
                tables::report_of(read.into_iter(), &options.with_reporter(self.answering.name()))
            }
            report => report,
        }
    }

    fn finish(self, tables: DeviceTables) -> CrawlStep {
        let DeviceTables { read, report, next_hops, state, is_unchanged, budget, .. } = tables;
        let truncated = read.into_iter().filter(|table| matches!(table.end, TableEnd::Truncated(_)));
        let truncated = truncated.map(|table| WalkedTable::without_rows(table.root, table.end)).collect();
        let answering = self.answering;
        let read = ReadDevice { answering, report, truncated, next_hops, state, is_unchanged, budget };
        CrawlStep::Read(Box::new(read))
    }
}
