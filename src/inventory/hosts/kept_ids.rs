//! Ids of parts that a request describes without their ids.
//!
//! Clients that send the state that they want know no ids. A part of theirs is the stored one with the same key, so that it keeps its id
//! and all that refers to it, and a host that stays as it is is not written.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::net::IpAddr;

use uuid::Uuid;

use super::parts::Embedded;
use crate::model::{
    BindingId, BindingTarget, Common, Host, PortNumber, Protocol, Service, ServiceId, for_each_part_type,
};

/// The values by which a user knows a part within its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NaturalKey<'p> {
    /// The address of an interface.
    Address(IpAddr),
    /// The number and the protocol of a port.
    Port(PortNumber, Protocol),
    /// The name and the definition of a service.
    Service(&'p str, &'p str),
    /// The index of an interface entry. Entries without one are known by their description.
    Entry(i64, &'p str),
}

/// Gives parts and bindings without an id the ids of stored ones with the same key that the request does not name.
///
/// Where several have one key, they are taken in their order.
pub(in crate::inventory::hosts) fn keep_part_ids(before: &Host, host: &mut Host) {
    for_each_part_type!(P => keep_ids::<P>(before, host));
    let former: HashMap<ServiceId, &Service> =
        before.services.iter().map(|service| (service.id, service)).collect();
    for service in &mut host.services {
        if let Some(before) = former.get(&service.id) {
            keep_binding_ids(before, service);
        }
    }
}

/// Gives parts and bindings the ids of stored ones with the same key. `drafted` are the ids that the parts and bindings have only because
/// the request has none: where no stored one has the key, they stay.
pub(in crate::inventory) fn keep_drafted_part_ids(before: &Host, host: &mut Host, drafted: &HashSet<Uuid>) {
    let draft = host.clone();
    for_each_part_type!(P => forget_ids::<P>(host, drafted));
    let bindings = host.services.iter_mut().flat_map(|service| &mut service.bindings);
    for binding in bindings.filter(|binding| drafted.contains(&binding.id.uuid())) {
        binding.id = BindingId::nil();
    }
    keep_part_ids(before, host);
    for_each_part_type!(P => restore_ids::<P>(host, &draft));
    for (service, draft) in host.services.iter_mut().zip(&draft.services) {
        for (binding, draft) in service.bindings.iter_mut().zip(&draft.bindings) {
            binding.service_id = service.id;
            binding.id = if binding.id.is_nil() { draft.id } else { binding.id };
        }
    }
}

fn forget_ids<P: Embedded>(host: &mut Host, drafted: &HashSet<Uuid>) {
    for part in P::list_mut(host) {
        let common = part.common();
        if drafted.contains(&common.id) {
            part.set_common(Common { id: Uuid::nil(), ..common });
        }
    }
}

fn restore_ids<P: Embedded>(host: &mut Host, draft: &Host) {
    for (part, draft) in P::list_mut(host).iter_mut().zip(P::list(draft)) {
        let common = part.common();
        if common.id.is_nil() {
            part.set_common(Common { id: draft.common().id, ..common });
        }
    }
}

fn keep_ids<P: Embedded>(before: &Host, host: &mut Host) {
    let named: HashSet<Uuid> = P::list(host).iter().map(|part| part.common().id).collect();
    if !named.contains(&Uuid::nil()) {
        return;
    }
    let mut former = Former::of(P::list(before).iter().map(|part| (part.key(), part.common().id)), &named);
    let kept: Vec<Option<Uuid>> = P::list(host)
        .iter()
        .map(|part| if part.common().id.is_nil() { former.take(&part.key()) } else { None })
        .collect();
    for (part, id) in P::list_mut(host).iter_mut().zip(kept) {
        let common = part.common();
        part.set_common(Common { id: id.unwrap_or(common.id), ..common });
    }
}

fn keep_binding_ids(before: &Service, service: &mut Service) {
    let named: HashSet<BindingId> = service.bindings.iter().map(|binding| binding.id).collect();
    let former = before.bindings.iter().map(|binding| (binding.target, binding.id));
    let mut former: Former<BindingTarget, BindingId> = Former::of(former, &named);
    for binding in service.bindings.iter_mut().filter(|binding| binding.id.is_nil()) {
        binding.id = former.take(&binding.target).unwrap_or(binding.id);
    }
}

/// The ids of stored parts that a request does not name, by key.
struct Former<K, I>(HashMap<K, Vec<I>>);

impl<K: Eq + Hash, I: Eq + Hash> Former<K, I> {
    fn of(parts: impl DoubleEndedIterator<Item = (K, I)>, named: &HashSet<I>) -> Self {
        let mut former: HashMap<K, Vec<I>> = HashMap::new();
        // The last one is taken first.
        for (key, id) in parts.rev().filter(|(_, id)| !named.contains(id)) {
            former.entry(key).or_default().push(id);
        }
        Self(former)
    }

    fn take(&mut self, key: &K) -> Option<I> {
        self.0.get_mut(key).and_then(Vec::pop)
    }
}
