//! Assignment of the parts that a report describes to the parts of a host.

use std::collections::{BTreeSet, HashMap, HashSet};

use uuid::Uuid;

use super::parts::{MergedPart, Trust, free_id};
use crate::discovery::report::TableKind;
use crate::model::{BindingTarget, Host, IfEntry, Interface, Port, Service, ServiceVirtualization};

/// The parts of a report, with the ids that they get in the host.
pub(in crate::discovery::reconcile) struct Plan {
    pub(in crate::discovery::reconcile) interfaces: Vec<Planned<Interface>>,
    pub(in crate::discovery::reconcile) ports: Vec<Planned<Port>>,
    pub(in crate::discovery::reconcile) services: Vec<Planned<Service>>,
    pub(in crate::discovery::reconcile) if_entries: Vec<Planned<IfEntry>>,
}

/// A part of a report.
pub(in crate::discovery::reconcile) struct Planned<P> {
    pub(in crate::discovery::reconcile) part: P,
    /// The position of the same part in the host; `None`: it is new.
    pub(in crate::discovery::reconcile) place: Option<usize>,
}

/// The ids of parts in the host, by their ids in the report.
type Ids = HashMap<Uuid, Uuid>;

impl Plan {
    /// Pairs the parts of a report with those of a host. Parts that users have deleted are left out.
    pub(in crate::discovery::reconcile) fn new(
        current: &Host,
        reported: &Host,
        deleted: &BTreeSet<String>,
        trust: Trust,
        may_add: impl Fn(TableKind) -> bool,
    ) -> Self {
        let hosts = (current, reported);
        let (interfaces, interface_ids) = plan::<Interface>(hosts, deleted, trust, &may_add);
        let (ports, port_ids) = plan::<Port>(hosts, deleted, trust, &may_add);
        let (mut services, service_ids) = plan::<Service>(hosts, deleted, trust, &may_add);
        let (mut if_entries, entry_ids) = plan::<IfEntry>(hosts, deleted, trust, &may_add);
        for Planned { part, .. } in &mut if_entries {
            part.interface_id = part.interface_id.and_then(|id| interface_ids.get(&id)).copied();
            part.lag_id = part.lag_id.and_then(|id| entry_ids.get(&id)).copied();
        }
        for Planned { part, .. } in &mut services {
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
fn bind(service: &mut Service, ports: &Ids, interfaces: &Ids) {
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

fn plan<P: MergedPart>(
    (current, reported): (&Host, &Host),
    deleted: &BTreeSet<String>,
    trust: Trust,
    may_add: impl Fn(TableKind) -> bool,
) -> (Vec<Planned<P>>, Ids) {
    let prefix = format!("{}.", P::LIST);
    let deleted: HashSet<&str> =
        deleted.range(prefix.clone()..).map_while(|path| path.strip_prefix(&prefix)).collect();
    let labels = if deleted.is_empty() { Vec::new() } else { P::labels(reported) };
    let may_add = may_add(P::TABLE);
    let mut taken: HashSet<Uuid> = P::list(current).iter().map(P::id).collect();
    let mut ids = Ids::new();
    let mut planned = Vec::new();
    let pairs = P::pairs(reported, current, trust);
    for (index, (part, place)) in P::list(reported).iter().zip(pairs).enumerate() {
        let present = place.and_then(|place| P::list(current).get(place));
        let is_deleted = || labels.get(index).is_some_and(|label| deleted.contains(label.as_str()));
        let id = match present {
            Some(present) => present.id(),
            None if !may_add || is_deleted() => continue,
            None => free_id(part.id(), P::LIST, |id| taken.contains(&id)),
        };
        taken.insert(id);
        ids.insert(part.id(), id);
        let mut part = part.clone();
        part.move_to(current, id);
        planned.push(Planned { part, place });
    }
    (planned, ids)
}
