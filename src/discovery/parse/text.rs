//! Conversion of the bytes that devices send.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::discovery::report::Capability;
use crate::invariant::Invariant;
use crate::model::{LldpChassisId, LldpChassisIdSubtype, LldpPortId, LldpPortIdSubtype, MacAddress};

/// Converts text without the NUL bytes at its ends, with which some devices pad it.
///
/// Bytes that are not UTF-8 are taken for ISO 8859-1, which loses none.
pub(super) fn text(bytes: &[u8]) -> String {
    let bytes = unpadded(bytes);
    str::from_utf8(bytes).map_or_else(|_| bytes.iter().copied().map(char::from).collect(), str::to_owned)
}

/// Removes NUL bytes from both ends.
fn unpadded(bytes: &[u8]) -> &[u8] {
    let Some(first) = bytes.iter().position(|byte| *byte != 0) else { return &[] };
    let last = bytes.iter().rposition(|byte| *byte != 0).unwrap_or(first);
    bytes.get(first..=last).asserted_or_default()
}

/// Converts text without surrounding white space and NUL. Returns `None` if nothing is left.
pub(super) fn trimmed(bytes: &[u8]) -> Option<String> {
    let text = text(bytes);
    let trimmed = text.trim_matches(|character: char| character.is_whitespace() || character == '\0');
    (!trimmed.is_empty()).then(|| trimmed.to_owned())
}

/// Converts text, as [`text`] does. Returns `None` if nothing is left.
pub(super) fn non_empty(bytes: &[u8]) -> Option<String> {
    Some(text(bytes)).filter(|text| !text.is_empty())
}

/// Reads a number that was sent as text. Only digits may follow a sign; white space and NUL surround them.
pub(super) fn number(bytes: &[u8]) -> Option<i64> {
    let digits = unpadded(bytes).trim_ascii();
    let is_number = matches!(digits.first(), Some(b'-' | b'0'..=b'9'));
    is_number.then(|| str::from_utf8(digits).ok()?.parse().ok()).flatten()
}

/// Reads pairs of hexadecimal digits without separators. A single digit at the end is a byte.
pub(super) fn hex_digits(digits: &[u8]) -> Option<Vec<u8>> {
    let digits = digits.trim_ascii();
    let digits = digits.strip_prefix(b"0x").unwrap_or(digits);
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let pairs = digits.chunks(2);
    pairs.map(|pair| str::from_utf8(pair).ok().and_then(|pair| u8::from_str_radix(pair, 16).ok())).collect()
}

/// Returns whether bytes state nothing: zeros and blanks, with which some agents fill what they do not know.
pub(super) fn is_blank(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0 || byte.is_ascii_whitespace())
}

/// Converts a MAC address: 6, 8 or 20 bytes, or the text of one. Zeros and blanks alone are none.
pub(super) fn mac(bytes: &[u8]) -> Option<MacAddress> {
    if is_blank(bytes) {
        return None;
    }
    let address = match MacAddress::try_from(bytes) {
        Ok(address) => address,
        Err(_) => mac_text(str::from_utf8(bytes).ok()?)?,
    };
    (!address.is_zero()).then_some(address)
}

/// Reads a MAC address in any usual form: `0:1b:21:3c:4d:5e`, `00-1b-21-3c-4d-5e`, `001b.213c.4d5e`, `001b213c4d5e`.
pub(super) fn mac_text(text: &str) -> Option<MacAddress> {
    let text = text.trim();
    let text = text.strip_prefix("0x").unwrap_or(text);
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    if text.len() > 17 {
        return None;
    }
    let (separator, length) = match text.chars().find(|character| matches!(character, '.' | ' ')) {
        Some('.') => ('.', 3),
        Some(space) => (space, 6),
        None => (':', 6),
    };
    let groups = || text.split(separator);
    let width = 12 / length;
    if groups().count() != length || groups().any(|group| group.is_empty() || group.len() > width) {
        return None;
    }
    if length == 3 && groups().any(|group| group.len() != width) {
        return None;
    }
    let padded: String = groups().map(|group| format!("{group:0>width$}")).collect();
    padded.parse().ok()
}

/// Converts the arcs of an index that are bytes of a MAC address.
pub(super) fn mac_of_arcs(arcs: &[u64]) -> Option<MacAddress> {
    let octets: [u8; 6] = octets(arcs)?.try_into().ok()?;
    Some(MacAddress::new(octets))
}

/// Converts arcs to bytes.
pub(super) fn octets(arcs: &[u64]) -> Option<Vec<u8>> {
    arcs.iter().map(|arc| u8::try_from(*arc).ok()).collect()
}

