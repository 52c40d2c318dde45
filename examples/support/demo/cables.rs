//! The cables of generated sites.
//!
//! Racks form blocks of ten, and the first rack of a block has its pair of core switches.
//!
//! Every access switch and the block's firewall are connected to both core switches, the router to the firewall, and
//! the core switches of a further block to those of the block above it.

use super::rack::{
    ACCESS_SLOT, CORE_A_SLOT, CORE_B_SLOT, FIREWALL_SLOT, HYPERVISOR_SLOT, Place, RACKS_OF_BLOCK,
    ROUTER_SLOT, STORAGE_SLOT,
};
use super::{Position, SITES};

/// Maximum number of blocks that are connected directly to a block.
const BLOCKS_BELOW: u64 = 8;

/// Ports of a core switch. Ports 1 to 10 lead to the racks of the block, and those from [`FIRST_BELOW`] to further
/// blocks.
pub(super) const CORE_TO_HYPERVISOR: u64 = 11;
pub(super) const CORE_TO_STORAGE: u64 = 12;
pub(super) const FIRST_BELOW: u64 = 13;
pub(super) const ABOVE: u64 = 21;
pub(super) const CORE_TO_FIREWALL: u64 = 22;
pub(super) const FIRST_PEER: u64 = 23;
pub(super) const LAST_PEER: u64 = 24;
/// The aggregate of a core switch's ports to the other one.
pub(super) const AGGREGATE: u64 = 25;

/// Ports of an access switch to the core switches. Its other ports have the number of the slot that they lead to.
pub(super) const TO_CORE_A: u64 = 25;
pub(super) const TO_CORE_B: u64 = 26;

/// The port of the firewall to the router.
pub(super) const FIREWALL_TO_ROUTER: u64 = 3;

/// The port of the router to the carrier.
pub(super) const ROUTER_TO_CARRIER: u64 = 2;

/// The port of an access switch to a meeting room's switch. The inventory does not contain that switch.
pub(super) const TO_MEETING_ROOM: u64 = 22;

/// One end of a cable: a device and one of its ports.
#[derive(Clone, Copy)]
pub(super) struct End {
    pub(super) position: Position,
    pub(super) port: u64,
}

impl Position {
    /// Returns the other end of the cable in a port.
    pub(super) fn other_end(self, port: u64) -> Option<End> {
        match self.device.place {
            Place::Core => self.core_end(port),
            Place::Access => self.access_end(port),
            Place::Firewall if port == FIREWALL_TO_ROUTER => self.end(ROUTER_SLOT, 1),
            Place::Firewall => self.end(core_slot(port)?, CORE_TO_FIREWALL),
            Place::Router => (port == 1).then(|| self.end(FIREWALL_SLOT, FIREWALL_TO_ROUTER))?,
            Place::Hypervisor if self.is_head() => self.end(core_slot(port)?, CORE_TO_HYPERVISOR),
            Place::Storage if self.is_head() => self.end(core_slot(port)?, CORE_TO_STORAGE),
            // A guest's cable ends in the hypervisor's bridge, which does not speak LLDP.
            Place::Guest => None,
            _ => (port == 1).then(|| self.end(self.access_slot(), self.slot))?,
        }
    }

    fn core_end(self, port: u64) -> Option<End> {
        let side = if self.slot == CORE_A_SLOT { 1 } else { 2 };
        match port {
            1..=RACKS_OF_BLOCK => {
                let access = self.rack_of_block(port - 1)?;
                access.end(access.access_slot(), TO_CORE_A + side - 1)
            }
            CORE_TO_HYPERVISOR => self.end(HYPERVISOR_SLOT, side),
            CORE_TO_STORAGE => self.end(STORAGE_SLOT, side),
            FIRST_BELOW..ABOVE => {
                let block = self.block() * BLOCKS_BELOW + 1 + port - FIRST_BELOW;
                self.head_of(block)?.end(self.slot, ABOVE)
            }
            ABOVE => {
                let below = self.block().checked_sub(1)?;
                self.head_of(below / BLOCKS_BELOW)?.end(self.slot, FIRST_BELOW + below % BLOCKS_BELOW)
            }
            CORE_TO_FIREWALL => self.end(FIREWALL_SLOT, side),
            FIRST_PEER..=LAST_PEER if side == 1 => self.end(CORE_B_SLOT, port),
            FIRST_PEER..=LAST_PEER => self.end(CORE_A_SLOT, port),
            _ => None,
        }
    }

    fn access_end(self, port: u64) -> Option<End> {
        let head = self.head_of(self.block())?;
        let rack = self.rack_of_site() % RACKS_OF_BLOCK;
        match port {
            TO_CORE_A => head.end(CORE_A_SLOT, rack + 1),
            TO_CORE_B => head.end(CORE_B_SLOT, rack + 1),
            slot => {
                let end = self.end(slot, 1)?;
                let back = end.position.other_end(end.port)?;
                (back.position.slot == self.slot && back.port == port).then_some(end)
            }
        }
    }

    /// Returns a port of the device in a slot of the same rack.
    fn end(self, slot: u64, port: u64) -> Option<End> {
        Some(End { position: self.other(self.rack, slot)?, port })
    }

    /// Returns whether the host's rack contains the core switches of the block.
    pub(super) const fn is_head(self) -> bool {
        self.rack_of_site().is_multiple_of(RACKS_OF_BLOCK)
    }

    const fn access_slot(self) -> u64 {
        if self.is_head() { ACCESS_SLOT } else { 0 }
    }

    pub(super) const fn rack_of_site(self) -> u64 {
        self.rack / SITES.len() as u64
    }

    pub(super) const fn block(self) -> u64 {
        self.rack_of_site() / RACKS_OF_BLOCK
    }

    /// Returns the first host of a rack in the same block. Returns `None` if it is not generated.
    pub(super) fn rack_of_block(self, rack: u64) -> Option<Self> {
        self.first_of(self.block() * RACKS_OF_BLOCK + rack)
    }

    /// Returns the first host of a block.
    fn head_of(self, block: u64) -> Option<Self> {
        self.first_of(block * RACKS_OF_BLOCK)
    }

    fn first_of(self, rack_of_site: u64) -> Option<Self> {
        self.other(rack_of_site * SITES.len() as u64 + self.site, 0)
    }
}

/// Returns the core switch that a device is connected to by this port.
const fn core_slot(port: u64) -> Option<u64> {
    match port {
        1 => Some(CORE_A_SLOT),
        2 => Some(CORE_B_SLOT),
        _ => None,
    }
}
