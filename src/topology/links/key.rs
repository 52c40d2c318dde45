//! Keys of the indexes of devices and ports. Identities and record ids have a fixed size.

use std::net::IpAddr;
use std::sync::Arc;

use uuid::Uuid;

use crate::discovery::reconcile::{Identity, IdentityKind};
use crate::model::MacAddress;

/// Length of a key: a first byte and up to 16 others.
const LENGTH: usize = 17;

/// First byte of an IPv4 address. The address is shorter than the other terms, and this byte keeps any IPv6 address
/// from being equal to it.
const IPV4: u8 = 0x14;

/// First byte of the term of an IPv6 address.
const IPV6: u8 = 4;

/// First byte of a MAC address of 6 bytes.
const MAC: u8 = 3;

/// First byte of an EUI-64.
const EUI_64: u8 = 0x13;

/// First byte of an InfiniBand address. Its last 16 bytes follow: they are different for each port.
const INFINIBAND: u8 = 0x23;

/// An identity of a device, or the id of a host or a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct IdentityKey([u8; LENGTH]);

impl IdentityKey {
    pub(super) fn of_identity(identity: &Identity) -> Self {
        let term = identity.term();
        if identity.kind() == IdentityKind::Mac
            && let Some(address) = term.get(1..).and_then(|octets| MacAddress::try_from(octets).ok())
        {
            return Self::of_mac(address);
        }
        let mut bytes = [0; LENGTH];
        bytes.iter_mut().zip(&term).for_each(|(byte, value)| *byte = *value);
        if let (IdentityKind::IpAddress, 5, Some(first)) = (identity.kind(), term.len(), bytes.first_mut()) {
            *first = IPV4;
        }
        Self(bytes)
    }

    /// Returns the key of a MAC address that identifies a device.
    pub(super) fn of_mac(address: MacAddress) -> Self {
        let (kind, octets) = match address.octets() {
            octets @ [_, _, _, _, _, _] => (MAC, octets),
            octets @ [_, _, _, _, _, _, _, _] => (EUI_64, octets),
            octets => (INFINIBAND, octets.last_chunk::<16>().map_or(octets, <[u8; 16]>::as_slice)),
        };
        let mut bytes = [0; LENGTH];
        bytes.iter_mut().zip([kind].iter().chain(octets)).for_each(|(byte, value)| *byte = *value);
        Self(bytes)
    }

    /// Returns the MAC address that the key stands for. An InfiniBand address is not known in full.
    pub(super) fn mac(&self) -> Option<MacAddress> {
        let (kind, address) = self.0.split_first()?;
        let length = match *kind {
            MAC => 6,
            EUI_64 => 8,
            _ => return None,
        };
        MacAddress::try_from(address.get(..length)?).ok()
    }

    /// Returns the IP address that the key stands for.
    pub(super) fn ip(&self) -> Option<IpAddr> {
        let (kind, address) = self.0.split_first()?;
        match *kind {
            IPV4 => address.first_chunk::<4>().map(|octets| IpAddr::from(*octets)),
            IPV6 => address.first_chunk::<16>().map(|octets| IpAddr::from(*octets)),
            _ => None,
        }
    }

    /// Returns the key of a host or a port.
    pub(super) fn of_record(id: Uuid) -> Self {
        let mut bytes = [0; LENGTH];
        bytes.iter_mut().skip(1).zip(id.as_bytes()).for_each(|(byte, value)| *byte = *value);
        Self(bytes)
    }

    pub(super) const fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// A port, as a key within its device.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum PortKey {
    /// The place among the device's ports.
    Known(u32),
    /// The name of a port that is not an interface entry.
    Named(Arc<str>),
}

/// Returns the place of the port to which the bridge gives a number.
pub(super) fn place_of(bridge_ports: &[(i64, u32)], number: i64) -> Option<u32> {
    let index = bridge_ports.binary_search_by_key(&number, |(number, _)| *number).ok()?;
    bridge_ports.get(index).map(|(_, place)| *place)
}
