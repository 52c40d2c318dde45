//! Letters that stand for the states of entries.

use super::line::{ArpLine, Word, state};
use crate::discovery::report::{ArpRow, NeighborState};

/// The titles of legends.
const TITLES: &[&str] = &["flags", "type", "status", "state"];
/// The most letters of a legend.
const MAX_LETTERS: usize = 26;
/// The words for the flags of RouterOS. An entry that is not dynamic is static.
const FLAGS: &[&str] = &["disabled", "invalid", "dhcp", "dynamic", "published", "complete"];

/// A legend beside a table, such as `Type: S-Static  D-Dynamic` and `Flags: X - disabled, D - dynamic`.
pub(super) struct StateLetters {
    letters: Vec<(char, String)>,
    /// Whether the letters are flags, of which an entry may have several or none.
    are_flags: bool,
}

impl StateLetters {
    pub(super) fn read(text: &str) -> Option<Self> {
        let (title, rest) = text.trim().split_once(':')?;
        let title = title.to_ascii_lowercase();
        if !TITLES.contains(&title.as_str()) {
            return None;
        }
        let rest = rest.replace(" - ", "-");
        let parts = rest.split([',', ';', ' ']).filter(|part| !part.is_empty());
        let letters: Vec<(char, String)> = parts.take(MAX_LETTERS).map(letter).collect::<Option<_>>()?;
        if letters.is_empty() {
            return None;
        }
        let are_flags = title == "flags" && letters.iter().all(|(_, word)| FLAGS.contains(&word.as_str()));
        Some(Self { letters, are_flags })
    }

    /// Sets the state of an entry by its letters. The flags of RouterOS are those of entries of IPv4.
    pub(super) fn applied(&self, line: ArpLine, words: &[Word<'_>]) -> ArpLine {
        match line {
            ArpLine::Row(row) if !self.are_flags => with_state(row, self.by_letter(words)),
            ArpLine::Row(row) if row.ip_address.is_ipv4() => with_state(row, self.by_flags(words)),
            other => other,
        }
    }

    fn by_flags(&self, words: &[Word<'_>]) -> Option<NeighborState> {
        let is_flag = |character: char| self.letters.iter().any(|(letter, _)| *letter == character);
        let flags = words.iter().map(|word| word.text).find(|text| text.chars().all(is_flag)).unwrap_or("");
        let meanings = self.letters.iter().filter(|(letter, _)| flags.contains(*letter));
        by_meanings(meanings.map(|(_, word)| word.as_str()))
    }

    fn by_letter(&self, words: &[Word<'_>]) -> Option<NeighborState> {
        let word = |word: &Word<'_>| {
            let (_, meaning) = self.letters.iter().find(|(letter, _)| word.text.chars().eq([*letter]))?;
            Some(if meaning == "invalid" { Some(NeighborState::Unreachable) } else { state(meaning) })
        };
        words.iter().rev().find_map(word).flatten()
    }
}

/// Reads a letter and the word that it stands for: `S-Static`.
fn letter(part: &str) -> Option<(char, String)> {
    let (letter, word) = part.split_once('-')?;
    let is_word = word.len() > 2 && word.chars().all(char::is_alphabetic);
    let letter = letter.parse().ok().filter(|letter: &char| letter.is_ascii_alphabetic() && is_word)?;
    Some((letter, word.to_ascii_lowercase()))
}

/// Returns the state of an entry of RouterOS by the text before its fields: its number and flags, or a command that adds it.
/// Entries of IPv6 have other flags.
pub(super) fn by_prefix(prefix: &str) -> Option<NeighborState> {
    let mut words = prefix.split(' ').filter(|word| !word.is_empty());
    let first = words.next()?;
    if first.bytes().all(|byte| byte.is_ascii_digit()) {
        let flags = words.next().unwrap_or("");
        let known = [('X', "disabled"), ('I', "invalid"), ('D', "dynamic"), ('H', "dhcp")];
        return by_meanings(
            known.into_iter().filter(|(letter, _)| flags.contains(*letter)).map(|(_, word)| word),
        );
    }
    (words.next_back().unwrap_or(first) == "add").then_some(NeighborState::Static)
}

/// Returns the state of an entry by the words that its flags stand for.
fn by_meanings<'w>(words: impl Iterator<Item = &'w str>) -> Option<NeighborState> {
    let mut state = Some(NeighborState::Static);
    for word in words {
        match word {
            "disabled" | "invalid" => return Some(NeighborState::Unreachable),
            "dynamic" | "dhcp" => state = None,
            _ => {}
        }
    }
    state
}

/// Sets the state of an entry, if it is known.
pub(super) fn with_state(row: ArpRow, state: Option<NeighborState>) -> ArpLine {
    match state {
        Some(NeighborState::Unreachable) => ArpLine::Incomplete,
        state => ArpLine::Row(ArpRow { state: state.or(row.state), ..row }),
    }
}
