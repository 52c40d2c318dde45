//! The hosts that the rows of LLDP and CDP tables name.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};

use uuid::Uuid;

use super::identity::{Identity, IdentityKind, Traits, chassis_mac};
use super::names;
use super::ports::Ports;
use crate::discovery::report::{CdpRow, LldpRow};
use crate::model::{Host, IfEntry, LldpChassisId, LldpChassisIdSubtype, MacAddress};

/// What a row says of the identity of a neighbor.
pub(super) struct Named {
    /// The chassis id.
    chassis: Option<Identity>,
    chassis_mac: Option<MacAddress>,
    /// Other identities that stand in place of a chassis id.
    others: Vec<Identity>,
    names: Vec<Identity>,
    addresses: Vec<Identity>,
}

impl Named {
    pub(super) fn by_lldp(row: &LldpRow) -> Self {
        let name = row.sys_name.as_deref().and_then(names::device_name);
        Self::new(&row.chassis_id, name.as_deref(), row.mgmt_addrs.iter().map(String::as_str))
    }

    /// Reads a device id of CDP: a name, maybe with a serial number, or a MAC address.
    pub(super) fn by_cdp(row: &CdpRow) -> Self {
        let text = row.device_id.as_str();
        let name = names::cdp_name(text);
        let chassis = names::cdp_mac(text).map_or_else(|| text.to_owned(), |address| address.to_string());
        // A name alone is no chassis id.
        let id = LldpChassisId { subtype: LldpChassisIdSubtype::InterfaceName, value: chassis };
        let mut named = Self::new(&id, name.as_deref(), row.address.as_deref().into_iter());
        let serial_number = names::cdp_serial_number(text);
        named.others.extend(serial_number.as_deref().and_then(Identity::of_serial_number));
        named
    }

    fn new<'a>(id: &LldpChassisId, name: Option<&str>, addresses: impl Iterator<Item = &'a str>) -> Self {
        let ip = |text: &str| Identity::of_ip(text.trim().parse().ok()?);
        let chassis_mac = chassis_mac(id);
        let is_address = id.subtype == LldpChassisIdSubtype::NetworkAddress;
        let address = if is_address { ip(&id.value) } else { None };
        Self {
            chassis: Identity::of_chassis_id(id),
            chassis_mac,
            others: chassis_mac.and_then(Identity::of_mac).into_iter().chain(address).collect(),
            names: name.into_iter().flat_map(Identity::of_name).collect(),
            addresses: addresses.filter_map(ip).collect(),
        }
    }

    pub(super) fn into_identities(self) -> impl Iterator<Item = Identity> {
        let Self { chassis, others, names, addresses, .. } = self;
        chassis.into_iter().chain(others).chain(names).chain(addresses)
    }

    fn names_of(&self, kind: IdentityKind) -> impl Iterator<Item = &Identity> {
        self.names.iter().filter(move |name| name.kind() == kind)
    }
}

/// A host that may be a neighbor.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Candidate<'c> {
    /// The host.
    pub host: &'c Host,
    /// The host's own LLDP table, which has the ids of its ports; empty if there is none.
    pub lldp: &'c [LldpRow],
}

impl<'c> Candidate<'c> {
    /// Creates a candidate.
    #[must_use]
    pub const fn new(host: &'c Host, lldp: &'c [LldpRow]) -> Self {
        Self { host, lldp }
    }
}

/// The candidates, and the host that has the rows, which is the first.
pub(super) struct Remotes<'c> {
    remotes: Vec<Remote<'c>>,
    by_identity: HashMap<Identity, Vec<usize>>,
}

struct Remote<'c> {
    candidate: Candidate<'c>,
    chassis_mac: Option<MacAddress>,
    macs: BTreeSet<MacAddress>,
    ports: OnceCell<Ports<'c>>,
}

impl<'c> Remotes<'c> {
    /// The place of the host that has the rows.
    pub(super) const OWN: usize = 0;

