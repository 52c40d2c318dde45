//! Words of texts, in the form in which a search compares them.

use std::collections::BTreeSet;

use deunicode::deunicode_char;

use crate::store::Term;

/// Maximum number of words by which a host is found.
///
/// Bounds the memory of a host with a very long description.
pub(super) const MAX_WORDS: usize = 4_096;

/// Returns the words of a text.
///
/// A word begins at each run of letters and digits and extends to the next white space, so that `switch-01.example.net`
/// is found by `switch`, by `01` and by `example.net`.
pub(super) fn words(text: &str) -> BTreeSet<String> {
    let folded = fold(text);
    let mut words = BTreeSet::new();
    for token in folded.split_whitespace() {
        let mut is_inside = false;
        for (start, character) in token.char_indices() {
            if character.is_alphanumeric() && !is_inside {
                words.extend(token.get(start..).and_then(trimmed));
            }
            is_inside = character.is_alphanumeric();
            if words.len() >= MAX_WORDS {
                return words;
            }
        }
    }
    words
}

/// Returns the words of a search: its parts between white space. Parts without letters and digits are left out.
pub(super) fn query_words(text: &str) -> BTreeSet<String> {
    fold(text).split_whitespace().filter_map(trimmed).collect()
}

/// Trims what is neither letter nor digit, and cuts a word to the length of a term.
fn trimmed(word: &str) -> Option<String> {
    let word = word.trim_matches(|character: char| !character.is_alphanumeric());
    let length =
        (0..=word.len().min(Term::MAX_LENGTH)).rev().find(|length| word.is_char_boundary(*length))?;
    word.get(..length).filter(|word| !word.is_empty()).map(str::to_owned)
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
