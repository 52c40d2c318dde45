//! Parsers: the bytes of a format become a report.

mod arp;
mod capture;
mod detect;
mod documents;
mod encoding;
mod error;
mod iproute2;
mod join;
mod json;
mod lines;
mod lldpctl;
mod meter;
mod mib;
mod nesting;
mod nmap;
mod options;
mod peek_buffer;
mod plain_json;
mod prompt;
mod snmprec;
mod terminal;
mod text;
#[cfg(feature = "collect")]
mod variables;
mod walk;

use std::io::BufRead;

pub use error::{ParseError, ParseErrorKind};
#[cfg(feature = "collect")]
pub(crate) use mib::VariableValue;
pub use options::{Format, FormatError, ParseOptions, ReporterId};
#[cfg(feature = "collect")]
pub(crate) use variables::VariableReader;

use super::report::{Device, Report};
use capture::Capture;
use documents::DocumentRun;
use encoding::Utf8Input;
use lines::BoundedLines;
use meter::Meter;

/// Parses the output of a scanner or a device to a report.
///
/// The input is read once, from front to back. Memory grows with the tables of the report, not with the input. Rows
/// that cannot be used are skipped and counted in [`Report::warnings`].
///
/// The input may be UTF-8 or UTF-16, with or without a byte order mark, and XML also ISO 8859-1 if it declares that. It may
/// be a recording of a terminal, with the prompts and commands before and behind the output.
/// [`Format::Auto`] recognizes the format by the first 16 KiB.
///
/// ```
/// use toposcope::discovery::{Format, ParseOptions, parse};
/// use toposcope::model::Timestamp;
///
/// let walk = br#"
/// .1.3.6.1.2.1.1.5.0 = STRING: "core-1"
/// .1.3.6.1.2.1.2.2.1.2.7 = STRING: "GigabitEthernet0/7"
/// .1.3.6.1.2.1.2.2.1.8.7 = INTEGER: up(1)
/// "#;
/// let options = ParseOptions::new(Timestamp::now());
/// let report = parse(Format::Snmpwalk, walk.as_slice(), &options)?;
///
/// let device = report.devices.first().ok_or("no device")?;
/// assert_eq!(device.sys_name.as_deref(), Some("core-1"));
/// let interfaces = device.tables.if_entries.as_deref().ok_or("no interfaces")?;
/// assert!(interfaces.rows.len() == 1 && !interfaces.complete);
///
/// let error = parse(Format::Nmap, walk.as_slice(), &options).unwrap_err();
/// assert!(error.to_string().starts_with("byte "));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Returns an error if reading fails, if the input is compressed or of another encoding, if it is not of the format or
/// breaks its syntax, and if neither the input nor the options show which device it comes from. The error names the line
/// or the byte.
pub fn parse<R: BufRead>(
    format: Format,
    mut reader: R,
    options: &ParseOptions,
) -> Result<Report, ParseError> {
    let mut meter = Meter::new(options);
    let mut input = Utf8Input::open(&mut reader, &mut meter)?;
    let is_json = detect::is_json(format, &plain_json::plain(input.head()));
    if is_json {
        input.read_as_json();
        meter.read_as_json();
    }
    let format = match format {
        Format::Auto => {
            detect::detect(input.head()).ok_or_else(|| meter.error(ParseErrorKind::FormatUnknown))?
        }
        format => format,
    };
    let read = if is_json && format.has_documents() { read_documents } else { read_format };
    match Capture::begin(format, &mut input, &mut meter) {
        Some(mut capture) => {
            let mut report = read(format, &mut capture, options, &mut meter)?;
            finish(&mut report, &mut meter);
            capture.finish(&mut report);
            Ok(report)
        }
        None => {
            let mut report = read(format, &mut input, options, &mut meter)?;
            finish(&mut report, &mut meter);
            Ok(report)
        }
    }
}

/// Reads JSON of several commands, which may be of different formats. The first one is given.
fn read_documents(
    format: Format,
    reader: &mut dyn BufRead,
    options: &ParseOptions,
    meter: &mut Meter,
) -> Result<Report, ParseError> {
    let mut documents = DocumentRun::new(reader, format, meter.line());
    let mut report = read_format(format, &mut documents, options, meter)?;
    while let Some(format) = documents.begin_next(meter) {
        let later = read_format(format, &mut documents, options, meter)?;
        join::join(&mut report, later).map_err(|kind| meter.error(ParseErrorKind::TableRepeated(kind)))?;
    }
    Ok(report)
}