    pub(super) fn new(own: Candidate<'c>, candidates: &[Candidate<'c>]) -> Self {
        let mut ids = BTreeSet::from([own.host.id]);
        let others = candidates.iter().filter(|candidate| ids.insert(candidate.host.id));
        let mut by_identity: HashMap<Identity, Vec<usize>> = HashMap::new();
        let mut remotes = Vec::new();
        for candidate in [own].iter().chain(others) {
            let Traits { identities, macs, chassis_mac, .. } = Traits::of_host(candidate.host);
            for identity in identities {
                by_identity.entry(identity).or_default().push(remotes.len());
            }
            remotes.push(Remote { candidate: *candidate, chassis_mac, macs, ports: OnceCell::new() });
        }
        Self { remotes, by_identity }
    }

    pub(super) fn id(&self, remote: usize) -> Uuid {
        self.remotes.get(remote).map(|remote| remote.candidate.host.id).unwrap_or_default()
    }

    /// Returns the host's port on which a row was seen.
    pub(super) fn own_port(&self, if_index: Option<i64>, if_name: Option<&str>) -> Option<Uuid> {
        self.ports(Self::OWN)?.local(if_index, if_name).map(id)
    }

    pub(super) fn lldp_port(&self, remote: usize, row: &LldpRow) -> Option<Uuid> {
        self.ports(remote)?.of_lldp(row.port_id.as_ref(), row.port_desc.as_deref()).map(id)
    }

    pub(super) fn cdp_port(&self, remote: usize, row: &CdpRow) -> Option<Uuid> {
        self.ports(remote)?.of_cdp(row.port_id.as_deref()?).map(id)
    }

    /// Returns the only port of a host that has this host as its neighbor by LLDP.
    pub(super) fn port_towards_own(&self, remote: usize) -> Option<Uuid> {
        let ports = self.ports(remote)?;
        let rows = self.remotes.get(remote)?.candidate.lldp.iter();
        let rows = rows.filter(|row| self.find(&Named::by_lldp(row)) == Some(Self::OWN));
        let mut found = rows.map(|row| ports.local(row.if_index, row.if_name.as_deref()).map(id));
        let first = found.next()??;
        found.all(|other| other == Some(first)).then_some(first)
    }

    /// Returns the only host that a row names: by its chassis id, or else by its name, or else by its address.
    ///
    /// The weaker keys distinguish several hosts with one chassis id or name.
    pub(super) fn find(&self, named: &Named) -> Option<usize> {
        let by_chassis = self.holders(named.chassis.iter());
        let strongest = if by_chassis.is_empty() { self.holders(named.others.iter()) } else { by_chassis };
        let is_consistent = |remote: &usize| {
            let remote = self.remotes.get(*remote);
            named.chassis_mac.is_none_or(|stated| remote.is_some_and(|remote| remote.may_announce(stated)))
        };
        let weaker = |mut found: BTreeSet<usize>| {
            found.retain(is_consistent);
            found
        };
        let steps = [
            weaker(self.holders(named.names_of(IdentityKind::Name))),
            weaker(self.holders(named.names_of(IdentityKind::ShortName))),
            weaker(self.holders(named.addresses.iter())),
        ];
        let mut found = strongest;
        for step in steps {
            if found.len() == 1 {
                break;
            }
            if found.is_empty() {
                found = step;
            } else {
                let narrowed: BTreeSet<usize> = found.intersection(&step).copied().collect();
                if !narrowed.is_empty() {
                    found = narrowed;
                }
            }
        }
        found.first().copied().filter(|_| found.len() == 1)
    }

    fn holders<'i>(&self, identities: impl Iterator<Item = &'i Identity>) -> BTreeSet<usize> {
        identities.filter_map(|identity| self.by_identity.get(identity)).flatten().copied().collect()
    }

    fn ports(&self, remote: usize) -> Option<&Ports<'c>> {
        let remote = self.remotes.get(remote)?;
        Some(remote.ports.get_or_init(|| Ports::new(remote.candidate.host, remote.candidate.lldp)))
    }
}

impl Remote<'_> {
    /// Returns whether the host may announce a MAC address as its chassis id.
    fn may_announce(&self, address: MacAddress) -> bool {
        self.chassis_mac.is_none() || self.macs.contains(&address)
    }
}

const fn id(entry: &IfEntry) -> Uuid {
    entry.id
}
