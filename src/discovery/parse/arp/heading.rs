//! The heading of a table with the titles of its columns, and the cells of a line below it.

use super::line::{Anchors, Word};
use crate::invariant::Invariant;

/// The difference between the places of a title and its values with which a line still counts as aligned.
const TOLERANCE: usize = 3;
/// Values that stand for none.
const EMPTY: &[&str] = &["-", "--", "---", "n/a", "none", "*"];
/// Words of other columns.
const OTHERS: &[&str] = &[
    "arpa",
    "snap",
    "ether",
    "ethernet",
    "dynamic",
    "dyn",
    "static",
    "alias",
    "local",
    "permanent",
    "valid",
    "complete",
    "resolved",
];

/// The columns of a table.
#[derive(Clone, Debug)]
pub(super) struct Heading {
    columns: Vec<(Meaning, usize)>,
    ip: usize,
    mac: usize,
    interface: Option<usize>,
    if_index: Option<usize>,
}

impl Heading {
    /// Reads a heading. `None` if the words do not name the columns of both addresses.
    pub(super) fn read(words: &[Word<'_>]) -> Option<Self> {
        let mut columns: Vec<(Meaning, usize)> = Vec::new();
        let mut rest = words;
        while let Some(first) = rest.first() {
            // A unit such as `(min)` belongs to the title before it.
            if first.text.starts_with('(') && !columns.is_empty() {
                rest = rest.get(1..).asserted_or_default();
                continue;
            }
            let (meaning, length) = title(rest);
            columns.push((meaning, first.start));
            rest = rest.get(length..).asserted_or_default();
        }
        let place = |wanted| columns.iter().position(|(meaning, _)| *meaning == wanted);
        let (ip, mac) = (place(Meaning::IpAddress)?, place(Meaning::MacAddress)?);
        let interface = place(Meaning::Interface).or_else(|| place(Meaning::Port));
        Some(Self { ip, mac, interface, if_index: place(Meaning::IfIndex), columns })
    }

    /// Returns the interface of a line below the heading.
    pub(super) fn interface(&self, words: &[Word<'_>], anchors: Anchors) -> Option<String> {
        self.side(self.interface?, words, anchors)?.interface()
    }

    /// Returns the index of the interface of a line below the heading.
    pub(super) fn if_index(&self, words: &[Word<'_>], anchors: Anchors) -> Option<i64> {
        self.side(self.if_index?, words, anchors)?.cell()?.parse().ok().filter(|index| *index > 0)
    }

    /// Returns the columns and words of the side of both addresses that has a column.
    fn side<'h, 'l>(
        &'h self,
        wanted: usize,
        words: &'h [Word<'l>],
        anchors: Anchors,
    ) -> Option<Side<'h, 'l>> {
        let columns = Anchors { ip: self.ip, mac: self.mac };
        if columns.is_ip_first() != anchors.is_ip_first() {
            return None;
        }
        let ((first, last), (first_word, last_word)) = (columns.ordered(), anchors.ordered());
        let (range, range_of_words, (column, word)) = if wanted > last {
            (last + 1..self.columns.len(), last_word + 1..words.len(), (last, last_word))
        } else if wanted < first {
            (0..first, 0..first_word, (first, first_word))
        } else {
            (first + 1..last, first_word + 1..last_word, (first, first_word))
        };
        let (_, start) = self.columns.get(column)?;
        Some(Side {
            wanted: wanted.checked_sub(range.start)?,
            is_aligned: words.get(word)?.start.abs_diff(*start) <= TOLERANCE,
            columns: self.columns.get(range)?,
            words: words.get(range_of_words)?,
        })
    }
}

/// The columns and the words of a line before, between or behind the addresses.
struct Side<'h, 'l> {
    columns: &'h [(Meaning, usize)],
    words: &'h [Word<'l>],
    /// Whether the address beside them is below its title.
    is_aligned: bool,
    /// The place of the wanted column among the columns.
    wanted: usize,
}

impl Side<'_, '_> {
    /// Returns the cell of the interface. If each column has a cell, the place of the column decides, and otherwise
    /// the cell below the title. Lines that are not aligned have the interface in the last column, or at its place
    /// among the words.
    fn interface(&self) -> Option<String> {
        let cells = cells(self.words);
        if cells.len() == self.columns.len() {
            return cells.get(self.wanted).and_then(|cell| interface_name(cell));
        }
        if self.words.len() == self.columns.len() {
            return self.words.get(self.wanted).and_then(|word| interface_name(word.text));
        }
        if self.is_aligned {
            return interface_name(&self.below_title()?);
        }
        let is_last = self.wanted + 1 == self.columns.len();
        let word = if is_last { self.words.last() } else { self.words.get(self.wanted) };
        word.and_then(|word| undeclared_interface(word.text))
    }

