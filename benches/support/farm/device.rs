//! The variables that the agent of a device has.

use std::net::Ipv4Addr;

use toposcope::collect::snmp::{ObjectId, SnmpValue};

use super::Variables;
use super::network::{Device, Family, Network, Station};

/// The VLAN of all ports.
pub(super) const VLAN: u32 = 10;

/// `ifIndex` of the management interface.
pub(super) const MANAGEMENT: u32 = 1_000;

/// `ifIndex` of the aggregation group.
pub(super) const GROUP: u32 = 500;

/// The difference of the `ifIndex` of a port and its number, by which devices with numbers of ports confuse readers.
const OFFSET: u32 = 100;

pub(super) const MIB: [u32; 6] = [1, 3, 6, 1, 2, 1];
pub(super) const LLDP: [u32; 7] = [1, 0, 8802, 1, 1, 2, 1];
pub(super) const CDP: [u32; 9] = [1, 3, 6, 1, 4, 1, 9, 9, 23];
const LAG: [u32; 12] = [1, 2, 840, 10006, 300, 43, 1, 2, 1, 1, 13, 0];

/// The subtype of identifiers that are MAC addresses, in chassis ids.
const CHASSIS_MAC: i32 = 4;

/// A neighbor's end of a cable: device and port.
type FarEnd = (usize, u32);

struct Writer {
    variables: Variables,
}

impl Writer {
    fn set(&mut self, parts: &[&[u32]], value: SnmpValue) {
        self.variables.insert(parts.concat(), value);
    }
}

pub(super) fn text(text: impl Into<String>) -> SnmpValue {
    SnmpValue::Bytes(text.into().into_bytes().into())
}

pub(super) const fn number(number: u32) -> SnmpValue {
    SnmpValue::Integer(number.cast_signed())
}

pub(super) fn octets(address: Ipv4Addr) -> [u32; 4] {
    address.octets().map(u32::from)
}

/// Returns the MAC address of a device (port 0) or of something at a port of it.
pub(super) fn mac(device: usize, port: u32) -> [u8; 6] {
    let [_, high, middle, low] = (device as u32).to_be_bytes();
    [2, port as u8 | (((port >> 8) as u8) << 7), high, middle, low, (port >> 8) as u8]
}

/// Returns the MAC address of a station.
pub(crate) fn station_mac((device, number): Station) -> [u8; 6] {
    mac(device, 200 + number)
}

pub(super) fn mac_value(device: usize, port: u32) -> SnmpValue {
    SnmpValue::Bytes(mac(device, port).into())
}

impl Device {
    /// Returns `ifIndex` of a port.
    pub(super) fn if_index(&self, port: u32) -> u32 {
        if self.family == Family::Numbered { port + OFFSET } else { port }
    }

    fn object_id(&self) -> ObjectId {
        ObjectId::new([1, 3, 6, 1, 4, 1, 8072, 3, 2, 10 + self.family as u32])
    }

    fn description(&self) -> &'static str {
        match self.family {
            Family::Router => "Farm router, version 3",
            Family::Managed => "Farm switch, version 2",
            Family::Numbered => "Farm switch with numbers, version 1",
        }
    }

    /// Returns the port id that the device sends by LLDP, with its subtype.
    fn lldp_port(&self, port: u32) -> (i32, SnmpValue) {
        match self.family {
            Family::Numbered => (7, text(port.to_string())),
            _ => (5, text(self.port_name(port))),
        }
    }
}

/// Returns the variables of a device with the cables at its ports.
pub(super) fn variables(network: &Network, place: usize, cables: &[(u32, FarEnd)]) -> Variables {
    let device = &network.devices[place];
    let mut writer = Writer { variables: Variables::new() };
    writer.system(device);
    writer.interfaces(device, place);
    writer.marks();
    writer.addresses(device);
    writer.arp(network, device, cables);
    writer.lldp(network, place, cables);
    writer.bridge(device, place, cables);
    if device.family == Family::Router {
        writer.cdp(network, device, cables);
    }
    writer.entity(device, place);
    writer.variables
}

