//! Words by which devices reveal their role.

use super::{RoleReason, RoleSource};
use crate::model::{Host, HostRole};

/// Longest description in bytes that is searched.
const MAX_SEARCHED: usize = 2_000;

/// Words in descriptions and models. The first that occurs decides, so that products precede their operating systems.
const PRODUCTS: &[(HostRole, &[&str])] = &[
    // First, because of descriptions such as "switched rack PDU".
    (
        HostRole::Ups,
        &["pdu", "ups", "power distribution", "switched rack", "uninterruptible", "smart-ups", "symmetra"],
    ),
    (
        HostRole::Firewall,
        &[
            "firewall",
            "fortigate",
            "adaptive security appliance",
            "pan-os",
            "palo alto networks",
            "opnsense",
            "pfsense",
            "sonicwall",
            "check point",
            "gaia",
            "netscreen",
            "srx",
            "watchguard",
            "fireware",
            "sophos utm",
            "sophos xg",
            "zywall",
            "usg flex",
            "stormshield",
            "forcepoint",
            "firepower",
            "sidewinder",
        ],
    ),
    (
        HostRole::WirelessController,
        &[
            "wireless controller",
            "wireless lan controller",
            "wlan controller",
            "mobility controller",
            "air-ct",
            "air-wlc",
            "c9800",
            "zonedirector",
            "smartzone",
        ],
    ),
    (
        HostRole::IndustrialController,
        &[
            "simatic",
            "s7-1200",
            "s7-1500",
            "s7-300",
            "s7-400",
            "plc",
            "programmable logic controller",
            "modicon",
            "controllogix",
            "compactlogix",
            "micrologix",
            "wago 750",
            "beckhoff cx",
            "codesys",
        ],
    ),
    (
        HostRole::Hypervisor,
        &[
            "vmware esx",
            "esxi",
            "proxmox",
            "pve",
            "hyper-v",
            "xenserver",
            "xcp-ng",
            "citrix hypervisor",
            "nutanix",
            "ovirt",
        ],
    ),
    (
        HostRole::Printer,
        &[
            "printer",
            "laserjet",
            "officejet",
            "jetdirect",
            "deskjet",
            "pagewide",
            "bizhub",
            "kyocera",
            "ecosys",
            "xerox",
            "lexmark",
            "ricoh",
            "aficio",
            "brother",
            "imagerunner",
            "ir-adv",
            "toshiba tec",
            "apeosport",
            "workforce",
            "zebranet",
            "canon mf",
            "canon lbp",
            "konica",
            "oki data",
        ],
    ),
    (
        HostRole::Camera,
        &["network camera", "ip camera", "dome camera", "ptz", "hikvision", "dahua", "camera", "mobotix"],
    ),
    (
        HostRole::Phone,
        &[
            "ip phone",
            "telephone",
            "yealink",
            "snom",
            "polycom",
            "cisco ip phone",
            "grandstream gxp",
            "mitel ip",
            "voip phone",
        ],
    ),
    (
        HostRole::AccessPoint,
        &[
            "access point",
            "aironet",
            "uap",
            "cloud managed ap",
            "wap",
            "hiveap",
            "air-cap",
            "air-ap",
            "air-lap",
            "cnpilot",
            "nanostation",
            "wireless ap",
            "ruckus zf",
            "unifi ap",
            "lancom oap",
        ],
    ),
    (
        HostRole::Storage,
        &[
            "synology",
            "diskstation",
            "qnap",
            "netapp",
            "truenas",
            "freenas",
            "equallogic",
            "isilon",
            "data domain",
            "storeonce",
            "powervault",
            "nimble",
            "3par",
            "storwize",
            "readynas",
            "nas",
            "san storage",
            "pure storage",
        ],
    ),
    (
        HostRole::Media,
        &[
            "chromecast",
            "apple tv",
            "android tv",
            "fire tv",
            "smart tv",
            "samsung tv",
            "webos tv",
            "roku",
            "sonos",
            "media player",
            "set-top box",
            "audiocodes mp",
        ],
    ),
    (
        HostRole::Iot,
        &[
            "esphome",
            "tasmota",
            "shelly",
            "esp8266",
            "esp32",
            "philips hue",
            "smart plug",
            "thermostat",
            "netbotz",
            "temperature sensor",
        ],
    ),
    (
        HostRole::Switch,
        &[
            "ws-c",
            "switch",
            "switching",
            "catalyst",
            "cat3k",
            "cat4500",
            "cat9k",
            "c2900xl",
            "c2950",
            "c2960",
            "c2960s",
            "c2960x",
            "c3500xl",
            "c3550",
            "c3560",
            "c3560e",
            "c3750",
            "c3750e",
            "c3850",
            "nexus",
            "nx-os",
            "procurve",
            "powerconnect",
            "extremexos",
            "exos",
            "arista",
            "edgeswitch",
            "comware",
            "cumulus",
            "icx",
            "fastiron",
            "superstack",
            "summit",
            "fastpath",
            "usw",
            "des",
            "dgs",
            "sonic software",
            "ex2200",
            "ex3300",
            "ex3400",
            "ex4200",
            "ex4300",
            "ex4600",
            "qfx",
            "aos-cx",
            "arubaos-cx",
            "cisco sg",
            "netgear gs",
            "gs108t",
            "os6450",
            "os6860",
            "os6900",
            "mikrotik crs",
            "sgsw",
        ],
    ),
    (
        HostRole::Router,
        &[
            "router",
            "routeros",
            "ios xr",
            "ios-xr",
            "junos",
            "juniper",
            "vyos",
            "edgeos",
            "edgerouter",
            "timos",
            "keeneticos",
            "openwrt",
            "versatile routing platform",
            "cisco ios",
            "internetwork operating system",
            "oneos",
            "netvanta",
            "viptela",
            "lancom",
            "isr",
            "asr",
            "cisco 8",
            "cisco 17",
            "cisco 18",
            "cisco 19",
            "cisco 26",
            "cisco 28",
            "cisco 2901",
            "cisco 2911",
            "cisco 2921",
            "cisco 2951",
            "cisco 382",
            "cisco 384",
            "cisco 392",
            "cisco 394",
        ],
    ),
];

