//! Hosts that a view has no place for.

use std::collections::BTreeMap;

use super::arrange::size::{cut_text, sort_key};
use super::context::GraphContext;
use super::draft::GraphDraft;
use super::shape::UnplacedHost;
use crate::model::{NodeId, SubnetId};

/// Maximum number of hosts that are listed.
const MAX_LISTED: usize = 1_000;

/// Lists the hosts without a node, by subnet and name.
pub(super) fn unplaced(context: &GraphContext<'_>, draft: &GraphDraft) -> Vec<UnplacedHost> {
    let subnets: BTreeMap<SubnetId, String> = context
        .input
        .subnets
        .iter()
        .map(|subnet| {
            let name = subnet.name.trim();
            (subnet.id, if name.is_empty() { subnet.cidr.to_string() } else { cut_text(name) })
        })
        .collect();
    let missing = context.hosts.iter().filter(|(id, _)| !draft.nodes.contains_key(&NodeId::from(**id)));
    let mut hosts: Vec<UnplacedHost> = missing
        .map(|(id, facts)| {
            crate::fair_threads::yield_turn();
            let node = facts.node();
            let mut of_host = facts.summary.interfaces.iter().filter_map(|interface| interface.subnet_id);
            let subnet = of_host.find_map(|subnet| subnets.get(&subnet).cloned());
            UnplacedHost { host_id: *id, label: node.label, detail: node.detail, role: facts.role, subnet }
        })
        .collect();
    hosts.sort_by_cached_key(|host| {
        let subnet = host.subnet.as_deref().map(sort_key);
        (subnet.is_none(), subnet, sort_key(&host.label), host.host_id)
    });
    hosts.truncate(MAX_LISTED);
    hosts
}
