//! Generated networks that several tools describe, in random orders.

use std::env;
use std::net::IpAddr;

use fastrand::Rng;
use toposcope::discovery::report::{
    AddressRow, ArpRow, Device, IfEntryRow, LldpRow, PortRow, Report, Reporter, Table,
};
use toposcope::inventory::DiscoverOptions;
use toposcope::model::{
    LldpChassisId, LldpChassisIdSubtype, LldpPortId, LldpPortIdSubtype, MacAddress, Protocol,
};

use super::canonical::canonical;
use super::support::{FIRST, run_in_memory};
use crate::support::{Fixture, owner_of, time};

const DEVICES: u8 = 5;
const PORTS: u8 = 3;

/// Number of generated networks, and of orders for each.
fn rounds() -> u64 {
    env::var("TOPOSCOPE_DISCOVERY_ORDERS").map_or(4, |number| number.parse().unwrap())
}

fn name(number: u8) -> String {
    format!("device-{number}")
}

fn mac(number: u8, port: u8) -> MacAddress {
    MacAddress::new([0x00, 0x1b, 0x21, number, 0x00, port])
}

fn chassis(number: u8) -> LldpChassisId {
    LldpChassisId { subtype: LldpChassisIdSubtype::MacAddress, value: mac(number, 0xFF).to_string() }
}

fn address(number: u8, port: u8) -> AddressRow {
    AddressRow::new([192, 0, 2, number * 10 + port].into())
}

fn neighbor(number: u8, port: u8) -> LldpRow {
    let remote = number % DEVICES + 1;
    let mut row = LldpRow::new(chassis(remote));
    row.sys_name = Some(name(remote));
    row.if_name = Some(format!("GigabitEthernet0/{port}"));
    let value = "GigabitEthernet0/2".to_owned();
    row.port_id = Some(LldpPortId { subtype: LldpPortIdSubtype::InterfaceName, value });
    row
}

fn named(number: u8) -> Device {
    let mut device = Device::default();
    device.sys_name = Some(name(number));
    device
}

fn interfaces(number: u8) -> Box<Table<IfEntryRow>> {
    let row = |port: u8| {
        let mut row = IfEntryRow::new(i64::from(port) + 10);
        row.if_name = Some(format!("Gi0/{port}"));
        row.if_descr = Some(format!("GigabitEthernet0/{port}"));
        row.mac_address = Some(mac(number, port));
        row
    };
    Table::truncated((1..=PORTS).map(row).collect())
}

/// Returns a walk of everything.
fn walk(number: u8) -> Device {
    let mut device = named(number);
    device.sys_descr = Some("a switch".to_owned());
    device.sys_object_id = Some("1.3.6.1.4.1.9.1.1".to_owned());
    device.chassis_id = Some(Box::new(chassis(number)));
    device.tables.if_entries = Some(interfaces(number));
    let rows = (1..=2).map(|port| {
        let mut row = address(number, port);
        row.if_index = Some(i64::from(port) + 10);
        row
    });
    device.tables.addresses = Some(Table::truncated(rows.collect()));
    let mut row = neighbor(number, 1);
    row.if_index = Some(11);
    device.tables.lldp = Some(Table::truncated(vec![row]));
    device
}

/// Returns the elements of a scan, one for each address. Only devices with odd numbers are on the scanner's link.
fn scan(number: u8) -> Vec<Device> {
    let element = |port: u8| {
        let mut device = Device::default();
        let mut row = address(number, port);
        row.mac_address = (number % 2 == 1).then(|| mac(number, port));
        device.tables.addresses = Some(Table::truncated(vec![row]));
        let rows = vec![PortRow::new(22.try_into().unwrap(), Protocol::Tcp)];
        device.tables.ports = Some(Table::truncated(rows));
        device
    };
    (1..=2).map(element).collect()
}

/// Returns the neighbors alone, by a tool that knows the device's name, its ports or its chassis id as well.
fn neighbors_of(number: u8, kind: u8) -> Device {
    let mut device = named(number);
    device.tables.lldp = Some(Table::truncated(vec![neighbor(number, 1)]));
    if kind > 0 {
        let row = |port: u8| {
            let mut row = IfEntryRow::new(0);
            row.if_name = Some(format!("GigabitEthernet0/{port}"));
            row
        };
        device.tables.if_entries = Some(Table::derived((1..=PORTS).map(row).collect()));
    }
    if kind > 1 {
        device.chassis_id = Some(Box::new(chassis(number)));
    }
    device
}

/// Number of addresses that a router answers for. Each stays a host of its own.
const PROXIED: usize = 2;

