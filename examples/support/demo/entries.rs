//! The interface tables of generated hosts, with the neighbors that they see.

use toposcope::model::{
    AdminStatus, Host, IfEntry, InterfaceId, LldpChassisId, LldpChassisIdSubtype, LldpPortId,
    LldpPortIdSubtype, Neighbor, OperStatus,
};

use super::cables::{
    AGGREGATE, End, FIREWALL_TO_ROUTER, LAST_PEER, ROUTER_TO_CARRIER, TO_CORE_B, TO_MEETING_ROOM,
};
use super::rack::{Place, RACKS_OF_BLOCK};
use super::{Part, Position};

/// Values of `ifType` for Ethernet, for an aggregate and for a bridge.
const ETHERNET: i64 = 6;
const LAG: i64 = 161;
const BRIDGE: i64 = 209;

const GIGABIT: u64 = 1_000_000_000;

impl Position {
    /// Returns the interface table of its host.
    pub(super) fn if_entries(self, host: &Host) -> Vec<IfEntry> {
        let mut entries: Vec<IfEntry> =
            (1..=self.ports_of_table()).map(|port| self.entry(host, port)).collect();
        match self.device.place {
            Place::Core => entries.push(self.aggregate(host)),
            Place::Hypervisor => entries.push(self.bridge(host)),
            _ => {}
        }
        entries
    }

    const fn ports_of_table(self) -> u64 {
        match self.device.place {
            Place::Core => LAST_PEER,
            Place::Access => TO_CORE_B,
            Place::Firewall => FIREWALL_TO_ROUTER,
            Place::Router | Place::Hypervisor | Place::Storage => 2,
            Place::Guest | Place::Discovered | Place::Entered | Place::Silent => 1,
        }
    }

    /// Returns the name of a port.
    pub(super) fn port_name(self, port: u64) -> String {
        match (self.device.place, port) {
            (Place::Core, 23..=LAST_PEER) => format!("Fo1/1/{}", port - 22),
            (Place::Core, AGGREGATE) => "Po1".to_owned(),
            (Place::Core, _) => format!("Te1/0/{port}"),
            (Place::Access, 25..) => format!("Te1/1/{}", port - 24),
            (Place::Access, _) => format!("Gi1/0/{port}"),
            (Place::Firewall, FIREWALL_TO_ROUTER) => "wan1".to_owned(),
            (Place::Firewall, _) => format!("port{port}"),
            (Place::Router, _) => format!("Gi0/0/{}", port - 1),
            (Place::Hypervisor, 3) => "vmbr0".to_owned(),
            (Place::Hypervisor, _) => format!("eno{port}"),
            (Place::Guest, _) => "ens18".to_owned(),
            (Place::Storage | Place::Discovered | Place::Entered | Place::Silent, _) => {
                format!("eth{}", port - 1)
            }
        }
    }

    fn entry(self, host: &Host, port: u64) -> IfEntry {
        let end = self.other_end(port);
        let is_virtual = self.device.place == Place::Guest;
        let other = end.map(|end| end.position);
        let entry = IfEntry {
            if_alias: other.filter(|_| self.is_network_device()).map(Self::name),
            oper_status: Some(if end.is_some() || is_virtual { OperStatus::Up } else { OperStatus::Down }),
            speed_bps: Some(self.speed(port, other)),
            interface_id: self.interface_of_port(host, port),
            vlans: self.vlans_of_port(port),
            ..self.row(host, port, ETHERNET)
        };
        match end {
            Some(end) => self.wired(entry, end),
            None => self.wired_to_stranger(entry, port),
        }
    }

    fn aggregate(self, host: &Host) -> IfEntry {
        let speed_bps = Some(2 * 40 * GIGABIT);
        IfEntry { speed_bps, vlans: self.vlans_of_port(AGGREGATE), ..self.row(host, AGGREGATE, LAG) }
    }

    fn bridge(self, host: &Host) -> IfEntry {
        let interface_id = host.interfaces.first().map(|interface| interface.id);
        IfEntry { interface_id, ..self.row(host, 3, BRIDGE) }
    }

