//! `ip -j route` and `ip -j -6 route`, also one after the other.

use std::io::BufRead;
use std::net::IpAddr;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::ListLengths;
use crate::discovery::parse::meter::Meter;
use crate::discovery::parse::{ParseError, ParseErrorKind, ParseOptions, json, named_device};
use crate::discovery::report::{AddressFamily, MAX_ROUTES, Report, RouteRow, Table, WarningCode};
use crate::model::Cidr;

const COMMAND: &str = "ip -j route";
const EXPECTED: &str = "the output of `ip -j route`: no entry is a route of a table";
/// The name of the table that the kernel looks up for packets of all kinds.
const MAIN_TABLE: &str = "main";

/// A route. Neighbors and forwarding entries also have `dst`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Entry {
    /// Unicast if it is missing.
    #[serde(rename = "type")]
    kind: Option<String>,
    dst: Option<String>,
    gateway: Option<String>,
    /// A gateway of the other family.
    via: Option<Via>,
    dev: Option<String>,
    protocol: Option<String>,
    scope: Option<String>,
    prefsrc: Option<String>,
    metric: Option<i64>,
    /// The preference of a router, of IPv6 routes only.
    pref: Option<String>,
    /// Printed for other tables than the main one.
    table: Option<String>,
    nexthops: Vec<NextHop>,
    flags: Option<Vec<String>>,
    /// Forwarding entries have it, which may also have a destination and flags.
    mac: Option<IgnoredAny>,
    /// Neighbors have it.
    state: Option<IgnoredAny>,
    /// The answer to `ip route get` has it: the route to one address, which no table has.
    cache: Option<IgnoredAny>,
}

/// A gateway of the other family.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Via {
    host: Option<String>,
}

/// One of several next hops of a route.
#[derive(Default, Deserialize)]
#[serde(default)]
struct NextHop {
    gateway: Option<String>,
    via: Option<Via>,
    dev: Option<String>,
    flags: Vec<String>,
}

/// Reads the routing table of one device.
pub(in crate::discovery::parse) fn read(
    reader: &mut dyn BufRead,
    options: &ParseOptions,
    meter: &mut Meter,
) -> Result<Report, ParseError> {
    let mut device = named_device(options, meter)?;
    let mut sink = Sink { meter, rows: Vec::new(), read: 0, malformed: 0, has_too_many: false };
    let counts = json::InputCounts::default();
    let read = super::read_lists(reader, options, &counts, COMMAND, |_, entry| sink.accept(&entry));
    let Sink { rows, read: routes, malformed, has_too_many, .. } = sink;
    let lists = read.as_ref().map_or(ListLengths::default(), |lists| *lists);
    json::finish_rows(read.map(drop), &counts, meter, !rows.is_empty())?;
    if routes == 0 && malformed > 0 {
        return Err(meter.error(ParseErrorKind::WrongFormat(EXPECTED)));
    }
    meter.use_rows(rows.len());
    // The command prints the routes of one family, which must not replace those of the other. Of the other family, the list
    // may be empty. The same command twice gives no empty list, unless the device has no routes at all, and with more
    // than two lists, the empty one may be that of any command.
    let has_both = lists.count == 2 && lists.has_empty;
    let family = AddressFamily::of_all(rows.iter().map(|row| row.destination.first_address()));
    let is_whole = malformed == 0 && !has_too_many && !meter.is_truncated();
    // An empty list of one command does not show the family.
    let is_known = has_both || !rows.is_empty();
    let table = Table::of(rows, options.complete && is_known && is_whole);
    device.tables.routes = Some(table.limited_to(family.filter(|_| !has_both)));
    Ok(Report::of_device("ip", options.observed_at, device))
}

struct Sink<'m> {
    meter: &'m mut Meter,
    rows: Vec<RouteRow>,
    /// The number of entries that are routes, also those that do not count.
    read: u64,
    malformed: u64,
    /// Whether rows are missing because there are too many.
    has_too_many: bool,
}

