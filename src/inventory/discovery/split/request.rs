use std::collections::{HashMap, HashSet};

use crate::inventory::{Entity, Error, ErrorKind, Problem};
use crate::model::{BindingTarget, Host, IfEntryId, InterfaceId, PortId, RecordId, ServiceId};
use crate::wire::HostSplit;

/// The parts that move, by the place of their ids in the request.
pub(super) struct MovedParts {
    pub(super) interfaces: HashMap<InterfaceId, usize>,
    pub(super) ports: HashMap<PortId, usize>,
    pub(super) services: HashMap<ServiceId, usize>,
    pub(super) if_entries: HashMap<IfEntryId, usize>,
}

impl MovedParts {
    /// Finds the parts that move, and checks that they can leave the host.
    ///
    /// # Errors
    /// - `ReferenceInvalid` for an id that no part of the host has.
    /// - `Invalid` for an id that is repeated, no id at all, the ids of all parts, and a part that refers to one that
    ///   stays or to which one that stays refers.
    pub(super) fn of(split: &HostSplit, host: &Host) -> Result<Self, Error> {
        let interfaces = host.interfaces.iter().map(|part| part.id).collect();
        let ports = host.ports.iter().map(|part| part.id).collect();
        let services = host.services.iter().map(|part| part.id).collect();
        let if_entries = host.if_entries.iter().map(|part| part.id).collect();
        let selection = Self {
            interfaces: select(Entity::Interface, "interfaces", &split.interfaces, &interfaces)?,
            ports: select(Entity::Port, "ports", &split.ports, &ports)?,
            services: select(Entity::Service, "services", &split.services, &services)?,
            if_entries: select(Entity::IfEntry, "if_entries", &split.if_entries, &if_entries)?,
        };
        let lists = [
            ("interfaces", selection.interfaces.len(), interfaces.len()),
            ("ports", selection.ports.len(), ports.len()),
            ("services", selection.services.len(), services.len()),
            ("if_entries", selection.if_entries.len(), if_entries.len()),
        ];
        if lists.iter().all(|(_, selected, _)| *selected == 0) {
            return Err(Error::invalid("interfaces", Problem::Empty));
        }
        if lists.iter().all(|(_, selected, present)| selected == present)
            && let Some((field, count, _)) = lists.iter().find(|(_, selected, _)| *selected > 0)
        {
            return Err(Error::invalid(*field, Problem::MaxLength { max: count - 1 }));
        }
        selection.check_bindings(host)?;
        selection.check_entries(host)?;
        Ok(selection)
    }

    /// Checks that no service is separated from its ports and interfaces.
    fn check_bindings(&self, host: &Host) -> Result<(), Error> {
        for service in &host.services {
            let moved = self.services.get(&service.id);
            for binding in &service.bindings {
                let (port, interface) = match binding.target {
                    BindingTarget::Port { port_id, interface_id } => (Some(port_id), interface_id),
                    BindingTarget::Interface { interface_id } => (None, Some(interface_id)),
                };
                if let Some(port) = port {
                    check_pair(("services", moved), ("ports", self.ports.get(&port)))?;
                }
                if let Some(interface) = interface {
                    check_pair(("services", moved), ("interfaces", self.interfaces.get(&interface)))?;
                }
            }
        }
        Ok(())
    }

    /// Checks that no interface entry is separated from its interface or its aggregate.
    fn check_entries(&self, host: &Host) -> Result<(), Error> {
        for entry in &host.if_entries {
            let moved = self.if_entries.get(&entry.id);
            if let Some(interface) = entry.interface_id {
                check_pair(("if_entries", moved), ("interfaces", self.interfaces.get(&interface)))?;
            }
            if let Some(aggregate) = entry.lag_id {
                check_pair(("if_entries", moved), ("if_entries", self.if_entries.get(&aggregate)))?;
            }
        }
        Ok(())
    }
}

fn select<I: RecordId>(
    entity: Entity,
    list: &str,
    ids: &[I],
    present: &HashSet<I>,
) -> Result<HashMap<I, usize>, Error> {
    let mut selected = HashMap::with_capacity(ids.len());
    for (place, id) in ids.iter().enumerate() {
        let field = || format!("{list}.{place}");
        if !present.contains(id) {
            return Err(ErrorKind::ReferenceInvalid { entity, field: field() }.into());
        }
        if selected.insert(*id, place).is_some() {
            return Err(Error::invalid(field(), Problem::Duplicate));
        }
    }
    Ok(selected)
}

/// Checks that two parts, one of which refers to the other, either both move or both stay.
fn check_pair(
    (first_list, first): (&str, Option<&usize>),
    (second_list, second): (&str, Option<&usize>),
) -> Result<(), Error> {
    let (list, place) = match (first, second) {
        (Some(place), None) => (first_list, place),
        (None, Some(place)) => (second_list, place),
        _ => return Ok(()),
    };
    Err(Error::invalid(format!("{list}.{place}"), Problem::Inseparable))
}
