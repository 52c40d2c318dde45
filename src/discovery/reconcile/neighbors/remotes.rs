//! The hosts that the rows of LLDP and CDP tables name.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashMap};

use super::named::{KnownHosts, Named, NamedHost};
use super::ports::SwitchPorts;
use crate::discovery::reconcile::PortNames;
use crate::discovery::reconcile::identity::{Identity, Traits};
use crate::discovery::report::{CdpRow, LldpRow};
use crate::invariant::Invariant;
use crate::model::{Host, HostId, IfEntryId, MacAddress};

/// A host that may be a neighbor.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Candidate<'c> {
    /// The host.
    pub host: &'c Host,
    /// The host's own LLDP table; empty if there is none. It has the ids of the host's ports.
    pub lldp: &'c [LldpRow],
}

impl<'c> Candidate<'c> {
    /// Creates a candidate.
    #[must_use]
    pub const fn new(host: &'c Host, lldp: &'c [LldpRow]) -> Self {
        Self { host, lldp }
    }
}

/// The host that has the rows, followed by the candidates.
pub(in crate::discovery::reconcile) struct Remotes<'c> {
    remotes: Vec<Remote<'c>>,
    by_identity: HashMap<Identity, Vec<usize>>,
    port_names: &'c PortNames,
}

struct Remote<'c> {
    candidate: Candidate<'c>,
    chassis_mac: Option<MacAddress>,
    macs: BTreeSet<MacAddress>,
    ports: OnceCell<SwitchPorts>,
}

impl<'c> Remotes<'c> {
    /// The place of the host that has the rows.
    pub(in crate::discovery::reconcile) const OWN: usize = 0;

    pub(in crate::discovery::reconcile) fn new(
        own: Candidate<'c>,
        candidates: &[Candidate<'c>],
        port_names: &'c PortNames,
    ) -> Self {
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
        Self { remotes, by_identity, port_names }
    }

    pub(in crate::discovery::reconcile) fn id(&self, remote: usize) -> HostId {
        self.remotes.get(remote).map(|remote| remote.candidate.host.id).asserted_or_default()
    }

    /// Returns the host's port on which a row was seen.
    pub(in crate::discovery::reconcile) fn own_port(
        &self,
        if_index: Option<i64>,
        if_name: Option<&str>,
    ) -> Option<IfEntryId> {
        self.entry(Self::OWN, self.ports(Self::OWN)?.local(if_index, if_name)?)
    }

    pub(in crate::discovery::reconcile) fn lldp_port(
        &self,
        remote: usize,
        row: &LldpRow,
    ) -> Option<IfEntryId> {
        self.entry(remote, self.ports(remote)?.of_lldp(row.port_id.as_ref(), row.port_desc.as_deref())?)
    }

    pub(in crate::discovery::reconcile) fn cdp_port(&self, remote: usize, row: &CdpRow) -> Option<IfEntryId> {
        self.entry(remote, self.ports(remote)?.of_cdp(row.port_id.as_deref()?)?)
    }

    /// Returns the only port of a host whose neighbor by LLDP is this host.
    pub(in crate::discovery::reconcile) fn port_towards_own(&self, remote: usize) -> Option<IfEntryId> {
        let ports = self.ports(remote)?;
        let rows = self.remotes.get(remote)?.candidate.lldp.iter();
        let rows = rows.filter(|row| self.find(&Named::by_lldp(row)) == Some(Self::OWN));
        let mut found = rows.map(|row| ports.local(row.if_index, row.if_name.as_deref()));
        let first = found.next()??;
        if found.all(|other| other == Some(first)) { self.entry(remote, first) } else { None }
    }

    /// Returns the only host that a row names.
    pub(in crate::discovery::reconcile) fn find(&self, named: &Named) -> Option<usize> {
        match named.find(self) {
            NamedHost::Only(remote) => Some(remote),
            NamedHost::Nothing | NamedHost::Several(_) => None,
        }
    }

    /// Returns the id of a port of a host.
    fn entry(&self, remote: usize, place: usize) -> Option<IfEntryId> {
        self.remotes.get(remote)?.candidate.host.if_entries.get(place).map(|entry| entry.id)
    }

    fn ports(&self, remote: usize) -> Option<&SwitchPorts> {
        let remote = self.remotes.get(remote)?;
        let Candidate { host, lldp } = remote.candidate;
        Some(remote.ports.get_or_init(|| SwitchPorts::new(host, lldp, self.port_names)))
    }
}

impl KnownHosts<Identity> for Remotes<'_> {
    type Host = usize;

    fn add_holders(&self, identity: &Identity, holders: &mut BTreeSet<usize>) {
        holders.extend(self.by_identity.get(identity).into_iter().flatten());
    }

    fn may_announce(&self, host: usize, address: MacAddress) -> bool {
        let remote = self.remotes.get(host);
        remote.is_some_and(|remote| remote.chassis_mac.is_none() || remote.macs.contains(&address))
    }
}
