//! `ip -j neigh`, and lists of the same in the words of other systems: OPNsense, the REST API of RouterOS, and PowerShell.

use std::io::BufRead;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::discovery::parse::arp::{self, Sink};
use crate::discovery::parse::text::mac_text;
use crate::discovery::parse::{ParseError, ParseOptions, json};
use crate::discovery::report::{ArpRow, NeighborState};

/// An entry of the list.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Entry {
    #[serde(alias = "ip", alias = "address", alias = "IPAddress")]
    dst: Option<String>,
    #[serde(alias = "intf", alias = "interface", alias = "InterfaceAlias")]
    dev: Option<String>,
    #[serde(rename = "InterfaceIndex")]
    if_index: Option<i64>,
    #[serde(alias = "mac", alias = "mac-address", alias = "LinkLayerAddress")]
    lladdr: Option<String>,
    state: Vec<String>,
    #[serde(alias = "State")]
    status: Option<Status>,
}

/// The state of an entry. PowerShell may write a number, which adds nothing: entries without an answer have no MAC address.
#[derive(Deserialize)]
#[serde(untagged)]
enum Status {
    Name(String),
    Other(IgnoredAny),
}

impl Entry {
    fn known_state(&self) -> Option<NeighborState> {
        let status = match &self.status {
            Some(Status::Name(name)) => Some(name),
            Some(Status::Other(IgnoredAny)) | None => None,
        };
        self.state.iter().chain(status).find_map(|name| arp::state(name))
    }
}

/// Reads the entries of a neighbor table.
pub(in crate::discovery::parse) fn read(
    reader: &mut dyn BufRead,
    options: &ParseOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ParseError> {
    let counts = json::InputCounts::default();
    let read = super::read_lists(reader, options, &counts, "ip -j neigh", |entry| accept(entry, sink));
    json::finish(read.map(drop), &counts, sink.meter)
}

fn accept(entry: Entry, sink: &mut Sink<'_>) {
    let state = entry.known_state();
    let Entry { dst, dev, if_index, lladdr, .. } = entry;
    let Some(address) = dst else { return sink.skip_malformed_entry("an entry without an IP address") };
    let Some(ip_address) = arp::ip_address(&address) else {
        return sink.skip_malformed_entry(&address);
    };
    let Some(lladdr) = lladdr.filter(|_| state != Some(NeighborState::Unreachable)) else {
        return sink.skip_incomplete(&address);
    };
    match mac_text(&lladdr) {
        Some(mac) if mac.is_zero() => sink.skip_incomplete(&address),
        Some(mac) => sink.push(ArpRow { if_name: dev, if_index, state, ..ArpRow::new(ip_address, mac) }),
        // The address of another link layer, such as that of a tunnel.
        None => sink.skip_incomplete(&format!("{address} {lladdr}")),
    }
}
