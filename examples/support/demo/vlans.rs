//! The VLANs of generated sites.
//!
//! Each rack has a VLAN, whose subnet is that of the rack. The racks of a block share those of its telephones and of its wireless
//! guests. Blocks are connected by routed links.

use toposcope::model::Vlans;

use super::Position;
use super::cables::{AGGREGATE, CORE_TO_HYPERVISOR, CORE_TO_STORAGE, FIRST_PEER, TO_CORE_A};
use super::rack::{Place, RACKS_OF_BLOCK};

const TELEPHONES: u16 = 20;
const WIRELESS_GUESTS: u16 = 30;
/// The VLAN of the first rack of a site, and the number of VLANs of racks. Sites with more racks use them again.
const FIRST_RACK: u16 = 101;
const RACKS: u64 = 3_900;

impl Position {
    /// Returns the VLANs of a port of a switch. `None` for ports of other devices, and for those that route.
    pub(super) fn vlans_of_port(self, port: u64) -> Option<Vlans> {
        match (self.device.place, port) {
            (Place::Core, 1..=RACKS_OF_BLOCK) => Some(trunk([self.rack_of_block(port - 1)?.vlan_of_rack()])),
            (Place::Core, CORE_TO_HYPERVISOR | CORE_TO_STORAGE) => Some(access(self.vlan_of_rack(), None)),
            (Place::Core, FIRST_PEER..=AGGREGATE) => {
                let racks = (0..RACKS_OF_BLOCK).filter_map(|rack| self.rack_of_block(rack));
                Some(trunk(racks.map(Self::vlan_of_rack)))
            }
            (Place::Access, TO_CORE_A..) => Some(trunk([self.vlan_of_rack()])),
            (Place::Access, _) => {
                let stem = self.other_end(port).map(|end| end.position.device.stem);
                let tagged = match stem {
                    Some("tel") => Some(TELEPHONES),
                    Some("ap" | "ap-out") => Some(WIRELESS_GUESTS),
                    _ => None,
                };
                Some(access(self.vlan_of_rack(), tagged))
            }
            _ => None,
        }
    }

    pub(super) const fn vlan_of_rack(self) -> u16 {
        FIRST_RACK + (self.rack_of_site() % RACKS) as u16
    }
}

fn access(untagged: u16, tagged: Option<u16>) -> Vlans {
    Vlans { untagged: Some(untagged), tagged: tagged.into_iter().collect(), other_untagged: Vec::new() }
}

/// Returns the VLANs of a port between switches: those of racks, and the shared ones.
fn trunk(racks: impl IntoIterator<Item = u16>) -> Vlans {
    let tagged = [TELEPHONES, WIRELESS_GUESTS].into_iter().chain(racks).collect();
    Vlans { untagged: None, tagged, other_untagged: Vec::new() }
}