impl Writer {
    fn system(&mut self, device: &Device) {
        let root = &[&MIB[..], &[1]].concat();
        self.set(&[root, &[1, 0]], text(device.description()));
        self.set(&[root, &[2, 0]], SnmpValue::ObjectId(device.object_id()));
        self.set(&[root, &[3, 0]], SnmpValue::TimeTicks(4_711_000));
        self.set(&[root, &[4, 0]], text("farm@example.net"));
        self.set(&[root, &[5, 0]], text(&*device.name));
        self.set(&[root, &[6, 0]], text("a rack"));
        self.set(&[root, &[7, 0]], SnmpValue::Integer(6));
    }

    fn interfaces(&mut self, device: &Device, place: usize) {
        for port in 1..=device.ports {
            let name = device.port_name(port);
            self.interface(device.if_index(port), &name, 6, &mac(place, port));
        }
        self.interface(MANAGEMENT, "Vlan10", 136, &mac(place, 0));
        if device.aggregated.is_empty() {
            return;
        }
        self.interface(GROUP, "Po1", 161, &mac(place, 0));
        let [column @ .., _] = LAG;
        for port in &device.aggregated {
            let index = device.if_index(*port);
            self.set(&[&column, &[index]], number(GROUP));
            self.set(&[&MIB, &[31, 1, 2, 1, 3, GROUP, index]], SnmpValue::Integer(1));
        }
    }

    fn interface(&mut self, index: u32, name: &str, kind: i32, mac: &[u8; 6]) {
        let columns = [
            (1, number(index)),
            (2, text(format!("interface {name}"))),
            (3, SnmpValue::Integer(kind)),
            (4, SnmpValue::Integer(1_500)),
            (5, SnmpValue::Gauge32(1_000_000_000)),
            (6, SnmpValue::Bytes((*mac).into())),
            (7, SnmpValue::Integer(1)),
            (8, SnmpValue::Integer(1)),
        ];
        for (column, value) in columns {
            self.set(&[&MIB, &[2, 2, 1, column, index]], value);
        }
        let columns = [(1, text(name)), (15, SnmpValue::Gauge32(1_000)), (18, text(""))];
        for (column, value) in columns {
            self.set(&[&MIB, &[31, 1, 1, 1, column, index]], value);
        }
    }

    /// The times of the last changes of interfaces and neighbors, in ticks of `sysUpTime`.
    fn marks(&mut self) {
        self.set(&[&MIB, &[31, 1, 5, 0]], SnmpValue::TimeTicks(1_000));
        self.set(&[&LLDP, &[2, 1, 0]], SnmpValue::TimeTicks(6_000));
    }

    fn addresses(&mut self, device: &Device) {
        let root = &[&MIB[..], &[4]].concat();
        self.set(&[root, &[1, 0]], SnmpValue::Integer(2));
        for address in &device.addresses {
            let row = |column| [&[20, 1, column][..], &octets(*address)].concat();
            self.set(&[root, &row(1)], SnmpValue::IpAddress(address.octets()));
            self.set(&[root, &row(2)], number(MANAGEMENT));
            self.set(&[root, &row(3)], SnmpValue::IpAddress([255, 255, 0, 0]));
        }
    }

    fn arp(&mut self, network: &Network, device: &Device, cables: &[(u32, FarEnd)]) {
        debug_assert!(!device.addresses.is_empty());
        for (_, (far, _)) in cables {
            let address = network.devices[*far].addresses[0];
            let row = |column| [&MIB[..], &[4, 22, 1, column, MANAGEMENT], &octets(address)].concat();
            self.set(&[&row(1)], number(MANAGEMENT));
            self.set(&[&row(2)], mac_value(*far, 0));
            self.set(&[&row(3)], SnmpValue::IpAddress(address.octets()));
            self.set(&[&row(4)], SnmpValue::Integer(3));
        }
    }

