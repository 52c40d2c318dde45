//! The properties of each kind of part.

use std::collections::{HashMap, HashSet};

use uuid::Uuid;

use crate::inventory::hosts::input::{Given, parse_given, place_last};
use crate::inventory::hosts::kept_ids::NaturalKey;
use crate::inventory::hosts::validate::{check_source, check_vlans};
use crate::inventory::schema::{
    IF_ENTRY_UNIQUE_KEY, INTERFACE_UNIQUE_KEY, PORT_UNIQUE_KEY, SERVICE_UNIQUE_KEY,
};
use crate::inventory::{Entity, Error};
use crate::model::{
    Age, Binding, BindingId, BindingTarget, Common, Host, HostId, HostPart, IfEntry, Interface, NetworkId,
    Port, Service, TagId, Timestamp,
};
use crate::store::Name;

/// A part of a host, with the rules by which requests change it.
pub trait Embedded: HostPart + Given {
    /// The kind of part, as named in errors.
    const ENTITY: Entity;
    /// The name of the unique key by which the host of a part is found.
    const UNIQUE_KEY: Name;
    /// Whether an update may move the part to another host.
    const IS_MOVABLE: bool = false;
    /// Whether an update that changes nothing moves `updated_at`.
    const IS_ALWAYS_TOUCHED: bool = false;
    /// Whether other hosts may name the host by the part, or one of its ports.
    const IDENTIFIES_HOST: bool = false;

    /// Parses a part as requests carry it. Ids that are missing are nil; host, network and times are unset.
    ///
    /// # Errors
    /// `Invalid`, with the path of the faulty value in the part.
    fn parse(json: &[u8]) -> Result<Self, Error> {
        let mut part: Self = parse_given(json)?;
        part.check_given()?;
        Ok(part)
    }

    /// Checks the values that need no other record. A part without a position is to be placed behind the others.
    ///
    /// # Errors
    /// The errors of [`parse`](Self::parse).
    fn check_given(&mut self) -> Result<(), Error> {
        Ok(())
    }

    /// Returns the values by which the part is known within its host.
    fn key(&self) -> NaturalKey<'_>;

    /// Returns the name of the part in error messages.
    fn name(&self) -> String;

    /// Returns the text that lists by name are ordered by.
    fn sort_name(&self) -> &str {
        ""
    }

    /// Returns the number that lists by `if_index` or `number` are ordered by.
    fn sort_number(&self) -> i64 {
        0
    }

    /// Returns the ids of the part's tags.
    fn tags(&self) -> &[TagId] {
        &[]
    }

    /// Returns the kind of a record of the host that refers to the part.
    fn used_by(&self, host: &Host) -> Option<Entity>;

    /// Places a part with the position `i64::MAX` behind the others of the host.
    fn set_position(&mut self, _host: &Host) {}

    /// Gives each binding without an id a new one.
    ///
    /// A binding with the id of a binding of another service of `host` gets a new id, too.
    ///
    /// # Errors
    /// The errors of `new_id`.
    fn assign_binding_ids(
        &mut self,
        _host: Option<&Host>,
        _new_id: impl Fn() -> Result<Uuid, Error>,
    ) -> Result<(), Error> {
        Ok(())
    }

    /// Keeps the source of a value that only discovery sets, unless the value is another one.
    fn keep_source(&mut self, _before: Option<&Self>) {}

    /// Sets the service, network and times of the bindings.
    fn settle_bindings(&mut self, _before: Option<&Self>, _now: Timestamp) {}
}

/// Sets the host, the times and the age of a part, and the times of its bindings.
///
/// `before` is the part as stored, `None` for a new one. `updated_at` moves when the part differs from it.
pub(in crate::inventory::hosts) fn settle<P: Embedded>(
    part: &mut P,
    before: Option<&P>,
    (host_id, network_id): (HostId, NetworkId),
    now: Timestamp,
) {
    let (created_at, updated_at) =
        before.map_or((now, now), |before| (before.common().created_at, before.common().updated_at));
    let age = before.map_or_else(Age::default, |before| before.common().age);
    let common = Common { host_id, network_id, created_at, updated_at, age, ..part.common() };
    part.set_common(common);
    part.keep_source(before);
    part.settle_bindings(before, now);
    if before.is_some_and(|before| before != part) {
        part.set_common(Common { updated_at: now, ..common });
    }
}

fn next_position(positions: impl Iterator<Item = i64>) -> i64 {
    positions.max().map_or(0, |last| last.saturating_add(1))
}

fn bindings(host: &Host) -> impl Iterator<Item = &Binding> {
    host.services.iter().flat_map(|service| &service.bindings)
}

impl Embedded for Interface {
    const ENTITY: Entity = Entity::Interface;
    const UNIQUE_KEY: Name = INTERFACE_UNIQUE_KEY;
    const IDENTIFIES_HOST: bool = true;

    fn check_given(&mut self) -> Result<(), Error> {
        place_last(&mut self.position);
        Ok(())
    }

    fn keep_source(&mut self, before: Option<&Self>) {
        let same = before.filter(|before| before.mac_address == self.mac_address);
        self.mac_source = same.and_then(|before| before.mac_source);
    }

