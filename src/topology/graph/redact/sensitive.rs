//! Detection of concealed values within texts.

use std::collections::BTreeSet;
use std::net::IpAddr;

use crate::fair_threads::yield_turn;
use crate::invariant::Invariant;
use crate::model::Redaction;
use crate::topology::graph::HostSummary;

/// Minimum length in bytes of a value that is concealed wherever it occurs. Shorter ones must be words of their own,
/// because they occur within others by chance.
const ANYWHERE: usize = 4;

/// Number of bytes of a value that are searched. A text with the beginning of a longer value is concealed as well.
const MAX_SEARCHED: usize = 32;

/// Names, serial numbers and addresses that must not occur in any text.
#[derive(Clone, Default)]
pub struct SensitiveValues {
    /// The beginnings of values, in lower case.
    long: BTreeSet<String>,
    /// Values of a few bytes, in lower case.
    short: BTreeSet<String>,
    /// Addresses as hexadecimal digits.
    digits: BTreeSet<String>,
}

/// Omits the values.
impl std::fmt::Debug for SensitiveValues {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("SensitiveValues").finish_non_exhaustive()
    }
}

impl SensitiveValues {
    /// Collects what is to be concealed of the hosts of a network. Hosts that a graph does not show are included.
    #[must_use]
    pub fn of<'a>(hosts: impl IntoIterator<Item = &'a HostSummary>, kinds: &[Redaction]) -> Self {
        let mut values = Self::default();
        for host in hosts {
            yield_turn();
            kinds.iter().for_each(|kind| values.insert_of(host, *kind));
        }
        values
    }

    /// Adds what is to be concealed of a host, as far as it is of one kind.
    fn insert_of(&mut self, host: &HostSummary, kind: Redaction) {
        // All fields are listed, so that a new one does not compile until it is concealed below or left out here.
        let HostSummary {
            concealed,
            interfaces,
            // They are among the concealed texts.
            name: _,
            names: _,
            services: _,
            // These are neither names nor addresses.
            id: _,
            role: _,
            role_reason: _,
            role_by_ports: _,
            tags: _,
            virtualized_by: _,
            neighbor_ports: _,
            active_ports: _,
            // Where a share conceals anything, it leaves these out.
            location: _,
            vendor: _,
            model: _,
            last_seen_at: _,
        } = host;
        // Texts with the form of a MAC address are concealed without knowing it.
        for (_, text) in concealed.iter().filter(|(of, _)| *of == kind) {
            self.insert(text);
        }
        if kind == Redaction::Addresses {
            self.digits.extend(interfaces.iter().map(|interface| digits(interface.ip_address)));
        }
    }

    /// Adds a value, such as the name of a subnet or of the network.
    pub fn insert(&mut self, value: &str) {
        // More is not searched; a character has at most four bytes.
        let beginning: String = value.trim().chars().take(MAX_SEARCHED).collect();
        let mut value = lower_case(&beginning);
        let mut end = MAX_SEARCHED.min(value.len());
        while !value.is_char_boundary(end) {
            end = end.saturating_sub(1);
        }
        value.truncate(end);
        if value.len() >= ANYWHERE {
            self.long.insert(value);
        } else if !value.is_empty() {
            self.short.insert(value);
        }
    }
}

/// Finds values in texts, in time proportional to the length of the texts.
pub(super) struct Finder {
    long: Beginnings,
    short: BTreeSet<String>,
    digits: Beginnings,
}

impl Finder {
    pub(super) fn new(values: &SensitiveValues) -> Self {
        Self {
            long: Beginnings::new(&values.long),
            short: values.short.clone(),
            digits: Beginnings::new(&values.digits),
        }
    }

    /// Returns whether a text contains one of the values, in upper or lower case.
    pub(super) fn occur_in(&self, text: &str) -> bool {
        if self.long.is_empty() && self.short.is_empty() && self.digits.is_empty() {
            return false;
        }
        let text = lower_case(text);
        self.long.occur_in(&text)
            || contains_word(&self.short, &text)
            || (!self.digits.is_empty() && contains_digits(&self.digits, &text))
    }
}

/// Values of at most [`MAX_SEARCHED`] bytes, filled with zeros and in order.
///
/// A value that begins with another one is left out, because texts that contain it contain the other one. Of the values
/// left, only the last one that is not after a text can be at its beginning.
struct Beginnings(Vec<[u8; MAX_SEARCHED]>);

