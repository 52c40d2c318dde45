//! Several reports at once, such as those of a crawl.

use super::duplicates::Duplicates;
use super::{DiscoverOptions, Reconciler, Reconciliation, Reporting, report};
use crate::access::Caller;
use crate::discovery::Report;
use crate::discovery::reconcile::Merging;
use crate::discovery::report::PortRange;
use crate::inventory::{Error, Inventory};
use crate::wire::DiscoveryReport;

impl Reconciliation<'_> {
    /// Reconciles several reports like [`reconcile`](Self::reconcile), one after the other, and returns their answers in this order.
    ///
    /// This takes less time than one call for each: neighbors are resolved after every 64 devices, where each of many devices with one
    /// neighbor would change that neighbor again. Collectors give the reports that have become ready in the meantime.
    ///
    /// Warnings that follow from the neighbor caches of any of the reports are in the last answer. After an error, and if the future is dropped,
    /// the devices that were committed before stay stored. Devices that cannot be stored cause no error, as with [`reconcile`](Self::reconcile).
    ///
    /// ```
    /// # use toposcope::model::Network;
    /// use toposcope::access::Caller;
    /// use toposcope::discovery::report::{Device, Report, Reporter};
    /// use toposcope::inventory::DiscoverOptions;
    /// use toposcope::model::Timestamp;
    /// use toposcope::{Inventory, MemoryStore};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let caller = Caller::system(inventory.organizations().create("Example").await?.id);
    /// # let network = inventory.networks().create(&caller, Network::new("Office")).await?;
    /// let report = |name: &str| {
    ///     let mut switch = Device::default();
    ///     switch.sys_name = Some(name.to_owned());
    ///     let mut report = Report::new(Reporter::new("collector"), Timestamp::now());
    ///     report.devices.push(switch);
    ///     report
    /// };
    /// let (reports, options) = (vec![report("core-1"), report("core-2")], DiscoverOptions::new(network.id));
    /// let answers = inventory.discovery().reconcile_all(&caller, reports, options).await?;
    /// assert_eq!(answers[1].hosts[0].name, "core-2");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`reconcile`](Self::reconcile), with the answers to the reports that were reconciled before. The others can be sent again.
    pub async fn reconcile_all(
        self,
        caller: &Caller,
        reports: Vec<Report>,
        options: DiscoverOptions,
    ) -> Result<Vec<DiscoveryReport>, ReconcileAllError> {
        self.inventory.check_reporting(caller, options).await?;
        let sender = Reporting::Caller(caller.clone());
        self.inventory.run_discoveries(sender, reports, options, Merging::Allowed).await
    }
}

/// The error of a report among several, with the answers to those before it.
#[derive(Debug, thiserror::Error)]
#[error("Only the first {} reports were reconciled.", answers.len())]
#[non_exhaustive]
pub struct ReconcileAllError {
    /// The answers to the first reports, which were reconciled.
    pub answers: Vec<DiscoveryReport>,
    /// The reason why there are no further ones.
    #[source]
    pub error: Error,
}

impl From<Error> for ReconcileAllError {
    fn from(error: Error) -> Self {
        Self { answers: Vec::new(), error }
    }
}

impl From<ReconcileAllError> for Error {
    fn from(failed: ReconcileAllError) -> Self {
        failed.error
    }
}

impl Inventory {
    /// Reconciles reports one after the other. Returns an answer to each.
    pub(super) async fn run_discoveries(
        &self,
        sender: Reporting,
        reports: Vec<Report>,
        options: DiscoverOptions,
        merging: Merging,
    ) -> Result<Vec<DiscoveryReport>, ReconcileAllError> {
        let mut answers = Vec::with_capacity(reports.len());
        let mut reports = reports.into_iter();
        let Some(mut report) = reports.next() else { return Ok(answers) };
        let mut discovery = self.begin_discovery(sender, &report, options, merging)?;
        let mut discovered;
        loop {
            let next = reports.next();
            discovered = discovery.run(report.devices, options.create_neighbors, next.is_none()).await;
            let Some(next) = next.filter(|_| discovered.is_ok()) else { break };
            answers.push(discovery.begin_report(&next));
            report = next;
        }
        // Even after an error, because the devices before it are stored.
        let cached = discovery.resolve_macs().await;
        let resolved = cached.and(discovery.resolve_neighbors().await);
        if resolved.is_err() {
            // None of the reports is known to have had all its effects.
            answers.clear();
        }
        match discovered.and(resolved) {
            Ok(()) => {
                answers.push(discovery.answer);
                Ok(answers)
            }
            Err(error) => Err(ReconcileAllError { answers, error }),
        }
    }
}

impl Reconciler {
    /// Goes on with another report. Returns the answer to the one before.
    fn begin_report(&mut self, report: &Report) -> DiscoveryReport {
        self.reporter = report.reporter.clone();
        self.scanned_ports = PortRange::merged(&report.scanned_ports).into();
        self.observed_at = report.observed_at.min(self.inventory.now());
        self.duplicates = Duplicates::default();
        let answer = begun_answer(report, self.answer.dry_run);
        std::mem::replace(&mut self.answer, answer)
    }
}

/// Returns the answer to a report of which no device was discovered yet.
pub(super) fn begun_answer(report: &Report, dry_run: bool) -> DiscoveryReport {
    DiscoveryReport {
        dry_run,
        warnings: report::joined(&report.warnings),
        read_rows: report.read_rows,
        used_rows: report.used_rows,
        skipped_rows: report.skipped_rows,
        ..DiscoveryReport::default()
    }
}
