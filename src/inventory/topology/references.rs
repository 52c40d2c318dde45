//! Updates manual links and pinned positions when hosts are merged or deleted.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::layouts::{layout_key, put_layout};
use crate::inventory::collections::CollectionRecord;
use crate::inventory::discovery::Replaced;
use crate::inventory::history::Author;
use crate::inventory::hosts::{Before, HostChange};
use crate::inventory::schema::{LINKED_HOST, TOPOLOGY_LINK, all_of, decode, encode};
use crate::inventory::{Entity, Error, Inventory, unchanged};
use crate::model::{
    HostId, IfEntryId, LinkEnd, NetworkId, NodeId, NodePosition, OrganizationId, SubnetId, TopologyLayout,
    TopologyLink, TopologyView, group_node_id, uuids,
};
use crate::store::{Batch, Guard, Key, Link, LinkFilter, Query};

/// Maximum number of targets of a query.
const MAX_TARGETS: usize = 512;

impl Inventory {
    /// Moves manual links and positions of merged hosts. The batch also merges the hosts.
    ///
    /// `replaced` maps the ids of absorbed hosts and parts to the ids that replace them. Links and positions move to
    /// the host, unless it has its own between the same ends or in the same view; links that would lead from the host
    /// to itself are deleted.
    pub(in crate::inventory) async fn move_topology(
        &self,
        (organization, network, host): (OrganizationId, NetworkId, HostId),
        replaced: &Replaced,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let gone = replaced.hosts_replaced_by(host);
        self.move_links((organization, host), &gone, replaced, batch).await?;
        let groups: HashMap<NodeId, NodeId> =
            gone.iter().map(|id| (group_node_id((*id).into()), group_node_id(host.into()))).collect();
        let renamed = |id: NodeId| replaced.by(id).or_else(|| groups.get(&id).copied());
        self.rename_nodes((organization, network), |id| Some(renamed(id).unwrap_or(id)), batch).await
    }

    async fn move_links(
        &self,
        (organization, host): (OrganizationId, HostId),
        gone: &[HostId],
        replaced: &Replaced,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let mut own = BTreeSet::new();
        let mut moving = BTreeMap::new();
        let hosts: Vec<HostId> = gone.iter().copied().chain([host]).collect();
        for hosts in hosts.chunks(MAX_TARGETS) {
            let links = vec![LinkFilter::new(LINKED_HOST, uuids(hosts))];
            let query = Query { links, ..all_of(TOPOLOGY_LINK, organization) };
            for record in self.store.list(&query).await?.records {
                let link: TopologyLink = decode(&record)?;
                let ends = [link.source, link.target];
                if ends.iter().any(|end| gone.contains(&end.host_id)) {
                    // The oldest of several links between the same ends stays.
                    moving.insert((link.created_at, link.id), (record, link));
                } else {
                    own.insert(link.sorted_ends());
                }
            }
        }
        let now = self.now();
        for (record, mut link) in moving.into_values() {
            for end in [&mut link.source, &mut link.target] {
                let if_entry_id = end.if_entry_id.map(|id| replaced.latest(id));
                *end = LinkEnd { host_id: replaced.latest(end.host_id), if_entry_id };
            }
            if link.source.host_id == link.target.host_id || !own.insert(link.sorted_ends()) {
                batch.delete(record.key, unchanged(Some(&record)));
                continue;
            }
            link.updated_at = now;
            batch.put(record.key, unchanged(Some(&record)), link.facets(organization), encode(&link)?);
        }
        for host in gone {
            batch.guard(linked_to(organization, *host));
        }
        Ok(())
    }

    /// Moves the ends of manual links at ports that become those of a new host. The batch also moves the ports.
    pub(in crate::inventory) async fn split_links(
        &self,
        organization: OrganizationId,
        (host, new): (HostId, HostId),
        is_moved: impl Fn(IfEntryId) -> bool,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let links = vec![LinkFilter::new(LINKED_HOST, [host.uuid()])];
        let query = Query { links, ..all_of(TOPOLOGY_LINK, organization) };
        let (now, mut moved) = (self.now(), BTreeSet::new());
        for record in self.store.list(&query).await?.records {
            let mut link: TopologyLink = decode(&record)?;
            let mut is_changed = false;
            for end in [&mut link.source, &mut link.target] {
                if end.host_id == host && end.if_entry_id.is_some_and(&is_moved) {
                    end.host_id = new;
                    is_changed = true;
                }
            }
            // Links of earlier versions may be equal. The oldest one stays.
            if is_changed && !moved.insert((link.sorted_ends(), link.suppressed)) {
                batch.delete(record.key, unchanged(Some(&record)));
            } else if is_changed {
                link.updated_at = now;
                batch.put(record.key, unchanged(Some(&record)), link.facets(organization), encode(&link)?);
            }
        }
        Ok(())
    }

