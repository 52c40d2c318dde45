//! XML of nmap.

mod host;
mod hosts;
mod source;

use std::io::BufRead;

use quick_xml::Reader;
use quick_xml::errors::Error;
use quick_xml::events::{BytesStart, Event};

use super::meter::Meter;
use super::{ParseError, ParseErrorKind, ParseOptions};
use crate::discovery::report::{PortRange, Report, Reporter, WarningCode};
use crate::model::{PortNumber, Protocol, Timestamp};
use host::HostBuilder;
use hosts::ScannedHosts;
use source::LimitedReader;

/// The deepest nesting. Scripts nest tables by a few levels.
const MAX_DEPTH: usize = 64;
/// The port 0, which nmap scans when it is asked to, and which no service has.
const NO_PORT: &str = "0";
const EXPECTED: &str = "XML of nmap: each document must be an element `nmaprun`";

/// Reads the hosts of a scan, or of several whose documents follow one another.
pub(super) fn read(
    reader: &mut dyn BufRead,
    options: &ParseOptions,
    meter: &mut Meter,
) -> Result<Report, ParseError> {
    // The bytes before the text, such as a byte order mark.
    let start = meter.bytes();
    let mut xml = Reader::from_reader(LimitedReader::new(reader));
    let mut scan = Scan::new(options);
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        xml.get_mut().begin_event();
        let before = xml.buffer_position();
        let event = xml.read_event_into(&mut buffer);
        let length = usize::try_from(xml.buffer_position().saturating_sub(before)).unwrap_or(usize::MAX);
        meter.add_bytes(length);
        meter.add_steps(length.saturating_mul(4).saturating_add(1));
        let event = match event {
            Ok(event) => event,
            Err(error) => {
                if scan.depth > 0 && xml.get_ref().is_at_end() && !matches!(error, Error::Io(_)) {
                    scan.is_interrupted = true;
                    break;
                }
                return Err(located(error, &xml, start, meter));
            }
        };
        match scan.accept(event, meter) {
            Ok(Progress::Continue) => meter.check()?,
            Ok(Progress::End) => break,
            Err(problem) => return Err(ParseError::new(problem, None, start + before)),
        }
    }
    scan.finish(meter)
}

fn located(error: Error, xml: &Reader<LimitedReader<'_>>, start: u64, meter: &Meter) -> ParseError {
    let byte = xml.error_position();
    let kind = match error {
        _ if xml.get_ref().is_too_large() => {
            ParseErrorKind::TooLarge("a single element is larger than 4 MiB")
        }
        Error::Io(error) => ParseErrorKind::Io(std::io::Error::new(error.kind(), error)),
        error => ParseErrorKind::syntax(&error.to_string()),
    };
    // Errors of the reader itself have no position of their own.
    let byte = if byte == 0 { meter.bytes() } else { start + byte };
    ParseError::new(kind, None, byte)
}

enum Progress {
    Continue,
    End,
}

/// A scan while it is read.
struct Scan<'o> {
    options: &'o ParseOptions,
    report: Report,
    depth: usize,
    /// The number of runs that have begun.
    runs: u32,
    /// The ports that the present run scans.
    scanned: Vec<PortRange>,
    /// The same, merged, once a host needs them.
    merged: Option<Vec<PortRange>>,
    hosts: ScannedHosts,
    host: Option<HostBuilder>,
    started_at: Option<i64>,
    finished_at: Option<i64>,
    is_interrupted: bool,
}

impl<'o> Scan<'o> {
    fn new(options: &'o ParseOptions) -> Self {
        Self {
            options,
            report: Report::new(Reporter::new("nmap"), options.observed_at),
            depth: 0,
            runs: 0,
            scanned: Vec::new(),
            merged: None,
            hosts: ScannedHosts::default(),
            host: None,
            started_at: None,
            finished_at: None,
            is_interrupted: false,
        }
    }

