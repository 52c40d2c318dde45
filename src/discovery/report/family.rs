use std::net::IpAddr;

use crate::text_enum::text_enum;

text_enum! {
    /// A family of IP addresses.
    #[derive(PartialOrd, Ord)]
    #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
    pub enum AddressFamily {
        /// IPv4.
        Ipv4 = "ipv4",
        /// IPv6.
        Ipv6 = "ipv6",
    }

    /// The error for text that names no family of addresses.
    #[error("neither ipv4 nor ipv6")]
    pub struct AddressFamilyError;
}

impl AddressFamily {
    /// Returns the family of an address.
    #[must_use]
    pub const fn of(address: IpAddr) -> Self {
        if address.is_ipv4() { Self::Ipv4 } else { Self::Ipv6 }
    }

    /// Returns the family of all addresses; `None` if there are addresses of both, or none.
    pub(in crate::discovery) fn of_all(addresses: impl IntoIterator<Item = IpAddr>) -> Option<Self> {
        let mut families = addresses.into_iter().map(Self::of);
        let first = families.next()?;
        families.all(|family| family == first).then_some(first)
    }
}