/// Number of devices that no router walks. Scans find them, from behind the routers and from their own link.
const CLIENTS: u8 = 4;

fn client_address(number: u8) -> IpAddr {
    [198, 51, 100, number].into()
}

/// Returns a client as a scan from behind a router finds it.
fn routed_scan(number: u8) -> Device {
    let mut device = Device::default();
    device.tables.addresses = Some(Table::truncated(vec![AddressRow::new(client_address(number))]));
    let rows = vec![PortRow::new(80.try_into().unwrap(), Protocol::Tcp)];
    device.tables.ports = Some(Table::truncated(rows));
    device
}

/// Returns a client as a scan on its link finds it: another address, with the MAC address.
fn local_scan(number: u8) -> Device {
    let mut device = Device::default();
    let mut row = AddressRow::new([0x2001, 0xdb8, 0, 0, 0, 0, 0, u16::from(number)].into());
    row.mac_address = Some(mac(100 + number, 1));
    device.tables.addresses = Some(Table::truncated(vec![row]));
    device
}

/// Returns a router with the addresses of the clients in its neighbor cache, and of others behind a proxy.
fn neighbor_cache(number: u8) -> Device {
    let mut device = walk(number);
    let clients = (1..=CLIENTS).map(|client| ArpRow::new(client_address(client), mac(100 + client, 1)));
    let proxied = (1..=2).map(|client| ArpRow::new(client_address(200 + client), mac(99, 1)));
    let walked = (1..=2).map(|port| ArpRow::new(address(4, port).ip_address, mac(4, port)));
    device.tables.arp = Some(Table::truncated(clients.chain(proxied).chain(walked).collect()));
    device
}

/// Returns reports that know the clients by different addresses.
fn client_reports(random: &mut Rng) -> Vec<Report> {
    let mut reports = vec![report("snmpwalk", vec![neighbor_cache(1)])];
    if random.bool() {
        reports.push(report("snmpwalk", vec![neighbor_cache(2)]));
    }
    for client in 1..=CLIENTS {
        reports.push(report("nmap", vec![routed_scan(client)]));
        if random.bool() {
            reports.push(report("nmap", vec![local_scan(client)]));
        }
    }
    reports.push(report("nmap", vec![routed_scan(201), routed_scan(202)]));
    reports
}

fn report(tool: &str, devices: Vec<Device>) -> Report {
    let mut report = Report::new(Reporter::new(tool), time(FIRST));
    report.devices = devices;
    report
}

/// Returns reports of several tools about a network. Each device is walked.
fn reports(random: &mut Rng) -> Vec<Report> {
    let mut reports = Vec::new();
    for number in 1..=DEVICES {
        reports.push(report("snmpwalk", vec![walk(number)]));
        for kind in 0..3 {
            if random.bool() {
                reports.push(report("lldpd", vec![neighbors_of(number, kind)]));
            }
        }
        for element in scan(number) {
            if random.bool() {
                reports.push(report("nmap", vec![element]));
            }
        }
        if random.bool() {
            let mut device = named(number);
            device.tables.if_entries = Some(interfaces(number));
            reports.push(report("snmpwalk", vec![device]));
        }
    }
    reports.push(report("nmap", (1..=DEVICES).flat_map(scan).collect()));
    reports
}

#[test]
fn network_described_by_several_tools_has_the_same_hosts_in_any_order() {
    run_in_memory(async || {
        for seed in 0..rounds() {
            let mut random = Rng::with_seed(seed);
            let mut all = reports(&mut random);
            all.extend(client_reports(&mut random));
            let mut expected: Option<Vec<String>> = None;
            for _ in 0..rounds() {
                random.shuffle(&mut all);
                let fixture = Fixture::new().await;
                let (caller, options) =
                    (owner_of(fixture.organization), DiscoverOptions::new(fixture.network));
                for report in all.iter().chain(all.iter().filter(|_| random.u8(..4) == 0).collect::<Vec<_>>())
                {
                    fixture.inventory.discovery().reconcile(&caller, report, options).await.unwrap();
                }
                let found = canonical(&fixture).await;
                let tools: Vec<String> = all
                    .iter()
                    .map(|report| format!("{} {:?}", report.reporter.name, report.devices[0].sys_name))
                    .collect();
                assert_eq!(found.len(), usize::from(DEVICES + CLIENTS) + PROXIED, "seed {seed}: {tools:?}");
                let expected = expected.get_or_insert_with(|| found.clone());
                for (one, other) in expected.iter().zip(&found) {
                    assert_eq!(one, other, "seed {seed}: {tools:?}");
                }
            }
        }
    });
}
