//! The devices of a generated rack, by slot.

use toposcope::model::Protocol::{self, Tcp, Udp};

/// A type of device.
pub(super) struct Device {
    /// Prefix of the host name.
    pub(super) stem: &'static str,
    /// Possible descriptions; empty: none.
    pub(super) descriptions: &'static [&'static str],
    pub(super) place: Place,
    pub(super) offers: &'static [Offer],
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A core switch. The two of a block connect its racks and route between their subnets.
    Core,
    /// The switch to which the other devices of the rack are connected.
    Access,
    /// The firewall between the core switches and the router.
    Firewall,
    /// The router to the carrier.
    Router,
    /// The machine that runs the virtual machines.
    Hypervisor,
    /// A file server.
    Storage,
    /// A virtual machine.
    Guest,
    /// Any other device, discovered by a daemon.
    Discovered,
    /// A device that announces itself, but does not report its neighbors.
    Silent,
    /// Any other device, entered by hand.
    Entered,
}

/// A service of a device.
pub(super) struct Offer {
    pub(super) name: &'static str,
    pub(super) definition: &'static str,
    /// Port and protocol; `None`: the service is bound to the first interface.
    pub(super) port: Option<(u16, Protocol)>,
    /// Whether it is a container of the device's first service.
    pub(super) is_contained: bool,
}

const fn on(name: &'static str, definition: &'static str, number: u16, protocol: Protocol) -> Offer {
    Offer { name, definition, port: Some((number, protocol)), is_contained: false }
}

const fn container(name: &'static str, definition: &'static str, number: u16) -> Offer {
    Offer { name, definition, port: Some((number, Tcp)), is_contained: true }
}

const fn portless(name: &'static str, definition: &'static str) -> Offer {
    Offer { name, definition, port: None, is_contained: false }
}

const SSH: Offer = on("SSH", "SSH", 22, Tcp);
const SNMP: Offer = on("SNMP agent", "SNMP", 161, Udp);
const HTTP: Offer = on("Web interface", "Web Service", 80, Tcp);
const HTTPS: Offer = on("Web interface (TLS)", "Web Service", 443, Tcp);

const fn device(
    stem: &'static str,
    place: Place,
    descriptions: &'static [&'static str],
    offers: &'static [Offer],
) -> Device {
    Device { stem, descriptions, place, offers }
}

/// Slots of a rack.
pub(super) const SLOTS: usize = 20;

/// Racks of a block.
pub(super) const RACKS_OF_BLOCK: u64 = 10;

/// Slots of the first rack of a block.
pub(super) const CORE_A_SLOT: u64 = 0;
pub(super) const FIREWALL_SLOT: u64 = 7;
pub(super) const CORE_B_SLOT: u64 = 9;
pub(super) const ACCESS_SLOT: u64 = 10;
pub(super) const ROUTER_SLOT: u64 = 11;

/// Slots of every rack.
pub(super) const HYPERVISOR_SLOT: u64 = 1;
pub(super) const STORAGE_SLOT: u64 = 8;

const ACCESS_SWITCH: Device = device(
    "sw",
    Place::Access,
    &["24-port access switch, fanless", "24-port access switch with PoE+, firmware 17.9.4"],
    &[portless("Switching", "Switch"), SSH, SNMP, HTTPS],
);
const HYPERVISOR: Device = device(
    "pve",
    Place::Hypervisor,
    &["Virtualization host, 64 cores, 512 GB", "Virtualization host, 32 cores, 256 GB"],
    &[on("Proxmox VE", "Proxmox VE", 8006, Tcp), SSH, SNMP],
);
const WEB: Device =
    device("web", Place::Guest, &["Debian GNU/Linux 13"], &[on("nginx", "Nginx", 80, Tcp), HTTPS, SSH]);
const DATABASE: Device =
    device("db", Place::Guest, &["Debian GNU/Linux 13"], &[on("Database", "PostgreSQL", 5432, Tcp), SSH]);
const CONTAINERS: Device = device(
    "apps",
    Place::Guest,
    &["Container host, Debian GNU/Linux 13"],
    &[
        on("Docker", "Docker", 2376, Tcp),
        container("Cache", "Redis", 6379),
        container("Dashboards", "Grafana", 3000),
        SSH,
    ],
);
const MAIL: Device =
    device("mail", Place::Guest, &["Mail relay", "Mail server"], &[on("SMTP", "Mail Server", 25, Tcp), SSH]);
