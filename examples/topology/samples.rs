//! Small networks of kinds that every network engineer knows.

#![allow(
    clippy::indexing_slicing,
    reason = "rows are as long as they are created, and devices are named by their numbers"
)]

use std::net::{IpAddr, Ipv4Addr};

use toposcope::Inventory;
use toposcope::access::Caller;
use toposcope::model::{
    Host, HostId, HostRole, IfEntry, IfEntryId, Interface, LldpChassisId, LldpChassisIdSubtype, LldpPortId,
    LldpPortIdSubtype, Network, NetworkId, OperStatus, Vlans,
};

use super::failure::Failure;

/// The id of the network; the ids of hosts and ports follow from their numbers.
const NETWORK: NetworkId = NetworkId::from_u128(1);
const GIGABIT: u64 = 1_000_000_000;

/// A kind of network.
#[derive(Clone, Copy)]
pub(crate) enum Sample {
    Fabric,
    Campus,
    HomeLab,
}

impl Sample {
    /// Returns the sample with this name.
    pub(crate) fn find(name: &str) -> Option<Self> {
        match name {
            "fabric" => Some(Self::Fabric),
            "campus" => Some(Self::Campus),
            "home-lab" => Some(Self::HomeLab),
            _ => None,
        }
    }

    const fn title(self) -> &'static str {
        match self {
            Self::Fabric => "Fabric",
            Self::Campus => "Campus",
            Self::HomeLab => "Home lab",
        }
    }

    /// Stores the network and its hosts, and returns how many hosts there are.
    pub(crate) async fn store(self, inventory: &Inventory, caller: &Caller) -> Result<usize, Failure> {
        let system = Caller::system(caller.organization_id());
        inventory.networks().create_with_id(&system, NETWORK, Network::new(self.title())).await?;
        let mut devices = Devices::default();
        match self {
            Self::Fabric => fabric(&mut devices),
            Self::Campus => campus(&mut devices),
            Self::HomeLab => home_lab(&mut devices),
        }
        let count = devices.0.len();
        for host in devices.0 {
            inventory.hosts().put(&system, host).await?;
        }
        Ok(count)
    }
}

/// Two spines, four leaves with four servers each, and a pair of border leaves with firewalls.
fn fabric(devices: &mut Devices) {
    let spines = devices.row("spine", HostRole::Switch, 2);
    let leaves = devices.row("leaf", HostRole::Switch, 4);
    devices.links(&spines, &leaves, "Ethernet", 100);
    for (leaf, rack) in leaves.iter().zip(1..) {
        let servers = devices.row(&format!("srv-{rack}"), HostRole::Server, 4);
        devices.links(&[*leaf], &servers, "Ethernet", 25);
    }
    let border = devices.row("border", HostRole::Switch, 2);
    devices.links(&spines, &border, "Ethernet", 100);
    let firewalls = devices.row("fw", HostRole::Firewall, 2);
    for (border, firewall) in border.into_iter().zip(firewalls) {
        devices.link(firewall, border, "Ethernet", 40);
    }
}

/// A firewall, a core, two buildings, and a ring of switches in the yard.
fn campus(devices: &mut Devices) {
    let firewall = devices.row("fw", HostRole::Firewall, 1);
    let core = devices.row("core", HostRole::Switch, 2);
    devices.links(&firewall, &core, "TenGigabitEthernet1/0/", 10);
    devices.link(core[0], core[1], "FortyGigabitEthernet1/1/", 40);
    for building in ["a", "b"] {
        let distribution = devices.row(&format!("dist-{building}"), HostRole::Switch, 2);
        devices.links(&core, &distribution, "TenGigabitEthernet1/0/", 10);
        let access = devices.row(&format!("acc-{building}"), HostRole::Switch, 2);
        devices.links(&distribution, &access, "TenGigabitEthernet1/0/", 10);
        for (switch, floor) in access.iter().zip(1..) {
            let phones = devices.row(&format!("phone-{building}{floor}"), HostRole::Phone, 4);
            devices.links(&[*switch], &phones, "GigabitEthernet1/0/", 1);
        }
    }
    let ring = devices.row("yard", HostRole::Switch, 4);
    devices.link(core[0], ring[0], "GigabitEthernet1/0/", 1);
    for pair in ring.windows(2) {
        devices.link(pair[0], pair[1], "GigabitEthernet1/0/", 1);
    }
    devices.link(core[1], ring[3], "GigabitEthernet1/0/", 1);
    for (switch, number) in ring.iter().zip(1..) {
        let cameras = devices.row(&format!("cam-{number}"), HostRole::Camera, 2);
        devices.links(&[*switch], &cameras, "GigabitEthernet1/0/", 1);
    }
    set_campus_vlans(devices);
}

