//! Conversion of a device of a report to the form of a host.

use uuid::Uuid;

use crate::discovery::report::{Device, PortRange};
use crate::model::Host;

/// Returns the id of a new host, which follows from the network and the device's strongest identity.
///
/// Returns `None` if the device has no identity: such a device cannot be recognized again.
#[must_use]
pub fn new_host_id(device: &Device, network_id: Uuid) -> Option<Uuid> {
    let _ = (device, network_id);
    None
}

/// What a report says of one device, in the form of a host.
#[derive(Clone, Debug)]
pub struct Projection {
    host: Host,
}

impl Projection {
    /// Converts a device. `host_id` is the id of the host that it is, or of the new one.
    ///
    /// `scanned_ports`: the port numbers for which a complete table of ports is complete; empty: all.
    #[must_use]
    pub fn of_device(device: &Device, network_id: Uuid, host_id: Uuid, scanned_ports: &[PortRange]) -> Self {
        let _ = (device, scanned_ports);
        Self { host: Host::with_id(host_id, network_id, "") }
    }

    /// Converts a host that a daemon reports. Its lists count as truncated, so that merging only adds to them.
    #[must_use]
    pub fn of_host(host: Host) -> Self {
        Self { host }
    }

    /// Returns the device as a host.
    #[must_use]
    pub const fn host(&self) -> &Host {
        &self.host
    }
}