    fn key(&self) -> NaturalKey<'_> {
        NaturalKey::Address(self.ip_address)
    }

    fn name(&self) -> String {
        self.ip_address.to_string()
    }

    fn sort_name(&self) -> &str {
        self.name.as_deref().unwrap_or("")
    }

    fn used_by(&self, host: &Host) -> Option<Entity> {
        let is_bound = |binding: &Binding| match binding.target {
            BindingTarget::Port { interface_id, .. } => interface_id == Some(self.id),
            BindingTarget::Interface { interface_id } => interface_id == self.id,
        };
        let mut credentials = host.credential_assignments.iter().flat_map(|by| by.interface_ids.iter());
        if bindings(host).any(is_bound) {
            Some(Entity::Service)
        } else if host.if_entries.iter().any(|entry| entry.interface_id == Some(self.id)) {
            Some(Entity::IfEntry)
        } else if credentials.any(|ids| ids.contains(&self.id)) {
            Some(Entity::Host)
        } else {
            None
        }
    }

    fn set_position(&mut self, host: &Host) {
        if self.position == i64::MAX {
            self.position = next_position(host.interfaces.iter().map(|other| other.position));
        }
    }
}

impl Embedded for Port {
    const ENTITY: Entity = Entity::Port;
    const UNIQUE_KEY: Name = PORT_UNIQUE_KEY;
    const IS_MOVABLE: bool = true;
    const IS_ALWAYS_TOUCHED: bool = true;

    fn key(&self) -> NaturalKey<'_> {
        NaturalKey::Port(self.number, self.protocol)
    }

    fn name(&self) -> String {
        format!("{}/{}", self.number, self.protocol)
    }

    fn sort_number(&self) -> i64 {
        self.number.get().into()
    }

    fn used_by(&self, host: &Host) -> Option<Entity> {
        let is_bound = |binding: &Binding| match binding.target {
            BindingTarget::Port { port_id, .. } => port_id == self.id,
            BindingTarget::Interface { .. } => false,
        };
        bindings(host).any(is_bound).then_some(Entity::Service)
    }
}

impl Embedded for Service {
    const ENTITY: Entity = Entity::Service;
    const UNIQUE_KEY: Name = SERVICE_UNIQUE_KEY;

    fn check_given(&mut self) -> Result<(), Error> {
        place_last(&mut self.position);
        check_source(&self.source, format_args!("source"))
    }

    fn key(&self) -> NaturalKey<'_> {
        NaturalKey::Service(&self.name, self.service_definition.as_str())
    }

    fn name(&self) -> String {
        self.name.clone()
    }

    fn sort_name(&self) -> &str {
        &self.name
    }

    fn tags(&self) -> &[TagId] {
        &self.tags
    }

    /// Services of other hosts, and hosts, are not considered.
    fn used_by(&self, host: &Host) -> Option<Entity> {
        let is_virtualized =
            |other: &Self| other.virtualization.as_ref().is_some_and(|by| by.service_id() == self.id);
        let mut others = host.services.iter().filter(|other| other.id != self.id);
        others.any(is_virtualized).then_some(Entity::Service)
    }

    fn set_position(&mut self, host: &Host) {
        if self.position == i64::MAX {
            self.position = next_position(host.services.iter().map(|other| other.position));
        }
    }

    fn assign_binding_ids(
        &mut self,
        host: Option<&Host>,
        new_id: impl Fn() -> Result<Uuid, Error>,
    ) -> Result<(), Error> {
        let services = host.into_iter().flat_map(|host| &host.services);
        let others = services.filter(|other| other.id != self.id).flat_map(|other| &other.bindings);
        let taken: HashSet<BindingId> = others.map(|binding| binding.id).collect();
        for binding in &mut self.bindings {
            if binding.id.is_nil() || taken.contains(&binding.id) {
                binding.id = new_id()?.into();
            }
        }
        Ok(())
    }

    fn settle_bindings(&mut self, before: Option<&Self>, now: Timestamp) {
        let former = before.into_iter().flat_map(|before| &before.bindings);
        let former: HashMap<BindingId, &Binding> = former.map(|binding| (binding.id, binding)).collect();
        for binding in &mut self.bindings {
            (binding.service_id, binding.network_id) = (self.id, self.network_id);
            let times = former.get(&binding.id).map_or((now, now), |before| {
                let is_same = before.target == binding.target;
                (before.created_at, if is_same { before.updated_at } else { now })
            });
            (binding.created_at, binding.updated_at) = times;
        }
        // Sorted as stored, so that another order in a request is no change.
        self.bindings.sort_by_key(|binding| (binding.created_at, binding.id));
    }
}

impl Embedded for IfEntry {
    const ENTITY: Entity = Entity::IfEntry;
    const UNIQUE_KEY: Name = IF_ENTRY_UNIQUE_KEY;
    const IDENTIFIES_HOST: bool = true;

    fn check_given(&mut self) -> Result<(), Error> {
        check_vlans(self, format_args!("vlans"))
    }

    fn key(&self) -> NaturalKey<'_> {
        NaturalKey::Entry(self.if_index, if self.if_index > 0 { "" } else { &self.if_descr })
    }

    fn name(&self) -> String {
        self.if_index.to_string()
    }

    fn sort_name(&self) -> &str {
        self.if_name.as_deref().unwrap_or("")
    }

    fn sort_number(&self) -> i64 {
        self.if_index
    }

    /// Neighbors on other hosts may refer to an entry that does not exist.
    fn used_by(&self, host: &Host) -> Option<Entity> {
        let is_aggregate = host.if_entries.iter().any(|entry| entry.lag_id == Some(self.id));
        is_aggregate.then_some(Entity::IfEntry)
    }
}