    fn accept(&mut self, event: Event<'_>, meter: &mut Meter) -> Result<Progress, ParseErrorKind> {
        match event {
            Event::Start(element) => {
                self.open(&element, meter)?;
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return Err(ParseErrorKind::TooLarge("elements are nested deeper than 64 levels"));
                }
            }
            Event::Empty(element) => {
                self.open(&element, meter)?;
                self.close(element.name().0, self.depth, meter);
            }
            Event::End(element) => {
                self.depth = self.depth.saturating_sub(1);
                self.close(element.name().0, self.depth, meter);
            }
            Event::DocType(definition) if definition.contains('[') => {
                return Err(ParseErrorKind::EntityDefinition);
            }
            Event::GeneralRef(reference) => {
                let is_known = matches!(&*reference, "lt" | "gt" | "amp" | "quot" | "apos")
                    || reference.resolve_char_ref().is_ok_and(|character| character.is_some());
                if !is_known {
                    return Err(ParseErrorKind::syntax(&format!(
                        "the entity `{}` is not defined",
                        &*reference
                    )));
                }
            }
            Event::Decl(_) if self.depth > 0 => self.abandon_run(meter),
            Event::Text(text) if self.depth == 0 => self.accept_text(&text, meter)?,
            Event::Eof => return Ok(Progress::End),
            _ => {}
        }
        Ok(Progress::Continue)
    }

    /// Reads text outside of any document: white space, or messages behind the first document.
    fn accept_text(&self, text: &str, meter: &mut Meter) -> Result<(), ParseErrorKind> {
        // Appended files may have a byte order mark each.
        let text = text.trim_matches(|character: char| character.is_whitespace() || character == '\u{FEFF}');
        if text.is_empty() {
            return Ok(());
        }
        if self.runs == 0 {
            return Err(ParseErrorKind::WrongFormat(EXPECTED));
        }
        meter.warn_of(WarningCode::TextIgnored, || text);
        Ok(())
    }

    /// Ends a run whose document was not closed before the next one begins.
    fn abandon_run(&mut self, meter: &mut Meter) {
        self.push_host(meter);
        self.is_interrupted = true;
        self.depth = 0;
    }

    fn open(&mut self, element: &BytesStart<'_>, meter: &mut Meter) -> Result<(), ParseErrorKind> {
        let name = element.name();
        if self.depth > 0 && name.0 == "nmaprun" {
            self.abandon_run(meter);
        }
        match (self.depth, name.0) {
            (0, "nmaprun") => self.open_run(element),
            (0, _) => Err(ParseErrorKind::WrongFormat(EXPECTED)),
            (1, "scaninfo") => self.open_scan_info(element, meter),
            (1, "host") => {
                self.host = Some(HostBuilder::new(element)?);
                Ok(())
            }
            (2, "finished") if self.host.is_none() => each_attribute(element, |name, value| match name {
                "time" => self.finished_at = value.parse().ok(),
                "exit" => self.is_interrupted |= value == "error",
                _ => {}
            }),
            (depth, name) => match &mut self.host {
                Some(host) => host.open(depth, name, element, meter),
                None => Ok(()),
            },
        }
    }

    fn close(&mut self, name: &str, depth: usize, meter: &mut Meter) {
        if let Some(host) = &mut self.host {
            host.close(depth, name, meter);
            if depth == 1 {
                self.push_host(meter);
            }
        }
    }

    fn push_host(&mut self, meter: &mut Meter) {
        let Some(host) = self.host.take() else { return };
        self.finished_at = self.finished_at.max(host.ended_at());
        let Some(parts) = host.finish(meter) else { return };
        let scanned = self.merged.get_or_insert_with(|| PortRange::merged(&self.scanned));
        self.hosts.push(parts, self.runs, scanned, meter);
    }

    fn open_run(&mut self, element: &BytesStart<'_>) -> Result<(), ParseErrorKind> {
        self.runs += 1;
        self.report.scanned_ports.append(&mut self.scanned);
        self.merged = None;
        let reporter = &mut self.report.reporter;
        let started_at = &mut self.started_at;
        each_attribute(element, |name, value| match name {
            "scanner" => reporter.name = value.to_owned(),
            "version" => reporter.version = Some(value.to_owned()),
            "start" => *started_at = value.parse().ok(),
            _ => {}
        })
    }

    /// Notes the scanned ports: `1,3-4,6`.
    fn open_scan_info(&mut self, element: &BytesStart<'_>, meter: &mut Meter) -> Result<(), ParseErrorKind> {
        let (mut protocol, mut services) = (None, String::new());
        each_attribute(element, |name, value| match name {
            "protocol" => protocol = host::protocol(value),
            "services" => services = value.to_owned(),
            _ => {}
        })?;
        let Some(protocol) = protocol else { return Ok(()) };
        for range in services.split(',').filter(|range| !matches!(*range, "" | NO_PORT)) {
            meter.add_steps(1);
            match port_range(protocol, range) {
                Some(range) if self.noted_ranges() < usize::from(u16::MAX) => self.scanned.push(range),
                Some(_) => {}
                None => meter.warn(WarningCode::ValueInvalid),
            }
        }
        Ok(())
    }

    fn noted_ranges(&self) -> usize {
        self.report.scanned_ports.len() + self.scanned.len()
    }

    fn finish(mut self, meter: &mut Meter) -> Result<Report, ParseError> {
        if self.runs == 0 {
            return Err(meter.error(ParseErrorKind::WrongFormat(EXPECTED)));
        }
        self.push_host(meter);
        self.is_interrupted |= self.depth > 0;
        if self.is_interrupted {
            meter.truncate();
        }
        self.report.scanned_ports.append(&mut self.scanned);
        // Several runs together have not scanned the same ports of all hosts.
        let is_complete = self.options.complete && !meter.is_truncated() && self.runs == 1;
        self.report.devices = self.hosts.into_devices(is_complete, meter);
        let seconds = self.finished_at.or(self.started_at);
        let stated =
            seconds.and_then(|seconds| Timestamp::from_unix_micros(seconds.checked_mul(1_000_000)?).ok());
        // The scanner's clock may be ahead, and reports of the future would keep out those of the present.
        self.report.observed_at = stated.unwrap_or(self.options.observed_at).min(self.options.observed_at);
        Ok(self.report)
    }
}

fn port_range(protocol: Protocol, text: &str) -> Option<PortRange> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    // nmap writes 0 when it was asked to scan all ports including 0, which no service has.
    let first = PortNumber::try_from(first.parse::<u16>().ok()?.max(1)).ok()?;
    let last = PortNumber::try_from(last.parse::<u16>().ok()?).ok()?;
    (first <= last).then_some(PortRange { protocol, first, last })
}

/// Calls `visit` with each attribute. Entities other than the predefined ones are errors.
fn each_attribute(element: &BytesStart<'_>, mut visit: impl FnMut(&str, &str)) -> Result<(), ParseErrorKind> {
    // The check for duplicates takes quadratic time.
    for attribute in element.attributes().with_checks(false) {
        let attribute = attribute.map_err(|error| ParseErrorKind::syntax(&error.to_string()))?;
        let value = attribute.normalized_value(quick_xml::XmlVersion::Implicit1_0);
        let value = value.map_err(|error| ParseErrorKind::syntax(&error.to_string()))?;
        visit(attribute.key.0, &value);
    }
    Ok(())
}
