//! `ip -j addr` and `ip -j link`, with and without `-d`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::BufRead;
use std::net::IpAddr;

use serde::Deserialize;
use serde_json::Value;

use crate::discovery::parse::meter::Meter;
use crate::discovery::parse::text::mac_text;
use crate::discovery::parse::{ParseError, ParseErrorKind, ParseOptions, json, named_device};
use crate::discovery::report::{AddressRow, IfEntryRow, LagRow, Report, Table, Tables, WarningCode};
use crate::model::{AdminStatus, MacAddress, OperStatus, Vlans};

const COMMAND: &str = "ip -j addr";
const EXPECTED: &str =
    "the output of `ip -j addr` or `ip -j link`: no entry has `ifindex`, `ifname` and `operstate`";
/// The highest number of a VLAN.
const MAX_VLAN: u64 = 4094;

/// An interface.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Entry {
    ifindex: Option<i64>,
    ifname: Option<String>,
    ifalias: Option<String>,
    flags: Vec<String>,
    operstate: Option<String>,
    link_type: Option<String>,
    address: Option<String>,
    /// The interface that this one is stacked on.
    link: Option<String>,
    /// The bridge or bond that has this interface.
    master: Option<String>,
    linkinfo: Option<LinkInfo>,
    addr_info: Option<Vec<Address>>,
}

/// The details that `-d` adds.
#[derive(Default, Deserialize)]
#[serde(default)]
struct LinkInfo {
    info_kind: Option<String>,
    info_slave_kind: Option<String>,
    info_data: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Address {
    local: Option<String>,
    /// The address of the other end, to which the length of the prefix applies.
    #[serde(rename = "address")]
    peer: Option<String>,
    prefixlen: Option<u8>,
    /// Another device has the address.
    dadfailed: bool,
}

/// Reads the interfaces and addresses of one device.
pub(in crate::discovery::parse) fn read(
    reader: &mut dyn BufRead,
    options: &ParseOptions,
    meter: &mut Meter,
) -> Result<Report, ParseError> {
    let mut device = named_device(options, meter)?;
    let mut sink = Sink::new(meter);
    let counts = json::InputCounts::default();
    let read = super::read_lists(reader, options, &counts, COMMAND, |entry| sink.accept(entry));
    json::finish(read.map(drop), &counts, sink.meter)?;
    if sink.entries.is_empty() && sink.has_malformed {
        return Err(meter.error(ParseErrorKind::WrongFormat(EXPECTED)));
    }
    device.tables = sink.into_tables(options.complete);
    Ok(Report::of_device("ip", options.observed_at, device))
}

struct Sink<'m> {
    meter: &'m mut Meter,
    entries: Vec<IfEntryRow>,
    addresses: Vec<AddressRow>,
    /// The index of each interface.
    indexes: HashMap<String, i64>,
    /// The interfaces that bundle others.
    aggregates: BTreeSet<String>,
    /// The members of bundles: index, and name of the bundle if it is known.
    members: Vec<(i64, String, bool)>,
    /// The tagged VLANs of the interfaces that VLAN interfaces are stacked on.
    tagged: BTreeMap<String, BTreeSet<u16>>,
    /// Whether any entry has a list of addresses. `ip link` prints none.
    has_addresses: bool,
    has_malformed: bool,
}

impl<'m> Sink<'m> {
    fn new(meter: &'m mut Meter) -> Self {
        Self {
            meter,
            entries: Vec::new(),
            addresses: Vec::new(),
            indexes: HashMap::new(),
            aggregates: BTreeSet::new(),
            members: Vec::new(),
            tagged: BTreeMap::new(),
            has_addresses: false,
            has_malformed: false,
        }
    }

    fn accept(&mut self, entry: Entry) {
        let is_interface =
            entry.operstate.is_some() || entry.link_type.is_some() || entry.addr_info.is_some();
        let (Some(index), Some(name), true) = (entry.ifindex, &entry.ifname, is_interface) else {
            // The ports of `bridge -j link` and the groups of `ip -j maddr` have indexes and names as well.
            self.has_malformed = true;
            let name = entry.ifname.as_deref().unwrap_or("an entry without `ifname`");
            return self.meter.skip_of(WarningCode::RowIncomplete, || name);
        };
        let row = row(index, name, &entry);
        let mac_address = row.mac_address;
        // The output of `ip -j -6 addr` behind that of `ip -j -4 addr` has the same interfaces again.
        if self.indexes.get(name) != Some(&index) {
            if !self.meter.admit_interface(self.entries.len()) {
                return;
            }
            self.note_relations(index, name, &entry);
            self.indexes.insert(name.clone(), index);
            self.entries.push(row);
        }
        if let Some(addresses) = entry.addr_info {
            self.has_addresses = true;
            addresses.into_iter().for_each(|address| self.accept_address(&address, index, mac_address));
        }
    }

    /// Notes bundles, their members, and VLANs.
    fn note_relations(&mut self, index: i64, name: &str, entry: &Entry) {
        let kind = entry.kind();
        if matches!(kind, Some("bond" | "team")) || entry.has_flag("MASTER") {
            self.aggregates.insert(name.to_owned());
        }
        if let Some(master) = &entry.master {
            let slave_kind = entry.linkinfo.as_ref().and_then(|info| info.info_slave_kind.as_deref());
            let is_member = entry.has_flag("SLAVE") || matches!(slave_kind, Some("bond" | "team"));
            self.members.push((index, master.clone(), is_member));
        }
        if let Some((parent, vlan)) = entry.link.as_ref().zip(entry.vlan()) {
            self.tagged.entry(parent.clone()).or_default().insert(vlan);
        }
    }

