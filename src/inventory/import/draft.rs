//! Hosts from documents, with the values that these leave to the server.

use std::cell::RefCell;
use std::collections::HashSet;
use std::mem;

use uuid::Uuid;

use super::document::{
    BindingDocument, HostDocument, IfEntryDocument, InterfaceDocument, MacDocument, NumberDocument,
    PortDocument, ServiceDocument,
};
use super::report::Alterations;
use crate::inventory::hosts::adopt_parts;
use crate::inventory::{Error, Inventory};
use crate::model::{
    Binding, Host, HostId, IfEntry, Interface, MacAddress, NetworkId, Port, RecordId, Service, ServiceId,
    Source, Timestamp,
};
use crate::wire::{Alteration, DroppedPort};

/// Sets the values that a line leaves to the server.
pub(super) struct LineDraft<'a> {
    pub(super) inventory: &'a Inventory,
    /// The ids that it has chosen for parts and bindings.
    pub(super) drafted: &'a RefCell<HashSet<Uuid>>,
    pub(super) line: u64,
    /// The time of records without a time.
    pub(super) now: Timestamp,
}

impl LineDraft<'_> {
    fn id<I: RecordId + Default>(&self, given: I) -> Result<I, Error> {
        if given != I::default() {
            return Ok(given);
        }
        let id: I = self.inventory.new_id()?;
        self.drafted.borrow_mut().insert(id.into());
        Ok(id)
    }

    /// Returns when a record was created and last changed. If only one of the times is given, it counts as both.
    fn times(&self, created: Option<Timestamp>, updated: Option<Timestamp>) -> (Timestamp, Timestamp) {
        let created_at = created.or(updated).unwrap_or(self.now);
        (created_at, updated.unwrap_or(created_at))
    }

    pub(super) fn complete(
        &self,
        mut document: HostDocument,
        alterations: &mut Alterations,
    ) -> Result<Host, Error> {
        let id = if document.id.is_nil() { self.inventory.new_id()? } else { HostId::new(document.id) };
        let interfaces = mem::take(&mut document.interfaces).into_iter().enumerate();
        let interfaces = interfaces.map(|(index, part)| self.interface(part, index, alterations));
        let interfaces = interfaces.collect::<Result<_, _>>()?;
        let entries =
            mem::take(&mut document.if_entries).into_iter().map(|part| self.if_entry(part, alterations));
        let if_entries = entries.collect::<Result<_, _>>()?;
        let ports = document.ports.iter().enumerate();
        let ports = ports.filter_map(|(index, part)| self.port(part, index, id, alterations).transpose());
        let ports = ports.collect::<Result<_, _>>()?;
        let services = mem::take(&mut document.services).into_iter().enumerate();
        let services = services.map(|(index, part)| self.service(part, index)).collect::<Result<_, _>>()?;
        let (created_at, updated_at) = self.times(document.created_at, document.updated_at);
        let mut host = Host::with_id(id, NetworkId::nil(), "");
        (host.created_at, host.updated_at) = (created_at, updated_at);
        (host.last_seen_at, host.is_stale) = (document.last_seen_at, document.is_stale);
        document.move_values(&mut host);
        (host.interfaces, host.ports, host.services, host.if_entries) =
            (interfaces, ports, services, if_entries);
        adopt_parts(&mut host);
        Ok(host)
    }

    fn interface(
        &self,
        part: InterfaceDocument,
        index: usize,
        alterations: &mut Alterations,
    ) -> Result<Interface, Error> {
        let (created_at, updated_at) = self.times(part.created_at, part.updated_at);
        Ok(Interface {
            id: self.id(part.id)?,
            host_id: HostId::nil(),
            network_id: NetworkId::nil(),
            subnet_id: part.subnet_id,
            name: part.name,
            ip_address: part.ip_address,
            mac_address: repair_mac(part.mac_address, alterations),
            mac_source: part.mac_source,
            position: position(part.position, index),
            created_at,
            updated_at,
            last_seen_at: part.last_seen_at,
            is_stale: part.is_stale,
        })
    }

    fn port(
        &self,
        part: &PortDocument,
        index: usize,
        host_id: HostId,
        alterations: &mut Alterations,
    ) -> Result<Option<Port>, Error> {
        let id = self.id(part.id)?;
        let number = match part.number {
            NumberDocument::Valid(number) => number,
            NumberDocument::Zero => {
                let (line, protocol) = (self.line, part.protocol);
                alterations.drop_port(DroppedPort { line, host_id, port_id: id, protocol }, index);
                return Ok(None);
            }
        };
        let (created_at, updated_at) = self.times(part.created_at, part.updated_at);
        Ok(Some(Port {
            id,
            host_id,
            network_id: NetworkId::nil(),
            number,
            protocol: part.protocol,
            created_at,
            updated_at,
            last_seen_at: part.last_seen_at,
            is_stale: part.is_stale,
        }))
    }

    fn service(&self, part: ServiceDocument, index: usize) -> Result<Service, Error> {
        let (created_at, updated_at) = self.times(part.created_at, part.updated_at);
        let bindings = part.bindings.into_iter().enumerate();
        let bindings = bindings.map(|(index, binding)| self.binding(&binding, index));
        Ok(Service {
            id: self.id(part.id)?,
            host_id: HostId::nil(),
            network_id: NetworkId::nil(),
            name: part.name,
            position: position(part.position, index),
            service_definition: part.service_definition,
            source: part.source.unwrap_or(Source::Manual),
            tags: part.tags,
            virtualization: part.virtualization,
            bindings: bindings.collect::<Result<_, _>>()?,
            created_at,
            updated_at,
            last_seen_at: part.last_seen_at,
            is_stale: part.is_stale,
        })
    }

    fn binding(&self, part: &BindingDocument, index: usize) -> Result<Binding, Error> {
        // Bindings are listed by time, so that those without one stay in the order of the line.
        let draft = Self { now: self.now.plus_micros(i64::try_from(index).unwrap_or(i64::MAX)), ..*self };
        let (created_at, updated_at) = draft.times(part.created_at, part.updated_at);
        Ok(Binding {
            id: self.id(part.id)?,
            service_id: ServiceId::nil(),
            network_id: NetworkId::nil(),
            target: part.target,
            created_at,
            updated_at,
        })
    }

    fn if_entry(&self, part: IfEntryDocument, alterations: &mut Alterations) -> Result<IfEntry, Error> {
        let (created_at, updated_at) = self.times(part.created_at, part.updated_at);
        Ok(IfEntry {
            id: self.id(part.id)?,
            host_id: HostId::nil(),
            network_id: NetworkId::nil(),
            interface_id: part.interface_id,
            if_index: part.if_index,
            if_name: part.if_name,
            if_descr: part.if_descr.unwrap_or_else(|| {
                alterations.count(Alteration::MissingDescription, 1);
                String::new()
            }),
            if_alias: part.if_alias,
            if_type: part.if_type,
            speed_bps: part.speed_bps,
            mac_address: repair_mac(part.mac_address, alterations),
            admin_status: part.admin_status,
            oper_status: part.oper_status,
            lag_id: part.lag_id,
            vlans: part.vlans,
            neighbor: part.neighbor,
            cdp_address: part.cdp_address,
            cdp_device_id: part.cdp_device_id,
            cdp_platform: part.cdp_platform,
            cdp_port_id: part.cdp_port_id,
            lldp_chassis_id: part.lldp_chassis_id,
            lldp_mgmt_addr: part.lldp_mgmt_addr,
            lldp_port_desc: part.lldp_port_desc,
            lldp_port_id: part.lldp_port_id,
            lldp_sys_desc: part.lldp_sys_desc,
            lldp_sys_name: part.lldp_sys_name,
            created_at,
            updated_at,
            last_seen_at: part.last_seen_at,
            is_stale: part.is_stale,
        })
    }
}

/// Returns the display position of a part, which is its place in the list unless the line has another.
fn position(given: Option<i64>, index: usize) -> i64 {
    given.unwrap_or_else(|| i64::try_from(index).unwrap_or(i64::MAX))
}

fn repair_mac(mac: MacDocument, alterations: &mut Alterations) -> Option<MacAddress> {
    match mac {
        MacDocument::Valid(mac) => return Some(mac),
        MacDocument::Absent => {}
        MacDocument::Empty => alterations.count(Alteration::EmptyMac, 1),
        MacDocument::Invalid => alterations.count(Alteration::InvalidMac, 1),
    }
    None
}
