//! IP-FORWARD-MIB: the routing table, new and old; and that of RFC1213-MIB.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use super::{Accepted, VariableValue};
use crate::discovery::parse::meter::Meter;
use crate::discovery::parse::text;
use crate::discovery::report::{MAX_ROUTES, RouteRow, WarningCode};
use crate::model::Cidr;

/// The length of the prefix of a route to one IPv4 address.
const HOST_LENGTH: u8 = 32;

#[derive(Debug, Default)]
pub(super) struct Routes {
    routes: BTreeMap<RouteIndex, Route>,
    /// Whether rows are missing because there are too many.
    has_too_many: bool,
    /// Whether the device has `inetCidrRouteTable`. The others have no IPv6 routes.
    has_both_families: bool,
}

/// The index of a route.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RouteIndex {
    /// `ipRouteTable`: the address at which the destination begins.
    Start(Ipv4Addr),
    /// `ipCidrRouteTable` and `inetCidrRouteTable`: the destination, the rest of the index, and the next hop.
    Whole(Cidr, Box<[u64]>, Option<IpAddr>),
}

#[derive(Debug, Default)]
struct Route {
    if_index: Option<i64>,
    metric: Option<i64>,
    mask: Option<u8>,
    /// Whether the device sends a mask that is none, such as one with its bytes in reverse order.
    has_invalid_mask: bool,
    next_hop: Option<IpAddr>,
    kind: Option<RouteKind>,
}

