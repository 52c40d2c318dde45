//! The titles of columns and names of fields that no neighbor table has.

use super::heading::Heading;

/// Words of titles and names that no neighbor table has, in lower case.
///
/// Several words follow each other within a title. A single one that some neighbor table has, such as `expires`, is no evidence.
const OTHERS: &[&[&str]] = &[
    // Leases of DHCP.
    &["valid", "until"],
    &["expire", "time"],
    &["expires", "after"],
    &["active", "address"],
    // The devices that RouterOS hears of. They announce any of their addresses.
    &["identity"],
    &["board"],
    // The log of ARP inspection, and the filters of ports.
    &["num", "pkts"],
    &["filter", "type"],
    // Addresses that devices exchange for overlays.
    &["topo", "id"],
    &["prod"],
    &["vtep"],
    &["next", "hop"],
    &["next", "hops"],
    // Access points, wireless controllers and their clients.
    &["ap", "name"],
    &["ap", "model"],
    &["ap", "type"],
    &["wired", "mac"],
    &["multicast", "ip"],
    &["sta", "uptime"],
    &["extrainfo"],
    &["ssid"],
    &["connection", "type"],
    &["session"],
    // The addresses of a device itself.
    &["subnet", "mask"],
    &["primary", "dns"],
];

/// Words that a column of remarks beside neighbors may have, too. They show another table if no column has the interface, or if
/// another title begins with one of the words beside them.
const AMBIGUOUS: [(&[&str], &[&str]); 3] = [
    (&["server"], &["expir", "valid"]),
    (&["platform"], &["neighbor", "version"]),
    (&["default", "gateway"], &["mask", "dns"]),
];

/// The ambiguous words of names of fields, or of titles, and the words beside them. Each bit stands for a row of [`AMBIGUOUS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Remarks {
    named: u8,
    beside: u8,
}

impl Remarks {
    pub(super) fn of(name: &str) -> Self {
        let mut remarks = Self::default();
        for (row, (ambiguous, beside)) in AMBIGUOUS.iter().enumerate() {
            let begins = |beginning: &&str| words(name).any(|word| starts_with(word, beginning));
            remarks.named |= u8::from(has_words(name, &std::iter::once(*ambiguous))) << row;
            remarks.beside |= u8::from(beside.iter().any(begins)) << row;
        }
        remarks
    }

    pub(super) const fn joined(self, other: Self) -> Self {
        Self { named: self.named | other.named, beside: self.beside | other.beside }
    }

    /// Returns whether names with these words are those of another table.
    pub(super) const fn are_of_other_table(self, has_interface: bool) -> bool {
        self.named != 0 && (!has_interface || self.named & self.beside != 0)
    }
}

/// Returns whether a text is about leases of DHCP, whose devices may be away since.
pub(super) fn is_about_leases(text: &str) -> bool {
    let is_lease = |word: &str| starts_with(word, "lease") && !starts_with(word, "leased");
    words(text).any(is_lease)
}

/// Returns whether a name of a field, or a title, is one of another table.
pub(super) fn is_other_name(name: &str) -> bool {
    is_about_leases(name) || has_words(name, &OTHERS.iter().copied())
}

/// Returns whether names of fields, or titles, are those of another table.
pub(super) fn are_of_other_table<'n>(
    names: &(impl Iterator<Item = &'n str> + Clone),
    has_interface: bool,
) -> bool {
    let remarks = || names.clone().map(Remarks::of).fold(Remarks::default(), Remarks::joined);
    names.clone().any(is_other_name) || remarks().are_of_other_table(has_interface)
}

/// Returns whether a name has words of a list, one behind the other, in any letter case.
fn has_words<'w>(name: &str, wanted: &(impl Iterator<Item = &'w [&'w str]> + Clone)) -> bool {
    let mut rest = words(name);
    let mut begins_with_any = || {
        let mut following = rest.clone();
        let first = following.next();
        rest.next();
        first.map(|first| wanted.clone().any(|wanted| begins_with(first, following.clone(), wanted)))
    };
    std::iter::from_fn(&mut begins_with_any).any(|is_wanted| is_wanted)
}

/// Returns whether words begin with others, in any letter case.
fn begins_with<'w>(first: &str, mut following: impl Iterator<Item = &'w str>, wanted: &[&str]) -> bool {
    wanted.split_first().is_some_and(|(wanted, rest)| {
        first.eq_ignore_ascii_case(wanted)
            && rest.iter().all(|word| following.next().is_some_and(|other| other.eq_ignore_ascii_case(word)))
    })
}

/// Returns whether a heading is that of another table.
pub(super) fn is_other_heading(text: &str, heading: &Heading) -> bool {
    // Neighbor tables state when an entry expires, or name the host. Only leases have both, but no interface.
    let has = |prefix: &str| words(text).any(|word| starts_with(word, prefix));
    let is_of_leases = || !heading.has_interface() && has("expir") && has_host_name(text);
    heading.is_of_other_table()
        || are_of_other_table(&text.split("  "), heading.has_interface())
        || is_of_leases()
}

fn has_host_name(text: &str) -> bool {
    let pairs = words(text).zip(words(text).skip(1));
    let is_pair = |(first, second): (&str, &str)| {
        first.eq_ignore_ascii_case("host") && second.eq_ignore_ascii_case("name")
    };
    words(text).any(|word| word.eq_ignore_ascii_case("hostname")) || pairs.into_iter().any(is_pair)
}

fn words(text: &str) -> impl Iterator<Item = &str> + Clone {
    text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Returns whether a word begins with letters, in any letter case.
pub(super) fn starts_with(word: &str, prefix: &str) -> bool {
    word.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}
