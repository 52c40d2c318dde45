//! Updates of neighbors after changes of hosts that come from no report.

use std::collections::{BTreeMap, BTreeSet};

use crate::discovery::reconcile::Identity;
use crate::inventory::discovery::known_host::DecodedHosts;
use crate::inventory::hosts::{Before, HostChange};
use crate::inventory::schema::discovered_hosts_key;
use crate::inventory::{Error, Inventory};
use crate::model::{Host, HostId, IfEntry, IfEntryId, LldpChassisId, MacAddress, NetworkId};
use crate::store::{Batch, Guard, Key, Precondition};

/// The values by which other hosts may name a host and its ports.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::inventory::discovery) struct Naming {
    pub(in crate::inventory::discovery) identities: Vec<Identity>,
    /// The ids, indexes, names, descriptions, aliases and MAC addresses of the ports.
    ports: BTreeMap<IfEntryId, PortNaming>,
    chassis_id: Option<LldpChassisId>,
}

#[derive(Debug, PartialEq, Eq)]
struct PortNaming {
    if_index: i64,
    texts: [Option<String>; 3],
    mac_address: Option<MacAddress>,
}

impl Naming {
    pub(in crate::inventory::discovery) fn of(host: &Host) -> Self {
        let port = |entry: &IfEntry| {
            let texts = [entry.if_name.clone(), Some(entry.if_descr.clone()), entry.if_alias.clone()];
            let naming = PortNaming { if_index: entry.if_index, texts, mac_address: entry.mac_address };
            (entry.id, naming)
        };
        Self {
            identities: Identity::of_host(host),
            ports: host.if_entries.iter().map(port).collect(),
            chassis_id: host.chassis_id.clone(),
        }
    }
}

/// The effect of a change of hosts of one network on the neighbors of others.
#[derive(Debug, Default)]
struct Effect {
    identities: BTreeSet<Identity>,
    /// The changed hosts, whose own ports may be new.
    hosts: BTreeSet<HostId>,
}

impl Inventory {
    /// Returns whether there have been discoveries on the networks of a change. Only then may hosts have neighbors.
    ///
    /// For each network without a discovery, adds a guard that none begins before the change is committed.
    pub(in crate::inventory) async fn guard_undiscovered(
        &self,
        change: &HostChange<'_>,
        before: &Before,
        batch: &mut Batch,
    ) -> Result<bool, Error> {
        let keys: Vec<Key> = networks_of(change, before).into_iter().map(discovered_hosts_key).collect();
        let mut is_discovered = false;
        for (key, record) in keys.iter().zip(self.store.get(&keys).await?) {
            match record {
                Some(_) => is_discovered = true,
                None => drop(batch.guard(Guard::record(*key, Precondition::Absent))),
            }
        }
        Ok(is_discovered)
    }

    /// Resolves the neighbors again that a committed change of hosts may have altered.
    ///
    /// The change is stored, so that failures are only logged; the next report of a host corrects its neighbors.
    pub(in crate::inventory) async fn follow_host_change(&self, change: &HostChange<'_>, before: &Before) {
        if let Err(error) = self.try_follow(change, before).await {
            tracing::warn!(error = error.with_causes(), "neighbors of changed hosts were not resolved");
        }
    }

    async fn try_follow(&self, change: &HostChange<'_>, before: &Before) -> Result<(), Error> {
        let organization = change.organization;
        let networks = networks_of(change, before).into_iter().collect();
        if !self.has_claims(organization, networks).await? {
            return Ok(());
        }
        let mut decoded = DecodedHosts::default();
        for (network, Effect { identities, hosts }) in self.effects(change, before).await? {
            self.resolve_all((organization, network), &identities, hosts, &mut decoded).await?;
        }
        Ok(())
    }

    /// Returns the effect of a change on each network.
    async fn effects(
        &self,
        change: &HostChange<'_>,
        before: &Before,
    ) -> Result<BTreeMap<NetworkId, Effect>, Error> {
        let mut former = BTreeMap::new();
        for (id, (record, summary)) in before {
            let host: Host = self.decode_host(change.organization, record).await?;
            former.insert(*id, (summary.network_id, Naming::of(&host)));
        }
        let mut effects: BTreeMap<NetworkId, Effect> = BTreeMap::new();
        for host in change.puts.iter().map(|put| &put.host) {
            let naming = Naming::of(host);
            if former.get(&host.id).is_some_and(|former| *former == (host.network_id, naming)) {
                former.remove(&host.id);
                continue;
            }
            let effect = effects.entry(host.network_id).or_default();
            effect.identities.extend(Identity::of_host(host));
            effect.hosts.insert(host.id);
        }
        for (network, naming) in former.into_values() {
            effects.entry(network).or_default().identities.extend(naming.identities);
        }
        Ok(effects)
    }
}

/// Returns the networks that the hosts are on, before and after a change.
fn networks_of(change: &HostChange<'_>, before: &Before) -> BTreeSet<NetworkId> {
    let after = change.puts.iter().map(|put| put.host.network_id);
    before.values().map(|(_, summary)| summary.network_id).chain(after).collect()
}
