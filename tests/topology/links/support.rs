//! Small networks of switches, and links as text.

use std::collections::BTreeMap;

use toposcope::discovery::report::{
    BridgeId, CdpRow, FdbRow, FdbStatus, LagRow, LldpRow, Reporter, StpRow, StpState,
};
use toposcope::inventory::{Claim, ClaimRows};
use toposcope::model::{
    Host, HostId, IfEntry, IfEntryId, LldpChassisId, LldpChassisIdSubtype, LldpPortId, LldpPortIdSubtype,
    MacAddress, NetworkId, Timestamp,
};
use toposcope::topology::links::{Device, End, Link, Links, ManualEnd, ManualLink, PortRef};

pub(crate) const NETWORK: NetworkId = NetworkId::from_u128(0xA11CE);

/// A host and its claims.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) host: Host,
    pub(crate) claims: Vec<Claim>,
    pub(crate) is_complete: bool,
}

/// Returns the host with a number and this many ports. `sw1` has the chassis id `00:00:5E:00:53:01`, and its ports are
/// `Gi0/1` and so on.
pub(crate) fn node(number: u8, ports: i64) -> Node {
    let id = HostId::from_u128(u128::from(number));
    let mut host = Host::with_id(id, NETWORK, format!("sw{number}"));
    host.created_at = time();
    host.updated_at = time();
    host.sys_name = Some(format!("sw{number}"));
    host.chassis_id = Some(chassis(number));
    host.if_entries = (1..=ports)
        .map(|index| IfEntry {
            if_name: Some(format!("Gi0/{index}")),
            speed_bps: Some(1_000_000_000),
            ..IfEntry::new(&host, index)
        })
        .collect();
    Node { host, claims: Vec::new(), is_complete: true }
}

impl Node {
    /// Adds rows to the claims.
    pub(crate) fn with(mut self, rows: ClaimRows) -> Self {
        let mut claim = Claim::new(&self.host, Reporter::new("test"), time(), rows);
        claim.complete = self.is_complete;
        self.claims.push(claim);
        self
    }

    /// Adds neighbors by LLDP: own port, number and port of the neighbor.
    pub(crate) fn lldp(self, rows: &[(i64, u8, i64)]) -> Self {
        let rows = rows.iter().map(|(port, neighbor, remote)| lldp(*port, *neighbor, *remote)).collect();
        self.with(ClaimRows::Lldp(rows))
    }

    /// Adds neighbors by CDP: own port, number and port of the neighbor.
    pub(crate) fn cdp(self, rows: &[(i64, u8, i64)]) -> Self {
        let row = |(port, neighbor, remote): &(i64, u8, i64)| {
            let mut row = CdpRow::new(format!("sw{neighbor}"));
            row.if_index = Some(*port);
            row.port_id = (*remote != 0).then(|| format!("GigabitEthernet0/{remote}"));
            row
        };
        self.with(ClaimRows::Cdp(rows.iter().map(row).collect()))
    }

    /// Adds learned addresses: own port, and the last byte of the address.
    pub(crate) fn fdb(self, rows: &[(i64, u8)]) -> Self {
        let row = |(port, address): &(i64, u8)| {
            let mut row = FdbRow::new(mac(*address));
            row.if_index = Some(*port);
            row.status = Some(FdbStatus::Learned);
            row
        };
        self.with(ClaimRows::Fdb(rows.iter().map(row).collect()))
    }

    /// Adds ports of the spanning tree: own port, number and port of the designated bridge.
    pub(crate) fn stp(self, rows: &[(i64, u8, u16)]) -> Self {
        let row = |(port, bridge, designated): &(i64, u8, u16)| {
            let mut row = StpRow::new(*port);
            row.if_index = Some(*port);
            row.state = Some(StpState::Forwarding);
            row.designated_bridge = Some(BridgeId { priority: 0x8000, mac_address: mac(*bridge) });
            row.designated_port = Some(0x8000 | designated);
            row
        };
        self.with(ClaimRows::Stp(rows.iter().map(row).collect()))
    }

    /// Adds members of aggregates: port, aggregate.
    pub(crate) fn lag(self, rows: &[(i64, i64)]) -> Self {
        let rows = rows.iter().map(|(member, aggregate)| LagRow::new(*member, *aggregate)).collect();
        self.with(ClaimRows::Lag(rows))
    }

