//! The heading of a table with the titles of its columns, and the cells of a line below it.

use super::addresses::MIN_MAC_ADDRESS;
use super::interface::{interface_name, without_flags};
use super::line::{self, Anchors, Word};
use super::other_tables::starts_with;
use super::side::{LineSide, TOLERANCE, cells};
use super::titles::{Meaning, meaning, title};
use crate::discovery::report::NeighborState;
use crate::invariant::Invariant;

/// The most characters between a full cell and the next column.
const BORDER: usize = 3;
/// Flags of Linux: the MAC address is known, and an entry does not expire.
const IS_COMPLETE: u32 = 0x2;
const IS_PERMANENT: u32 = 0x4;

/// The columns of a table.
#[derive(Clone, Debug)]
pub(super) struct Heading {
    columns: Vec<(Meaning, usize)>,
    ip: usize,
    mac: usize,
    interface: Option<usize>,
    if_index: Option<usize>,
    /// The VLAN, whose name is that of the interface of an entry without a port.
    vlan: Option<usize>,
    is_static: Option<usize>,
    flags: Option<usize>,
    /// Whether the titles and the entries are on two lines each.
    is_wrapped: bool,
}

impl Heading {
    /// Reads a heading. `None` if the words do not name the columns of both addresses.
    pub(super) fn read(words: &[Word<'_>]) -> Option<Self> {
        Self::of_columns(columns(words))
    }

    fn of_columns(columns: Vec<(Meaning, usize)>) -> Option<Self> {
        let place = |wanted| columns.iter().position(|(meaning, _)| *meaning == wanted);
        let ip = place(Meaning::IpAddress)?;
        let mac = place(Meaning::MacAddress).or_else(|| place(Meaning::OtherMacAddress))?;
        let interface = place(Meaning::Interface).or_else(|| place(Meaning::RoutedInterface));
        let interface = interface.or_else(|| place(Meaning::Device)).or_else(|| place(Meaning::Port));
        let vlan = place(Meaning::Vlan);
        let interface = interface.or(vlan);
        let (if_index, is_static, flags) =
            (place(Meaning::IfIndex), place(Meaning::Static), place(Meaning::Flags));
        Some(Self { ip, mac, interface, if_index, vlan, is_static, flags, columns, is_wrapped: false })
    }

    /// Reads titles of which each has its first words above the last one: `IP` above `Address`, and `Sub` above `Interface`.
    pub(super) fn read_stacked(upper: &[Word<'_>], lower: &[Word<'_>]) -> Option<Self> {
        let ends = lower.iter().skip(1).map(|word| word.start).chain(std::iter::once(usize::MAX));
        let column = |(word, end): (&Word<'_>, usize)| {
            let above = upper.iter().filter(|above| (word.start..end).contains(&above.start));
            let words: Vec<&str> = above.chain(std::iter::once(word)).map(|word| word.text).collect();
            (meaning(&words.join(" ").to_lowercase()).unwrap_or(Meaning::Other), word.start)
        };
        let heading = Self::of_columns(lower.iter().zip(ends).map(column).collect())?;
        heading.interface.is_some().then_some(heading)
    }

    /// Reads the heading that a line ends, which may begin on the line before.
    pub(super) fn read_lines(before: Option<&str>, words: &[Word<'_>]) -> Option<Self> {
        let before = || before.map(line::words);
        let wrapped = || Self::read_wrapped(&before()?, words);
        match Self::read(words).or_else(wrapped) {
            // The first word of the interface's title may be above the others.
            Some(heading) if !heading.has_interface() => {
                Some(before().and_then(|before| Self::read_stacked(&before, words)).unwrap_or(heading))
            }
            heading => heading,
        }
    }

    /// Reads a heading whose titles are on two lines. `None` if the second line alone is a heading, too.
    fn read_wrapped(first: &[Word<'_>], second: &[Word<'_>]) -> Option<Self> {
        let words: Vec<Word<'_>> = first.iter().chain(second).copied().collect();
        let heading = Self::read(&words)?;
        // One line has the title of each address.
        let upper = columns(first).len();
        let is_divided = (heading.ip < upper) != (heading.mac < upper);
        // `MAC` above `address` is one title.
        let start = |column: usize| heading.columns.get(column).map(|(_, start)| *start);
        let is_below = |word: &Word<'_>| {
            word.text.eq_ignore_ascii_case("address") && start(heading.mac) == Some(word.start)
        };
        let is_stacked = start(heading.ip) == start(heading.mac) && second.iter().any(is_below);
        (is_divided && !is_stacked).then_some(Self { is_wrapped: true, ..heading })
    }

    /// Returns whether the title of MAC addresses is that of another table.
    pub(super) fn is_of_other_table(&self) -> bool {
        self.columns.get(self.mac).is_some_and(|(meaning, _)| *meaning == Meaning::OtherMacAddress)
    }

    /// Returns whether a column has the interface.
    pub(super) const fn has_interface(&self) -> bool {
        self.interface.is_some()
    }

    /// Returns whether each entry is on two lines, as the titles are.
    pub(super) const fn is_wrapped(&self) -> bool {
        self.is_wrapped
    }

    /// Returns whether a line names the interface, of which the heading before it says nothing: it belongs to titles of two
    /// lines, whose columns are not known.
    pub(super) fn is_continued_by(&self, words: &[Word<'_>]) -> bool {
        self.interface.is_none()
            && words.iter().any(|word| {
                let meaning = meaning(&word.text.to_lowercase());
                matches!(meaning, Some(Meaning::Interface | Meaning::Device))
            })
    }

    /// Takes the places of the columns from the line of dashes below the titles, which may be centered.
    pub(super) fn align(&mut self, ruler: &str) {
        let is_dash = |character: char| matches!(character, '-' | '=');
        if !ruler.chars().all(|character| is_dash(character) || matches!(character, '+' | ' ')) {
            return;
        }
        let places = ruler.chars().zip(std::iter::once(' ').chain(ruler.chars())).enumerate();
        let starts = places.filter(|(_, (one, before))| is_dash(*one) && !is_dash(*before));
        let starts: Vec<usize> = starts.map(|(place, _)| place).collect();
        if starts.len() == self.columns.len() {
            self.columns.iter_mut().zip(starts).for_each(|((_, start), place)| *start = place);
        }
    }

    /// Returns whether a line begins to the right of the first column: it continues the line before.
    pub(super) fn is_indented(&self, words: &[Word<'_>]) -> bool {
        let first = words.first().map(|word| word.start);
        let title = self.columns.first().map(|(_, start)| *start);
        title.zip(first).is_some_and(|(title, first)| first > title + TOLERANCE)
    }

    /// Returns whether the name of an interface fills its column, so that the rest of it may be on the next line.
    pub(super) fn is_full(&self, name: &str) -> bool {
        let column = |place: usize| self.columns.get(place).map(|(_, start)| *start);
        let place = self.interface.unwrap_or(usize::MAX);
        let width = column(place).zip(place.checked_add(1).and_then(column));
        // The columns of titles on two lines each are beside each other.
        let width = width.filter(|(start, next)| !self.is_wrapped && start < next);
        width.is_some_and(|(start, next)| name.chars().count() + BORDER >= next - start)
    }

    /// Returns the rest of the name of an interface on a line of its own, below its column.
    pub(super) fn rest_of_interface<'l>(&self, words: &[Word<'l>]) -> Option<&'l str> {
        let starts = |word: &Word<'_>, column: &(Meaning, usize)| word.start.abs_diff(column.1) <= 1;
        let column = self.columns.get(self.interface?)?;
        let are_below = words.iter().all(|word| self.columns.iter().any(|column| starts(word, column)));
        // Lines that begin at the edge are of their own, such as the next command.
        let rest = words.iter().find(|word| word.start > 0 && starts(word, column)).filter(|_| are_below)?;
        Some(rest.text)
    }