impl Route {
    /// Returns whether the route to the address of zeros is the default route.
    ///
    /// Some agents send the mask of a host for it. A route to that host itself leads to no other router.
    fn is_default(&self) -> bool {
        let is_direct = matches!(self.kind, Some(RouteKind::Direct | RouteKind::Discarded));
        let leads_on = !is_direct && self.next_hop.is_some_and(|next| !next.is_unspecified());
        !self.has_invalid_mask
            && self.mask.is_none_or(|length| length == 0 || (length == HOST_LENGTH && leads_on))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RouteKind {
    Direct,
    Remote,
    Discarded,
    /// The row does not count.
    Invalid,
}

impl Routes {
    /// Returns whether rows are missing because there are too many.
    pub(super) const fn has_too_many(&self) -> bool {
        self.has_too_many
    }

    /// Returns whether there are variables of a table for both families of addresses.
    pub(super) const fn has_both_families(&self) -> bool {
        self.has_both_families
    }

    /// Stores a variable of `ipRouteTable`.
    pub(super) fn accept(
        &mut self,
        column: u64,
        index: &[u64],
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        if !matches!(column, 2 | 3 | 7 | 8 | 11) {
            return Accepted::Yes;
        }
        let Some(start) = ipv4(index) else { return Accepted::InvalidIndex };
        let Some(route) = self.route(RouteIndex::Start(start), meter) else { return Accepted::TooMany };
        match column {
            2 => Accepted::store(&mut route.if_index, value.integer()),
            3 => Accepted::store(&mut route.metric, value.integer()),
            7 => Accepted::store(&mut route.next_hop, value.bytes().and_then(text::ip)),
            11 => {
                let mask = value.bytes().and_then(mask_length);
                route.has_invalid_mask |= mask.is_none();
                Accepted::store(&mut route.mask, mask)
            }
            _ => {
                let kind = value.integer().map(|kind| match kind {
                    2 => RouteKind::Invalid,
                    3 => RouteKind::Direct,
                    _ => RouteKind::Remote,
                });
                Accepted::store(&mut route.kind, kind)
            }
        }
    }

    /// Stores a variable of `ipCidrRouteTable` or `inetCidrRouteTable`.
    pub(super) fn accept_new(
        &mut self,
        table: u64,
        column: u64,
        index: &[u64],
        value: &VariableValue<'_>,
        meter: &mut Meter,
    ) -> Accepted {
        self.has_both_families |= table == 7;
        let index = match (table, column) {
            (4, 5 | 6 | 11) => cidr_index(index),
            (7, 7 | 8 | 12) => inet_index(index),
            _ => return Accepted::Yes,
        };
        let Some(index) = index else { return Accepted::InvalidIndex };
        let Some(route) = self.route(index, meter) else { return Accepted::TooMany };
        match column {
            5 | 7 => Accepted::store(&mut route.if_index, value.integer()),
            11 | 12 => Accepted::store(&mut route.metric, value.integer()),
            _ => {
                let kind = value.integer().map(|kind| match kind {
                    2 | 5 => RouteKind::Discarded,
                    3 => RouteKind::Direct,
                    _ => RouteKind::Remote,
                });
                Accepted::store(&mut route.kind, kind)
            }
        }
    }

    fn route(&mut self, index: RouteIndex, meter: &mut Meter) -> Option<&mut Route> {
        meter.add_steps(1);
        if !self.routes.contains_key(&index) {
            if self.routes.len() >= MAX_ROUTES {
                self.has_too_many = true;
                meter.skip(WarningCode::RowLimitReached);
                return None;
            }
            if !meter.admit_row() {
                return None;
            }
        }
        Some(self.routes.entry(index).or_default())
    }

    /// Returns one row for each destination, next hop and interface. Most devices have the same routes in several tables.
    pub(super) fn into_rows(self, meter: &mut Meter) -> Vec<RouteRow> {
        meter.add_steps(self.routes.len());
        let mut rows: BTreeMap<(Cidr, Option<IpAddr>, Option<i64>), RouteRow> = BTreeMap::new();
        for (index, route) in self.routes {
            if route.kind == Some(RouteKind::Invalid) {
                meter.leave_out(WarningCode::EntryInvalid, || index.describe());
                continue;
            }
            let Some((destination, next_hop)) = index.resolve(&route) else {
                meter.leave_out(WarningCode::RowIncomplete, || index.describe());
                continue;
            };
            meter.use_rows(1);
            let discards = route.kind == Some(RouteKind::Discarded);
            let is_routed = !discards && route.kind != Some(RouteKind::Direct);
            let next_hop = next_hop.filter(|next| is_routed && !next.is_unspecified());
            // A negative metric is none.
            let metric = route.metric.filter(|metric| *metric >= 0);
            let row = RouteRow {
                next_hop,
                if_index: route.if_index.filter(|index| *index > 0),
                metric,
                discards,
                ..RouteRow::new(destination)
            };
            rows.entry((destination, next_hop, row.if_index)).or_insert(row);
        }
        rows.into_values().collect()
    }
}

impl RouteIndex {
    /// Names a route for a warning.
    fn describe(&self) -> String {
        match self {
            Self::Start(start) => format!("route to {start}"),
            Self::Whole(destination, ..) => format!("route to {destination}"),
        }
    }

    /// Returns the destination and the next hop.
    fn resolve(&self, route: &Route) -> Option<(Cidr, Option<IpAddr>)> {
        match self {
            Self::Start(start) => {
                let is_default = start.is_unspecified() && route.is_default();
                let length = if is_default { 0 } else { route.mask? };
                Some((Cidr::containing(IpAddr::V4(*start), length).ok()?, route.next_hop))
            }
            Self::Whole(destination, _, next_hop) => Some((*destination, *next_hop)),
        }
    }
}

/// Converts 4 arcs to an address.
fn ipv4(arcs: &[u64]) -> Option<Ipv4Addr> {
    let octets = text::octets(arcs)?;
    Some(Ipv4Addr::from(<[u8; 4]>::try_from(octets.as_slice()).ok()?))
}

/// Returns the length of a mask; `None` if ones follow zeros.
fn mask_length(bytes: &[u8]) -> Option<u8> {
    let mask = u32::from(Ipv4Addr::from(<[u8; 4]>::try_from(bytes).ok()?));
    (mask.leading_ones() + mask.trailing_zeros() >= 32).then_some(mask.leading_ones() as u8)
}

/// Reads an index of `ipCidrRouteTable`: destination, mask, type of service, next hop.
fn cidr_index(index: &[u64]) -> Option<RouteIndex> {
    let (start, rest) = index.split_at_checked(4)?;
    let (mask, rest) = rest.split_at_checked(4)?;
    let (service, next_hop) = rest.split_first()?;
    let length = mask_length(&ipv4(mask)?.octets())?;
    let destination = Cidr::containing(IpAddr::V4(ipv4(start)?), length).ok()?;
    Some(RouteIndex::Whole(destination, [*service].into(), Some(IpAddr::V4(ipv4(next_hop)?))))
}

/// Reads an index of `inetCidrRouteTable`: destination, length of its prefix, policy, next hop.
fn inet_index(index: &[u64]) -> Option<RouteIndex> {
    let (start, rest) = inet_address(index)?;
    let (length, rest) = rest.split_first()?;
    let destination = Cidr::containing(start?, u8::try_from(*length).ok()?).ok()?;
    let (count, rest) = rest.split_first()?;
    let (policy, rest) = rest.split_at_checked(usize::try_from(*count).ok()?)?;
    let (next_hop, []) = inet_address(rest)? else { return None };
    Some(RouteIndex::Whole(destination, policy.into(), next_hop))
}

/// Reads type, length and address at the beginning of an index. An address of no length is none.
fn inet_address(index: &[u64]) -> Option<(Option<IpAddr>, &[u64])> {
    let [_, length, rest @ ..] = index else { return None };
    let length = usize::try_from(*length).ok()?;
    let (_, behind) = rest.split_at_checked(length)?;
    if length == 0 {
        return Some((None, behind));
    }
    let address = text::inet_address_index(index.get(..length.checked_add(2)?)?)?;
    Some((Some(address), behind))
}