/// Sets the VLANs of the ports of firewall and switches: one for each kind of end devices, and between switches those that are
/// needed.
fn set_campus_vlans(devices: &mut Devices) {
    const MANAGEMENT: u16 = 10;
    const TELEPHONES: u16 = 20;
    const CAMERAS: u16 = 30;
    let access = |untagged| Vlans { untagged: Some(untagged), ..Vlans::default() };
    let trunk = |tagged: &[u16]| Vlans { tagged: tagged.to_vec(), ..Vlans::default() };
    let connects = |host: &Host| matches!(host.role, Some(HostRole::Switch | HostRole::Firewall));
    for host in devices.0.iter_mut().filter(|host| connects(host)) {
        for entry in &mut host.if_entries {
            let ends = [Some(host.name.as_str()), entry.lldp_sys_name.as_deref()];
            let leads_to = |name: &str| ends.iter().flatten().any(|end| end.starts_with(name));
            entry.vlans = Some(if leads_to("phone-") {
                access(TELEPHONES)
            } else if leads_to("cam-") {
                access(CAMERAS)
            } else if leads_to("yard-") {
                trunk(&[MANAGEMENT, CAMERAS])
            } else {
                trunk(&[MANAGEMENT, TELEPHONES, CAMERAS])
            });
        }
    }
}

/// A router of a provider, a switch, and what is connected to it.
fn home_lab(devices: &mut Devices) {
    let router = devices.add("router", HostRole::Router);
    let switch = devices.add("switch", HostRole::Switch);
    devices.link(router, switch, "port", 1);
    for (name, role) in
        [("nas", HostRole::Storage), ("pve-1", HostRole::Hypervisor), ("pve-2", HostRole::Hypervisor)]
    {
        let device = devices.add(name, role);
        devices.link(switch, device, "port", 10);
    }
    let access_point = devices.add("ap", HostRole::AccessPoint);
    devices.link(switch, access_point, "port", 1);
    for (name, role) in
        [("laptop", HostRole::Workstation), ("phone", HostRole::Phone), ("tv", HostRole::Media)]
    {
        let device = devices.add(name, role);
        devices.link(access_point, device, "wlan", 1);
    }
}

/// Hosts that name each other by LLDP.
#[derive(Default)]
struct Devices(Vec<Host>);

impl Devices {
    fn add(&mut self, name: &str, role: HostRole) -> usize {
        let number = self.0.len();
        let id = HostId::from_u128(number as u128 + 1);
        let mut host = Host::with_id(id, NETWORK, name);
        host.role = Some(role);
        host.sys_name = Some(name.to_owned());
        host.chassis_id = Some(chassis(number));
        let [.., high, low] = (number + 1).to_be_bytes();
        let address = IpAddr::V4(Ipv4Addr::new(10, 0, high, low));
        host.interfaces.push(Interface::new(&host, address));
        self.0.push(host);
        number
    }

    fn row(&mut self, name: &str, role: HostRole, count: usize) -> Vec<usize> {
        (1..=count).map(|number| self.add(&format!("{name}-{number}"), role)).collect()
    }

    fn links(&mut self, upper: &[usize], lower: &[usize], ports: &str, gigabits: u64) {
        for one in upper {
            for other in lower {
                self.link(*one, *other, ports, gigabits);
            }
        }
    }

    /// Connects the next ports of two devices.
    fn link(&mut self, one: usize, other: usize, ports: &str, gigabits: u64) {
        let [own, far] = [one, other].map(|device| self.next_port(device, ports));
        for (device, own, neighbor, far) in [(one, &own, other, &far), (other, &far, one, &own)] {
            let host = &self.0[device];
            let index = host.if_entries.len() as i64 + 1;
            let entry = IfEntry {
                id: IfEntryId::from_u128((host.id.as_u128() << 64) | index.unsigned_abs() as u128),
                if_name: Some(own.clone()),
                if_type: Some(6),
                speed_bps: Some(gigabits * GIGABIT),
                oper_status: Some(OperStatus::Up),
                lldp_sys_name: Some(self.0[neighbor].name.clone()),
                lldp_chassis_id: Some(chassis(neighbor)),
                lldp_port_id: Some(LldpPortId {
                    subtype: LldpPortIdSubtype::InterfaceName,
                    value: far.clone(),
                }),
                ..IfEntry::new(host, index)
            };
            self.0[device].if_entries.push(entry);
        }
    }

    /// Returns the name of the next port of a device. End devices have ports of their own kind.
    fn next_port(&self, device: usize, ports: &str) -> String {
        let host = &self.0[device];
        match host.role {
            Some(HostRole::Switch | HostRole::Router | HostRole::Firewall | HostRole::AccessPoint) => {
                format!("{ports}{}", host.if_entries.len() + 1)
            }
            _ => format!("eth{}", host.if_entries.len()),
        }
    }
}

/// Returns the id by which a device announces itself.
fn chassis(number: usize) -> LldpChassisId {
    let [.., high, low] = number.to_be_bytes();
    LldpChassisId {
        subtype: LldpChassisIdSubtype::MacAddress,
        value: format!("00:1B:21:00:{high:02X}:{low:02X}"),
    }
}