    /// Returns whether a line has no cell in the first column, and that one has the interface. Such a line belongs to
    /// the interface of the line before.
    pub(super) fn continues_interface(&self, words: &[Word<'_>]) -> bool {
        self.interface == Some(0) && self.is_indented(words)
    }

    /// Returns the interface of a line below the heading.
    pub(super) fn interface(&self, words: &[Word<'_>], anchors: Anchors) -> Option<String> {
        let place = self.interface?;
        let meaning = self.columns.get(place)?.0;
        let name = self.side(place, words, anchors)?.interface();
        let named_vlan =
            || self.side(self.vlan?, words, anchors)?.cell().and_then(|name| interface_name(&name));
        let is_vlan = meaning == Meaning::Vlan || name.is_none();
        let name = name.or_else(|| named_vlan().filter(|_| is_vlan))?;
        let name = match name.split_once('/') {
            Some((_, interface)) if meaning == Meaning::RoutedInterface => interface.to_owned(),
            _ if self.flags.is_some() => without_flags(&name)?.to_owned(),
            _ => name,
        };
        // A number alone is that of a VLAN, and no name of an interface.
        Some(name).filter(|name| !is_vlan || name.contains(char::is_alphabetic))
    }

    /// Returns the index of the interface of a line below the heading.
    pub(super) fn if_index(&self, words: &[Word<'_>], anchors: Anchors) -> Option<i64> {
        self.side(self.if_index?, words, anchors)?.cell()?.parse().ok().filter(|index| *index > 0)
    }

    /// Returns the state of a line below the heading by the column of static entries, or by the flags of `/proc/net/arp`.
    pub(super) fn state(&self, words: &[Word<'_>], anchors: Anchors) -> Option<NeighborState> {
        let cell = |column: Option<usize>| self.side(column?, words, anchors)?.cell();
        if cell(self.is_static).is_some_and(|cell| cell.eq_ignore_ascii_case("yes")) {
            return Some(NeighborState::Static);
        }
        let flags = cell(self.flags)?;
        match u32::from_str_radix(flags.strip_prefix("0x")?, 16).ok()? {
            flags if flags & IS_PERMANENT != 0 => Some(NeighborState::Static),
            // Linux prints the last MAC address of a device that no longer answers.
            flags if flags & IS_COMPLETE == 0 => Some(NeighborState::Unreachable),
            _ => None,
        }
    }

    /// Returns the cell of the MAC address in a line with an IP address alone.
    pub(super) fn mac_cell(&self, words: &[Word<'_>], ip: usize) -> Option<String> {
        let distance = |word: &Word<'_>, column: usize| {
            self.columns.get(column).map_or(usize::MAX, |(_, title)| word.start.abs_diff(*title))
        };
        if distance(words.get(ip)?, self.ip) <= TOLERANCE {
            let distances = words.iter().map(|word| (distance(word, self.mac), word));
            let nearest = distances.min_by_key(|(distance, _)| *distance);
            // Shorter words beside the title are cells of the column before, such as an age.
            let is_cell = |(distance, word): &(usize, &Word<'_>)| {
                *distance == 0 || (*distance <= TOLERANCE && word.text.len() >= MIN_MAC_ADDRESS)
            };
            return nearest.filter(is_cell).map(|(_, word)| word.text.to_owned());
        }
        let mut cells = cells(words);
        let is_full = cells.len() == self.columns.len() && self.mac < cells.len();
        is_full.then(|| cells.swap_remove(self.mac).text)
    }

    /// Returns the columns and words of the side of both addresses that has a column.
    fn side<'h, 'l>(
        &'h self,
        wanted: usize,
        words: &'h [Word<'l>],
        anchors: Anchors,
    ) -> Option<LineSide<'h, 'l>> {
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
        Some(LineSide {
            wanted: wanted.checked_sub(range.start)?,
            is_aligned: words.get(word)?.start.abs_diff(*start) <= TOLERANCE,
            columns: self.columns.get(range)?,
            words: words.get(range_of_words)?,
        })
    }
}

/// The fewest titles of a forwarding database.
const MIN_FORWARDING_TITLES: usize = 3;
/// The beginnings of the titles for the domain of an entry in a forwarding database, in lower case.
const DOMAINS: &[&str] = &["vlan", "vid", "fid", "vni", "bd", "bridge"];

/// Returns whether words are the titles of a forwarding database: those of a VLAN and MAC addresses, and none of IP addresses. The
/// IP addresses below them are the ends of tunnels, which are no neighbors.
pub(super) fn is_forwarding_heading(words: &[Word<'_>]) -> bool {
    let is_domain = |word: &Word<'_>| DOMAINS.iter().any(|domain| starts_with(word.text, domain));
    let titles = words.iter().filter(|word| word.follows_gap).count();
    if titles < MIN_FORWARDING_TITLES || !words.iter().any(is_domain) {
        return false;
    }
    let columns = columns(words);
    let has = |wanted| columns.iter().any(|(meaning, _)| *meaning == wanted);
    // Tables of neighbors begin with the title of the IP address, which may be an unknown one.
    let is_first = columns.first().is_some_and(|(meaning, _)| *meaning == Meaning::MacAddress)
        || words.first().is_some_and(is_domain);
    is_first && has(Meaning::MacAddress) && !has(Meaning::IpAddress)
}

/// Returns the meanings and places of titles.
fn columns(words: &[Word<'_>]) -> Vec<(Meaning, usize)> {
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
        let is_open = |word: &Word<'_>| word.text.contains('(') && !word.text.contains(')');
        let has_end = |word: &Word<'_>| !word.follows_gap && word.text.ends_with(')');
        // The unit may have a number: `TTL(10 Sec)`.
        let is_unit = length.checked_sub(1).and_then(|last| rest.get(last)).is_some_and(is_open)
            && rest.get(length).is_some_and(has_end);
        rest = rest.get(length + usize::from(is_unit)..).asserted_or_default();
    }
    columns
}
