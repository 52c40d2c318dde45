//! The links that differ between two states of an organization.

use std::collections::BTreeMap;

use serde_json::Value;

use super::between::ChangeBetween;
use crate::model::{
    ChangeAction, ChangedEntity, DiffedLink, DiffedLinkEnd, LinkDiff, LinkId, MovedLink, NetworkId, NodeId,
};

/// The number of links whose ends are kept. Of further ones, only the numbers are known.
const MAX_KNOWN: usize = 50_000;

/// The links that were added or removed, merged from their changes.
#[derive(Debug, Default)]
pub(in crate::inventory::history) struct MergedLinks {
    links: BTreeMap<LinkId, MergedLink>,
    /// The number of links whose ends are kept.
    known: usize,
}

/// A link that was new or gone at least once.
#[derive(Debug)]
struct MergedLink {
    /// Whether it was there before the first change.
    was_there: bool,
    is_there: bool,
    /// The ends; `None` if the content of the entry was erased.
    ends: Option<(DiffedLinkEnd, DiffedLinkEnd)>,
    network_id: Option<NetworkId>,
}

impl MergedLinks {
    /// Adds the next change of a link.
    pub(in crate::inventory::history) fn add(&mut self, change: &ChangeBetween) {
        debug_assert_eq!(change.entity, ChangedEntity::Link, "other entities are no links");
        let is_there = match change.action {
            ChangeAction::Created => true,
            ChangeAction::Deleted => false,
            // A diff has no evidence of links.
            _ => return,
        };
        let side = |name: &str| {
            let field = change.fields.get(name)?;
            end_of(if is_there { field.after.as_ref() } else { field.before.as_ref() }?)
        };
        let ends = side("source").zip(side("target"));
        let network_id = change.network_id;
        let new = MergedLink { was_there: !is_there, is_there, ends: None, network_id };
        let link = self.links.entry(LinkId::new(change.id)).or_insert(new);
        (link.is_there, link.network_id) = (is_there, network_id);
        self.known -= usize::from(link.ends.is_some());
        let is_kept = link.was_there != is_there && self.known < MAX_KNOWN;
        link.ends = ends.or(link.ends.take()).filter(|_| is_kept);
        self.known += usize::from(link.ends.is_some());
    }

    /// Adds the links that differ to a diff, at most this many. Returns whether some are left out.
    pub(in crate::inventory::history) fn diff(self, max: usize, diff: &mut LinkDiff) -> bool {
        let (mut added, mut removed, mut unknown) = (BTreeMap::new(), BTreeMap::new(), false);
        for (id, MergedLink { was_there, is_there, ends, network_id }) in self.links {
            if was_there == is_there {
                continue;
            }
            let Some((source, target)) = ends else {
                unknown = true;
                let counts = &mut diff.counts;
                *(if is_there { &mut counts.added } else { &mut counts.removed }) += 1;
                continue;
            };
            let link = DiffedLink { id, network_id, source, target };
            if is_there { &mut added } else { &mut removed }.insert(id, link);
        }
        let moved = take_moved(&mut removed, &mut added);
        let total = added.len() + removed.len() + moved.len();
        diff.counts.added += added.len() as u64;
        diff.counts.removed += removed.len() as u64;
        diff.counts.moved += moved.len() as u64;
        diff.moved = moved.into_iter().take(max).collect();
        diff.added = added.into_values().take(max - diff.moved.len()).collect();
        diff.removed = removed.into_values().take(max - diff.moved.len() - diff.added.len()).collect();
        unknown || total > max
    }
}

/// Takes out the links that have one end in common and no other with it: the other end has moved.
fn take_moved(
    removed: &mut BTreeMap<LinkId, DiffedLink>,
    added: &mut BTreeMap<LinkId, DiffedLink>,
) -> Vec<MovedLink> {
    let at_end = by_end(added);
    let former_at_end = by_end(removed);
    let only = |links: &[LinkId]| match links {
        [id] => Some(*id),
        _ => None,
    };
    let mut moved = Vec::new();
    for former in removed.keys().copied().collect::<Vec<_>>() {
        let Some(before) = removed.get(&former) else { continue };
        let latter = [&before.source, &before.target].into_iter().find_map(|end| {
            let is_only = former_at_end.get(end).and_then(|links| only(links)) == Some(former);
            at_end.get(end).and_then(|links| only(links)).filter(|id| is_only && added.contains_key(id))
        });
        if let Some(after) = latter.and_then(|id| added.remove(&id))
            && let Some(before) = removed.remove(&former)
        {
            moved.push(MovedLink { before, after });
        }
    }
    moved
}

/// Returns the links by their ends.
fn by_end(links: &BTreeMap<LinkId, DiffedLink>) -> BTreeMap<DiffedLinkEnd, Vec<LinkId>> {
    let mut by_end: BTreeMap<DiffedLinkEnd, Vec<LinkId>> = BTreeMap::new();
    for link in links.values() {
        for end in [&link.source, &link.target] {
            by_end.entry(end.clone()).or_default().push(link.id);
        }
    }
    by_end
}

/// Returns an end as a diff has it.
fn end_of(value: &Value) -> Option<DiffedLinkEnd> {
    let id = value.get("host_id").or_else(|| value.get("id"))?.as_str()?;
    let port = value.get("port").filter(|port| !port.is_null());
    let text = |name| port.and_then(|port| port.get(name)).and_then(Value::as_str);
    Some(DiffedLinkEnd {
        id: NodeId::new(id.parse().ok()?),
        if_entry_id: text("if_entry_id").and_then(|id| id.parse().ok()),
        port: text("name").map(str::to_owned),
    })
}
