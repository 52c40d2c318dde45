//! The interface tables of generated hosts, and the cables between them.

use toposcope::model::{
    AdminStatus, Host, IfEntry, LldpChassisId, LldpChassisIdSubtype, LldpPortId, LldpPortIdSubtype, Neighbor,
    OperStatus,
};

use super::rack::{Place, SWITCH_SLOT};
use super::{Part, Position, SITES};

/// Switch ports to the next and the previous switch of the site. All other ports have the number of their slot.
const DOWNLINK: u64 = 23;
const UPLINK: u64 = 24;

/// Values of `ifType` for Ethernet and for a bridge.
const ETHERNET: i64 = 6;
const BRIDGE: i64 = 209;

/// One end of a cable: a device and an entry of its interface table.
struct End {
    position: Position,
    place: u64,
}

impl Position {
    /// Returns the interface table of its host.
    pub(super) fn if_entries(self, host: &Host) -> Vec<IfEntry> {
        match self.device.place {
            Place::Switch => (1..=UPLINK).map(|port| self.switch_entry(host, port)).collect(),
            Place::Hypervisor => {
                let bridge = self.entry(host, 2, "vmbr0", BRIDGE);
                vec![
                    self.entry(host, 1, "eno1", ETHERNET).wired_to(self.switch_end()),
                    IfEntry { interface_id: Some(self.id(Part::Interface, 0)), ..bridge },
                ]
            }
            // A guest's cable ends in the hypervisor's bridge, which does not speak LLDP.
            Place::Guest => vec![self.first_entry(host)],
            Place::Discovered | Place::Entered => vec![self.first_entry(host).wired_to(self.switch_end())],
        }
    }

    fn first_entry(self, host: &Host) -> IfEntry {
        let entry = self.entry(host, 1, self.interface_name(), ETHERNET);
        IfEntry { interface_id: Some(self.id(Part::Interface, 0)), ..entry }
    }

    fn switch_entry(self, host: &Host, port: u64) -> IfEntry {
        let entry = self.entry(host, port, &port_name(port), ETHERNET);
        let end = self.other_end(port);
        let oper_status = Some(if end.is_some() { OperStatus::Up } else { OperStatus::Down });
        let if_alias = end.as_ref().map(|end| end.position.name());
        let if_descr = format!("GigabitEthernet1/0/{port}");
        IfEntry { if_descr, if_alias, oper_status, ..entry }.wired_to(end)
    }

    /// Returns the other end of a switch port's cable.
    fn other_end(self, port: u64) -> Option<End> {
        let sites = SITES.len() as u64;
        let (position, place) = match port {
            DOWNLINK => (self.other(self.rack + sites, SWITCH_SLOT)?, UPLINK),
            UPLINK => (self.other(self.rack.checked_sub(sites)?, SWITCH_SLOT)?, DOWNLINK),
            slot => (self.other(self.rack, slot)?, 1),
        };
        (position.device.place != Place::Guest).then_some(End { position, place })
    }

    /// Returns the switch end of the cable of any other device.
    fn switch_end(self) -> Option<End> {
        Some(End { position: self.other(self.rack, SWITCH_SLOT)?, place: self.slot })
    }

    /// Returns an entry that is up and has no neighbor.
    fn entry(self, host: &Host, place: u64, name: &str, if_type: i64) -> IfEntry {
        IfEntry {
            // Computed from the position alone, so that the other end of a cable can refer to it.
            id: self.id(Part::IfEntry, place),
            if_name: Some(name.to_owned()),
            if_descr: name.to_owned(),
            if_type: Some(if_type),
            speed_bps: Some(1_000_000_000),
            mac_address: Some(self.mac_address()),
            admin_status: Some(AdminStatus::Up),
            oper_status: Some(OperStatus::Up),
            updated_at: host.created_at,
            ..IfEntry::new(host, place.cast_signed())
        }
    }
}

trait Wired {
    /// Adds the LLDP data of the other end.
    fn wired_to(self, end: Option<End>) -> Self;
}

impl Wired for IfEntry {
    fn wired_to(self, end: Option<End>) -> Self {
        let Some(End { position, place }) = end else { return self };
        let chassis = LldpChassisId {
            subtype: LldpChassisIdSubtype::MacAddress,
            value: position.mac_address().to_string(),
        };
        let port = match position.device.place {
            Place::Switch => port_name(place),
            Place::Hypervisor => "eno1".to_owned(),
            _ => position.interface_name().to_owned(),
        };
        Self {
            neighbor: Some(Neighbor::IfEntry(position.id(Part::IfEntry, place))),
            lldp_chassis_id: Some(chassis),
            lldp_port_id: Some(LldpPortId { subtype: LldpPortIdSubtype::InterfaceName, value: port }),
            lldp_sys_name: Some(position.name()),
            ..self
        }
    }
}

fn port_name(port: u64) -> String {
    format!("Gi1/0/{port}")
}