    pub(crate) fn change(mut self, change: impl FnOnce(&mut Host)) -> Self {
        change(&mut self.host);
        self
    }

    pub(crate) fn device(&self) -> Device {
        Device::of(&self.host, &self.claims)
    }

    pub(crate) fn port(&self, index: i64) -> IfEntryId {
        self.host.if_entries.iter().find(|entry| entry.if_index == index).unwrap().id
    }
}

/// Returns a row that names a port of a neighbor. 0 stands for no port.
pub(crate) fn lldp(port: i64, neighbor: u8, remote: i64) -> LldpRow {
    let mut row = LldpRow::new(chassis(neighbor));
    row.if_index = (port != 0).then_some(port);
    row.sys_name = Some(format!("sw{neighbor}"));
    row.port_id = (remote != 0)
        .then(|| LldpPortId { subtype: LldpPortIdSubtype::InterfaceName, value: format!("Gi0/{remote}") });
    row
}

pub(crate) fn chassis(number: u8) -> LldpChassisId {
    LldpChassisId { subtype: LldpChassisIdSubtype::MacAddress, value: mac(number).to_string() }
}

pub(crate) const fn mac(number: u8) -> MacAddress {
    MacAddress::new([0, 0, 0x5E, 0, 0x53, number])
}

pub(crate) fn time() -> Timestamp {
    "2026-11-01T12:00:00Z".parse().unwrap()
}

pub(crate) fn end(node: &Node, port: i64) -> ManualEnd {
    ManualEnd::new(node.host.id, (port != 0).then(|| node.port(port)))
}

pub(crate) fn links(nodes: &[Node]) -> Links {
    manual(nodes, &[])
}

pub(crate) fn manual(nodes: &[Node], links: &[ManualLink]) -> Links {
    Links::new(nodes.iter().map(Node::device), links)
}

/// Returns the links of a network as sorted lines of text. An example is `sw1 Gi0/1 -- sw2 Gi0/2: Confirmed
/// MutualLldp`.
pub(crate) fn described(nodes: &[Node]) -> Vec<String> {
    describe(&links(nodes))
}

pub(crate) fn describe(links: &Links) -> Vec<String> {
    let mut lines: Vec<String> = links.links().map(|link| line(links, link)).collect();
    lines.sort();
    lines
}

pub(crate) fn line(links: &Links, link: &Link) -> String {
    let mut ends = [text(links, &link.source), text(links, &link.target)];
    let mut members: Vec<String> = link
        .members
        .iter()
        .map(|member| {
            let mut ends = [port(member.source_port.as_ref()), port(member.target_port.as_ref())];
            if ends[0] > ends[1] {
                ends.reverse();
            }
            format!(" [{}]", ends.map(|end| end.trim().to_owned()).join("="))
        })
        .collect();
    members.sort();
    ends.sort();
    let rule = link.evidence.first().map(|evidence| format!("{:?}", evidence.rule)).unwrap_or_default();
    format!("{}: {:?} {rule}{}", ends.join(" -- "), link.confidence, members.concat())
}

fn text(links: &Links, end: &End) -> String {
    match end {
        End::Host { host_id, port: name } => format!("sw{}{}", host_id.as_u128(), port(name.as_ref())),
        End::Stub { id, port: name } => {
            let stub = links.stubs().find(|stub| stub.id == *id).unwrap();
            let label = if stub.is_unmanaged_switch { "unmanaged" } else { stub.label.as_str() };
            format!("({label}){}", port(name.as_ref()))
        }
        End::Segment { id } => {
            format!("<{}>", links.segments().find(|segment| segment.id == *id).unwrap().label)
        }
    }
}

fn port(port: Option<&PortRef>) -> String {
    port.map(|port| format!(" {}", port.name)).unwrap_or_default()
}

/// Returns all contents of links as text, to compare two of them.
pub(crate) fn whole(links: &Links) -> BTreeMap<&'static str, String> {
    BTreeMap::from([
        ("links", format!("{:#?}", links.links().collect::<Vec<_>>())),
        ("stubs", format!("{:#?}", links.stubs().collect::<Vec<_>>())),
        ("segments", format!("{:#?}", links.segments().collect::<Vec<_>>())),
        ("warnings", format!("{:#?}", links.warnings())),
        ("crowded", format!("{:#?}", links.crowded_ports().collect::<Vec<_>>())),
    ])
}
