//! Keys of the index: identities and record ids in a fixed size.

use std::net::IpAddr;

use uuid::Uuid;

use crate::discovery::reconcile::{Identity, IdentityKind};
use crate::model::MacAddress;

/// The longest term of an identity.
const LENGTH: usize = 17;

/// First byte of an IPv4 address. The address is shorter than the other terms, and this byte keeps any IPv6 address
/// from being equal to it.
const IPV4: u8 = 0x14;

/// First byte of the term of an IPv6 address.
const IPV6: u8 = 4;

/// First byte of the term of a MAC address.
const MAC: u8 = 3;

/// An identity of a device, or the id of a host or a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Key([u8; LENGTH]);

impl Key {
    pub(super) fn of_identity(identity: &Identity) -> Self {
        let term = identity.term();
        let mut bytes = [0; LENGTH];
        bytes.iter_mut().zip(&term).for_each(|(byte, value)| *byte = *value);
        if let (IdentityKind::IpAddress, 5, Some(first)) = (identity.kind(), term.len(), bytes.first_mut()) {
            *first = IPV4;
        }
        Self(bytes)
    }

    /// Returns the key of a MAC address that identifies a device.
    pub(super) fn of_mac(address: MacAddress) -> Self {
        let mut bytes = [0; LENGTH];
        let term = [MAC].into_iter().chain(address.octets());
        bytes.iter_mut().zip(term).for_each(|(byte, value)| *byte = value);
        Self(bytes)
    }

    /// Returns the MAC address that the key stands for.
    pub(super) fn mac(&self) -> Option<MacAddress> {
        let (kind, address) = self.0.split_first()?;
        if *kind == MAC { address.first_chunk::<6>().map(|octets| MacAddress::new(*octets)) } else { None }
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
