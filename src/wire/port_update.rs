use crate::model::{HostId, NetworkId, PortNumber, Protocol};

/// The new values of a port. Its id and creation time stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PortUpdate {
    /// The host on which the port is open.
    pub host_id: HostId,
    /// The network of that host.
    pub network_id: NetworkId,
    /// The port number.
    pub number: PortNumber,
    /// The transport protocol.
    pub protocol: Protocol,
}

impl PortUpdate {
    /// Creates an update with all fields.
    #[must_use]
    pub const fn new(host_id: HostId, network_id: NetworkId, number: PortNumber, protocol: Protocol) -> Self {
        Self { host_id, network_id, number, protocol }
    }
}
