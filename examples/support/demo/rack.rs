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
    /// The switch to which all other devices are connected.
    Switch,
    /// The machine that runs the virtual machines.
    Hypervisor,
    /// A virtual machine.
    Guest,
    /// Any other device, discovered by a daemon.
    Discovered,
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

pub(super) const SWITCH_SLOT: u64 = 0;
pub(super) const HYPERVISOR_SLOT: u64 = 1;

pub(super) const RACK: [Device; 20] = [
    device(
        "sw",
        Place::Switch,
        &["24-port access switch, fanless", "24-port access switch with PoE+, firmware 17.9.4"],
        &[portless("Switching", "Switch"), SSH, SNMP, HTTPS],
    ),
    device(
        "pve",
        Place::Hypervisor,
        &["Virtualization host, 64 cores, 512 GB", "Virtualization host, 32 cores, 256 GB"],
        &[on("Proxmox VE", "Proxmox VE", 8006, Tcp), SSH, SNMP],
    ),
    device("web", Place::Guest, &["Debian GNU/Linux 13"], &[on("nginx", "Nginx", 80, Tcp), HTTPS, SSH]),
    device("db", Place::Guest, &["Debian GNU/Linux 13"], &[on("Database", "PostgreSQL", 5432, Tcp), SSH]),
    device(
        "apps",
        Place::Guest,
        &["Container host, Debian GNU/Linux 13"],
        &[
            on("Docker", "Docker", 2376, Tcp),
            container("Cache", "Redis", 6379),
            container("Dashboards", "Grafana", 3000),
            SSH,
        ],
    ),
    device("mail", Place::Guest, &["Mail relay", "Mail server"], &[on("SMTP", "Mail Server", 25, Tcp), SSH]),
    device(
        "ns",
        Place::Guest,
        &["Resolver and DHCP server"],
        &[on("Names", "DNS Server", 53, Udp), on("Leases", "DHCP Server", 67, Udp), SSH],
    ),
    device(
        "fw",
        Place::Entered,
        &["Firewall, cluster member"],
        &[on("Tunnels", "WireGuard", 51_820, Udp), HTTPS, SNMP],
    ),
    device("nas", Place::Discovered, &["Storage, 8 bays"], &[on("Files", "Samba", 445, Tcp), HTTPS, SNMP]),
    device("ap", Place::Discovered, &["Access point, Wi-Fi 6E", "Access point, Wi-Fi 7"], &[HTTPS, SSH]),
    device("ap-out", Place::Discovered, &["Outdoor access point"], &[HTTPS]),
    device(
        "prn",
        Place::Discovered,
        &["Colour laser printer, A3", "Monochrome laser printer", "Label printer"],
        &[on("Raw printing", "Print Server", 9100, Tcp), on("IPP", "Print Server", 631, Tcp), HTTP],
    ),
    device("cam", Place::Discovered, &["Dome camera, 4K"], &[on("Stream", "IP Camera", 554, Tcp), HTTP]),
    device("tel", Place::Discovered, &["Desk telephone"], &[on("Calls", "VoIP Phone", 5060, Udp)]),
    device(
        "ws",
        Place::Discovered,
        &["Workstation", "Workstation, two screens"],
        &[on("Remote desktop", "RDP", 3389, Tcp)],
    ),
    device("ws-cad", Place::Discovered, &["CAD workstation"], &[on("Remote desktop", "RDP", 3389, Tcp)]),
    device("kiosk", Place::Entered, &["Information screen in the hall"], &[]),
    device("ups", Place::Entered, &["Uninterruptible supply, 3 kVA"], &[SNMP, HTTP]),
    device("bms", Place::Discovered, &["Building controller"], &[on("BACnet", "BACnet", 47_808, Udp)]),
    device("mqtt", Place::Discovered, &["Sensor gateway"], &[on("Broker", "MQTT Broker", 1883, Tcp), SSH]),
];
