//! The neighbors that a device names. It names them by LLDP, CDP and the spanning tree, or they are stored with its
//! interface entries.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;

use uuid::Uuid;

use crate::discovery::reconcile::{Named, SwitchPorts, is_own_mac, is_placeholder, trimmed};
use crate::discovery::report::{Capability, CdpRow, LldpRow, StpRow, StpState};
use crate::discovery::{Claim, ClaimRows, MissingRows};
use crate::model::{Host, IfEntry, LldpChassisId, LldpChassisIdSubtype, LldpPortId, MacAddress, Timestamp};
use crate::topology::links::Method;
use crate::topology::links::key::IdentityKey;
use crate::topology::links::key::{PortKey, place_of};
use crate::topology::links::missing::Missing;

/// The bits of a designated port that are its number; the others are its priority.
const PORT_NUMBER: u16 = 0x0FFF;

/// A neighbor that a device names.
#[derive(Clone, Debug)]
pub(in crate::topology::links) struct Sighting {
    pub(in crate::topology::links) method: Method,
    /// The device's own port.
    pub(in crate::topology::links) port: Option<PortKey>,
    pub(in crate::topology::links) names: Names,
    pub(in crate::topology::links) remote: RemotePort,
    pub(in crate::topology::links) about: About,
    pub(in crate::topology::links) last_seen: Option<Timestamp>,
    /// The time since which the device no longer names the neighbor; `None` while it does.
    pub(in crate::topology::links) missing: Option<Box<Missing>>,
}

/// The identities or the record id of the neighbor.
#[derive(Clone, Debug)]
pub(in crate::topology::links) enum Names {
    Device(Named<IdentityKey>),
    /// A host or a port, by id.
    Record(Uuid),
}

impl Names {
    pub(in crate::topology::links) fn keys(&self) -> impl Iterator<Item = IdentityKey> {
        let (named, record) = match self {
            Self::Device(named) => (Some(named), None),
            Self::Record(id) => (None, Some(IdentityKey::of_record(*id))),
        };
        named.into_iter().flat_map(Named::identities).copied().chain(record)
    }
}

/// The neighbor's port, as the sighting identifies it.
#[derive(Clone, Debug)]
pub(in crate::topology::links) enum RemotePort {
    Unknown,
    Lldp {
        id: Option<LldpPortId>,
        description: Option<Box<str>>,
        /// The number of the aggregate of which the port is a member.
        aggregate: Option<NonZeroU32>,
    },
    Cdp(Box<str>),
    /// The number in the spanning tree, and whether the device's own port has the same.
    Bridge {
        number: i64,
        is_own: bool,
    },
}

/// The data that a stub for the neighbor shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::topology::links) struct About {
    /// The neighbor's name, or else another text that it announces.
    pub(in crate::topology::links) label: Arc<str>,
    pub(in crate::topology::links) chassis_id: Option<LldpChassisId>,
    pub(in crate::topology::links) capabilities: Box<[Capability]>,
    /// The beginning of the neighbor's description or model.
    pub(in crate::topology::links) description: Option<Box<str>>,
    pub(in crate::topology::links) addresses: Box<[String]>,
}

impl Sighting {
    /// Returns the MAC addresses that the neighbor announces as the ids of itself and of its port.
    pub(in crate::topology::links) fn announced_macs(&self) -> impl Iterator<Item = MacAddress> {
        let port = match &self.remote {
            RemotePort::Lldp { id: Some(id), .. } => Some(id.value.as_str()),
            _ => None,
        };
        let chassis = self.about.chassis_id.as_ref().map(|id| id.value.as_str());
        // Telephones of Cisco have their address in their name.
        let name = self.about.label.strip_prefix("SEP");
        [port, chassis, name].into_iter().flatten().filter_map(|text| text.trim().parse().ok())
    }
}

