//! Normalization of names, serial numbers and MAC addresses that devices send.

use std::net::{IpAddr, Ipv4Addr};

use crate::model::MacAddress;

/// Placeholders that vendors send in place of serial numbers or ids, in lower case.
const PLACEHOLDERS: &[&str] = &[
    "",
    "(none)",
    "0123456789",
    "123456789",
    "1234567890",
    "<private>",
    "chassis serial number",
    "default",
    "default string",
    "empty",
    "filled by o.e.m.",
    "invalid",
    "n/a",
    "na",
    "nil",
    "no asset tag",
    "none",
    "not advertised",
    "not applicable",
    "not available",
    "not present",
    "not received",
    "not set",
    "not specified",
    "null",
    "o.e.m.",
    "oem",
    "private",
    "serial",
    "serial number",
    "sn",
    "system serial number",
    "tbd",
    "to be filled",
    "to be filled by o.e.m",
    "to be filled by o.e.m.",
    "undefined",
    "unknown",
    "unspecified",
];

/// Names that many devices have because none has been set, in lower case.
const DEFAULT_NAMES: &[&str] = &[
    "(none)",
    "localhost",
    "localhost.localdomain",
    "localhost6",
    "mikrotik",
    "n/a",
    "no name",
    "noname",
    "none",
    "not advertised",
    "not available",
    "not received",
    "not set",
    "null",
    "openwrt",
    "ubnt",
    "undefined",
    "unknown",
];

/// The names of interfaces that lead to containers and guests of the device itself.
///
/// Every device with the same software has the same addresses on them.
const INTERNAL_INTERFACES: &[&str] =
    &["br-", "cali", "cbr", "cni", "docker", "flannel", "lxcbr", "lxdbr", "podman", "veth", "virbr", "vmnet"];

/// Returns text without surrounding white space and control characters; `None` if nothing is left.
pub(crate) fn trimmed(text: &str) -> Option<&str> {
    let is_blank = |character: char| character.is_whitespace() || character.is_control();
    Some(text.trim_matches(is_blank)).filter(|text| !text.is_empty())
}

/// Returns the text unless it is one that vendors send in place of a value.
pub(super) fn stated(text: &str) -> Option<&str> {
    let text = trimmed(text)?;
    let mut characters = text.chars().filter(|character| character.is_alphanumeric());
    let first = characters.next()?;
    let is_one_repeated = characters.all(|character| character == first);
    let is_placeholder = PLACEHOLDERS.contains(&text.to_lowercase().as_str());
    (!is_placeholder && !is_one_repeated).then_some(text)
}

/// Returns a serial number in upper case, unless it is a placeholder.
pub(super) fn serial_number(text: &str) -> Option<String> {
    stated(text).filter(|text| text.chars().count() >= 4).map(str::to_uppercase)
}

/// Returns a name of a device in lower case. `None` for an address, and for a name that many devices have.
pub(super) fn device_name(text: &str) -> Option<String> {
    let name = trimmed(text)?.trim_end_matches('.').to_lowercase();
    let is_address = name.parse::<IpAddr>().is_ok() || separated_mac(&name).is_some();
    (!name.is_empty() && !is_address && !DEFAULT_NAMES.contains(&name.as_str())).then_some(name)
}

/// Texts that devices show in place of a value that their neighbor does not announce, in lower case.
#[cfg(feature = "topology")]
const NOT_ANNOUNCED: &[&str] = &[
    "(none)",
    "n/a",
    "none",
    "not advertised",
    "not available",
    "not received",
    "not set",
    "not specified",
    "null",
    "undefined",
    "unspecified",
];

/// Returns whether a text stands for a value that was not received.
#[cfg(feature = "topology")]
pub(crate) fn is_placeholder(text: &str) -> bool {
    trimmed(text).is_some_and(|text| NOT_ANNOUNCED.contains(&text.to_lowercase().as_str()))
}

/// Returns whether a name is made of an IPv4 address, such as `dhcp-192-0-2-7` or `7.2.0.192.example.net`.
///
/// Such a name belongs to the address, not to the device that has it.
pub(super) fn is_made_of_address(name: &str) -> bool {
    let is_octet = |group: &&str| group.parse::<u8>().is_ok();
    let groups: Vec<&str> = name
        .split(|character: char| !character.is_ascii_digit())
        .filter(|group| !group.is_empty())
        .take(8)
        .collect();
    groups.windows(4).any(|window| window.iter().all(is_octet))
}

/// Returns the name in a device id of CDP, without the serial number in parentheses.
pub(super) fn cdp_name(device_id: &str) -> Option<String> {
    let text = trimmed(device_id)?;
    let name = match text.rsplit_once('(') {
        Some((name, serial)) if serial.ends_with(')') && !name.is_empty() => name,
        _ => text,
    };
    device_name(name)
}

/// Returns the serial number that follows the name in a device id of CDP.
pub(super) fn cdp_serial_number(device_id: &str) -> Option<String> {
    let (name, serial) = trimmed(device_id)?.strip_suffix(')')?.rsplit_once('(')?;
    if name.is_empty() || cdp_mac(device_id).is_some() { None } else { serial_number(serial) }
}

