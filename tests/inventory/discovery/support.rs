use toposcope::discovery::report::{
    AddressRow, Device, IfEntryRow, LldpRow, PortRow, Report, Reporter, Table,
};
use toposcope::inventory::{DiscoverOptions, DiscoveryOutcome, DiscoveryReport, ErrorKind};
use toposcope::model::{
    Host, HostId, LldpChassisId, LldpChassisIdSubtype, LldpPortId, LldpPortIdSubtype, MacAddress, Neighbor,
    NetworkId, Protocol,
};
use toposcope::store::{Name, Revision, Store};

use crate::backend::run_on;
use crate::support::{Fixture, owner_of, refusal, time};

/// Times of reports, all before the present of the fixture.
pub(super) const FIRST: &str = "2026-08-01T12:00:00Z";
pub(super) const SECOND: &str = "2026-08-02T12:00:00Z";
pub(super) const THIRD: &str = "2026-08-03T12:00:00Z";
pub(super) const FOURTH: &str = "2026-08-04T12:00:00Z";

/// Returns a switch with a chassis id, an address and two ports. All of them are derived from its number.
pub(crate) fn switch(number: u8) -> Device {
    let mut device = Device::default();
    device.sys_name = Some(format!("switch-{number}"));
    device.sys_descr = Some("a switch".to_owned());
    device.chassis_id = Some(Box::new(chassis(number)));
    let mut address = AddressRow::new([192, 0, 2, number].into());
    address.if_index = Some(1);
    device.tables.addresses = Some(Table::complete(vec![address]));
    device.tables.if_entries = Some(Table::complete(vec![entry(number, 1), entry(number, 2)]));
    device
}

fn entry(number: u8, index: u8) -> IfEntryRow {
    let mut row = IfEntryRow::new(i64::from(index));
    row.if_name = Some(format!("Gi0/{index}"));
    row.if_descr = Some(format!("GigabitEthernet0/{index}"));
    row.mac_address = Some(MacAddress::new([0x00, 0x1b, 0x21, number, 0x00, index]));
    row
}

pub(super) fn chassis(number: u8) -> LldpChassisId {
    let value = format!("00:1B:21:{number:02X}:00:FF");
    LldpChassisId { subtype: LldpChassisIdSubtype::MacAddress, value }
}

/// Returns the LLDP row of a port that leads to another switch.
pub(super) fn sees(port: u8, neighbor: u8, its_port: u8) -> LldpRow {
    let mut row = LldpRow::new(chassis(neighbor));
    row.if_index = Some(i64::from(port));
    row.sys_name = Some(format!("switch-{neighbor}"));
    let value = format!("Gi0/{its_port}");
    row.port_id = Some(LldpPortId { subtype: LldpPortIdSubtype::InterfaceName, value });
    row
}

/// Returns a switch whose first port is connected to the second port of another one.
pub(crate) fn switch_seeing(number: u8, neighbor: u8) -> Device {
    let mut device = switch(number);
    device.tables.lldp = Some(Table::complete(vec![sees(1, neighbor, 2)]));
    device
}

pub(super) fn open_ports(numbers: &[u16]) -> Vec<PortRow> {
    numbers.iter().map(|number| PortRow::new((*number).try_into().unwrap(), Protocol::Tcp)).collect()
}

pub(super) fn report_of(devices: Vec<Device>, at: &str) -> Report {
    let mut report = Report::new(Reporter::new("test"), time(at));
    report.devices = devices;
    report
}

/// Discovers devices on the first network.
pub(super) async fn discover(fixture: &Fixture, devices: Vec<Device>, at: &str) -> DiscoveryReport {
    discover_with(fixture, devices, at, DiscoverOptions::new(fixture.network)).await
}

pub(super) async fn discover_with(
    fixture: &Fixture,
    devices: Vec<Device>,
    at: &str,
    options: DiscoverOptions,
) -> DiscoveryReport {
    let caller = owner_of(fixture.organization);
    fixture.inventory.discovery().reconcile(&caller, &report_of(devices, at), options).await.unwrap()
}

/// Discovers one device, and returns its outcome and its host.
pub(super) async fn discover_one(fixture: &Fixture, device: Device, at: &str) -> (DiscoveryOutcome, Host) {
    let answer = discover(fixture, vec![device], at).await;
    let host = fixture.host(answer.hosts[0].id.expect("the device is a host")).await;
    (answer.hosts[0].outcome, host)
}

/// Returns why a discovery on a network is refused.
pub(super) async fn refusal_on(fixture: &Fixture, network: NetworkId) -> ErrorKind {
    let caller = owner_of(fixture.organization);
    let report = report_of(vec![switch(1)], FIRST);
    refusal(fixture.inventory.discovery().reconcile(&caller, &report, DiscoverOptions::new(network)).await)
}

pub(super) fn outcomes(answer: &DiscoveryReport) -> Vec<DiscoveryOutcome> {
    answer.hosts.iter().map(|host| host.outcome).collect()
}

/// Returns the revision of the hosts of the organization.
pub(super) async fn hosts_revision(fixture: &Fixture) -> Option<Revision> {
    fixture.store.revision(Name::new("host"), fixture.organization.uuid()).await.unwrap()
}

/// Returns a host as if a report at this time had shown it and all its parts.
pub(super) fn seen_at(mut host: Host, at: &str) -> Host {
    let seen = Some(time(at));
    host.last_seen_at = seen;
    host.interfaces.iter_mut().for_each(|part| part.last_seen_at = seen);
    host.ports.iter_mut().for_each(|part| part.last_seen_at = seen);
    host.services.iter_mut().for_each(|part| part.last_seen_at = seen);
    host.if_entries.iter_mut().for_each(|part| part.last_seen_at = seen);
    host
}

/// Returns the index and the neighbor of each port of a host.
pub(super) async fn neighbors(fixture: &Fixture, host: HostId) -> Vec<(i64, Option<Neighbor>)> {
    let entries = fixture.host(host).await.if_entries;
    entries.into_iter().map(|entry| (entry.if_index, entry.neighbor)).collect()
}

/// Runs a test about rules in which no store takes part: once, in memory. A run on PostgreSQL leaves it out.
pub(super) fn run_in_memory(test: impl AsyncFn()) {
    #[cfg(all(feature = "postgres", unix))]
    if crate::cluster::is_wanted() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    run_on(&runtime, test);
}
