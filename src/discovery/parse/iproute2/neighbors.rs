//! `ip -j neigh`.

use std::io::BufRead;

use serde::Deserialize;

use crate::discovery::parse::arp::{self, Sink};
use crate::discovery::parse::text::mac_text;
use crate::discovery::parse::{ParseError, ParseOptions, json};
use crate::discovery::report::{ArpRow, NeighborState};

/// An entry of the list.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Entry {
    dst: Option<String>,
    dev: Option<String>,
    lladdr: Option<String>,
    state: Vec<String>,
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
    let Entry { dst, dev, lladdr, state } = entry;
    let Some(address) = dst else { return sink.skip_malformed_entry("an entry without `dst`") };
    let Some(ip_address) = arp::ip_address(&address) else {
        return sink.skip_malformed_entry(&address);
    };
    let state = state.iter().find_map(|name| arp::state(name));
    let Some(lladdr) = lladdr.filter(|_| state != Some(NeighborState::Unreachable)) else {
        return sink.skip_incomplete(&address);
    };
    match mac_text(&lladdr) {
        Some(mac) if mac.is_zero() => sink.skip_incomplete(&address),
        Some(mac) => sink.push(ArpRow { if_name: dev, state, ..ArpRow::new(ip_address, mac) }),
        // The address of another link layer, such as that of a tunnel.
        None => sink.skip_incomplete(&format!("{address} {lladdr}")),
    }
}
