//! The names of interfaces among the words of a table.

use super::line::state;

/// Values that stand for none.
const EMPTY: &[&str] = &["-", "--", "---", "n/a", "none", "*"];
/// The most letters of flags in brackets.
const MAX_FLAGS: usize = 2;
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

/// Returns the name of an interface. Where a port follows a comma or an asterisk, or stands in brackets, the interface is
/// the logical one before it.
pub(super) fn interface_name(cell: &str) -> Option<String> {
    let name = cell.split(',').next()?.trim();
    let name =
        name.split_once('*').map_or(name, |(logical, _)| if logical.is_empty() { name } else { logical });
    let name = name.split_once(" [").map_or(name, |(logical, _)| logical);
    // The private VLAN of the entry follows: `Vlan40 pv 401`.
    let name = name.split_once(" pv ").map_or(name, |(logical, _)| logical);
    let name = name.trim();
    (!is_no_name(name)).then(|| name.to_owned())
}

/// Returns the name in a cell beside a column of flags, which NX-OS prints behind a single space: `Ethernet1/12 (D)`. In other tables,
/// the brackets are a part of the name, as in `vEthernet (IT)` of Windows.
pub(super) fn without_flags(cell: &str) -> Option<&str> {
    let flags = cell.strip_suffix(')').and_then(|cell| cell.rsplit_once(" ("));
    let is_flags =
        |flags: &str| flags.len() <= MAX_FLAGS && flags.bytes().all(|byte| byte.is_ascii_uppercase());
    let name = flags.filter(|(_, flags)| is_flags(flags)).map_or(cell, |(name, _)| name);
    (!is_no_name(name)).then_some(name)
}

/// Returns whether a text stands for no interface.
pub(super) fn is_no_name(text: &str) -> bool {
    text.is_empty() || EMPTY.iter().any(|empty| text.eq_ignore_ascii_case(empty))
}

/// Returns a word of an unnamed column as an interface name, unless it is a state, a type or a number.
pub(super) fn undeclared_interface(word: &str) -> Option<String> {
    let name = interface_name(word)?;
    let is_other = OTHERS.iter().any(|other| name.eq_ignore_ascii_case(other))
        || state(&name).is_some()
        || !name.chars().any(char::is_alphabetic);
    (!is_other).then_some(name)
}
