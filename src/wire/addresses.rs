use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::model::{HostId, IfEntryId, MacAddress, Timestamp};
use crate::text_enum::text_enum;

/// Number of addresses that a list has at most, unless the query says otherwise.
const DEFAULT_ADDRESSES: usize = 1_000;

text_enum! {
    /// The state of an address of a subnet.
    #[derive(PartialOrd, Ord)]
    #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub enum AddressState {
        /// Nothing has the address, no neighbor cache or routing table knows it, and it is not reserved.
        ///
        /// The network and broadcast addresses of the subnets of the network are never free.
        Free = "free",
        /// An interface of a host has the address.
        Used = "used",
        /// No host has the address, but a neighbor cache has or had an entry for it, or a routing table names it as the next router.
        Seen = "seen",
        /// Several devices claim the address.
        Conflict = "conflict",
        /// The address is reserved, and nothing has it yet.
        Reserved = "reserved",
    }

    /// The error for text other than the states of addresses.
    #[error("not a state of addresses")]
    pub struct AddressStateError;
}

/// Which addresses of a subnet a list has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AddressQuery {
    /// The state of the addresses; `None`: all states but [`AddressState::Free`].
    pub state: Option<AddressState>,
    /// Maximum number of addresses.
    pub limit: usize,
}

impl AddressQuery {
    /// Creates a query for up to 1,000 addresses of all states but [`AddressState::Free`].
    #[must_use]
    pub const fn new() -> Self {
        Self { state: None, limit: DEFAULT_ADDRESSES }
    }

    /// Creates a query for the lowest free addresses.
    #[must_use]
    pub const fn free(limit: usize) -> Self {
        Self { state: Some(AddressState::Free), limit }
    }
}

impl Default for AddressQuery {
    fn default() -> Self {
        Self::new()
    }
}

text_enum! {
    /// A reason for which addresses that count as free may be in use.
    #[derive(PartialOrd, Ord)]
    #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub enum AddressDoubt {
        /// No known neighbor cache has an entry of the subnet, so that devices that are no hosts do not show.
        Neighbors = "neighbors",
    }

    /// The error for text other than the reasons.
    #[error("not a reason")]
    pub struct AddressDoubtError;
}

/// Addresses of a subnet, the lowest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AddressList {
    /// The addresses.
    pub addresses: Vec<SubnetAddress>,
    /// The number of all addresses that the query finds, at most 2^64 - 1.
    pub addresses_total: u64,
    /// Whether a neighbor cache has, or had, an entry of the subnet. If none has, devices that are no hosts do not show.
    #[serde(default)]
    pub complete: bool,
    /// The reasons for which it is not complete.
    #[serde(default)]
    pub unknown: Vec<AddressDoubt>,
}

/// An address of a subnet, and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SubnetAddress {
    /// The address.
    pub ip: IpAddr,
    /// The state.
    pub state: AddressState,
    /// The host with the address; `None` if no host has it.
    pub host_id: Option<HostId>,
    /// The interface entry of the host with the address; `None` when unknown.
    pub if_entry_id: Option<IfEntryId>,
    /// The MAC address; `None` when unknown.
    pub mac: Option<MacAddress>,
    /// When a report last showed the address; `None`: none has.
    pub last_seen: Option<Timestamp>,
    /// The name of the reservation; `None` if the address is not reserved.
    pub reserved_by: Option<String>,
    /// The devices that claim the address, up to 16, if there are several. Absent otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<AddressClaim>,
}

/// The claim of a device to an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AddressClaim {
    /// The host with the address; `None` if only a neighbor cache shows the device.
    pub host_id: Option<HostId>,
    /// The interface entry of the host with the address; `None` when unknown.
    pub if_entry_id: Option<IfEntryId>,
    /// The MAC address; `None` when unknown.
    pub mac: Option<MacAddress>,
    /// When a report last showed the claim; `None`: none has.
    pub last_seen: Option<Timestamp>,
}