/// Returns the neighbors that a host names, grouped by port.
pub(in crate::topology::links) fn sightings(
    host: &Host,
    claims: &[Claim],
    ports: &SwitchPorts,
    bridge_ports: &[(i64, u32)],
) -> Box<[Sighting]> {
    let reader = Reader { host, ports, bridge_ports };
    let mut found = Vec::new();
    let mut sorted: Vec<&Claim> = claims.iter().collect();
    sorted.sort_by_key(|claim| claim.rows.kind());
    for claim in sorted {
        let seen = Some(claim.observed_at);
        match &claim.rows {
            ClaimRows::Lldp(rows) => found.extend(rows.iter().map(|row| reader.by_lldp(row, seen))),
            ClaimRows::Cdp(rows) => found.extend(rows.iter().map(|row| reader.by_cdp(row, seen))),
            ClaimRows::Stp(rows) => found.extend(rows.iter().filter_map(|row| reader.by_stp(row, seen))),
            ClaimRows::IfEntries(_)
            | ClaimRows::Addresses(_)
            | ClaimRows::Fdb(_)
            | ClaimRows::Arp(_)
            | ClaimRows::Lag(_)
            | ClaimRows::Ports(_)
            | ClaimRows::Routes(_) => {}
        }
        for group in &claim.missing {
            found.extend(reader.missing(group));
        }
    }
    let has_lldp = claims.iter().any(|claim| matches!(claim.rows, ClaimRows::Lldp(_)));
    let has_cdp = claims.iter().any(|claim| matches!(claim.rows, ClaimRows::Cdp(_)));
    // Where claims about neighbors describe a port, the stored neighbor follows from them.
    let is_neighbor = |sighting: &&Sighting| sighting.method != Method::Stp && sighting.missing.is_none();
    let neighbors = found.iter().filter(is_neighbor);
    let described: BTreeSet<PortKey> = neighbors.filter_map(|sighting| sighting.port.clone()).collect();
    for (entry, place) in host.if_entries.iter().zip(0..) {
        let port = PortKey::Known(place);
        let is_described = described.contains(&port);
        if !has_lldp {
            found.extend(stored_lldp(entry, port.clone()));
        }
        if !has_cdp {
            found.extend(stored_cdp(entry, port.clone()));
        }
        if !is_described {
            found.extend(stored_neighbor(entry, port));
        }
    }
    found.into_boxed_slice()
}

struct Reader<'h> {
    host: &'h Host,
    ports: &'h SwitchPorts,
    bridge_ports: &'h [(i64, u32)],
}

impl Reader<'_> {
    /// Returns the port on which a row was seen. On a host with a single port, the row was seen on that port.
    fn own_port(&self, if_index: Option<i64>, name: Option<&str>) -> Option<PortKey> {
        let place = self.ports.local(if_index, name).or((self.host.if_entries.len() == 1).then_some(0));
        let place = place.map(|place| self.ports.cabled(place));
        let known = place.and_then(|place| u32::try_from(place).ok()).map(PortKey::Known);
        known.or_else(|| Some(PortKey::Named(trimmed(name?)?.into())))
    }

    /// Reads rows that the device's tables no longer have.
    fn missing(&self, group: &MissingRows) -> Vec<Sighting> {
        let seen = Some(group.last_seen_at);
        let found: Vec<Sighting> = match &group.rows {
            ClaimRows::Lldp(rows) => rows.iter().map(|row| self.by_lldp(row, seen)).collect(),
            ClaimRows::Cdp(rows) => rows.iter().map(|row| self.by_cdp(row, seen)).collect(),
            ClaimRows::IfEntries(_)
            | ClaimRows::Addresses(_)
            | ClaimRows::Fdb(_)
            | ClaimRows::Arp(_)
            | ClaimRows::Stp(_)
            | ClaimRows::Lag(_)
            | ClaimRows::Ports(_)
            | ClaimRows::Routes(_) => Vec::new(),
        };
        let missing = Missing::of(group);
        found.into_iter().map(|found| Sighting { missing: Some(Box::new(missing)), ..found }).collect()
    }

    fn by_lldp(&self, row: &LldpRow, last_seen: Option<Timestamp>) -> Sighting {
        let id = row.local_port_id.as_ref().map(|id| id.value.as_str());
        let name = row.if_name.as_deref().or(row.local_port_desc.as_deref()).or(id);
        Sighting {
            method: Method::Lldp,
            port: self.own_port(row.if_index, name),
            names: Names::Device(Named::by_lldp(row).map(|identity| IdentityKey::of_identity(&identity))),
            remote: RemotePort::Lldp {
                id: row.port_id.clone(),
                description: row.port_desc.as_deref().map(Into::into),
                aggregate: row.lag_id.and_then(|number| NonZeroU32::new(u32::try_from(number).ok()?)),
            },
            about: About {
                label: label(&[row.sys_name.as_deref(), Some(row.chassis_id.value.as_str())]),
                chassis_id: Some(row.chassis_id.clone()),
                capabilities: row.capabilities.clone().into_boxed_slice(),
                description: description(&[row.sys_desc.as_deref()]),
                addresses: row.mgmt_addrs.clone().into_boxed_slice(),
            },
            last_seen,
            missing: None,
        }
    }

    fn by_cdp(&self, row: &CdpRow, last_seen: Option<Timestamp>) -> Sighting {
        Sighting {
            method: Method::Cdp,
            port: self.own_port(row.if_index, row.if_name.as_deref()),
            names: Names::Device(Named::by_cdp(row).map(|identity| IdentityKey::of_identity(&identity))),
            remote: row.port_id.as_deref().map_or(RemotePort::Unknown, |port| RemotePort::Cdp(port.into())),
            about: About {
                label: label(&[Some(row.device_id.as_str())]),
                capabilities: row.capabilities.clone().into_boxed_slice(),
                description: description(&[row.platform.as_deref(), row.version.as_deref()]),
                addresses: row.address.iter().cloned().collect(),
                ..About::default()
            },
            last_seen,
            missing: None,
        }
    }

    /// Reads the designated bridge of a port that takes part in the spanning tree.
    fn by_stp(&self, row: &StpRow, last_seen: Option<Timestamp>) -> Option<Sighting> {
        let address = row.designated_bridge.map(|bridge| bridge.mac_address)?;
        let is_off = matches!(row.state, Some(StpState::Disabled | StpState::Broken));
        if is_off || !is_own_mac(address) {
            return None;
        }
        let place = place_of(self.bridge_ports, row.bridge_port).map(PortKey::Known);
        let id = LldpChassisId { subtype: LldpChassisIdSubtype::MacAddress, value: address.to_string() };
        let named = Named::by_announcement(&id, None, std::iter::empty());
        Some(Sighting {
            method: Method::Stp,
            port: Some(place.or_else(|| self.own_port(row.if_index, None))?),
            names: Names::Device(named.map(|identity| IdentityKey::of_identity(&identity))),
            remote: row.designated_port.map_or(RemotePort::Unknown, |port| {
                let number = i64::from(port & PORT_NUMBER);
                RemotePort::Bridge { number, is_own: number == row.bridge_port }
            }),
            about: About {
                label: label(&[Some(id.value.as_str())]),
                chassis_id: Some(id),
                ..About::default()
            },
            last_seen,
            missing: None,
        })
    }
}