    fn accept_address(&mut self, address: &Address, index: i64, mac_address: Option<MacAddress>) {
        let text = address.local.as_deref().unwrap_or("");
        let Ok(ip_address) = text.parse::<IpAddr>() else {
            // Addresses of other families, such as those of MCTP, have no `local` that is an IP address.
            return self.meter.skip_of(WarningCode::RowIncomplete, || format!("address {text:?}"));
        };
        if address.dadfailed {
            return self.meter.skip_of(WarningCode::AddressUnusable, || text);
        }
        if self.meter.admit_row() {
            let has_peer = address.peer.is_some() && address.peer != address.local;
            let whole = if ip_address.is_ipv4() { 32 } else { 128 };
            let prefix_length = if has_peer { Some(whole) } else { address.prefixlen };
            let if_index = Some(index);
            self.addresses.push(AddressRow {
                prefix_length,
                if_index,
                mac_address,
                ..AddressRow::new(ip_address)
            });
        }
    }

    fn into_tables(mut self, is_complete: bool) -> Tables {
        self.meter.use_rows(self.entries.len() + self.addresses.len());
        for entry in &mut self.entries {
            let name = entry.if_name.as_deref().unwrap_or("");
            if let Some(tagged) = self.tagged.remove(name) {
                entry.vlans = Some(Vlans { tagged: tagged.into_iter().collect(), ..Vlans::default() });
            }
        }
        let mut lag = Vec::new();
        for (member, master, is_member) in &self.members {
            if let Some(aggregate) = self.indexes.get(master)
                && (*is_member || self.aggregates.contains(master))
            {
                lag.push(LagRow::new(*member, *aggregate));
            }
        }
        let is_complete = is_complete && !self.has_malformed && !self.meter.is_truncated();
        Tables {
            if_entries: Some(Table::of(self.entries, is_complete)),
            addresses: self.has_addresses.then(|| Table::of(self.addresses, is_complete)),
            lag: (is_complete || !lag.is_empty()).then(|| Table::of(lag, is_complete)),
            ..Tables::default()
        }
    }
}

impl Entry {
    fn has_flag(&self, wanted: &str) -> bool {
        self.flags.iter().any(|flag| flag == wanted)
    }

    fn kind(&self) -> Option<&str> {
        self.linkinfo.as_ref()?.info_kind.as_deref()
    }

    /// Returns the VLAN of a VLAN interface.
    fn vlan(&self) -> Option<u16> {
        let data = self.linkinfo.as_ref()?.info_data.as_ref().filter(|_| self.kind() == Some("vlan"))?;
        let vlan = data.get("id")?.as_u64().filter(|vlan| (1..=MAX_VLAN).contains(vlan))?;
        u16::try_from(vlan).ok()
    }
}

fn row(index: i64, name: &str, entry: &Entry) -> IfEntryRow {
    let is_ethernet = entry.link_type.as_deref().is_none_or(|kind| kind == "ether");
    let mac_address = entry.address.as_deref().filter(|_| is_ethernet).and_then(mac_text);
    let admin_status = if entry.has_flag("UP") { AdminStatus::Up } else { AdminStatus::Down };
    IfEntryRow {
        if_name: Some(name.to_owned()),
        if_alias: entry.ifalias.clone(),
        if_type: if_type(entry),
        mac_address: mac_address.filter(|address| !address.is_zero()),
        admin_status: Some(admin_status),
        oper_status: entry.operstate.as_deref().and_then(|state| oper_status(state, entry)),
        ..IfEntryRow::new(index)
    }
}

/// Returns the number of IANA's registry of interface types.
fn if_type(entry: &Entry) -> Option<i64> {
    let by_kind = entry.kind().and_then(|kind| match kind {
        "bond" | "team" => Some(161),
        "bridge" => Some(209),
        "vlan" => Some(135),
        "macvlan" | "macvtap" | "ipvlan" | "ipvtap" | "dummy" | "ifb" | "vrf" => Some(53),
        "gre" | "gretap" | "ip6gre" | "ip6gretap" | "erspan" | "ipip" | "ip6tnl" | "sit" | "vti" | "vti6"
        | "vxlan" | "geneve" | "wireguard" | "tun" => Some(131),
        _ => None,
    });
    by_kind.or_else(|| match entry.link_type.as_deref()? {
        "ether" => Some(6),
        "loopback" => Some(24),
        "ppp" => Some(23),
        "infiniband" => Some(199),
        "sit" | "ipip" | "gre" | "tunnel" | "tunnel6" | "gre6" => Some(131),
        "ieee802.11" => Some(71),
        "ieee1394" => Some(144),
        _ => None,
    })
}

fn oper_status(state: &str, entry: &Entry) -> Option<OperStatus> {
    match state {
        "UP" => Some(OperStatus::Up),
        "DOWN" => Some(OperStatus::Down),
        "TESTING" => Some(OperStatus::Testing),
        "DORMANT" => Some(OperStatus::Dormant),
        "NOTPRESENT" => Some(OperStatus::NotPresent),
        "LOWERLAYERDOWN" => Some(OperStatus::LowerLayerDown),
        // Drivers without the state, such as that of the loopback, have the carrier only.
        "UNKNOWN" if entry.has_flag("LOWER_UP") => Some(OperStatus::Up),
        "UNKNOWN" => Some(OperStatus::Unknown),
        _ => None,
    }
}
