//! Generated networks.

use toposcope::discovery::report::{BridgeId, FdbRow, FdbStatus, LldpRow, Reporter, StpRow, StpState};
use toposcope::inventory::{Claim, ClaimRows};
use toposcope::model::{
    Host, HostId, IfEntry, LldpChassisId, LldpChassisIdSubtype, LldpPortId, LldpPortIdSubtype, MacAddress,
    NetworkId, Timestamp,
};

/// Number of switches of a site; the first two are distribution switches.
const SITE: u32 = 50;

/// Number of ports of an access switch that have stations; as many have phones.
const STATIONS: u32 = 16;

/// Returns a host for each switch, with its claims.
pub(crate) fn campus(switches: u32) -> Vec<(Host, Vec<Claim>)> {
    let network = NetworkId::from_u128(1);
    (0..switches).map(|number| switch(network, number)).collect()
}

/// Returns the other switches that a switch is connected to. Each has the port of this switch first and its own port
/// last.
fn uplinks(number: u32) -> Vec<(i64, u32, i64)> {
    let first = number - number % SITE;
    let place = i64::from(number - first);
    match place {
        0 => (2..SITE).map(|other| (i64::from(other), first + other, 1)).chain([(1, first + 1, 1)]).collect(),
        1 => (2..SITE).map(|other| (i64::from(other), first + other, 2)).chain([(1, first, 1)]).collect(),
        _ => vec![(1, first, place), (2, first + 1, place)],
    }
}

fn switch(network: NetworkId, number: u32) -> (Host, Vec<Claim>) {
    let mut host = Host::with_id(HostId::from_u128(u128::from(number) + 2), network, format!("sw-{number}"));
    host.sys_name = Some(format!("sw-{number}.example.net"));
    host.chassis_id = Some(chassis(address(0, number)));
    let ports = if number % SITE < 2 { i64::from(SITE) } else { i64::from(2 * STATIONS + 3) };
    host.if_entries = (1..=ports)
        .map(|index| IfEntry {
            if_name: Some(format!("Gi1/0/{index}")),
            if_descr: format!("GigabitEthernet1/0/{index}"),
            if_alias: Some(format!("port {index}")),
            if_type: Some(6),
            speed_bps: Some(1_000_000_000),
            ..IfEntry::new(&host, index)
        })
        .collect();
    let tables = [ClaimRows::Lldp(lldp(number)), ClaimRows::Fdb(fdb(number)), ClaimRows::Stp(stp(number))];
    let claims = tables.map(|rows| Claim::new(&host, Reporter::new("bench"), Timestamp::UNIX_EPOCH, rows));
    (host, claims.into())
}

fn lldp(number: u32) -> Vec<LldpRow> {
    let row = |port, id: MacAddress, remote: String, name: Option<String>| {
        let mut row = LldpRow::new(chassis(id));
        row.if_index = Some(port);
        row.port_id = Some(LldpPortId { subtype: LldpPortIdSubtype::InterfaceName, value: remote });
        row.sys_name = name;
        row
    };
    let uplinks = uplinks(number).into_iter().map(|(port, other, remote)| {
        row(port, address(0, other), format!("Gi1/0/{remote}"), Some(format!("sw-{other}.example.net")))
    });
    let phones = (0..phones(number)).map(|phone| {
        row(i64::from(3 + phone), address(1, number * STATIONS + phone), "eth0".to_owned(), None)
    });
    uplinks.chain(phones).collect()
}

/// Returns the forwarding database of a switch: learned addresses of stations and of other switches. The address of a
/// switch is behind the port that leads to it.
fn fdb(number: u32) -> Vec<FdbRow> {
    let row = |port, mac_address| {
        let mut row = FdbRow::new(mac_address);
        row.if_index = Some(port);
        row.status = Some(FdbStatus::Learned);
        row
    };
    let stations = (0..phones(number))
        .map(|station| row(i64::from(3 + STATIONS + station), address(2, number * STATIONS + station)));
    let switches = uplinks(number).into_iter().map(|(port, other, _)| row(port, address(0, other)));
    stations.chain(switches).collect()
}

fn stp(number: u32) -> Vec<StpRow> {
    let root = number - number % SITE;
    let row = |(port, _, remote): (i64, u32, i64)| {
        let mut row = StpRow::new(port);
        row.if_index = Some(port);
        row.state = Some(StpState::Forwarding);
        let is_root = number == root;
        row.designated_bridge = Some(BridgeId { priority: 0x8000, mac_address: address(0, root) });
        row.designated_port = u16::try_from(if is_root { port } else { remote }).ok();
        row
    };
    uplinks(number).into_iter().filter(|(_, other, _)| number == root || *other == root).map(row).collect()
}

const fn phones(number: u32) -> u32 {
    if number % SITE < 2 { 0 } else { STATIONS }
}

fn chassis(address: MacAddress) -> LldpChassisId {
    LldpChassisId { subtype: LldpChassisIdSubtype::MacAddress, value: address.to_string() }
}

const fn address(kind: u8, number: u32) -> MacAddress {
    let [a, b, c, d] = number.to_be_bytes();
    MacAddress::new([0x00, 0x10 + kind, a, b, c, d])
}