    /// Deletes manual links of removed hosts, in the batch that removes the hosts.
    pub(in crate::inventory) async fn forget_topology_links(
        &self,
        organization: OrganizationId,
        hosts: &[HostId],
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let mut deleted: BTreeSet<Key> = BTreeSet::new();
        for some in hosts.chunks(MAX_TARGETS) {
            let links = vec![LinkFilter::new(LINKED_HOST, uuids(some))];
            let query = Query { links, ..all_of(TOPOLOGY_LINK, organization) };
            for record in self.store.list(&query).await?.records {
                // A link between two of the hosts is found for both.
                if deleted.insert(record.key) {
                    batch.delete(record.key, unchanged(Some(&record)));
                }
            }
        }
        for host in hosts {
            batch.guard(linked_to(organization, *host));
        }
        Ok(())
    }

    /// Removes the positions of nodes that a committed change of hosts has removed.
    ///
    /// The change is stored, so that failures are only logged: such a position is never shown, and the next layout that
    /// a user stores replaces it.
    pub(in crate::inventory) async fn forget_positions(&self, change: &HostChange<'_>, before: &Before) {
        for (network, gone) in removed_nodes(change, before) {
            if let Err(error) = self.remove_nodes((change.organization, network), &gone).await {
                let error = error.with_causes();
                tracing::warn!(error, "positions of deleted hosts were not removed");
            }
        }
    }

    /// Removes the positions of nodes from all views of a network.
    pub(in crate::inventory) async fn remove_nodes(
        &self,
        (organization, network): (OrganizationId, NetworkId),
        gone: &HashSet<NodeId>,
    ) -> Result<(), Error> {
        // The nodes of hosts and subnets have the ids of these.
        let author = Author::following(organization, gone.iter().map(|node| node.uuid()));
        let mut transaction = self.transaction(author, Entity::TopologyLayout, network);
        loop {
            let mut batch = Batch::new();
            let kept = |id| (!gone.contains(&id)).then_some(id);
            self.rename_nodes((organization, network), kept, &mut batch).await?;
            if batch.writes().is_empty() || transaction.commit(batch).await? {
                return Ok(());
            }
        }
    }

    /// Adds the layouts of a network with renamed or removed nodes to a batch. `rename` returns `None` for nodes that
    /// no longer exist.
    async fn rename_nodes(
        &self,
        (organization, network): (OrganizationId, NetworkId),
        rename: impl Fn(NodeId) -> Option<NodeId>,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let keys: Vec<Key> = TopologyView::ALL.iter().map(|view| layout_key(network, *view)).collect();
        for record in self.store.get(&keys).await?.into_iter().flatten() {
            let mut layout: TopologyLayout = decode(&record)?;
            if rename_positions(&mut layout.positions, &rename) {
                put_layout(organization, &layout, Some(&record), batch)?;
            }
        }
        Ok(())
    }
}

/// Returns the guard that the batch writes all manual links of a host.
const fn linked_to(organization: OrganizationId, host: HostId) -> Guard {
    Guard::linked_within(Some(organization.uuid()), Link::new(LINKED_HOST, host.uuid()))
}

/// Renames nodes, and removes those that no longer exist. If two positions then have one node, the node's former
/// position stays.
fn rename_positions(positions: &mut Vec<NodePosition>, rename: impl Fn(NodeId) -> Option<NodeId>) -> bool {
    let stays = |position: &&NodePosition| rename(position.id) == Some(position.id);
    let mut known: HashSet<NodeId> = positions.iter().filter(stays).map(|position| position.id).collect();
    let is_changed = known.len() < positions.len();
    positions.retain_mut(|position| match rename(position.id) {
        Some(id) if id == position.id => true,
        Some(id) => {
            position.id = id;
            known.insert(id)
        }
        None => false,
    });
    is_changed
}

/// Returns the nodes that stand for a subnet.
pub(in crate::inventory) fn subnet_nodes(subnet: SubnetId) -> HashSet<NodeId> {
    let node = NodeId::from(subnet);
    HashSet::from([node, group_node_id(node)])
}

/// Returns the nodes that a change removes, by their former network. They are nodes of hosts and services.
pub(in crate::inventory) fn removed_nodes(
    change: &HostChange<'_>,
    before: &Before,
) -> BTreeMap<NetworkId, HashSet<NodeId>> {
    let mut removed: BTreeMap<NetworkId, HashSet<NodeId>> = BTreeMap::new();
    let puts = change.puts.iter().map(|put| put.host.id);
    for id in puts.chain(change.deletes.iter().copied()) {
        let Some((_, summary)) = before.get(&id) else { continue };
        let services = summary.services.iter().map(|service| NodeId::from(service.id));
        let node = NodeId::from(id);
        let nodes = [node, group_node_id(node)].into_iter().chain(services);
        removed.entry(summary.network_id).or_default().extend(nodes);
    }
    for host in change.puts.iter().map(|put| &put.host) {
        let Some(removed) = removed.get_mut(&host.network_id) else { continue };
        let services = host.services.iter().map(|service| NodeId::from(service.id));
        let node = NodeId::from(host.id);
        for id in [node, group_node_id(node)].into_iter().chain(services) {
            removed.remove(&id);
        }
    }
    removed.retain(|_, nodes| !nodes.is_empty());
    removed
}
