//! The titles of columns, as data.

use super::line::Word;

use crate::invariant::Invariant;

/// The meaning of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    IpAddress,
    MacAddress,
    Interface,
    /// The physical port behind a logical interface. It is the interface where there is no other.
    Port,
    Other,
}

/// The titles of columns, in lower case. Titles of several words precede their parts.
const TITLES: &[(&str, Meaning)] = &[
    ("link layer address", Meaning::MacAddress),
    ("hardware address", Meaning::MacAddress),
    ("hardware addr", Meaning::MacAddress),
    ("hw address", Meaning::MacAddress),
    ("hw addr", Meaning::MacAddress),
    ("hwaddress", Meaning::MacAddress),
    ("hwaddr", Meaning::MacAddress),
    ("mac address", Meaning::MacAddress),
    ("mac addr", Meaning::MacAddress),
    ("mac-address", Meaning::MacAddress),
    ("mac-addr", Meaning::MacAddress),
    ("macaddress", Meaning::MacAddress),
    ("mac", Meaning::MacAddress),
    ("physical address", Meaning::MacAddress),
    ("phys addr", Meaning::MacAddress),
    ("linklayer address", Meaning::MacAddress),
    ("linklayer addr", Meaning::MacAddress),
    ("link-layer address", Meaning::MacAddress),
    ("link-layer addr", Meaning::MacAddress),
    ("linklayer", Meaning::MacAddress),
    ("link-layer", Meaning::MacAddress),
    ("ethernet address", Meaning::MacAddress),
    ("ll address", Meaning::MacAddress),
    ("lladdr", Meaning::MacAddress),
    ("internet address", Meaning::IpAddress),
    ("network address", Meaning::IpAddress),
    ("ipv4 address", Meaning::IpAddress),
    ("ipv6 address", Meaning::IpAddress),
    ("ipv6 addr", Meaning::IpAddress),
    ("ip address", Meaning::IpAddress),
    ("ip addr", Meaning::IpAddress),
    ("ip-address", Meaning::IpAddress),
    ("ipaddress", Meaning::IpAddress),
    ("address", Meaning::IpAddress),
    ("destination", Meaning::IpAddress),
    ("neighbor", Meaning::IpAddress),
    ("host", Meaning::IpAddress),
    ("ip", Meaning::IpAddress),
    ("physical interface", Meaning::Other),
    ("egress interface", Meaning::Other),
    ("physical port", Meaning::Other),
    ("vlan/vsi name", Meaning::Other),
    ("vlan id", Meaning::Other),
    ("vlan name", Meaning::Other),
    ("l3 interface", Meaning::Interface),
    ("interface name", Meaning::Interface),
    ("interface/link id", Meaning::Interface),
    ("interface", Meaning::Interface),
    ("iface", Meaning::Interface),
    ("netif", Meaning::Interface),
    ("intf", Meaning::Interface),
    ("device", Meaning::Interface),
    ("port", Meaning::Port),
];

/// The words of the longest title.
const LONGEST_TITLE: usize = 3;

/// Returns what a name of a field or of a column means.
pub(super) fn meaning(title: &str) -> Option<Meaning> {
    TITLES.iter().find(|(known, _)| *known == title).map(|(_, meaning)| *meaning)
}

/// Returns the meaning of the title that begins the words, and the number of its words.
pub(super) fn title(words: &[Word<'_>]) -> (Meaning, usize) {
    for length in (1..=LONGEST_TITLE.min(words.len())).rev() {
        let words = words.get(..length).asserted_or_default();
        let text: Vec<&str> = words.iter().map(|word| word.text.trim_matches([',', ':', '.'])).collect();
        if let Some(meaning) = meaning(&text.join(" ").to_ascii_lowercase()) {
            return (meaning, length);
        }
    }
    (Meaning::Other, 1)
}
