//! Ranks that names of devices suggest.
//!
//! Administrators name routers and firewalls by what they are. Where a role is not known, the name is a weak hint on which side of the
//! network the world is, as a role is.

/// Words for devices that lead out of a network, with the rank of their role.
const WORDS: [(&str, u8); 16] = [
    ("internet", 0),
    ("provider", 0),
    ("carrier", 0),
    ("cloud", 0),
    ("mpls", 0),
    ("isp", 1),
    ("router", 1),
    ("rtr", 1),
    ("gateway", 1),
    ("gw", 1),
    ("edge", 1),
    ("wan", 1),
    ("modem", 1),
    ("cpe", 1),
    ("firewall", 2),
    ("fw", 2),
];

/// Words for switches: such as those at the edge of a campus.
const SWITCHES: [&str; 4] = ["sw", "switch", "acc", "access"];

/// Returns the rank of a device whose role is not known, by a word of its name.
pub(super) fn rank_of_name(name: &str) -> Option<u8> {
    // The domain says nothing about the device.
    let own = name.split('.').next()?;
    let words = || own.split(|character: char| !character.is_ascii_alphabetic());
    let is = |word: &str, known: &str| word.eq_ignore_ascii_case(known);
    if words().any(|word| SWITCHES.iter().any(|known| is(word, known))) {
        return None;
    }
    words().find_map(|word| WORDS.iter().find(|(known, _)| is(word, known)).map(|(_, rank)| *rank))
}
