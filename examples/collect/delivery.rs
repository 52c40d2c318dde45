//! The reports of a crawl on their way to the destination, and what becomes of them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::net::IpAddr;

use indicatif::ProgressBar;
use toposcope::collect::crawl::{Crawl, CrawlEvent, CrawlFailure, CrawledDevice};

use super::destination::{Answers, Destination, lacks_tables};
use super::failure::Failure;
use super::lines::{device_lines, failure_line, name};
use super::stop::Stop;
use super::{counts, print};

/// Maximum number of reports that are delivered at once.
const REPORTS_AT_ONCE: usize = 64;

/// The delivery of the reports of a crawl.
#[derive(Default)]
pub(crate) struct Delivery {
    /// Number of reports that were stored.
    pub(crate) stored: usize,
    /// The addresses of which there is no report.
    failures: Vec<CrawlFailure>,
    /// The addresses whose reports were refused, with the reasons.
    refusals: Vec<(IpAddr, String)>,
    /// The addresses of devices on which the next crawl must not rely, because they are not stored, or not as a whole.
    unstored: BTreeSet<IpAddr>,
    /// The names of the devices that were read, by their own addresses.
    names: BTreeMap<IpAddr, String>,
}

impl Delivery {
    /// Delivers the reports of a crawl until it ends or is stopped, and prints the devices. A report that is refused alone does not end the
    /// crawl.
    pub(crate) async fn run(
        &mut self,
        crawl: &mut Crawl,
        destination: &dyn Destination,
        stop: &Stop,
        bar: &ProgressBar,
        output: &mut dyn Write,
    ) -> Result<(), Failure> {
        loop {
            let mut events = tokio::select! {
                biased;
                () = stop.requested() => return Ok(()),
                events = crawl.next_events(REPORTS_AT_ONCE) => events,
            };
            if events.is_empty() {
                return Ok(());
            }
            while !events.is_empty() {
                let storing = self.store(events, destination, bar, output);
                let stored;
                (stored, events) = match stop.is_requested() {
                    true => (storing.await, Vec::new()),
                    false => crawl.next_events_during(storing, REPORTS_AT_ONCE).await,
                };
                if stored.is_err() {
                    // Devices that were read meanwhile are not delivered, either.
                    self.unstored.extend(events.iter().filter_map(device_address));
                    return stored;
                }
                bar.set_message(counts(&crawl.progress()));
                bar.tick();
            }
        }
    }

    /// Delivers the reports of some events, and prints the devices.
    async fn store(
        &mut self,
        events: Vec<CrawlEvent>,
        destination: &dyn Destination,
        bar: &ProgressBar,
        output: &mut dyn Write,
    ) -> Result<(), Failure> {
        self.unstored.extend(events.iter().filter_map(device_address));
        let (mut devices, mut reports) = (Vec::new(), Vec::new());
        for event in events {
            match event {
                CrawlEvent::Device(device) => {
                    self.note_name(&device);
                    devices.push((device.address, device_lines(&device)));
                    reports.push(device.report);
                }
                CrawlEvent::Failed(failure) => self.failures.push(failure),
                _ => {}
            }
        }
        let Answers { answers, failure } = destination.deliver(reports).await;
        let (mut answers, mut printed) = (answers.into_iter(), String::new());
        for (address, lines) in devices {
            match answers.next() {
                Some(Ok(answer)) => {
                    self.stored += 1;
                    printed += &lines;
                    if !lacks_tables(&answer) {
                        self.unstored.remove(&address);
                    }
                }
                Some(Err(reason)) => self.refusals.push((address, reason)),
                None => {}
            }
        }
        let printed = bar.suspend(|| print(output, &printed));
        failure.map_or(Ok(()), Err).and(printed)
    }

    fn note_name(&mut self, device: &CrawledDevice) {
        let Some(name) = name(device) else { return };
        let tables = device.report.devices.iter().flat_map(|described| &described.tables.addresses);
        for row in tables.flat_map(|table| &table.rows) {
            self.names.insert(row.ip_address, name.clone());
        }
    }

    /// Makes the next crawl read the devices as a whole that are not stored.
    pub(crate) fn forget_unstored(&self, crawl: &mut Crawl) {
        self.unstored.iter().for_each(|address| crawl.forget(*address));
    }

    /// Prints the addresses of which there is no report, and those whose reports were refused.
    pub(crate) fn print(&self, output: &mut dyn Write) -> Result<(), Failure> {
        let mut text = String::new();
        if !self.failures.is_empty() {
            text += "\nNot read:\n";
        }
        for failure in &self.failures {
            text += &failure_line(failure, &self.names);
        }
        if !self.refusals.is_empty() {
            text += "\nNot stored:\n";
        }
        for (address, reason) in &self.refusals {
            // It may state values of the device, which may send characters that a terminal obeys.
            text += &format!("{address}  {}\n", reason.replace(char::is_control, "?"));
        }
        print(output, &text)
    }
}

fn device_address(event: &CrawlEvent) -> Option<IpAddr> {
    match event {
        CrawlEvent::Device(device) => Some(device.address),
        _ => None,
    }
}
