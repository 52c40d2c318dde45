use std::sync::Arc;

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