/// Words for operating systems that run on routers and on switches.
const OF_ROUTERS_AND_SWITCHES: &[&str] =
    &["cisco ios", "internetwork operating system", "junos", "juniper", "versatile routing platform"];

/// Words for general-purpose systems, which decide when nothing else does.
const PLATFORMS: &[(HostRole, &[&str])] = &[
    (HostRole::Server, &["windows server", "domain controller", "server 20", "build 3790", "build 6001"]),
    (HostRole::Workstation, &["windows", "darwin", "macos", "mac os", "chromeos"]),
    (
        HostRole::Server,
        &["linux", "freebsd", "openbsd", "netbsd", "sunos", "solaris", "aix", "hp-ux", "server"],
    ),
];

/// Names of services and their definitions.
const SERVICES: &[(HostRole, &[&str])] = &[
    (
        HostRole::Hypervisor,
        &["proxmox", "vmware esxi", "esxi", "hyper-v", "vcenter", "xcp-ng", "xen", "libvirt", "ovirt"],
    ),
    (HostRole::Firewall, &["opnsense", "pfsense", "fortinet", "fortigate", "firewall", "palo alto"]),
    (HostRole::Storage, &["synology", "truenas", "qnap", "nas device", "unraid", "openmediavault", "netapp"]),
    (HostRole::Printer, &["printer", "hp printer", "jetdirect", "cups printer", "print server"]),
    (HostRole::Camera, &["camera", "frigate camera", "rtsp camera", "onvif"]),
    (HostRole::Phone, &["voip phone", "ip phone"]),
    (HostRole::AccessPoint, &["access point", "unifi access point", "eero", "google nest router"]),
    (HostRole::Switch, &["switch"]),
    (HostRole::Router, &["router", "gateway", "mikrotik", "bgpd", "ospfd", "zebra", "fios gateway"]),
];

/// Returns the role that description, manufacturer and model of a device reveal.
pub(super) fn by_description(host: &Host) -> Option<(HostRole, RoleReason)> {
    let text = description(host);
    let (role, word) = find(PRODUCTS, &text)?;
    Some((role, RoleReason::new(RoleSource::Description, word)))
}

/// Returns the role that a neighbor's description of a device reveals, and whether its words are those of products.
pub(super) fn of_description(description: &str) -> Option<(HostRole, RoleReason, bool)> {
    let text = lower(description);
    let of = |table, are_products| {
        let (role, word) = find(table, &text)?;
        let is_specific = are_products && !is_of_routers_and_switches(word);
        Some((role, RoleReason::new(RoleSource::Description, word), is_specific))
    };
    of(PRODUCTS, true).or_else(|| of(PLATFORMS, false))
}

/// Returns whether a word occurs in descriptions of routers and of switches.
pub(super) fn is_of_routers_and_switches(word: &str) -> bool {
    OF_ROUTERS_AND_SWITCHES.contains(&word)
}

/// Returns the role that the operating system suggests.
pub(super) fn by_platform(host: &Host) -> Option<(HostRole, RoleReason)> {
    let text = description(host);
    let (role, word) = find(PLATFORMS, &text)?;
    Some((role, RoleReason::new(RoleSource::Description, word)))
}

/// Returns the role that a service reveals. Definitions at the beginning of the list win over later ones.
pub(super) fn by_service(host: &Host) -> Option<(HostRole, RoleReason)> {
    let own = host.services.iter().filter(|service| service.virtualization.is_none());
    let definitions: Vec<String> = own.map(|service| lower(service.service_definition.as_str())).collect();
    SERVICES.iter().find_map(|&(role, words)| {
        let word = words.iter().find(|word| definitions.iter().any(|name| contains_word(name, word)))?;
        Some((role, RoleReason::new(RoleSource::Service, word)))
    })
}

fn description(host: &Host) -> String {
    let described = host.sys_descr.as_deref().or(host.description.as_deref());
    let parts = [described, host.manufacturer.as_deref(), host.model.as_deref()];
    let mut text = String::new();
    for part in parts.into_iter().flatten() {
        text.push_str(&lower(part));
        text.push(' ');
    }
    text
}

fn lower(text: &str) -> String {
    text.chars().take(MAX_SEARCHED).map(|character| character.to_ascii_lowercase()).collect()
}

fn find(
    table: &'static [(HostRole, &'static [&'static str])],
    text: &str,
) -> Option<(HostRole, &'static str)> {
    table.iter().find_map(|&(role, words)| {
        words.iter().find(|word| contains_word(text, word)).map(|word| (role, *word))
    })
}

/// Returns whether a text contains a word. No letter or digit may precede it, and no letter may follow it.
fn contains_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(start, found)| {
        let before = text.get(..start).and_then(|before| before.chars().next_back());
        let after = text.get(start.saturating_add(found.len())..).and_then(|after| after.chars().next());
        !before.is_some_and(char::is_alphanumeric)
            && !after.is_some_and(|next| next.is_alphabetic() && word.len() < 5)
    })
}
