//! Words of texts, in the form in which a search compares them.

use std::collections::BTreeSet;

use deunicode::deunicode_char;

use crate::store::Term;

/// Maximum number of words by which a host is found.
///
/// Bounds the memory of a host with a very long description.
const MAX_WORDS: usize = 4_096;

/// Words by which a host is found.
#[derive(Debug, Default)]
pub(super) struct Words(BTreeSet<String>);

impl Words {
    /// Adds the words of a text.
    ///
    /// A word begins at each run of letters and digits and extends to the next white space, so that
    /// `switch-01.example.net` is found by `switch`, by `01` and by `example.net`.
    pub(super) fn add_text(&mut self, text: &str) {
        for token in fold(text).split_whitespace().filter_map(trimmed) {
            let mut is_inside = false;
            for (start, character) in token.char_indices() {
                if character.is_alphanumeric() && !is_inside {
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
    pub(super) fn add(&mut self, word: &str) {
        let word = cut(word);
        if self.0.len() < MAX_WORDS && !self.0.contains(word) {
            self.0.insert(word.to_owned());
        }
    }

    /// Returns the words that no other word begins with: a search for the beginning of a word finds it by the longer one.
    pub(super) fn without_beginnings(self) -> Vec<String> {
        let mut kept: Vec<String> = Vec::with_capacity(self.0.len());
        for word in self.0 {
            // In this order, a word is followed by those that begin with it.
            match kept.last_mut() {
                Some(beginning) if word.starts_with(beginning.as_str()) => *beginning = word,
                _ => kept.push(word),
            }
        }
        kept
    }
}

/// Returns the words of a search: its parts between white space. Parts without letters and digits are left out.
pub(super) fn query_words(text: &str) -> BTreeSet<String> {
    fold(text).split_whitespace().filter_map(trimmed).map(|word| cut(word).to_owned()).collect()
}

/// Trims what is neither letter nor digit. `None` if nothing is left.
fn trimmed(word: &str) -> Option<&str> {
    let word = word.trim_matches(|character: char| !character.is_alphanumeric());
    Some(word).filter(|word| !word.is_empty())
}

/// Cuts a word to the length of a term.
fn cut(word: &str) -> &str {
    let most = word.len().min(Term::MAX_LENGTH);
    let length = (0..=most).rev().find(|length| word.is_char_boundary(*length));
    word.get(..length.unwrap_or_default()).unwrap_or_default()
}

/// Folds case and accents. Letters of other alphabets become Latin ones; ideographs stay as they are.
fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            _ if character.is_ascii() => folded.push(character.to_ascii_lowercase()),
            _ if character.is_whitespace() => folded.push(' '),
            '\u{2e80}'.. => folded.extend(character.to_lowercase()),
            _ => folded.push_str(&deunicode_char(character).unwrap_or_default().to_ascii_lowercase()),
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_beginning_of_a_word_is_a_beginning_of_one_that_is_kept() {
        let mut words = Words::default();
        for text in ["Switch-01", "switch-01.Example.net", "24-port access switch", "1 10 100", "é e ée"] {
            words.add_text(text);
        }
        let (all, kept) = (words.0.clone(), words.without_beginnings());
        assert!(kept.len() < all.len());
        for word in &all {
            assert!(kept.iter().any(|longer| longer.starts_with(word.as_str())), "{word}");
        }
        for (place, word) in kept.iter().enumerate() {
            let others = kept.iter().enumerate().filter(|(other, _)| *other != place);
            assert!(others.map(|(_, other)| other).all(|other| !other.starts_with(word.as_str())), "{word}");
        }
    }

    #[test]
    fn words_are_limited_in_number_and_length() {
        let mut words = Words::default();
        let text: Vec<String> =
            (0..2 * MAX_WORDS).map(|number| format!("{number:x}.{}", "y".repeat(100))).collect();
        words.add_text(&text.join(" "));
        words.add("last");
        assert_eq!(words.0.len(), MAX_WORDS);
        assert!(words.0.iter().all(|word| word.len() <= Term::MAX_LENGTH));
    }
}