const NAMES: Device = device(
    "ns",
    Place::Guest,
    &["Resolver and DHCP server"],
    &[on("Names", "DNS Server", 53, Udp), on("Leases", "DHCP Server", 67, Udp), SSH],
);
const STORAGE: Device =
    device("nas", Place::Storage, &["NAS, 8 bays"], &[on("Files", "Samba", 445, Tcp), HTTPS, SNMP]);
const ACCESS_POINT: Device =
    device("ap", Place::Discovered, &["Access point, Wi-Fi 6E", "Access point, Wi-Fi 7"], &[HTTPS, SSH]);
const PRINTER: Device = device(
    "prn",
    Place::Silent,
    &["Colour laser printer, A3", "Monochrome laser printer", "Label printer"],
    &[on("Raw printing", "Print Server", 9100, Tcp), on("IPP", "Print Server", 631, Tcp), HTTP],
);
const CAMERA: Device =
    device("cam", Place::Silent, &["Dome camera, 4K"], &[on("Stream", "IP Camera", 554, Tcp), HTTP]);
const TELEPHONE: Device =
    device("tel", Place::Silent, &["Desk telephone"], &[on("Calls", "VoIP Phone", 5060, Udp)]);
const WORKSTATION: Device = device(
    "ws",
    Place::Discovered,
    &["Workstation", "Workstation, two screens"],
    &[on("Remote desktop", "RDP", 3389, Tcp)],
);
const CAD_WORKSTATION: Device =
    device("ws-cad", Place::Discovered, &["CAD workstation"], &[on("Remote desktop", "RDP", 3389, Tcp)]);
const POWER_SUPPLY: Device = device("ups", Place::Entered, &["Uninterruptible supply, 3 kVA"], &[SNMP, HTTP]);
const BUILDING_CONTROLLER: Device =
    device("bms", Place::Discovered, &["Building controller"], &[on("BACnet", "BACnet", 47_808, Udp)]);

const fn core(stem: &'static str) -> Device {
    const OFFERS: &[Offer] = &[portless("Switching", "Switch"), SSH, SNMP];
    device(stem, Place::Core, &["Core switch with routing, 24 x 10G and 2 x 40G"], OFFERS)
}

/// Returns the devices of a rack by its number at the site.
pub(super) const fn devices(rack_of_site: u64) -> &'static [Device; SLOTS] {
    if rack_of_site.is_multiple_of(RACKS_OF_BLOCK) { &HEAD } else { &RACK }
}

/// The first rack of a block.
static HEAD: [Device; SLOTS] = [
    core("core-a"),
    HYPERVISOR,
    WEB,
    DATABASE,
    CONTAINERS,
    MAIL,
    NAMES,
    device(
        "fw",
        Place::Firewall,
        &["Firewall, cluster member"],
        &[on("Tunnels", "WireGuard", 51_820, Udp), HTTPS, SNMP],
    ),
    STORAGE,
    core("core-b"),
    ACCESS_SWITCH,
    device("rtr", Place::Router, &["Router to the carrier"], &[on("Routing", "BGP", 179, Tcp), SSH, SNMP]),
    ACCESS_POINT,
    PRINTER,
    CAMERA,
    TELEPHONE,
    WORKSTATION,
    POWER_SUPPLY,
    BUILDING_CONTROLLER,
    CAD_WORKSTATION,
];

/// Any other rack.
static RACK: [Device; SLOTS] = [
    ACCESS_SWITCH,
    HYPERVISOR,
    WEB,
    DATABASE,
    CONTAINERS,
    MAIL,
    NAMES,
    device("pdu", Place::Entered, &["Power distribution unit"], &[SNMP, HTTPS]),
    STORAGE,
    ACCESS_POINT,
    device("ap-out", Place::Discovered, &["Outdoor access point"], &[HTTPS]),
    PRINTER,
    CAMERA,
    TELEPHONE,
    WORKSTATION,
    CAD_WORKSTATION,
    device("kiosk", Place::Entered, &["Information screen in the hall"], &[]),
    POWER_SUPPLY,
    BUILDING_CONTROLLER,
    device("mqtt", Place::Discovered, &["Sensor gateway"], &[on("Broker", "MQTT Broker", 1883, Tcp), SSH]),
];