/// Reads the neighbor by LLDP that is stored with an interface entry.
fn stored_lldp(entry: &IfEntry, port: PortKey) -> Option<Sighting> {
    let chassis_id = entry.lldp_chassis_id.as_ref()?;
    let name = entry.lldp_sys_name.as_deref();
    let named = Named::by_announcement(chassis_id, name, entry.lldp_mgmt_addr.as_deref().into_iter());
    Some(Sighting {
        method: Method::Lldp,
        port: Some(port),
        names: Names::Device(named.map(|identity| IdentityKey::of_identity(&identity))),
        remote: RemotePort::Lldp {
            id: entry.lldp_port_id.clone(),
            description: entry.lldp_port_desc.as_deref().map(Into::into),
            aggregate: None,
        },
        about: About {
            label: label(&[name, Some(chassis_id.value.as_str())]),
            chassis_id: Some(chassis_id.clone()),
            capabilities: Box::default(),
            description: description(&[entry.lldp_sys_desc.as_deref()]),
            addresses: entry.lldp_mgmt_addr.iter().cloned().collect(),
        },
        last_seen: Some(entry.updated_at),
        missing: None,
    })
}

/// Reads the neighbor by CDP that is stored with an interface entry.
fn stored_cdp(entry: &IfEntry, port: PortKey) -> Option<Sighting> {
    let device_id = entry.cdp_device_id.as_deref().filter(|id| trimmed(id).is_some())?;
    let named = Named::by_device_id(device_id, entry.cdp_address.as_deref());
    Some(Sighting {
        method: Method::Cdp,
        port: Some(port),
        names: Names::Device(named.map(|identity| IdentityKey::of_identity(&identity))),
        remote: entry.cdp_port_id.as_deref().map_or(RemotePort::Unknown, |id| RemotePort::Cdp(id.into())),
        about: About {
            label: label(&[Some(device_id)]),
            description: description(&[entry.cdp_platform.as_deref()]),
            addresses: entry.cdp_address.iter().cloned().collect(),
            ..About::default()
        },
        last_seen: Some(entry.updated_at),
        missing: None,
    })
}

/// Reads the neighbor that is stored with an interface entry by its id.
fn stored_neighbor(entry: &IfEntry, port: PortKey) -> Option<Sighting> {
    let id = entry.neighbor?.uuid();
    Some(Sighting {
        method: Method::Stored,
        port: Some(port),
        names: Names::Record(id),
        remote: RemotePort::Unknown,
        about: About { label: id.to_string().into(), ..About::default() },
        last_seen: Some(entry.updated_at),
        missing: None,
    })
}

/// Returns the first text that names a device.
fn label(texts: &[Option<&str>]) -> Arc<str> {
    texts
        .iter()
        .flatten()
        .find_map(|text| trimmed(text).filter(|text| !is_placeholder(text)))
        .unwrap_or("")
        .into()
}

/// Longest description that is kept of a neighbor, in characters. Its beginning usually names the product.
const MAX_DESCRIPTION: usize = 256;

/// Returns the beginnings of descriptions, joined; `None` if all are blank.
fn description(texts: &[Option<&str>]) -> Option<Box<str>> {
    let texts = texts.iter().flatten().filter_map(|text| trimmed(text));
    let joined: String = texts
        .map(|text| text.chars().take(MAX_DESCRIPTION).collect::<String>())
        .collect::<Vec<_>>()
        .join(" ");
    (!joined.is_empty()).then(|| joined.into_boxed_str())
}
