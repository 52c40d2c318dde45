//! Names of roles, and numbers of devices of a role.

use std::borrow::Cow;

use crate::model::HostRole;
use crate::topology::graph::shape::RoleCount;

/// Returns the role in words, such as `Access point`.
pub(in crate::topology) fn role_name(role: HostRole) -> Cow<'static, str> {
    match role {
        HostRole::Other(role) => capitalized(&role.name().replace('_', " ")).into(),
        known => known_role(known).into(),
    }
}

fn capitalized(text: &str) -> String {
    let mut text = text.to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}

const fn known_role(role: HostRole) -> &'static str {
    match role {
        HostRole::Router => "Router",
        HostRole::Switch => "Switch",
        HostRole::AccessPoint => "Access point",
        HostRole::Firewall => "Firewall",
        HostRole::Server => "Server",
        HostRole::Printer => "Printer",
        HostRole::Phone => "Phone",
        HostRole::Camera => "Camera",
        HostRole::Storage => "Storage",
        HostRole::Hypervisor => "Hypervisor",
        HostRole::Workstation => "Workstation",
        HostRole::Internet => "Internet",
        HostRole::Guest => "Virtual machine",
        HostRole::WirelessController => "Wireless controller",
        HostRole::Ups => "Power supply",
        HostRole::IndustrialController => "Industrial controller",
        HostRole::Media => "Media device",
        HostRole::Iot => "Small device",
        HostRole::Unknown => "Unknown role",
        HostRole::Other(_) => "Other role",
    }
}

/// Returns the number of devices of a role in words, such as `4 printers`.
pub(in crate::topology) fn role_count(of: RoleCount) -> String {
    let one = match of.role {
        HostRole::Unknown => "unknown device".to_owned(),
        HostRole::Internet => "network outside".to_owned(),
        role => role_name(role).to_lowercase(),
    };
    let several = match of.role {
        HostRole::Switch => "switches".to_owned(),
        HostRole::Unknown => "unknown devices".to_owned(),
        HostRole::Internet => "networks outside".to_owned(),
        HostRole::Storage => "storage devices".to_owned(),
        HostRole::Ups => "power supplies".to_owned(),
        _ => format!("{one}s"),
    };
    format!("{} {}", of.count, if of.count == 1 { one } else { several })
}
