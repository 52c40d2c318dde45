//! Neighbor tables in JSON: `ip -j neigh`, and those of OPNsense, RouterOS, PowerShell, Arista EOS, NX-OS and Junos.
//!
//! Each system nests its entries differently. In the list of a table, each object is an entry. Elsewhere, an object with
//! the keys of both addresses is one. All other objects and lists are searched for entries. Only one entry at a time is in
//! memory.

mod key;

use std::fmt::{self, Display};
use std::io::BufRead;

use serde::Deserializer;
use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Unexpected, Visitor};

use self::key::JsonKey;
use super::addresses::ip_address;
use super::interface::interface_name;
use super::line::{state, unresolved};
use super::other_tables::Remarks;
use super::{AskedFamily, Sink};
use crate::discovery::parse::text::mac_text;
use crate::discovery::parse::{ParseError, ParseErrorKind, ParseOptions, json};
use crate::discovery::report::{AddressFamily, ArpRow, NeighborState};
use crate::fair_threads::yield_turn;

const EXPECTED: &str =
    "a neighbor table in JSON: it has no list of entries, and no object with an IP and a MAC address";

/// Reads the entries of one or several documents, one behind the other.
pub(super) fn read(
    reader: &mut dyn BufRead,
    options: &ParseOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ParseError> {
    let counts = json::InputCounts::default();
    let mut search = Search { sink, has_list: false, has_table: false, has_ipv4: false, has_ipv6: false };
    let mut deserializer = json::deserializer(reader, &counts, options);
    let read = json::each_document(&mut deserializer, |deserializer| {
        Node { search: &mut search, role: Role::Document }.deserialize(deserializer).map(drop)
    });
    let (is_found, asked) = (search.has_list || search.has_table, search.asked());
    let has_rows = !sink.rows.is_empty();
    json::finish_rows(read, &counts, sink.meter, has_rows)?;
    if !is_found {
        return Err(sink.meter.error(ParseErrorKind::WrongFormat(EXPECTED)));
    }
    sink.asked = asked;
    Ok(())
}

/// The search for the entries of documents.
struct Search<'s, 'm> {
    sink: &'s mut Sink<'m>,
    /// Whether a document is a list, as that of `ip -j neigh`, which is empty without entries of either family.
    has_list: bool,
    /// Whether a document has an entry or the key of a table.
    has_table: bool,
    /// Whether a key of a table shows that it has the entries of this family.
    has_ipv4: bool,
    has_ipv6: bool,
}

impl Search<'_, '_> {
    fn note_table(&mut self, family: Option<AddressFamily>) {
        self.has_table = true;
        self.has_ipv4 |= family == Some(AddressFamily::Ipv4);
        self.has_ipv6 |= family == Some(AddressFamily::Ipv6);
    }

    const fn asked(&self) -> AskedFamily {
        match (self.has_ipv4, self.has_ipv6) {
            (true, false) => AskedFamily::One(AddressFamily::Ipv4),
            (false, true) => AskedFamily::One(AddressFamily::Ipv6),
            (true, true) => AskedFamily::Both,
            (false, false) if self.has_list => AskedFamily::Both,
            (false, false) => AskedFamily::Unknown,
        }
    }

    fn accept(&mut self, entry: Entry) {
        self.has_table = true;
        if entry.is_of_forwarding_database() {
            return self.sink.skip_malformed_entry("an entry of a forwarding database");
        }
        if entry.is_of_other_table() {
            return self.sink.skip_malformed_entry("an entry of another table");
        }
        let Entry { ip, mac, if_name, if_index, state, .. } = entry;
        let sink = &mut *self.sink;
        let Some(address) = ip else { return sink.skip_malformed_entry(WITHOUT_ADDRESS) };
        let Some(ip_address) = ip_address(&address) else { return sink.skip_malformed_entry(&address) };
        let Some(mac) = mac.filter(|_| state != Some(NeighborState::Unreachable)) else {
            return sink.skip_incomplete(&address);
        };
        match mac_text(&mac) {
            Some(mac) if mac.is_zero() => sink.skip_incomplete(&address),
            Some(mac) => sink.push(ArpRow { if_name, if_index, state, ..ArpRow::new(ip_address, mac) }),
            None => sink.skip_entry(&unresolved(&mac), &format!("{address} {mac}")),
        }
    }
}

const WITHOUT_ADDRESS: &str = "an entry without an IP address";

/// The role of a value in a document.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The whole document.
    Document,
    /// The entries of a table: a list of objects, one of them, or the only one.
    Entries,
    /// The value of a field of an entry.
    Field,
    Other,
}

/// The fields of an entry. An object that is no entry has some of them at most.
#[derive(Default)]
struct Entry {
    /// The first key of an IP address, whatever its value, and that of a MAC address.
    ip_key: Option<JsonKey>,
    ip: Option<String>,
    mac_key: Option<JsonKey>,
    mac: Option<String>,
    if_name: Option<String>,
    if_index: Option<i64>,
    state: Option<NeighborState>,
    /// Whether it has a field of other tables.
    has_other_field: bool,
    /// The fields that may be those of other tables, or remarks about an interface.
    remarks: Remarks,
}

/// Reads the number of a state of Windows.
fn numbered_state(number: &str) -> Option<NeighborState> {
    match number {
        "0" | "1" => Some(NeighborState::Unreachable),
        "2" | "3" => Some(NeighborState::Probing),
        "4" => Some(NeighborState::Stale),
        "5" => Some(NeighborState::Reachable),
        "6" => Some(NeighborState::Static),
        _ => None,
    }
}