impl Sink<'_> {
    fn accept(&mut self, entry: &Entry) {
        let text = entry.dst.as_deref().unwrap_or("an entry without `dst`");
        let Some(destination) = entry.destination().filter(|_| entry.is_route()) else {
            self.malformed += 1;
            return self.meter.skip_of(WarningCode::RowIncomplete, || text);
        };
        self.read += 1;
        let discards = match entry.kind.as_deref() {
            None | Some("unicast") => false,
            Some("blackhole" | "unreachable" | "prohibit") => true,
            // Addresses of the device itself and of groups, and rules that refer to other tables.
            Some(_) => return self.meter.skip_of(WarningCode::EntryInvalid, || text),
        };
        if entry.table.as_deref().is_some_and(|table| table != MAIN_TABLE) {
            return self.meter.skip_of(WarningCode::EntryInvalid, || text);
        }
        let row = RouteRow {
            metric: entry.metric.filter(|metric| *metric >= 0),
            discards,
            ..RouteRow::new(destination)
        };
        let has_flag = |flags: &[String], wanted: &str| flags.iter().any(|flag| flag == wanted);
        if entry.nexthops.is_empty() || discards {
            let is_dead = entry.flags.as_deref().is_some_and(|flags| has_flag(flags, "dead"));
            let next_hop = next_hop(entry.gateway.as_deref(), entry.via.as_ref());
            return self.push(&row, (next_hop, entry.dev.as_deref()), is_dead, text);
        }
        for hop in &entry.nexthops {
            let next_hop = next_hop(hop.gateway.as_deref(), hop.via.as_ref());
            self.push(&row, (next_hop, hop.dev.as_deref()), has_flag(&hop.flags, "dead"), text);
        }
    }

    fn push(
        &mut self,
        row: &RouteRow,
        (next_hop, device): (Result<Option<IpAddr>, ()>, Option<&str>),
        is_dead: bool,
        text: &str,
    ) {
        let Ok(next_hop) = next_hop else {
            self.malformed += 1;
            return self.meter.skip_of(WarningCode::RowMalformed, || text);
        };
        if is_dead {
            return self.meter.skip_of(WarningCode::EntryInvalid, || text);
        }
        if self.rows.len() >= MAX_ROUTES {
            self.has_too_many = true;
            return self.meter.skip_of(WarningCode::RowLimitReached, || text);
        }
        if self.meter.admit_row() {
            let next_hop = next_hop.filter(|_| !row.discards);
            self.rows.push(RouteRow { next_hop, if_name: device.map(str::to_owned), ..row.clone() });
        }
    }
}

impl Entry {
    /// Returns whether the entry has a key that routes have, and none that they never have.
    const fn is_route(&self) -> bool {
        if self.mac.is_some() || self.state.is_some() || self.cache.is_some() {
            return false;
        }
        self.kind.is_some()
            || self.gateway.is_some()
            || self.via.is_some()
            || self.protocol.is_some()
            || self.scope.is_some()
            || self.flags.is_some()
            || !self.nexthops.is_empty()
    }

    fn destination(&self) -> Option<Cidr> {
        let text = self.dst.as_deref()?;
        if text == "default" {
            let first = self.nexthops.first();
            let has_via = self.via.is_some() || first.is_some_and(|hop| hop.via.is_some());
            let gateway = self.gateway.as_deref().or_else(|| first.and_then(|hop| hop.gateway.as_deref()));
            let address = gateway.filter(|_| !has_via).or(self.prefsrc.as_deref());
            // A default route without an address is that of a tunnel; only those of IPv6 have a preference.
            let is_ipv6 = address.map_or(self.pref.is_some(), |address| address.contains(':'));
            return if is_ipv6 { "::/0" } else { "0.0.0.0/0" }.parse().ok();
        }
        match text.split_once('/') {
            Some((address, length)) => Cidr::containing(address.parse().ok()?, length.parse().ok()?).ok(),
            None => {
                let address: IpAddr = text.parse().ok()?;
                Cidr::containing(address, if address.is_ipv4() { 32 } else { 128 }).ok()
            }
        }
    }
}

/// Returns the address of the next router, if there is one.
fn next_hop(gateway: Option<&str>, via: Option<&Via>) -> Result<Option<IpAddr>, ()> {
    let text = gateway.or_else(|| via.and_then(|via| via.host.as_deref()));
    text.map(|text| text.parse().map_err(|_| ())).transpose()
}