/// Returns the MAC address in a device id of CDP.
///
/// The id is the address, or has it in parentheses after the name, as in `switch(001b21-3c4d5e)`.
pub(super) fn cdp_mac(device_id: &str) -> Option<MacAddress> {
    let text = trimmed(device_id)?;
    let inner = text.strip_suffix(')').and_then(|text| Some(text.rsplit_once('(')?.1)).unwrap_or(text);
    separated_mac(inner).or_else(|| {
        let (vendor, rest) =
            inner.split_once('-').filter(|(vendor, rest)| vendor.len() == 6 && rest.len() == 6)?;
        format!("{vendor}{rest}").parse().ok()
    })
}

/// Returns a normalized name up to its first dot.
pub(super) fn short_name(name: &str) -> Option<&str> {
    let short = name.split_once('.').map_or(name, |(short, _)| short);
    (!short.is_empty() && !DEFAULT_NAMES.contains(&short)).then_some(short)
}

/// Reads a MAC address with separators, in any usual form.
pub(super) fn separated_mac(text: &str) -> Option<MacAddress> {
    let text = trimmed(text)?;
    let separator = text.chars().find(|character| !character.is_ascii_hexdigit())?;
    let (groups, width, bits) = match separator {
        ':' | '-' | ' ' => (6, 2, 8),
        '.' => (3, 4, 16),
        _ => return None,
    };
    let (mut address, mut count) = (0_u64, 0_u32);
    for group in text.split(separator) {
        let is_hexadecimal = group.bytes().all(|digit| digit.is_ascii_hexdigit());
        if group.len() > width || !is_hexadecimal || count == groups {
            return None;
        }
        address = (address << bits) | u64::from_str_radix(group, 16).ok()?;
        count += 1;
    }
    let [_, _, octets @ ..] = address.to_be_bytes();
    (count == groups).then_some(MacAddress::new(octets))
}

/// Reads a MAC address with or without separators.
pub(super) fn mac(text: &str) -> Option<MacAddress> {
    separated_mac(text).or_else(|| trimmed(text)?.parse().ok())
}

/// Returns whether an address can belong to one port.
///
/// Such an address is neither zero, nor a group address, nor an address of a redundancy protocol.
pub(crate) fn is_own_mac(address: MacAddress) -> bool {
    let is_virtual = match address.octets() {
        // VRRP and CARP over IPv4 and IPv6; HSRP; HSRP over IPv6; GLBP; host-only networks of VMware.
        [0x00, 0x00, 0x5E, 0x00, 0x01 | 0x02, _]
        | [0x00, 0x00, 0x0C, 0x07, 0xAC, _]
        | [0x00, 0x00, 0x0C, 0x9F, 0xF0..=0xFF, _]
        | [0x00, 0x05, 0x73, 0xA0, 0x00..=0x0F, _]
        | [0x00, 0x07, 0xB4, _, _, _]
        | [0x00, 0x50, 0x56, 0xC0, 0x00, 0x01..=0x13] => true,
        // No vendor assigns such addresses. Laboratories number their devices so.
        [0x00, 0x00, 0x00, _, _, _] => true,
        // The tunnels of all Windows hosts have one of these.
        [0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, _] => true,
        _ => address.is_group(),
    };
    !is_virtual && !address.is_zero()
}

/// Returns whether several routers share an address, of which one at a time uses it: that of VRRP, CARP or HSRP.
#[cfg(feature = "topology")]
pub(crate) fn is_router_mac(address: MacAddress) -> bool {
    matches!(
        address.octets(),
        [0x00, 0x00, 0x5E, 0x00, 0x01 | 0x02, _]
            | [0x00, 0x00, 0x0C, 0x07, 0xAC, _]
            | [0x00, 0x00, 0x0C, 0x9F, 0xF0..=0xFF, _]
            | [0x00, 0x05, 0x73, 0xA0, 0x00..=0x0F, _]
    )
}

/// Returns whether an address identifies a device.
///
/// Such an address can belong to one port only, and its vendor has assigned it.
pub(super) fn is_strong_mac(address: MacAddress) -> bool {
    let is_local = match address.octets() {
        // The first byte of an InfiniBand address is part of a number.
        octets if octets.len() == MacAddress::MAX_LENGTH => false,
        octets => octets.first().is_some_and(|first| first & 2 == 2),
    };
    is_own_mac(address) && !is_local
}

/// Returns the address if it can belong to one device.
pub(super) fn own_ip(address: IpAddr) -> Option<IpAddr> {
    let address = address.to_canonical();
    let is_own = match address {
        IpAddr::V4(v4) => {
            !(v4.is_loopback()
                || v4.is_link_local()
                || v4.is_unspecified()
                || v4.is_multicast()
                || v4 == Ipv4Addr::BROADCAST)
                && v4.octets().first() != Some(&0)
        }
        IpAddr::V6(v6) => {
            !(v6.is_loopback() || v6.is_unspecified() || v6.is_multicast() || v6.is_unicast_link_local())
        }
    };
    is_own.then_some(address)
}

/// Returns the address if it is a link-local one of IPv6.
pub(super) fn link_local(address: IpAddr) -> Option<IpAddr> {
    matches!(address, IpAddr::V6(v6) if v6.is_unicast_link_local()).then_some(address)
}

/// Returns whether an interface leads to containers or guests of the device.
pub(super) fn is_internal_interface(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    INTERNAL_INTERFACES.iter().any(|prefix| name.starts_with(prefix))
}