/// Converts the 4 or 16 bytes of an IP address, or its text.
pub(super) fn ip(bytes: &[u8]) -> Option<IpAddr> {
    if let Ok(octets) = <[u8; 4]>::try_from(bytes) {
        return Some(Ipv4Addr::from(octets).into());
    }
    let by_octets = <[u8; 16]>::try_from(bytes).ok().map(|octets| Ipv6Addr::from(octets).into());
    by_octets.or_else(|| str::from_utf8(bytes).ok()?.trim_matches([' ', '\0']).parse().ok())
}

/// Converts an `InetAddress` of an index: type, length, bytes. A zone index at its end is dropped.
///
/// Returns the address and the arcs behind it.
pub(super) fn inet_address(arcs: &[u64]) -> Option<(IpAddr, &[u64])> {
    let [kind, length, rest @ ..] = arcs else { return None };
    let (address, rest) = rest.split_at_checked(usize::try_from(*length).ok()?)?;
    let length = match (kind, address.len()) {
        (1, 4) | (3, 8) => 4,
        (2, 16) | (4, 20) => 16,
        _ => return None,
    };
    Some((ip(&octets(address.get(..length)?)?)?, rest))
}

/// Converts an index that is an `InetAddress`, also in the forms of agents that do not follow the MIB.
///
/// They leave out the length, append a zone to an address that has none, send the zone as one arc, or send the text of the
/// address.
pub(super) fn inet_address_index(arcs: &[u64]) -> Option<IpAddr> {
    if let Some((address, [])) = inet_address(arcs) {
        return Some(address);
    }
    let [kind, rest @ ..] = arcs else { return None };
    let (length, longest) = match kind {
        1 | 3 => (4, 8),
        2 | 4 => (16, 20),
        _ => return None,
    };
    if rest.len() == length || rest.len() == longest || zone_arc(arcs).is_some() {
        return ip(&octets(rest.get(..length)?)?);
    }
    let [length, characters @ ..] = rest else { return None };
    if *length != characters.len() as u64 {
        return None;
    }
    address_text(characters)
}

/// Returns the zone of an IPv6 address whose index has it as one arc, and no length before the address.
pub(super) fn zone_arc(arcs: &[u64]) -> Option<u64> {
    // The length of an address, where there is one.
    let [4, first, .., zone] = arcs else { return None };
    (arcs.len() == 18 && *first != 16).then_some(*zone)
}

/// Converts the characters of an address.
pub(super) fn address_text(characters: &[u64]) -> Option<IpAddr> {
    let characters = octets(characters)?;
    str::from_utf8(&characters).ok()?.trim().parse().ok()
}

/// Finds the 4 bytes of an IPv4 address in an index that has more arcs than the MIB says.
///
/// The arc before the address is its type or length, and the one behind it has no meaning.
pub(super) fn ipv4_in_index(arcs: &[u64]) -> Option<IpAddr> {
    let arcs = match arcs {
        [_, _, _, _] => arcs,
        [1 | 4, rest @ ..] if matches!(rest.len(), 4 | 5) => rest,
        [_, _, _, _, _] => arcs,
        _ => return None,
    };
    ip(&octets(arcs.get(..4)?)?)
}

/// Finds the 6 bytes of a MAC address in an index that has more arcs than the MIB says.
///
/// The address follows its length, or it stands at the beginning or at the end.
pub(super) fn mac_in_index(arcs: &[u64]) -> Option<MacAddress> {
    if arcs.len() < 6 || arcs.len() > 16 {
        return None;
    }
    let behind_length = arcs.strip_prefix(&[6]).and_then(|rest| rest.get(..6));
    let places = [behind_length, arcs.get(..6), arcs.get(arcs.len() - 6..)];
    places.into_iter().flatten().find_map(mac_of_arcs).filter(|address| !address.is_zero())
}

/// Converts a chassis id. MAC and network addresses get their usual form, regardless of the subtype that the device
/// declares.
pub(super) fn chassis_id(subtype: i64, bytes: &[u8]) -> Option<LldpChassisId> {
    let subtype = match subtype {
        1 => LldpChassisIdSubtype::ChassisComponent,
        2 => LldpChassisIdSubtype::InterfaceAlias,
        3 => LldpChassisIdSubtype::PortComponent,
        4 => LldpChassisIdSubtype::MacAddress,
        5 => LldpChassisIdSubtype::NetworkAddress,
        6 => LldpChassisIdSubtype::InterfaceName,
        7 => LldpChassisIdSubtype::LocallyAssigned,
        _ => return None,
    };
    let is_mac = subtype == LldpChassisIdSubtype::MacAddress;
    let value = identifier(bytes, is_mac, subtype == LldpChassisIdSubtype::NetworkAddress)?;
    Some(LldpChassisId { subtype, value })
}

