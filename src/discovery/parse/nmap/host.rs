//! A host of a scan.

use std::net::IpAddr;

use quick_xml::events::BytesStart;

use super::each_attribute;
use crate::discovery::parse::ParseErrorKind;
use crate::discovery::parse::meter::Meter;
use crate::discovery::parse::text::mac_text;
use crate::discovery::report::{PortRow, WarningCode};
use crate::model::{MacAddress, PortNumber, Protocol};

/// The names that masscan gives to banners which are facts about a service, and not services.
///
/// Certificates, parts of web pages, flaws and results of scripts; the service has an element of its own.
const BANNERS: [&str; 9] =
    ["X509", "X509CA", "title", "html", "http.server", "vuln", "heartbleed", "ticketbleed", "scripting"];

/// The values of the elements of a `host`.
#[derive(Debug, Default)]
pub(super) struct HostElements {
    pub(super) hostname: Option<String>,
    pub(super) addresses: Vec<IpAddr>,
    pub(super) mac_address: Option<MacAddress>,
    /// The open ports.
    pub(super) ports: Vec<PortRow>,
    /// Whether ports were scanned.
    pub(super) has_ports: bool,
    /// Whether ports may be missing: the scanner gave up before it had scanned all, or one cannot be read.
    pub(super) lacks_ports: bool,
    /// The number of admitted rows: the host itself, its addresses and its ports.
    pub(super) rows: usize,
}

/// Collects the elements of a `host`.
#[derive(Debug, Default)]
pub(super) struct HostBuilder {
    is_up: bool,
    /// Whether the user had the scanner take the host for one that answers (`-Pn`).
    is_assumed: bool,
    /// Whether a port answered, open or not.
    has_answered: bool,
    ended_at: Option<i64>,
    parts: HostElements,
    port: Option<PortRow>,
    is_open: bool,
}

impl HostBuilder {
    pub(super) fn new(element: &BytesStart<'_>) -> Result<Self, ParseErrorKind> {
        let mut host = Self { is_up: true, ..Self::default() };
        each_attribute(element, |name, value| match name {
            "endtime" => host.ended_at = value.parse().ok(),
            "timedout" => host.parts.lacks_ports = value == "true",
            _ => {}
        })?;
        Ok(host)
    }

    /// Begins an element. The depth is that of its parents: `nmaprun` and `host` for 2.
    pub(super) fn open(
        &mut self,
        depth: usize,
        name: &str,
        element: &BytesStart<'_>,
        meter: &mut Meter,
    ) -> Result<(), ParseErrorKind> {
        match (depth, name) {
            (2, "status") => {
                let (is_up, is_assumed) = (&mut self.is_up, &mut self.is_assumed);
                each_attribute(element, |name, value| match name {
                    "state" => *is_up = value == "up",
                    "reason" => *is_assumed = value == "user-set",
                    _ => {}
                })
            }
            (2, "address") => self.open_address(element, meter),
            (2, "ports") => {
                self.parts.has_ports = true;
                Ok(())
            }
            (3, "hostname") => {
                let hostname = &mut self.parts.hostname;
                each_attribute(element, |name, value| {
                    if name == "name" && hostname.is_none() {
                        *hostname = text(value);
                    }
                })
            }
            (3, "port") => self.open_port(element, meter),
            (3, "extraports") => {
                let has_answered = &mut self.has_answered;
                each_attribute(element, |name, value| {
                    *has_answered |= name == "state" && is_answer(value);
                })
            }
            (4, "state") => {
                let (is_open, has_answered) = (&mut self.is_open, &mut self.has_answered);
                each_attribute(element, |name, value| {
                    if name == "state" {
                        *is_open = value == "open";
                        *has_answered |= is_answer(value);
                    }
                })
            }
            (4, "service") => self.open_service(element),
            _ => Ok(()),
        }
    }

    pub(super) fn close(&mut self, depth: usize, name: &str, meter: &mut Meter) {
        if (depth, name) != (3, "port") {
            return;
        }
        let Some(port) = self.port.take() else { return };
        if !self.is_open {
            meter.skip_of(WarningCode::PortNotOpen, || format!("{}/{}", port.number, port.protocol));
        } else if meter.admit_row() {
            self.parts.rows += 1;
            self.parts.has_ports = true;
            self.parts.ports.push(port);
        }
    }

