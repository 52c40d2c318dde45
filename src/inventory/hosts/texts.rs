//! The texts of hosts and their parts, and the limit of their length.
//!
//! The limit applies to what clients and devices send. A longer text that is stored already may stay, so that it keeps
//! nothing else from being changed.

use crate::inventory::{Error, Problem};
use crate::model::{
    Host, HostPart, HostVirtualization, IfEntry, Interface, Port, Service, ServiceVirtualization,
    for_each_part_type,
};

/// The maximum length of a text, in characters.
pub(super) const MAX_TEXT: usize = 65_536;

/// A record with texts that clients and devices choose.
pub trait Texts {
    /// Returns the texts of the record, each with its path. The parts of a host are records of their own.
    fn texts(&self) -> impl Iterator<Item = (&'static str, &str)>;
}

/// Limits the texts of a host and its parts. Texts of `before`, the host as stored, may have any length.
///
/// # Errors
/// `Invalid` with the path of the first text that is too long.
pub(in crate::inventory) fn check_host_texts(host: &Host, before: Option<&Host>) -> Result<(), Error> {
    let may_stay = |text: &str| before.is_some_and(|before| all_texts(before).any(|stored| stored == text));
    if let Some(field) = first_too_long(host.texts(), may_stay) {
        return Err(too_long(field));
    }
    for_each_part_type!(P => check_parts::<P>(host, may_stay)?);
    Ok(())
}

/// Limits the texts of a part of a host. Texts of `before`, the part as stored, may have any length.
///
/// # Errors
/// `Invalid` with the path of the first text that is too long.
pub(super) fn check_part_texts<P: Texts>(part: &P, before: Option<&P>) -> Result<(), Error> {
    let is_in = |before: &P, text: &str| before.texts().any(|(_, stored)| stored == text);
    let may_stay = |text: &str| before.is_some_and(|before| is_in(before, text));
    first_too_long(part.texts(), may_stay).map_or(Ok(()), |field| Err(too_long(field)))
}

/// Returns whether a text has more than 65,536 characters.
pub(super) fn is_too_long(text: &str) -> bool {
    text.len() > MAX_TEXT && text.chars().count() > MAX_TEXT
}

pub(super) fn too_long(field: impl Into<String>) -> Error {
    Error::invalid(field, Problem::MaxLength { max: MAX_TEXT })
}

fn check_parts<P: HostPart + Texts>(
    host: &Host,
    may_stay: impl Fn(&str) -> bool + Copy,
) -> Result<(), Error> {
    for (index, part) in P::list(host).iter().enumerate() {
        if let Some(field) = first_too_long(part.texts(), may_stay) {
            return Err(too_long(format!("{}.{index}.{field}", P::LIST)));
        }
    }
    Ok(())
}

fn first_too_long<'t>(
    mut texts: impl Iterator<Item = (&'static str, &'t str)>,
    may_stay: impl Fn(&str) -> bool,
) -> Option<&'static str> {
    texts.find(|(_, text)| is_too_long(text) && !may_stay(text)).map(|(field, _)| field)
}

fn all_texts(host: &Host) -> impl Iterator<Item = &str> {
    let interfaces = host.interfaces.iter().flat_map(Texts::texts);
    let services = host.services.iter().flat_map(Texts::texts);
    let entries = host.if_entries.iter().flat_map(Texts::texts);
    host.texts().chain(interfaces).chain(services).chain(entries).map(|(_, text)| text)
}

/// Returns the texts that are not null.
fn present<'t, const N: usize>(
    texts: [(&'static str, Option<&'t str>); N],
) -> impl Iterator<Item = (&'static str, &'t str)> {
    texts.into_iter().filter_map(|(field, text)| Some((field, text?)))
}

impl Texts for Host {
    fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let (vm_name, vm_id) = match &self.virtualization {
            Some(HostVirtualization::Proxmox(by)) => (by.vm_name.as_deref(), by.vm_id.as_deref()),
            None => (None, None),
        };
        present([
            ("name", Some(self.name.as_str())),
            ("hostname", self.hostname.as_deref()),
            ("description", self.description.as_deref()),
            ("sys_name", self.sys_name.as_deref()),
            ("sys_descr", self.sys_descr.as_deref()),
            ("sys_object_id", self.sys_object_id.as_deref()),
            ("sys_location", self.sys_location.as_deref()),
            ("sys_contact", self.sys_contact.as_deref()),
            ("chassis_id.value", self.chassis_id.as_ref().map(|id| id.value.as_str())),
            ("manufacturer", self.manufacturer.as_deref()),
            ("model", self.model.as_deref()),
            ("serial_number", self.serial_number.as_deref()),
            ("management_url", self.management_url.as_deref()),
            ("virtualization.details.vm_name", vm_name),
            ("virtualization.details.vm_id", vm_id),
        ])
    }
}

impl Texts for Interface {
    fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        present([("name", self.name.as_deref())])
    }
}

impl Texts for Port {
    fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        std::iter::empty()
    }
}

impl Texts for Service {
    fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let (name, id) = match &self.virtualization {
            Some(ServiceVirtualization::Docker(by)) => {
                (by.container_name.as_deref(), by.container_id.as_deref())
            }
            None => (None, None),
        };
        present([
            ("name", Some(self.name.as_str())),
            ("service_definition", Some(self.service_definition.as_str())),
            ("virtualization.details.container_name", name),
            ("virtualization.details.container_id", id),
        ])
    }
}

impl Texts for IfEntry {
    fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        present([
            ("if_name", self.if_name.as_deref()),
            ("if_descr", Some(self.if_descr.as_str())),
            ("if_alias", self.if_alias.as_deref()),
            ("cdp_address", self.cdp_address.as_deref()),
            ("cdp_device_id", self.cdp_device_id.as_deref()),
            ("cdp_platform", self.cdp_platform.as_deref()),
            ("cdp_port_id", self.cdp_port_id.as_deref()),
            ("lldp_chassis_id.value", self.lldp_chassis_id.as_ref().map(|id| id.value.as_str())),
            ("lldp_mgmt_addr", self.lldp_mgmt_addr.as_deref()),
            ("lldp_port_desc", self.lldp_port_desc.as_deref()),
            ("lldp_port_id.value", self.lldp_port_id.as_ref().map(|id| id.value.as_str())),
            ("lldp_sys_desc", self.lldp_sys_desc.as_deref()),
            ("lldp_sys_name", self.lldp_sys_name.as_deref()),
        ])
    }
}