    /// Returns an entry that is up and has no neighbor.
    fn row(self, host: &Host, port: u64, if_type: i64) -> IfEntry {
        let name = self.port_name(port);
        let is_peer = self.device.place == Place::Core && (23..=LAST_PEER).contains(&port);
        IfEntry {
            // Computed from the position alone, so that the other end of a cable can refer to it.
            id: self.id(Part::IfEntry, port),
            if_descr: self.long_name(&name),
            if_name: Some(name),
            if_type: Some(if_type),
            speed_bps: Some(GIGABIT),
            mac_address: Some(self.mac_address()),
            admin_status: Some(AdminStatus::Up),
            oper_status: Some(OperStatus::Up),
            lag_id: is_peer.then(|| self.id(Part::IfEntry, AGGREGATE)),
            updated_at: host.created_at,
            ..IfEntry::new(host, port.cast_signed())
        }
    }

    fn long_name(self, name: &str) -> String {
        if !matches!(self.device.place, Place::Core | Place::Access | Place::Router) {
            return name.to_owned();
        }
        let names = [
            ("Gi", "GigabitEthernet"),
            ("Te", "TenGigabitEthernet"),
            ("Fo", "FortyGigabitEthernet"),
            ("Po", "Port-channel"),
        ];
        let long =
            names.iter().find_map(|(short, long)| Some(format!("{long}{}", name.strip_prefix(short)?)));
        long.unwrap_or_else(|| name.to_owned())
    }

    fn speed(self, port: u64, other: Option<Self>) -> u64 {
        let is_core = |position: Self| position.device.place == Place::Core;
        match (self.device.place, port) {
            (Place::Core, 23..=LAST_PEER) => 40 * GIGABIT,
            (Place::Core, _) | (Place::Access, 25..) => 10 * GIGABIT,
            _ if other.is_some_and(is_core) => 10 * GIGABIT,
            _ => GIGABIT,
        }
    }

    /// Returns the address that belongs to a port.
    fn interface_of_port(self, host: &Host, port: u64) -> Option<InterfaceId> {
        let name = self.port_name(port);
        let has_name = |name: &str| host.interfaces.iter().find(|own| own.name.as_deref() == Some(name));
        has_name(&name).map(|interface| interface.id)
    }

    pub(super) const fn is_network_device(self) -> bool {
        matches!(self.device.place, Place::Core | Place::Access | Place::Firewall | Place::Router)
    }

    /// Returns whether its LLDP agent names the chassis.
    pub(super) const fn has_chassis_id(self) -> bool {
        self.is_network_device() || matches!(self.device.place, Place::Hypervisor | Place::Storage)
    }

    /// Adds the neighbor with its announcements.
    ///
    /// Telephones, cameras and the like announce themselves, but report nothing of their neighbor. Devices that were
    /// entered by hand do not announce anything.
    fn wired(self, entry: IfEntry, end: End) -> IfEntry {
        let End { position: other, port } = end;
        if self.device.place == Place::Silent {
            return entry;
        }
        let neighbor =
            (other.device.place != Place::Silent).then(|| Neighbor::IfEntry(other.id(Part::IfEntry, port)));
        let entry = IfEntry { neighbor, ..entry };
        if !self.has_chassis_id() || other.device.place == Place::Entered {
            return entry;
        }
        IfEntry {
            lldp_chassis_id: Some(other.chassis_id()),
            lldp_port_id: Some(interface_name(other.port_name(port))),
            lldp_sys_name: Some(other.name()),
            ..entry
        }
    }

    /// Adds the announcements of a device that is not in the inventory.
    fn wired_to_stranger(self, entry: IfEntry, port: u64) -> IfEntry {
        let has_meeting_room = self.rack_of_site() % RACKS_OF_BLOCK == 1;
        let (name, remote) = match (self.device.place, port) {
            (Place::Router, ROUTER_TO_CARRIER) => ("pe-1.carrier.example", format!("Gi0/0/{}", self.block())),
            (Place::Access, TO_MEETING_ROOM) if has_meeting_room => ("sw-meeting", "port8".to_owned()),
            _ => return entry,
        };
        IfEntry {
            oper_status: Some(OperStatus::Up),
            lldp_chassis_id: Some(LldpChassisId {
                subtype: LldpChassisIdSubtype::MacAddress,
                value: self.mac_address_at(port).to_string(),
            }),
            lldp_port_id: Some(interface_name(remote)),
            lldp_sys_name: Some(name.to_owned()),
            ..entry
        }
    }

    /// Returns the id by which it announces itself.
    pub(super) fn chassis_id(self) -> LldpChassisId {
        LldpChassisId { subtype: LldpChassisIdSubtype::MacAddress, value: self.mac_address().to_string() }
    }
}

const fn interface_name(value: String) -> LldpPortId {
    LldpPortId { subtype: LldpPortIdSubtype::InterfaceName, value }
}
