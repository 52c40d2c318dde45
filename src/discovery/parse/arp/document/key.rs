//! The keys of neighbor tables in JSON, in the words of all systems.

use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};

use super::super::other_tables::{Remarks, is_other_name};
use super::Role;
use crate::discovery::report::{AddressFamily, NeighborState};

/// The meaning of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum JsonKey {
    IpAddress,
    /// The IP address of a neighbor, a route or an entry of a forwarding database.
    Destination,
    MacAddress,
    /// The MAC address of a neighbor, and of nothing else.
    LinkLayerAddress,
    Interface,
    /// The logical interface. Its name may precede that of a port.
    LogicalInterface,
    IfIndex,
    State,
    /// The state as PowerShell writes it: a name, or the number of that.
    StateOfWindows,
    /// A field of entries of other tables: leases of DHCP, and the devices that RouterOS hears of.
    OfOther,
    /// A field that may be one of other tables, by the words of its name.
    Remark(Remarks),
    /// The state of an entry for which this is the value.
    Flag(bool, NeighborState),
    /// The value of a field of Junos, which is a list of objects.
    Data,
    /// The entries of a table, of the family that the key names.
    Entries(Option<AddressFamily>),
    /// A table, or the number of its entries, of which there may be none.
    Table(Option<AddressFamily>),
    Other,
}

const KEYS: &[(&str, JsonKey)] = &[
    // iproute2
    ("dst", JsonKey::Destination),
    ("lladdr", JsonKey::LinkLayerAddress),
    ("dev", JsonKey::Interface),
    ("state", JsonKey::State),
    // OPNsense
    ("ip", JsonKey::IpAddress),
    ("mac", JsonKey::MacAddress),
    ("intf", JsonKey::Interface),
    ("permanent", JsonKey::Flag(true, NeighborState::Static)),
    // RouterOS
    ("address", JsonKey::IpAddress),
    ("mac-address", JsonKey::MacAddress),
    ("interface", JsonKey::LogicalInterface),
    ("status", JsonKey::State),
    ("dynamic", JsonKey::Flag(false, NeighborState::Static)),
    ("disabled", JsonKey::Flag(true, NeighborState::Unreachable)),
    ("invalid", JsonKey::Flag(true, NeighborState::Unreachable)),
    // PowerShell
    ("IPAddress", JsonKey::IpAddress),
    ("LinkLayerAddress", JsonKey::MacAddress),
    ("InterfaceAlias", JsonKey::Interface),
    ("InterfaceIndex", JsonKey::IfIndex),
    ("State", JsonKey::StateOfWindows),
    // Arista EOS, which has the address and the interface under the keys of RouterOS.
    ("ipV4Neighbors", JsonKey::Entries(Some(AddressFamily::Ipv4))),
    ("ipV6Neighbors", JsonKey::Entries(Some(AddressFamily::Ipv6))),
    ("hwAddress", JsonKey::MacAddress),
    // NX-OS
    ("ROW_adj", JsonKey::Entries(None)),
    ("cnt-total", JsonKey::Table(None)),
    ("ip-addr-out", JsonKey::IpAddress),
    ("ipv6-addr", JsonKey::IpAddress),
    ("intf-out", JsonKey::LogicalInterface),
    // Junos
    ("arp-table-information", JsonKey::Table(Some(AddressFamily::Ipv4))),
    ("arp-table-entry", JsonKey::Entries(Some(AddressFamily::Ipv4))),
    ("ip-address", JsonKey::IpAddress),
    ("interface-name", JsonKey::LogicalInterface),
    ("ipv6-nd-information", JsonKey::Table(Some(AddressFamily::Ipv6))),
    ("ipv6-nd-entry", JsonKey::Entries(Some(AddressFamily::Ipv6))),
    ("ipv6-nd-neighbor-address", JsonKey::IpAddress),
    ("ipv6-nd-neighbor-l2-address", JsonKey::MacAddress),
    ("ipv6-nd-interface-name", JsonKey::LogicalInterface),
    ("ipv6-nd-state", JsonKey::State),
    ("data", JsonKey::Data),
];

/// The longest key whose words are read.
const MAX_KEY: usize = 128;

impl JsonKey {
    /// Returns the role of the value under this key, in an object with a role.
    pub(super) fn role(self, of_object: Role) -> Role {
        match self {
            Self::Entries(_) => Role::Entries,
            Self::Data if of_object == Role::Field => Role::Field,
            Self::Data | Self::Table(_) | Self::Other => Role::Other,
            _ => Role::Field,
        }
    }
}

impl<'de> Deserialize<'de> for JsonKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(KeyVisitor)
    }
}

struct KeyVisitor;

impl Visitor<'_> for KeyVisitor {
    type Value = JsonKey;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E: de::Error>(self, key: &str) -> Result<JsonKey, E> {
        let known = KEYS.iter().find(|(known, _)| *known == key);
        let unknown = || match key {
            key if key.len() > MAX_KEY => JsonKey::Other,
            key if is_other_name(key) => JsonKey::OfOther,
            key => match Remarks::of(key) {
                remarks if remarks == Remarks::default() => JsonKey::Other,
                remarks => JsonKey::Remark(remarks),
            },
        };
        Ok(known.map_or_else(unknown, |(_, meaning)| *meaning))
    }
}