impl Entry {
    /// Sets a field. If several have one meaning, the first one with a value counts.
    fn set(&mut self, key: JsonKey, text: Option<String>) {
        match key {
            JsonKey::IpAddress | JsonKey::Destination => {
                self.ip_key = self.ip_key.or(Some(key));
                self.ip = self.ip.take().or(text);
            }
            JsonKey::MacAddress | JsonKey::LinkLayerAddress => {
                self.mac_key = self.mac_key.or(Some(key));
                self.mac = self.mac.take().or(text);
            }
            JsonKey::Interface => self.if_name = self.if_name.take().or(text),
            JsonKey::LogicalInterface => {
                self.if_name = self.if_name.take().or_else(|| interface_name(&text?));
            }
            JsonKey::IfIndex => self.if_index = self.if_index.or_else(|| text?.parse().ok()),
            JsonKey::State => {
                let known = || text.as_deref()?.split(' ').find_map(state);
                self.state = self.state.or_else(known);
            }
            JsonKey::StateOfWindows => {
                let known = || text.as_deref().and_then(|text| state(text).or_else(|| numbered_state(text)));
                self.state = self.state.or_else(known);
            }
            JsonKey::OfOther => self.has_other_field = true,
            JsonKey::Remark(remarks) => self.remarks = self.remarks.joined(remarks),
            JsonKey::Flag(value, state) => {
                let is_set = text.is_some_and(|text| text.parse() == Ok(value));
                // An entry that is no longer in use has no other state.
                let is_unset = self.state.is_none() || state == NeighborState::Unreachable;
                self.state = if is_set && is_unset { Some(state) } else { self.state };
            }
            JsonKey::Data | JsonKey::Entries(_) | JsonKey::Table(_) | JsonKey::Other => {}
        }
    }

    /// Returns whether an object with this role and these fields is an entry.
    const fn is_entry(&self, role: Role) -> bool {
        match role {
            Role::Entries => self.ip.is_some() || self.mac.is_some(),
            Role::Document | Role::Other => self.ip_key.is_some() && self.mac_key.is_some(),
            Role::Field => false,
        }
    }

    const fn is_of_other_table(&self) -> bool {
        let has_interface = self.if_name.is_some() || self.if_index.is_some();
        self.has_other_field || self.remarks.are_of_other_table(has_interface)
    }

    /// Returns whether the IP address is the remote end of a tunnel, as in `bridge -j fdb`, and not that of the MAC address.
    fn is_of_forwarding_database(&self) -> bool {
        self.ip_key == Some(JsonKey::Destination) && self.mac_key == Some(JsonKey::MacAddress)
    }
}

/// The result of reading a value.
#[derive(Default)]
struct Found {
    /// The text of a field. The texts of a list have spaces between them.
    text: Option<String>,
    /// Whether the value is or has an entry or a table.
    has_table: bool,
}

impl Found {
    fn add(&mut self, other: Self) {
        self.has_table |= other.has_table;
        match (&mut self.text, other.text) {
            (Some(text), Some(other)) => {
                text.push(' ');
                text.push_str(&other);
            }
            (text @ None, other) => *text = other,
            (Some(_), None) => {}
        }
    }
}

/// A value of a document.
struct Node<'n, 's, 'm> {
    search: &'n mut Search<'s, 'm>,
    role: Role,
}

impl Node<'_, '_, '_> {
    /// Takes a value that is no object or list.
    fn scalar<E: de::Error>(self, value: impl Display) -> Result<Found, E> {
        match self.role {
            Role::Document => Err(E::invalid_type(Unexpected::Other("single value"), &self)),
            Role::Entries => {
                let text = value.to_string();
                if !text.is_empty() {
                    self.search.sink.skip_malformed_entry(&text);
                }
                Ok(Found::default())
            }
            Role::Field => {
                let text = Some(value.to_string()).filter(|text| !text.is_empty());
                Ok(Found { text, has_table: false })
            }
            Role::Other => Ok(Found::default()),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_, '_, '_> {
    type Value = Found;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Found, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_, '_, '_> {
    type Value = Found;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a neighbor table")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Found, E> {
        self.scalar(value)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Found, E> {
        self.scalar(value)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Found, E> {
        self.scalar(value)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Found, E> {
        self.scalar(value)
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Found, E> {
        self.scalar(value)
    }

    fn visit_unit<E: de::Error>(self) -> Result<Found, E> {
        Ok(Found::default())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Found, A::Error> {
        let Self { search, role } = self;
        search.has_list |= role == Role::Document;
        let role = if role == Role::Document { Role::Entries } else { role };
        let mut found = Found::default();
        while let Some(element) = list.next_element_seed(Node { search: &mut *search, role })? {
            found.add(element);
        }
        Ok(found)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Found, A::Error> {
        yield_turn();
        let Self { search, role } = self;
        let (mut entry, mut found, mut is_empty) = (Entry::default(), Found::default(), true);
        while let Some(key) = map.next_key::<JsonKey>()? {
            is_empty = false;
            let value = map.next_value_seed(Node { search: &mut *search, role: key.role(role) })?;
            found.has_table |= value.has_table;
            match key {
                JsonKey::Entries(family) | JsonKey::Table(family) => {
                    search.note_table(family);
                    found.has_table = true;
                }
                JsonKey::Data => found.text = value.text,
                _ => entry.set(key, value.text),
            }
        }
        if entry.is_entry(role) {
            search.accept(entry);
            found.has_table = true;
        } else if role == Role::Entries && !is_empty && !found.has_table {
            search.sink.skip_malformed_entry(WITHOUT_ADDRESS);
        }
        Ok(found)
    }
}
