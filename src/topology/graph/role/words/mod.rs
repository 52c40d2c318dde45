//! Words by which devices reveal their role.

mod products;

use self::products::PRODUCTS;
use super::{RoleReason, RoleSource};
use crate::model::{Host, HostRole};

/// Longest description in bytes that is searched.
const MAX_SEARCHED: usize = 2_000;

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