/// Returns the id that identifies a neighbor.
///
/// A phone states an unspecified address as long as it has none. The MAC address of its port is its own.
pub(super) fn device_id(chassis: LldpChassisId, port: Option<&LldpPortId>) -> Option<LldpChassisId> {
    let is_unspecified = chassis.subtype == LldpChassisIdSubtype::NetworkAddress
        && chassis.value.parse().is_ok_and(|address: IpAddr| address.is_unspecified());
    if !is_unspecified {
        return Some(chassis);
    }
    let port = port.filter(|port| port.subtype == LldpPortIdSubtype::MacAddress)?;
    Some(LldpChassisId { subtype: LldpChassisIdSubtype::MacAddress, value: port.value.clone() })
}

/// Converts a port id, like [`chassis_id`]. Some agents send the reserved subtype 0.
pub(super) fn port_id(subtype: i64, bytes: &[u8]) -> Option<LldpPortId> {
    let subtype = match subtype {
        1 => LldpPortIdSubtype::InterfaceAlias,
        2 => LldpPortIdSubtype::PortComponent,
        3 => LldpPortIdSubtype::MacAddress,
        4 => LldpPortIdSubtype::NetworkAddress,
        5 => LldpPortIdSubtype::InterfaceName,
        6 => LldpPortIdSubtype::AgentCircuitId,
        0 | 7 => LldpPortIdSubtype::LocallyAssigned,
        _ => return None,
    };
    let is_mac = subtype == LldpPortIdSubtype::MacAddress;
    let value = identifier(bytes, is_mac, subtype == LldpPortIdSubtype::NetworkAddress)?;
    Some(LldpPortId { subtype, value })
}

fn identifier(bytes: &[u8], is_mac: bool, is_network_address: bool) -> Option<String> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return None;
    }
    if is_network_address && let Some(address) = network_address(bytes) {
        return Some(address.to_string());
    }
    let is_text = str::from_utf8(bytes).is_ok_and(|text| !text.chars().all(char::is_control))
        && !bytes.iter().any(|byte| byte.is_ascii_control() && !matches!(byte, 0 | b'\t' | b'\n' | b'\r'));
    if (is_mac || (bytes.len() == 6 && !is_text))
        && let Some(address) = mac(bytes)
    {
        return Some(address.to_string());
    }
    if is_text && !is_mac {
        return trimmed(bytes);
    }
    if is_text && bytes.len() != 6 {
        return trimmed(bytes);
    }
    Some(hex(bytes))
}

/// Reads the family of IANA's address family numbers, followed by the address.
fn network_address(bytes: &[u8]) -> Option<IpAddr> {
    match bytes {
        [1, address @ ..] if address.len() == 4 => ip(address),
        [2, address @ ..] if address.len() == 16 => ip(address),
        // Some agents send text, and some leave the family out.
        _ => {
            let text = str::from_utf8(bytes).ok();
            let address = text.and_then(|text| text.trim_matches([' ', '\0']).parse().ok());
            address.or_else(|| ip(bytes).filter(|_| !bytes.iter().all(u8::is_ascii_graphic)))
        }
    }
}

/// Writes bytes as hexadecimal digits with colons.
pub(super) fn hex(bytes: &[u8]) -> String {
    let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    digits.join(":")
}

/// Converts the bits of `LldpSystemCapabilitiesMap`, or their text.
pub(super) fn capabilities(bytes: &[u8]) -> Vec<Capability> {
    let first = first_of_text(bytes).or_else(|| bytes.first().copied()).unwrap_or(0);
    let all = Capability::ALL.iter().copied().enumerate();
    all.filter(|(bit, _)| first & (0x80 >> bit) != 0).map(|(_, capability)| capability).collect()
}

/// Returns the first byte of bits in the text of net-snmp, such as `28 2 4`: hexadecimal bytes, then the numbers of the bits that
/// are set. Recordings have it in place of the bits.
fn first_of_text(bytes: &[u8]) -> Option<u8> {
    let mut words = bytes.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let first = words.next().filter(|word| word.len() == 2)?;
    let is_number = |word: &[u8]| word.len() <= 2 && word.iter().all(u8::is_ascii_hexdigit);
    let mut rest = words.peekable();
    // Two bytes without more may be bits, unless they would be the ones of no capability.
    if (rest.peek().is_none() && first != b"00") || !rest.all(is_number) {
        return None;
    }
    u8::from_str_radix(str::from_utf8(first).ok()?, 16).ok()
}
