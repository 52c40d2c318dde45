//! Assignment of the parts that a report describes to the parts of a host.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::iter::Zip;
use std::vec;

use uuid::Uuid;

use super::parts::{EntryRules, MergedPart, free_id};
use crate::discovery::report::TableKind;
use crate::model::{
    BindingTarget, Host, IfEntry, Interface, InterfaceId, Port, PortId, Service, ServiceVirtualization,
};

/// The parts of a report, with the ids that they get in the host.
pub(in crate::discovery::reconcile) struct PartPlan {
    pub(in crate::discovery::reconcile) interfaces: IdentifiedParts<Interface>,
    pub(in crate::discovery::reconcile) ports: IdentifiedParts<Port>,
    pub(in crate::discovery::reconcile) services: IdentifiedParts<Service>,
    pub(in crate::discovery::reconcile) if_entries: IdentifiedParts<IfEntry>,
}

/// The parts of a list of a report.
///
/// The parts stay where they are in memory, of which they may take much.
pub(in crate::discovery::reconcile) struct IdentifiedParts<P> {
    parts: Vec<P>,
    /// For each part the position of the same part in the host; `None`: it is new.
    places: Vec<Option<usize>>,
}

impl<P> IdentifiedParts<P> {
    /// Returns the parts, each with its position in the host.
    pub(in crate::discovery::reconcile) fn iter(&self) -> impl Iterator<Item = (&P, Option<usize>)> {
        self.parts.iter().zip(self.places.iter().copied())
    }

    /// Returns the parts that are new in the host.
    pub(in crate::discovery::reconcile) fn new_parts(&mut self) -> impl Iterator<Item = &mut P> {
        self.parts.iter_mut().zip(&self.places).filter(|(_, place)| place.is_none()).map(|(part, _)| part)
    }

    /// Leaves out the new parts for which `is_kept` returns false.
    pub(in crate::discovery::reconcile) fn retain_new(&mut self, is_kept: impl Fn(&P) -> bool) {
        let Self { parts, places } = self;
        let mut former = std::mem::take(places).into_iter();
        parts.retain(|part| {
            let place = former.next().flatten();
            let is_kept = place.is_some() || is_kept(part);
            if is_kept {
                places.push(place);
            }
            is_kept
        });
    }
}

impl<P> IntoIterator for IdentifiedParts<P> {
    type Item = (P, Option<usize>);
    type IntoIter = Zip<vec::IntoIter<P>, vec::IntoIter<Option<usize>>>;

    fn into_iter(self) -> Self::IntoIter {
        self.parts.into_iter().zip(self.places)
    }
}

/// The ids of parts of a kind in the host, by their ids in the report.
type Ids<I> = HashMap<I, I>;

impl PartPlan {
    /// Pairs the parts of a report with those of a host. Parts that users have deleted are left out.
    ///
    /// The parts are moved out of the reported host, because copies of many would take much memory.
    pub(in crate::discovery::reconcile) fn new(
        current: &Host,
        reported: Host,
        deleted: &BTreeSet<String>,
        rules: EntryRules<'_>,
        may_add: impl Fn(TableKind) -> bool,
    ) -> Self {
        let hosts = (current, &reported);
        let interfaces = assign::<Interface>(hosts, deleted, rules, &may_add);
        let ports = assign::<Port>(hosts, deleted, rules, &may_add);
        let services = assign::<Service>(hosts, deleted, rules, &may_add);
        let if_entries = assign::<IfEntry>(hosts, deleted, rules, &may_add);
        let (interfaces, interface_ids) = plan(current, reported.interfaces, interfaces);
        let (ports, port_ids) = plan(current, reported.ports, ports);
        let (mut services, service_ids) = plan(current, reported.services, services);
        let (mut if_entries, entry_ids) = plan(current, reported.if_entries, if_entries);
        for part in &mut if_entries.parts {
            part.interface_id = part.interface_id.and_then(|id| interface_ids.get(&id)).copied();
            part.lag_id = part.lag_id.and_then(|id| entry_ids.get(&id)).copied();
        }
        for part in &mut services.parts {
            bind(part, &port_ids, &interface_ids);
            if let Some(ServiceVirtualization::Docker(details)) = &mut part.virtualization {
                details.service_id =
                    service_ids.get(&details.service_id).copied().unwrap_or(details.service_id);
            }
        }
        Self { interfaces, ports, services, if_entries }
    }
}

/// Binds a service to the ports and interfaces of the host. Bindings to parts that users have deleted are removed.
fn bind(service: &mut Service, ports: &Ids<PortId>, interfaces: &Ids<InterfaceId>) {
    service.bindings.retain_mut(|binding| match &mut binding.target {
        BindingTarget::Port { port_id, interface_id } => {
            *interface_id = interface_id.and_then(|id| interfaces.get(&id)).copied();
            ports.get(port_id).map(|id| *port_id = *id).is_some()
        }
        BindingTarget::Interface { interface_id } => {
            interfaces.get(interface_id).map(|id| *interface_id = *id).is_some()
        }
    });
}

/// The id of a reported part in the host, and the position of the same part there.
type Assigned = (Uuid, Option<usize>);

/// Assigns ids to the parts of a list of a report. `None`: the part is left out.
fn assign<P: MergedPart>(
    (current, reported): (&Host, &Host),
    deleted: &BTreeSet<String>,
    rules: EntryRules<'_>,
    may_add: impl Fn(TableKind) -> bool,
) -> Vec<Option<Assigned>> {
    let prefix = format!("{}.", P::LIST);
    let deleted: HashSet<&str> =
        deleted.range(prefix.clone()..).map_while(|path| path.strip_prefix(&prefix)).collect();
    let labels = if deleted.is_empty() { Vec::new() } else { P::labels(reported) };
    let may_add = may_add(P::TABLE);
    let mut taken: HashSet<Uuid> = P::list(current).iter().map(P::id).collect();
    let pairs = P::pairs(reported, current, rules);
    let assigned = P::list(reported).iter().zip(pairs).enumerate().map(|(index, (part, place))| {
        let present = place.and_then(|place| P::list(current).get(place));
        let is_deleted = || labels.get(index).is_some_and(|label| deleted.contains(label.as_str()));
        let id = match present {
            Some(present) => present.id(),
            None if !may_add || is_deleted() => return None,
            None => free_id(part.id(), P::LIST, |id| taken.contains(&id)),
        };
        taken.insert(id);
        Some((id, place))
    });
    assigned.collect()
}

/// Makes the parts parts of the host, with their ids.
fn plan<P: MergedPart>(
    current: &Host,
    mut parts: Vec<P>,
    assigned: Vec<Option<Assigned>>,
) -> (IdentifiedParts<P>, Ids<P::Id>) {
    let mut ids = Ids::new();
    let mut places = Vec::with_capacity(parts.len());
    let mut assigned = assigned.into_iter();
    parts.retain_mut(|part| {
        let Some((id, place)) = assigned.next().flatten() else { return false };
        ids.insert(part.id().into(), id.into());
        part.move_to(current, id);
        places.push(place);
        true
    });
    (IdentifiedParts { parts, places }, ids)
}