/// Reads input of one format.
fn read_format(
    format: Format,
    reader: &mut dyn BufRead,
    options: &ParseOptions,
    meter: &mut Meter,
) -> Result<Report, ParseError> {
    if let Some(expected) = expected_json(format) {
        json::expect(reader, expected, meter)?;
    }
    match format {
        Format::Nmap => nmap::read(reader, options, meter),
        Format::Lldpctl => lldpctl::read(reader, options, meter),
        Format::Snmpwalk => read_mib("snmpwalk", walk::read, reader, options, meter),
        Format::Snmprec => read_mib("snmprec", snmprec::read, reader, options, meter),
        Format::Arp => arp::read(reader, options, meter),
        Format::IpAddr => iproute2::read_addresses(reader, options, meter),
        Format::IpRoute => iproute2::read_routes(reader, options, meter),
        Format::BridgeFdb => iproute2::read_fdb(reader, options, meter),
        Format::BridgeVlan => iproute2::read_vlans(reader, options, meter),
        Format::Report => json::read_report(reader, options, meter),
        Format::Auto => Err(meter.error(ParseErrorKind::FormatUnknown)),
    }
}

/// Returns what input of a format with JSON is, for the error about other text, such as that of a command without `-j`.
const fn expected_json(format: Format) -> Option<&'static str> {
    match format {
        Format::Lldpctl => Some("JSON, as `lldpctl -f json` prints it"),
        Format::IpAddr => Some("JSON, as `ip -j addr` prints it"),
        Format::IpRoute => Some("JSON, as `ip -j route` prints it"),
        Format::BridgeFdb => Some("JSON, as `bridge -j fdb` prints it"),
        Format::BridgeVlan => Some("JSON, as `bridge -j vlan` prints it"),
        Format::Report => Some("a report as JSON"),
        Format::Auto | Format::Nmap | Format::Snmpwalk | Format::Snmprec | Format::Arp => None,
    }
}

/// Adds what was counted to a report.
fn finish(report: &mut Report, meter: &mut Meter) {
    let tally = meter.take_tally();
    for warning in tally.warnings {
        match report.warnings.iter_mut().find(|known| known.code == warning.code) {
            Some(known) => known.count = known.count.saturating_add(warning.count),
            None => report.warnings.push(warning),
        }
    }
    report.read_rows = report.read_rows.saturating_add(tally.read_rows);
    report.used_rows = report.used_rows.saturating_add(tally.used_rows);
    report.skipped_rows = report.skipped_rows.saturating_add(tally.skipped_rows);
}

type ReadVariables = fn(&mut BoundedLines<'_>, &mut mib::Mib, &mut Meter) -> Result<(), ParseError>;

/// Reads the variables of one device and makes them a report.
fn read_mib(
    name: &str,
    read: ReadVariables,
    reader: &mut dyn BufRead,
    options: &ParseOptions,
    meter: &mut Meter,
) -> Result<Report, ParseError> {
    let mut mib = mib::Mib::default();
    read(&mut BoundedLines::new(reader), &mut mib, meter)?;
    let complete = options.complete && !meter.is_truncated();
    let mut device = mib.into_device(complete, meter);
    meter.check()?;
    check_identity(&mut device, options, meter)?;
    Ok(Report::of_device(name, options.observed_at, device))
}

/// Identifies a device by its own variables or by the options. Fails if neither do.
fn check_identity(device: &mut Device, options: &ParseOptions, meter: &Meter) -> Result<(), ParseError> {
    identify(device, options.reporter.as_ref());
    let names_itself =
        device.sys_name.is_some() || device.chassis_id.is_some() || device.cdp_device_id.is_some();
    if !names_itself && device.id.is_none() {
        return Err(meter.error(ParseErrorKind::ReporterRequired));
    }
    Ok(())
}

/// Sets the identity that the options state, unless the device states its own.
fn identify(device: &mut Device, reporter: Option<&ReporterId>) {
    match reporter {
        Some(ReporterId::Host(id)) => device.id = Some(*id),
        Some(ReporterId::SysName(name)) if device.sys_name.is_none() => device.sys_name = Some(name.clone()),
        Some(ReporterId::SysName(_)) | None => {}
    }
}

/// Creates the device that the options name, for formats that never name it.
fn named_device(options: &ParseOptions, meter: &Meter) -> Result<Device, ParseError> {
    let mut device = Device::default();
    identify(&mut device, options.reporter.as_ref());
    if device.id.is_none() && device.sys_name.is_none() {
        return Err(meter.error(ParseErrorKind::ReporterRequired));
    }
    Ok(device)
}
