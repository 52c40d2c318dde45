//! Bounds of the size of a host's document that take no encoding.

use crate::model::{Host, Record};

/// Estimates the size of a host's document in bytes, rounding up.
///
/// Only escapes in texts are not counted.
pub(in crate::inventory) fn likely_size(host: &Host) -> usize {
    host.likely_size()
}

/// The bytes of a part of which only the required fields are set, rounded down.
const LEAST_INTERFACE: usize = 192;
const LEAST_PORT: usize = 192;
const LEAST_IF_ENTRY: usize = 512;

/// Returns a number of bytes that a host's document has at least.
pub(super) const fn least_size(host: &Host) -> usize {
    LEAST_INTERFACE * host.interfaces.len()
        + LEAST_PORT * host.ports.len()
        + LEAST_IF_ENTRY * host.if_entries.len()
}
