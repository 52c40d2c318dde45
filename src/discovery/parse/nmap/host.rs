//! A host of a scan.

use std::net::IpAddr;

use quick_xml::events::BytesStart;

use super::each_attribute;
use crate::discovery::parse::ParseErrorKind;
use crate::discovery::parse::meter::Meter;
use crate::discovery::parse::text::mac_text;
use crate::discovery::report::{AddressRow, Device, PortRow, Table, WarningCode};
use crate::model::{MacAddress, PortNumber, Protocol};

/// Collects the elements of a `host`.
#[derive(Debug, Default)]
pub(super) struct HostBuilder {
    is_up: bool,
    has_timed_out: bool,
    has_ports: bool,
    ended_at: Option<i64>,
    hostname: Option<String>,
    addresses: Vec<IpAddr>,
    mac_address: Option<MacAddress>,
    ports: Vec<PortRow>,
    port: Option<PortRow>,
    is_open: bool,
}

impl HostBuilder {
    pub(super) fn new(element: &BytesStart<'_>) -> Result<Self, ParseErrorKind> {
        let mut host = Self { is_up: true, ..Self::default() };
        each_attribute(element, |name, value| match name {
            "endtime" => host.ended_at = value.parse().ok(),
            "timedout" => host.has_timed_out = value == "true",
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
                let is_up = &mut self.is_up;
                each_attribute(element, |name, value| {
                    if name == "state" {
                        *is_up = value == "up";
                    }
                })
            }
            (2, "address") => self.open_address(element, meter),
            (2, "ports") => {
                self.has_ports = true;
                Ok(())
            }
            (3, "hostname") => {
                let hostname = &mut self.hostname;
                each_attribute(element, |name, value| {
                    if name == "name" && hostname.is_none() && !value.is_empty() {
                        *hostname = Some(value.to_owned());
                    }
                })
            }
            (3, "port") => self.open_port(element, meter),
            (4, "state") => {
                let is_open = &mut self.is_open;
                each_attribute(element, |name, value| {
                    if name == "state" {
                        *is_open = value == "open";
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
        if let Some(port) = self.port.take().filter(|_| self.is_open)
            && meter.admit_row()
        {
            self.ports.push(port);
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
            (true, _, Some(mac)) => self.mac_address = Some(mac),
            (false, Ok(ip), _) => {
                if meter.admit_row() {
                    self.addresses.push(ip);
                }
            }
            _ => meter.skip(WarningCode::ValueInvalid),
        }
        Ok(())
    }

    fn open_port(&mut self, element: &BytesStart<'_>, meter: &mut Meter) -> Result<(), ParseErrorKind> {
        let (mut number, mut protocol_name) = (None, None);
        each_attribute(element, |name, value| match name {
            "portid" => {
                number = value.parse::<u16>().ok().and_then(|number| PortNumber::try_from(number).ok());
            }
            "protocol" => protocol_name = protocol(value),
            _ => {}
        })?;
        self.is_open = false;
        self.port = number.zip(protocol_name).map(|(number, protocol)| PortRow::new(number, protocol));
        if self.port.is_none() {
            meter.skip(WarningCode::ValueInvalid);
        }
        Ok(())
    }

    fn open_service(&mut self, element: &BytesStart<'_>) -> Result<(), ParseErrorKind> {
        let Some(port) = self.port.as_mut().filter(|_| self.is_open) else { return Ok(()) };
        each_attribute(element, |name, value| {
            let place = match name {
                "name" => &mut port.service,
                "product" => &mut port.product,
                "version" => &mut port.version,
                "tunnel" => &mut port.tunnel,
                _ => return,
            };
            *place = (!value.is_empty()).then(|| value.to_owned());
        })
    }

    pub(super) const fn is_up(&self) -> bool {
        self.is_up
    }

    pub(super) const fn has_addresses(&self) -> bool {
        !self.addresses.is_empty()
    }

    pub(super) const fn ended_at(&self) -> Option<i64> {
        self.ended_at
    }

    /// Converts the host. An IP address that nmap reached is one of the device's, but not all of them.
    pub(super) fn into_device(self, complete: bool) -> Device {
        let mac_address = self.mac_address;
        let addresses = self.addresses.into_iter();
        let addresses = addresses.map(|ip| AddressRow { mac_address, ..AddressRow::new(ip) }).collect();
        let mut device = Device { hostname: self.hostname, ..Device::default() };
        device.tables.addresses = Some(Table::truncated(addresses));
        let is_complete = complete && !self.has_timed_out;
        device.tables.ports = self
            .has_ports
            .then(|| if is_complete { Table::complete(self.ports) } else { Table::truncated(self.ports) });
        device
    }
}

/// Reads a protocol; `None` for those of which no ports are recorded, such as SCTP.
pub(super) fn protocol(name: &str) -> Option<Protocol> {
    match name {
        "tcp" => Some(Protocol::Tcp),
        "udp" => Some(Protocol::Udp),
        _ => None,
    }
}