impl Beginnings {
    fn new(values: &BTreeSet<String>) -> Self {
        let mut kept = Vec::new();
        let mut last: Option<&String> = None;
        for value in values {
            yield_turn();
            // Values that begin with the last one follow it.
            if !last.is_some_and(|last| value.starts_with(last.as_str())) {
                last = Some(value);
                kept.push(filled(value.as_bytes()));
            }
        }
        Self(kept)
    }

    const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn occur_in(&self, text: &str) -> bool {
        (0..text.len()).any(|place| {
            let rest = text.as_bytes().get(place..).asserted_or_default();
            let start = filled(rest);
            let after = self.0.partition_point(|value| *value <= start);
            let before = after.checked_sub(1).and_then(|place| self.0.get(place));
            before.is_some_and(|value| {
                let length =
                    value.iter().rposition(|byte| *byte != 0).map_or(0, |last| last.saturating_add(1));
                length > 0 && value.get(..length).is_some_and(|value| rest.starts_with(value))
            })
        })
    }
}

/// Returns a text in lower case, each character by itself: that of a Greek sigma would depend on what follows.
fn lower_case(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// Returns the first bytes, and zeros after them.
fn filled(bytes: &[u8]) -> [u8; MAX_SEARCHED] {
    let mut filled = [0; MAX_SEARCHED];
    filled.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    filled
}

/// Returns whether a text contains one of these values as a word. A change from letters to digits ends a word as well.
fn contains_word(words: &BTreeSet<String>, text: &str) -> bool {
    !words.is_empty()
        && text.char_indices().any(|(start, first)| {
            let before = text.get(..start).and_then(|before| before.chars().next_back());
            !continues(before, Some(first))
                && (1..ANYWHERE).any(|length| {
                    let Some(value) = text.get(start..start.saturating_add(length)) else { return false };
                    let after =
                        text.get(start.saturating_add(length)..).and_then(|after| after.chars().next());
                    words.contains(value) && !continues(value.chars().next_back(), after)
                })
        })
}

/// Returns whether two characters belong to one word.
fn continues(one: Option<char>, other: Option<char>) -> bool {
    one.zip(other).is_some_and(|(one, other)| {
        (one.is_alphabetic() && other.is_alphabetic()) || (one.is_numeric() && other.is_numeric())
    })
}

/// Returns whether a text contains one of these sequences of hexadecimal digits.
///
/// They may have separators, as in `c0a8:6471`, `c0-a8-64-71` or `0xc0.0xa8.0x64.0x71`.
fn contains_digits(digits: &Beginnings, text: &str) -> bool {
    let is_separator = |character: &char| ":.-_ ".contains(*character);
    let joined: String = text.replace("0x", "").chars().filter(|other| !is_separator(other)).collect();
    digits.occur_in(&joined)
}

/// Returns the hexadecimal digits of an address.
fn digits(address: IpAddr) -> String {
    let octets = match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    };
    octets.iter().map(|octet| format!("{octet:02x}")).collect()
}

/// Returns whether a text contains something like a MAC address, in any usual notation.
pub(super) fn contains_mac(text: &str) -> bool {
    runs(text, |character| character.is_ascii_hexdigit() || ":-. _".contains(character))
        .any(|run| run.chars().filter(char::is_ascii_hexdigit).count() >= 12)
}

/// Returns whether a text contains something like an IP address. Host names contain addresses with dashes as dots.
pub(super) fn contains_address(text: &str) -> bool {
    let is_v4 = runs(text, |character| character.is_ascii_digit() || ".-_".contains(character))
        .any(|run| run.split(['.', '-', '_']).filter(|part| (1..=3).contains(&part.len())).count() >= 4);
    let is_v6 = runs(text, |character| character.is_ascii_hexdigit() || character == ':')
        .any(|run| run.matches(':').count() >= 7 || (run.contains("::") && run.len() > 2));
    is_v4 || is_v6
}

/// Returns the longest parts of a text that consist of such characters.
fn runs(text: &str, is_part: impl Fn(char) -> bool) -> impl Iterator<Item = &str> {
    text.split(move |character| !is_part(character)).filter(|run| !run.is_empty())
}
