//! Words of texts, in the form in which a search compares them.

use std::collections::BTreeSet;

use deunicode::deunicode_char;

use crate::store::Term;

/// Maximum number of words by which a host is found.
///
/// Bounds the memory of a host with a very long description.
const MAX_WORDS: usize = 4_096;

/// Words by which a host is found, as parts of [`folded`] texts.
#[derive(Debug, Default)]
pub(super) struct Words<'t>(BTreeSet<&'t str>);

impl<'t> Words<'t> {
    /// Adds the words of a text.
    ///
    /// A word begins at each run of letters and digits and extends to the next white space, so that
    /// `switch-01.example.net` is found by `switch`, by `01` and by `example.net`. A word also begins at a leading
    /// `::`.
    pub(super) fn add_text(&mut self, text: &'t str) {
        for token in text.split_whitespace().filter_map(trimmed) {
            let mut is_inside = false;
            for (start, character) in token.char_indices() {
                if start == 0 || character.is_alphanumeric() && !is_inside {
                    if self.0.len() >= MAX_WORDS {
                        return;
                    }
                    self.add(token.get(start..).unwrap_or_default());
                }
                is_inside = character.is_alphanumeric();
            }
        }
    }

    /// Adds a word as it is.
    pub(super) fn add(&mut self, word: &'t str) {
        if self.0.len() < MAX_WORDS {
            self.0.insert(cut(word));
        }
    }

    /// Returns the words that no other word begins with.
    ///
    /// A search that finds one of the other words finds the longer word that begins with it.
    pub(super) fn without_beginnings(self) -> Vec<&'t str> {
        let mut kept: Vec<&str> = Vec::with_capacity(self.0.len());
        for word in self.0 {
            // In this order, a word is followed by the words that begin with it.
            match kept.last_mut() {
                Some(beginning) if word.starts_with(*beginning) => *beginning = word,
                _ => kept.push(word),
            }
        }
        kept
    }
}

/// Returns the words of a search: its parts between white space. Parts without letters and digits are left out.
pub(super) fn query_words(text: &str) -> BTreeSet<String> {
    folded([text]).split_whitespace().filter_map(trimmed).map(|word| cut(word).to_owned()).collect()
}

/// Trims characters that are neither letters nor digits. `None` if nothing is left.
///
/// A leading `::` stays: `::1` is another address than `1::`.
fn trimmed(word: &str) -> Option<&str> {
    let start = word.find(char::is_alphanumeric)?;
    let start = word.get(..start)?.strip_suffix("::").map_or(start, str::len);
    Some(word.get(start..)?.trim_end_matches(|character: char| !character.is_alphanumeric()))
}

/// Cuts a word to the length of a term.
fn cut(word: &str) -> &str {
    let most = word.len().min(Term::MAX_LENGTH);
    let length = (0..=most).rev().find(|length| word.is_char_boundary(*length));
    word.get(..length.unwrap_or_default()).unwrap_or_default()
}

/// Returns texts without differences of case and accents, with white space after each. Letters of other alphabets
/// become Latin ones; ideographs stay as they are.
pub(super) fn folded<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let mut folded = String::new();
    for text in texts {
        folded.reserve(text.len() + 1);
        for character in text.chars() {
            match character {
                _ if character.is_ascii() => folded.push(character.to_ascii_lowercase()),
                _ if character.is_whitespace() => folded.push(' '),
                '\u{2e80}'.. => folded.extend(character.to_lowercase()),
                _ => folded.push_str(&deunicode_char(character).unwrap_or_default().to_ascii_lowercase()),
            }
        }
        folded.push(' ');
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_beginning_of_a_word_is_a_beginning_of_one_that_is_kept() {
        let texts = ["Switch-01", "switch-01.Example.net", "24-port access switch", "1 10 100", "é e ée"];
        let text = folded(texts);
        let mut words = Words::default();
        words.add_text(&text);
        let (all, kept) = (words.0.clone(), words.without_beginnings());
        assert!(kept.len() < all.len());
        for word in &all {
            assert!(kept.iter().any(|longer| longer.starts_with(word)), "{word}");
        }
        for (place, word) in kept.iter().enumerate() {
            let others = kept.iter().enumerate().filter(|(other, _)| *other != place);
            assert!(others.map(|(_, other)| other).all(|other| !other.starts_with(word)), "{word}");
        }
    }

    #[test]
    fn leading_colons_of_an_address_are_part_of_its_word() {
        for (search, words) in [
            ("::1", vec!["::1"]),
            ("(::ffff:10.0.0.1), 2001:DB8::", vec!["2001:db8", "::ffff:10.0.0.1"]),
            (":1 -1- 1:: ::", vec!["1"]),
            ("std::fmt ::fmt", vec!["::fmt", "std::fmt"]),
        ] {
            assert_eq!(Vec::from_iter(query_words(search)), words, "{search}");
        }
        let mut words = Words::default();
        words.add_text("[::1] std::fmt");
        assert_eq!(Vec::from_iter(words.0), ["1", "::1", "fmt", "std::fmt"]);
    }

    #[test]
    fn words_are_limited_in_number_and_length() {
        let text: Vec<String> =
            (0..2 * MAX_WORDS).map(|number| format!("{number:x}.{}", "y".repeat(100))).collect();
        let text = folded(text.iter().map(String::as_str));
        let mut words = Words::default();
        words.add_text(&text);
        words.add("last");
        assert_eq!(words.0.len(), MAX_WORDS);
        assert!(words.0.iter().all(|word| word.len() <= Term::MAX_LENGTH));
    }
}