    fn lldp(&mut self, network: &Network, place: usize, cables: &[(u32, FarEnd)]) {
        let device = &network.devices[place];
        self.set(&[&LLDP, &[3, 1, 0]], SnmpValue::Integer(CHASSIS_MAC));
        self.set(&[&LLDP, &[3, 2, 0]], mac_value(place, 0));
        self.set(&[&LLDP, &[3, 3, 0]], text(&*device.name));
        self.set(&[&LLDP, &[3, 4, 0]], text(device.description()));
        for port in 1..=device.ports {
            let (subtype, id) = device.lldp_port(port);
            let row = |column| [&LLDP[..], &[3, 7, 1, column, port]].concat();
            self.set(&[&row(2)], SnmpValue::Integer(subtype));
            self.set(&[&row(3)], id);
            self.set(&[&row(4)], text(format!("interface {}", device.port_name(port))));
        }
        for (port, (far, far_port)) in cables {
            let neighbor = &network.devices[*far];
            let (subtype, id) = neighbor.lldp_port(*far_port);
            let row = |column| [&LLDP[..], &[4, 1, 1, column, 0, *port, *port]].concat();
            self.set(&[&row(4)], SnmpValue::Integer(CHASSIS_MAC));
            self.set(&[&row(5)], mac_value(*far, 0));
            self.set(&[&row(6)], SnmpValue::Integer(subtype));
            self.set(&[&row(7)], id);
            self.set(&[&row(8)], text(format!("interface {}", neighbor.port_name(*far_port))));
            self.set(&[&row(9)], text(&*neighbor.name));
            self.set(&[&row(10)], text(neighbor.description()));
            let address = octets(neighbor.addresses[0]);
            let row = |column| [&LLDP[..], &[4, 2, 1, column, 0, *port, *port, 1, 4], &address].concat();
            self.set(&[&row(3)], SnmpValue::Integer(2));
            self.set(&[&row(4)], number(MANAGEMENT));
        }
    }

    fn bridge(&mut self, device: &Device, place: usize, cables: &[(u32, FarEnd)]) {
        let root = &[&MIB[..], &[17]].concat();
        self.set(&[root, &[1, 1, 0]], mac_value(place, 0));
        self.set(&[root, &[1, 2, 0]], number(device.ports));
        self.set(&[root, &[4, 1, 0]], SnmpValue::Counter32(0));
        for port in 1..=device.ports {
            self.set(&[root, &[1, 4, 1, 2, port]], number(device.if_index(port)));
        }
        for (port, (far, _)) in cables {
            self.forwarding(device, mac(*far, 0), *port);
        }
        let free = (1..=device.ports).filter(|port| cables.iter().all(|(used, _)| used != port));
        for (port, station) in free.zip(&device.stations) {
            self.forwarding(device, station_mac(*station), port);
        }
    }

    fn forwarding(&mut self, device: &Device, mac: [u8; 6], port: u32) {
        let index = mac.map(u32::from);
        if device.family == Family::Router {
            let row = |column| [&MIB[..], &[17, 4, 3, 1, column], &index].concat();
            self.set(&[&row(1)], SnmpValue::Bytes(mac.into()));
            self.set(&[&row(2)], number(port));
            self.set(&[&row(3)], SnmpValue::Integer(3));
        } else {
            let row = |column| [&MIB[..], &[17, 7, 1, 2, 2, 1, column, VLAN], &index].concat();
            self.set(&[&row(2)], number(port));
            self.set(&[&row(3)], SnmpValue::Integer(3));
        }
    }

    fn cdp(&mut self, network: &Network, device: &Device, cables: &[(u32, FarEnd)]) {
        self.set(&[&CDP, &[1, 3, 4, 0]], text(&*device.name));
        for port in 1..=device.ports {
            self.set(&[&CDP, &[1, 1, 1, 1, 6, device.if_index(port)]], text(device.port_name(port)));
        }
        for (port, (far, far_port)) in cables {
            let neighbor = &network.devices[*far];
            if neighbor.family != Family::Router {
                continue;
            }
            let row = |column| [&CDP[..], &[1, 2, 1, 1, column, device.if_index(*port), 1]].concat();
            self.set(&[&row(3)], SnmpValue::Integer(1));
            self.set(&[&row(4)], SnmpValue::Bytes(neighbor.addresses[0].octets().into()));
            self.set(&[&row(6)], text(&*neighbor.name));
            self.set(&[&row(7)], text(neighbor.port_name(*far_port)));
            self.set(&[&row(8)], text(neighbor.description()));
        }
    }

    fn entity(&mut self, device: &Device, place: usize) {
        let columns = [
            (4, SnmpValue::Integer(0)),
            (5, SnmpValue::Integer(3)),
            (11, text(format!("FARM{place:06}"))),
            (12, text("Farm")),
            (13, text(format!("{:?}", device.family))),
        ];
        for (column, value) in columns {
            self.set(&[&MIB, &[47, 1, 1, 1, 1, column, 1]], value);
        }
    }
}
