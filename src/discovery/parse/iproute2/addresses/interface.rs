//! The interfaces of one device, each joined from the entries of several commands.

use std::collections::HashMap;
use std::collections::hash_map;

use super::entry::{ETHERNET, InterfaceEntry};
use crate::discovery::report::IfEntryRow;
use crate::model::MacAddress;

/// The interfaces in the order of their first entries.
#[derive(Default)]
pub(super) struct Interfaces {
    list: Vec<KnownInterface>,
    /// The place of each interface, by its index and by its name.
    by_index: HashMap<i64, usize>,
    by_name: HashMap<String, usize>,
    /// The places of the interfaces of the list that is being read, and whether that has details.
    places: Vec<usize>,
    is_detailed: bool,
}

/// An interface.
pub(super) struct KnownInterface {
    /// The row without type and VLANs.
    pub(super) row: IfEntryRow,
    /// The address of the link layer as it was printed.
    link_address: Option<String>,
    type_by_kind: Option<i64>,
    type_by_link: Option<i64>,
    /// The bridge or bond that has this interface, and whether that is known to be a bundle.
    pub(super) master: Option<(String, bool)>,
    /// Whether a list with the details that `-d` adds has the interface.
    pub(super) has_details: bool,
    /// Whether the interface bundles others.
    pub(super) is_aggregate: bool,
    /// Whether the interface is a bridge or the port of one.
    pub(super) is_of_bridge: bool,
}

impl Interfaces {
    pub(super) const fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn by_name(&self, name: &str) -> Option<&KnownInterface> {
        self.list.get(*self.by_name.get(name)?)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &KnownInterface> {
        self.list.iter()
    }

    pub(super) fn into_list(self) -> Vec<KnownInterface> {
        self.list
    }

    /// Returns whether an entry is that of a known interface.
    ///
    /// # Errors
    /// Returns the contradiction if the entry and a known one cannot be of one device.
    pub(super) fn knows(&self, index: i64, name: &str, entry: &InterfaceEntry) -> Result<bool, String> {
        let place = match (self.by_index.get(&index), self.by_name.get(name)) {
            (None, None) => return Ok(false),
            (Some(by_index), Some(by_name)) if by_index == by_name => *by_index,
            (Some(other), _) => {
                let other = self.list.get(*other).and_then(|known| known.row.if_name.as_deref());
                return Err(format!("interface {index} is {} and {name}", other.unwrap_or_default()));
            }
            (None, Some(other)) => {
                let other = self.list.get(*other).map_or(0, |known| known.row.if_index);
                return Err(format!("{name} has the indexes {other} and {index}"));
            }
        };
        let known = self.list.get(place).and_then(|known| known.link_address.as_deref());
        match known.zip(entry.address.as_deref()) {
            Some((known, other)) if known != other => {
                Err(format!("{name} has the addresses {known} and {other}"))
            }
            _ => Ok(true),
        }
    }

    /// Adds an entry, or joins it with those of the same interface. Returns the MAC address of the interface.
    pub(super) fn join(&mut self, index: i64, name: &str, entry: &InterfaceEntry) -> Option<MacAddress> {
        let place = match self.by_index.entry(index) {
            hash_map::Entry::Occupied(known) => *known.get(),
            hash_map::Entry::Vacant(vacant) => {
                let place = *vacant.insert(self.list.len());
                self.by_name.insert(name.to_owned(), place);
                self.list.push(KnownInterface::new(entry.row(index, name)));
                place
            }
        };
        self.places.push(place);
        self.is_detailed |= entry.has_details();
        let interface = self.list.get_mut(place)?;
        interface.join(entry, entry.row(index, name));
        interface.row.mac_address
    }

    /// Ends a list of interfaces. If `-d` has printed it, it has the details of all of them, also where an entry shows none.
    pub(super) fn end_list(&mut self) {
        let is_detailed = std::mem::take(&mut self.is_detailed);
        for place in self.places.drain(..) {
            if let Some(interface) = self.list.get_mut(place) {
                interface.has_details |= is_detailed;
            }
        }
    }
}

impl KnownInterface {
    const fn new(row: IfEntryRow) -> Self {
        Self {
            row,
            link_address: None,
            type_by_kind: None,
            type_by_link: None,
            master: None,
            has_details: false,
            is_aggregate: false,
            is_of_bridge: false,
        }
    }

    /// Adds what another entry of the interface states.
    fn join(&mut self, entry: &InterfaceEntry, row: IfEntryRow) {
        let known = &mut self.row;
        known.if_alias = known.if_alias.take().or(row.if_alias);
        known.mac_address = known.mac_address.or(row.mac_address);
        known.oper_status = known.oper_status.or(row.oper_status);
        self.link_address = self.link_address.take().or_else(|| entry.address.clone());
        self.type_by_kind = self.type_by_kind.or_else(|| entry.type_by_kind());
        self.type_by_link = self.type_by_link.or_else(|| entry.type_by_link());
        self.is_aggregate |= entry.is_aggregate();
        self.is_of_bridge |= entry.is_of_bridge();
        if let Some(master) = &entry.master {
            let (_, is_bundle) = self.master.get_or_insert_with(|| (master.clone(), false));
            *is_bundle |= entry.is_member();
        }
    }

    /// Returns the type in IANA's registry.
    ///
    /// Bridges, bonds and VLAN interfaces have the link layer of Ethernet, too, and only details tell them from it.
    pub(super) fn if_type(&self) -> Option<i64> {
        self.type_by_kind.or(self.type_by_link).filter(|number| self.has_details || *number != ETHERNET)
    }
}