    /// Returns the cell of the column. If each column has a cell, the place of the column decides, and otherwise the
    /// cell below the title.
    fn cell(&self) -> Option<String> {
        let mut cells = cells(self.words);
        if cells.len() == self.columns.len() {
            return (self.wanted < cells.len()).then(|| cells.swap_remove(self.wanted));
        }
        if self.words.len() == self.columns.len() {
            return self.words.get(self.wanted).map(|word| word.text.to_owned());
        }
        if self.is_aligned { self.below_title() } else { None }
    }

    fn below_title(&self) -> Option<String> {
        let start_of = |place: usize| self.columns.get(place).map(|(_, start)| *start);
        let (start, end) = (start_of(self.wanted)?, start_of(self.wanted + 1).unwrap_or(usize::MAX));
        // Values may begin one character before their title.
        let cell = self.words.iter().filter(|word| (start..end).contains(&(word.start + 1)));
        let cell: Vec<&str> = cell.map(|word| word.text).collect();
        Some(cell.join(" "))
    }
}

/// Joins words with a single space between them.
fn cells(words: &[Word<'_>]) -> Vec<String> {
    let mut cells: Vec<String> = Vec::new();
    for word in words {
        match cells.last_mut().filter(|_| !word.follows_gap) {
            Some(cell) => {
                cell.push(' ');
                cell.push_str(word.text);
            }
            None => cells.push(word.text.to_owned()),
        }
    }
    cells
}

/// Returns the name of an interface. Where a port follows a comma or stands in brackets, the interface is the logical
/// one before it.
pub(super) fn interface_name(cell: &str) -> Option<String> {
    let name = cell.split(',').next()?.trim();
    let name = name.split_once(" [").map_or(name, |(logical, _)| logical);
    let is_none = name.is_empty() || EMPTY.iter().any(|empty| name.eq_ignore_ascii_case(empty));
    (!is_none).then(|| name.to_owned())
}

/// Returns a word of an unnamed column as an interface name, unless it is a state, a type or a number.
pub(super) fn undeclared_interface(word: &str) -> Option<String> {
    let name = interface_name(word)?;
    let is_other = OTHERS.iter().any(|other| name.eq_ignore_ascii_case(other))
        || super::line::state(&name).is_some()
        || !name.chars().any(char::is_alphabetic);
    (!is_other).then_some(name)
}

/// The meaning of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    IpAddress,
    MacAddress,
    Interface,
    IfIndex,
    /// The physical port behind a logical interface. It is the interface where there is no other.
    Port,
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
    ("physical address", Meaning::MacAddress),
    ("phys addr", Meaning::MacAddress),
    ("linklayer address", Meaning::MacAddress),
    ("linklayer addr", Meaning::MacAddress),
    ("link-layer address", Meaning::MacAddress),
    ("link-layer addr", Meaning::MacAddress),
    ("linklayeraddress", Meaning::MacAddress),
    ("linklayer", Meaning::MacAddress),
    ("link-layer", Meaning::MacAddress),
    ("ethernet address", Meaning::MacAddress),
    ("ll address", Meaning::MacAddress),
    ("lladdr", Meaning::MacAddress),
    ("hardware-adresse", Meaning::MacAddress),
    ("adressemat", Meaning::MacAddress),
    ("direcciónhw", Meaning::MacAddress),
    ("indirizzohw", Meaning::MacAddress),
    ("endereçohw", Meaning::MacAddress),
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
    ("port", Meaning::Port),
];

/// The words of the longest title.
const MAX_TITLE_WORDS: usize = 3;

/// Returns the meaning of the name of a field or of a column.
pub(super) fn meaning(title: &str) -> Option<Meaning> {
    TITLES.iter().find(|(known, _)| *known == title).map(|(_, meaning)| *meaning)
}

/// Returns the meaning of the title that begins the words, and the number of its words.
pub(super) fn title(words: &[Word<'_>]) -> (Meaning, usize) {
    for length in (1..=MAX_TITLE_WORDS.min(words.len())).rev() {
        let words = words.get(..length).asserted_or_default();
        let text: Vec<&str> = words.iter().map(|word| word.text.trim_matches([',', ':', '.'])).collect();
        if let Some(meaning) = meaning(&text.join(" ").to_lowercase()) {
            return (meaning, length);
        }
    }
    (Meaning::Other, 1)
}