    fn open_address(&mut self, element: &BytesStart<'_>, meter: &mut Meter) -> Result<(), ParseErrorKind> {
        let (mut address, mut is_mac) = (String::new(), false);
        each_attribute(element, |name, value| match name {
            "addr" => address = value.to_owned(),
            "addrtype" => is_mac = value == "mac",
            _ => {}
        })?;
        match (is_mac, address.parse(), mac_text(&address)) {
            (true, _, Some(mac)) => {
                if meter.admit_row() {
                    self.parts.rows += 1;
                    self.parts.mac_address = Some(mac);
                }
            }
            (false, Ok(ip), _) => {
                if meter.admit_row() {
                    self.parts.rows += 1;
                    self.parts.addresses.push(ip);
                }
            }
            _ => meter.skip_of(WarningCode::RowIncomplete, || format!("address {address:?}")),
        }
        Ok(())
    }

    fn open_port(&mut self, element: &BytesStart<'_>, meter: &mut Meter) -> Result<(), ParseErrorKind> {
        let (mut number, mut protocol_text) = (None, String::new());
        let mut text = String::new();
        each_attribute(element, |name, value| match name {
            "portid" => {
                number = value.parse::<u16>().ok().and_then(|number| PortNumber::try_from(number).ok());
                value.clone_into(&mut text);
            }
            "protocol" => value.clone_into(&mut protocol_text),
            _ => {}
        })?;
        self.is_open = false;
        self.port = None;
        match (number, protocol(&protocol_text)) {
            (Some(number), Some(protocol)) => self.port = Some(PortRow::new(number, protocol)),
            (Some(number), None) if !protocol_text.is_empty() => {
                meter.skip_of(WarningCode::ProtocolUnread, || format!("{number}/{protocol_text}"));
            }
            _ => {
                // Port 0 is no port of a table.
                self.parts.lacks_ports |= protocol_text.is_empty() || text.parse::<u16>().is_err();
                meter.skip_of(WarningCode::RowIncomplete, || format!("port {text:?}"));
            }
        }
        Ok(())
    }

    fn open_service(&mut self, element: &BytesStart<'_>) -> Result<(), ParseErrorKind> {
        let Some(port) = self.port.as_mut().filter(|_| self.is_open) else { return Ok(()) };
        let mut has_banner = false;
        each_attribute(element, |name, value| {
            let place = match name {
                "banner" => return has_banner = true,
                "name" => &mut port.service,
                "product" => &mut port.product,
                "version" => &mut port.version,
                "tunnel" => &mut port.tunnel,
                _ => return,
            };
            *place = text(value);
        })?;
        // Only masscan has banners.
        port.service = port.service.take().filter(|name| !has_banner || !BANNERS.contains(&name.as_str()));
        Ok(())
    }

    pub(super) const fn ended_at(&self) -> Option<i64> {
        self.ended_at
    }

    /// Ends the element. Returns `None`, and counts its rows as left out, if it describes no host that can be used.
    pub(super) fn finish(mut self, meter: &mut Meter) -> Option<HostElements> {
        let is_there = !self.is_assumed || self.has_answered || self.parts.mac_address.is_some();
        let unusable = if !self.is_up || !is_there {
            WarningCode::HostDown
        } else if self.parts.addresses.is_empty() {
            WarningCode::RowIncomplete
        } else if meter.admit_row() {
            self.parts.rows += 1;
            return Some(self.parts);
        } else {
            WarningCode::RowLimitReached
        };
        let name = self.parts.addresses.first().map(ToString::to_string).or(self.parts.hostname);
        let example = || name.as_deref().unwrap_or("a host without an address");
        if unusable != WarningCode::RowLimitReached {
            meter.skip_of(unusable, example);
        }
        (0..self.parts.rows).for_each(|_| meter.leave_out(unusable, example));
        None
    }
}

/// Returns a text without the control characters and white space at its ends. `None` if nothing remains.
fn text(value: &str) -> Option<String> {
    let value = value.trim_matches(|character: char| character.is_control() || character.is_whitespace());
    (!value.is_empty()).then(|| value.to_owned())
}

/// Returns whether a port in this state has answered. Filters drop what is sent to the others.
fn is_answer(state: &str) -> bool {
    matches!(state, "open" | "closed" | "unfiltered")
}

/// Reads a protocol; `None` for those of which no ports are recorded, such as SCTP.
pub(super) fn protocol(name: &str) -> Option<Protocol> {
    match name {
        "tcp" => Some(Protocol::Tcp),
        "udp" => Some(Protocol::Udp),
        _ => None,
    }
}
