//! The rows of the tables that a device reports.

mod arp;
mod bridge;
mod interface;
mod neighbor;
mod port;

pub use arp::{ArpRow, NeighborState};
pub use bridge::{BridgeId, FdbRow, FdbStatus, StpRow, StpState};
pub use interface::{AddressRow, IfEntryRow, LagRow};
pub use neighbor::{CdpRow, LldpRow};
pub use port::PortRow;
