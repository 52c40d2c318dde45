//! The reports of a crawl on their way to the destination, and what becomes of them.

use std::io::Write;
use std::net::IpAddr;

use indicatif::ProgressBar;
use toposcope::collect::crawl::{Crawl, CrawlEvent, CrawlFailure, CrawlFailureReason, CrawledDevice};
use toposcope::collect::snmp::{AskError, SnmpRefusal};

use super::destination::{Answers, Destination, lacks_tables};
use super::failure::Failure;
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
}

impl Delivery {
    /// Delivers the reports of a crawl, and prints the devices. A report that is refused alone does not end the crawl.
    pub(crate) async fn run(
        &mut self,
        crawl: &mut Crawl,
        destination: &dyn Destination,
        bar: &ProgressBar,
        output: &mut dyn Write,
    ) -> Result<(), Failure> {
        let mut events = crawl.next_events(REPORTS_AT_ONCE).await;
        while !events.is_empty() {
            let (mut devices, mut reports) = (Vec::new(), Vec::new());
            for event in events {
                match event {
                    CrawlEvent::Device(device) => {
                        devices.push((device.address, device_lines(&device)));
                        reports.push(device.report);
                    }
                    CrawlEvent::Failed(failure) => self.failures.push(failure),
                    _ => {}
                }
            }
            let delivered;
            (delivered, events) =
                crawl.next_events_during(destination.deliver(reports), REPORTS_AT_ONCE).await;
            let Answers { answers, failure } = delivered;
            let (mut answers, mut printed) = (answers.into_iter(), String::new());
            for (address, lines) in devices {
                let answer = answers.next();
                // Until it is stored, the next crawl must not rely on it.
                if !matches!(&answer, Some(Ok(answer)) if !lacks_tables(answer)) {
                    crawl.forget(address);
                }
                match answer {
                    Some(Ok(_)) => {
                        self.stored += 1;
                        printed += &lines;
                    }
                    Some(Err(reason)) => self.refusals.push((address, reason)),
                    None => {}
                }
            }
            let printed = bar.suspend(|| print(output, &printed));
            if let Err(failure) = failure.map_or(Ok(()), Err).and(printed) {
                // Devices that were read meanwhile are not delivered, either.
                for event in &events {
                    if let CrawlEvent::Device(device) = event {
                        crawl.forget(device.address);
                    }
                }
                return Err(failure);
            }
            bar.set_message(counts(&crawl.progress()));
            bar.tick();
        }
        Ok(())
    }

    /// Prints the addresses of which there is no report, and those whose reports were refused.
    pub(crate) fn print(&self, output: &mut dyn Write) -> Result<(), Failure> {
        let mut text = String::new();
        if !self.failures.is_empty() {
            text += "\nNot read:\n";
        }
        for CrawlFailure { address, reason, .. } in &self.failures {
            text += &format!("{address}  {reason}; {}\n", advice(reason));
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

/// Returns name, address and model of a device, and the objects that could not be read.
fn device_lines(device: &CrawledDevice) -> String {
    let mut lines = String::new();
    for described in &device.report.devices {
        let name = described.sys_name.as_deref().unwrap_or("a device without a name");
        let model = described.model.as_deref().or(described.sys_descr.as_deref()).unwrap_or("unknown model");
        let model = model.lines().next().unwrap_or_default();
        // Devices may send characters that a terminal obeys.
        let is_unchanged = !described.tables.unchanged().is_empty();
        let mark = if is_unchanged { "  (unchanged)" } else { "" };
        let described = format!("{name}  {}  {model}{mark}", device.address).replace(char::is_control, "?");
        lines += &format!("{described}\n");
    }
    if let Some(from) = device.answers_from {
        lines += &format!("  it answers from {from}\n");
    }
    for (object, reason) in &device.truncated {
        lines += &format!("  {object} is incomplete: {reason}\n");
    }
    lines
}

/// Returns advice for a failure.
const fn advice(reason: &CrawlFailureReason) -> &'static str {
    match reason {
        CrawlFailureReason::NotAnswered(AskError::Silent) => {
            "check that SNMP is switched on, that its access list has this machine, and that the community is right"
        }
        CrawlFailureReason::NotAnswered(AskError::NotAllowed) => "--within decides what may be asked",
        CrawlFailureReason::NotAnswered(AskError::NotSent(_)) => "check the routes of this machine",
        CrawlFailureReason::NotAnswered(AskError::Refused(refusal)) => match refusal {
            SnmpRefusal::UnknownUser => "check --user",
            SnmpRefusal::WrongDigest => "check --auth and its password",
            SnmpRefusal::DecryptionFailed => "check --priv and its password",
            SnmpRefusal::UnsupportedLevel => "check whether --auth-env and --priv-env are needed",
            _ => "check the SNMP settings of the device",
        },
        CrawlFailureReason::NotAnswered(AskError::Denied(_)) => {
            "give the user or the community the right to read the whole tree"
        }
        _ => "walk it with snmpbulkwalk, and import the file",
    }
}
