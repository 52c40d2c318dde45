//! The titles of columns, in all languages of devices and tools.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

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
    /// The interface in tables of Linux. Beside a column of the interface, it is the device that has the table, or a remark.
    Device,
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
    ("device", Meaning::Device),
    ("vmknic", Meaning::Interface),
    ("port", Meaning::Port),
    ("static", Meaning::Static),
    ("flags", Meaning::Flags),
];

/// The words of the longest title.
const MAX_TITLE_WORDS: usize = 3;
/// The title of MAC addresses in VPP, in lower case. Commands, names and sentences have this word, too, so that it counts between
/// gaps alone.
const TITLE_BETWEEN_GAPS: &str = "ethernet";

/// The titles by their text, and the words that begin them. Most words of other lines begin no title.
struct TitleIndex {
    meanings: HashMap<&'static str, Meaning>,
    first_words: HashSet<&'static str>,
}

static TITLE_INDEX: LazyLock<TitleIndex> = LazyLock::new(|| TitleIndex {
    meanings: TITLES.iter().copied().collect(),
    first_words: TITLES.iter().filter_map(|(title, _)| title.split(' ').next()).collect(),
});

/// Returns the meaning of the name of a field or of a column.
pub(super) fn meaning(title: &str) -> Option<Meaning> {
    TITLE_INDEX.meanings.get(title).copied()
}

/// Returns the meaning of the title that begins the words, and the number of its words.
pub(super) fn title(words: &[Word<'_>]) -> (Meaning, usize) {
    let Some(first) = words.first().map(|word| plain(word.text)) else { return (Meaning::Other, 1) };
    if first == TITLE_BETWEEN_GAPS {
        let is_apart = words.first().is_some_and(|word| word.follows_gap)
            && words.get(1).is_some_and(|word| word.follows_gap);
        if is_apart {
            return (Meaning::MacAddress, 1);
        }
    }
    if !TITLE_INDEX.first_words.contains(first.split(' ').next().unwrap_or("")) {
        return (Meaning::Other, 1);
    }
    // A gap separates titles.
    let joined = words.iter().skip(1).take_while(|word| !word.follows_gap).count() + 1;
    for length in (1..=MAX_TITLE_WORDS.min(joined).min(words.len())).rev() {
        let words = words.get(..length).asserted_or_default();
        let text: Vec<String> = words.iter().map(|word| plain(word.text)).collect();
        if let Some(meaning) = meaning(&text.join(" ")) {
            return (meaning, length);
        }
    }
    (Meaning::Other, 1)
}

/// Returns a word of a title in lower case, without punctuation.
fn plain(word: &str) -> String {
    word.trim_matches([',', ':', '.']).to_lowercase().replace('_', " ")
}
