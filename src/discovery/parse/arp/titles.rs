//! The titles of columns, in all languages of devices and tools.

use super::line::Word;
use crate::invariant::Invariant;

/// The meaning of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    IpAddress,
    MacAddress,
    Interface,
    /// The interface behind the name of its virtual router and a slash.
    RoutedInterface,
    IfIndex,
    /// The physical port behind a logical interface. It is the interface where there is no other.
    Port,
    /// The VLAN. Its name is that of the interface where there is no other.
    Vlan,
    /// `yes` for static entries.
    Static,
    /// The flags of an entry. Those of `/proc/net/arp` are a number.
    Flags,
    /// The MAC address in entries of other tables, which no neighbor table calls so.
    OtherMacAddress,
    Other,
}

/// The titles of columns, in lower case. Titles of several words precede their parts.
///
/// The tools of Linux translate theirs.
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
    ("lladr(mac)", Meaning::MacAddress),
    ("lladdr(mac)", Meaning::MacAddress),
    ("hardware", Meaning::MacAddress),
    ("physical address", Meaning::MacAddress),
    ("phys addr", Meaning::MacAddress),
    ("linklayer address", Meaning::MacAddress),
    ("linklayer addr", Meaning::MacAddress),
    ("link-layer address", Meaning::MacAddress),
    ("link-layer addr", Meaning::MacAddress),
    ("linklayeraddress", Meaning::MacAddress),
    ("linklayer", Meaning::MacAddress),
    ("link-layer add", Meaning::MacAddress),
    ("link-layer", Meaning::MacAddress),
    ("ethernet address", Meaning::MacAddress),
    ("ethernet", Meaning::MacAddress),
    ("ll address", Meaning::MacAddress),
    ("lladdr", Meaning::MacAddress),
    ("hardware-adresse", Meaning::MacAddress),
    ("adressemat", Meaning::MacAddress),
    ("direcciónhw", Meaning::MacAddress),
    ("indirizzohw", Meaning::MacAddress),
    ("endereçohw", Meaning::MacAddress),
    ("client-id", Meaning::OtherMacAddress),
    ("router-mac", Meaning::OtherMacAddress),
    ("rmac/num rts", Meaning::OtherMacAddress),
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
    ("adresse", Meaning::IpAddress),
    ("dirección", Meaning::IpAddress),
    ("indirizzo", Meaning::IpAddress),
    ("endereço", Meaning::IpAddress),
    ("destination", Meaning::IpAddress),
    ("neighbor", Meaning::IpAddress),
    ("host", Meaning::IpAddress),
    ("peer-ip", Meaning::IpAddress),
    ("ip/ipv6", Meaning::IpAddress),
    ("ip", Meaning::IpAddress),
    ("ip4", Meaning::IpAddress),
    ("ip6", Meaning::IpAddress),
    ("physical interface", Meaning::Other),
    ("egress interface", Meaning::Other),
    ("physical port", Meaning::Other),
    ("vlan/vsi name", Meaning::Other),
    ("vlan id", Meaning::Other),
    ("vlan name", Meaning::Other),
    ("vlan", Meaning::Vlan),
    ("l3 interface", Meaning::Interface),
    ("if name", Meaning::Interface),
    ("circuit", Meaning::Interface),
    ("vr/interface", Meaning::RoutedInterface),
    ("interface name", Meaning::Interface),
    ("interface/link id", Meaning::Interface),
    ("interfacealias", Meaning::Interface),
    ("interfaceindex", Meaning::IfIndex),
    ("ifindex", Meaning::IfIndex),
    ("interface", Meaning::Interface),
    ("schnittstelle", Meaning::Interface),
    ("interfaz", Meaning::Interface),
    ("iface", Meaning::Interface),
    ("netif", Meaning::Interface),
    ("intf", Meaning::Interface),
    ("device", Meaning::Interface),
    ("vmknic", Meaning::Interface),
    ("port", Meaning::Port),
    ("static", Meaning::Static),
    ("flags", Meaning::Flags),
];

/// The words of the longest title.
const MAX_TITLE_WORDS: usize = 3;

/// Returns the meaning of the name of a field or of a column.
pub(super) fn meaning(title: &str) -> Option<Meaning> {
    TITLES.iter().find(|(known, _)| *known == title).map(|(_, meaning)| *meaning)
}

/// Returns the meaning of the title that begins the words, and the number of its words.
pub(super) fn title(words: &[Word<'_>]) -> (Meaning, usize) {
    // A gap separates titles.
    let joined = words.iter().skip(1).take_while(|word| !word.follows_gap).count() + 1;
    for length in (1..=MAX_TITLE_WORDS.min(joined).min(words.len())).rev() {
        let words = words.get(..length).asserted_or_default();
        let text: Vec<&str> = words.iter().map(|word| word.text.trim_matches([',', ':', '.'])).collect();
        if let Some(meaning) = meaning(&text.join(" ").to_lowercase().replace('_', " ")) {
            return (meaning, length);
        }
    }
    (Meaning::Other, 1)
}
