use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::{AddressReservationId, NetworkId, OrganizationId, SubnetId, Timestamp};

/// The reservation of an IP address of a network.
///
/// At most one reservation of an address exists, so that no address is given twice. The id follows from the network and
/// the address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
pub struct AddressReservation {
    /// The reservation's id.
    pub id: AddressReservationId,
    /// The organization that owns the reservation.
    pub organization_id: OrganizationId,
    /// The network of the address.
    pub network_id: NetworkId,
    /// The subnet in which the address was reserved.
    pub subnet_id: SubnetId,
    /// The address.
    pub ip: IpAddr,
    /// The purpose of the reservation, as the client named it.
    pub name: String,
    /// When the address was reserved.
    pub created_at: Timestamp,
}
