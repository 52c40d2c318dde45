//! Words of texts, in the form in which a search compares them.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, is_combining_mark};

use crate::invariant::Invariant;
use crate::store::Term;

/// Maximum number of words by which a host is found.
///
/// Bounds the memory of a host with a very long description.
pub(super) const MAX_WORDS: usize = 4_096;

/// Maximum number of words that are read of a host, repeated ones included.
///
/// Bounds the work for a host with a very long description.
const MAX_READ_WORDS: usize = 4 * MAX_WORDS;

/// Words by which a host is found, as parts of [`folded`] texts.
#[derive(Debug, Default)]
pub(super) struct Words<'t> {
    words: BTreeSet<&'t str>,
    /// The number of words that were added, repeated ones included.
    read: usize,
}

impl<'t> Words<'t> {
    /// Adds the words of a text.
    ///
    /// A word begins at each run of letters and digits and extends to the next white space, so that
    /// `switch-01.example.net` is found by `switch`, by `01` and by `example.net`. A word also begins at a leading
    /// `::`.
    pub(super) fn add_text(&mut self, text: &'t str) {
        for token in text.split_whitespace().filter_map(|token| Some(trimmed(token)?.0)) {
            let mut is_inside = false;
            for (start, character) in token.char_indices() {
                if start == 0 || is_of_word(character) && !is_inside {
                    if self.is_full() {
                        return;
                    }
                    self.add(token.get(start..).asserted_or_default());
                }
                is_inside = is_of_word(character);
            }
        }
    }

    fn add(&mut self, word: &'t str) {
        self.words.insert(cut(word));
        self.read += 1;
    }

    fn is_full(&self) -> bool {
        self.words.len() >= MAX_WORDS || self.read >= MAX_READ_WORDS
    }

    /// Returns the words that no other word begins with.
    ///
    /// A search that finds one of the other words finds the longer word that begins with it.
    pub(super) fn without_beginnings(self) -> Vec<&'t str> {
        let mut kept: Vec<&str> = Vec::with_capacity(self.words.len());
        for word in self.words {
            // In this order, a word is followed by the words that begin with it.
            match kept.last_mut() {
                Some(beginning) if word.starts_with(*beginning) => *beginning = word,
                _ => kept.push(word),
            }
        }
        kept
    }
}

/// A word of a search.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct QueryWord {
    /// The beginning of the words that it finds.
    pub(super) text: String,
    /// The beginning of the addresses that it finds. It has the separator that follows the word.
    pub(super) address: String,
}

/// Returns the words of a search: its parts between white space. Parts without letters and digits are left out.
pub(super) fn query_words(text: &str) -> BTreeSet<QueryWord> {
    let word = |(word, after): (&str, &str)| {
        let separator = SEPARATORS.into_iter().find(|separator| after.starts_with(*separator));
        let address = [word, separator.unwrap_or("")].concat();
        QueryWord { text: cut(word).to_owned(), address }
    };
    folded([text]).split_whitespace().filter_map(trimmed).map(word).collect()
}

/// The separators of addresses, the longest first.
const SEPARATORS: [&str; 4] = ["::", ":", "-", "."];

/// Trims characters that belong to no word. Returns the word and the text after it, or `None` if there is no
/// word.
///
/// A leading `::` stays: `::1` is another address than `1::`.
fn trimmed(token: &str) -> Option<(&str, &str)> {
    let start = token.find(is_of_word)?;
    let start = token.get(..start)?.strip_suffix("::").map_or(start, str::len);
    let token = token.get(start..)?;
    token.split_at_checked(token.trim_end_matches(|character| !is_of_word(character)).len())
}

/// Returns whether a character is a letter, a digit, or a mark of one.
fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || !character.is_ascii() && is_combining_mark(character)
}

/// Cuts a word to the length of a term.
fn cut(word: &str) -> &str {
    let max = word.len().min(Term::MAX_LENGTH);
    let length = (0..=max).rev().find(|length| word.is_char_boundary(*length));
    length.and_then(|length| word.get(..length)).asserted_or_default()
}

/// Maximum size of the texts of a host that are folded, in bytes. A text that begins within is folded as a whole.
///
/// More words than are read fit in, unless they are longer than the terms that they become.
const MAX_FOLDED: usize = MAX_READ_WORDS * Term::MAX_LENGTH;

/// Returns texts without differences of case, accents and presentation, with white space after each.
///
/// Letters stay in their alphabet. Two texts that differ only in case or in their Unicode normalization form become
/// the same.
pub(super) fn folded<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let mut folded = String::new();
    for text in texts {
        if folded.len() >= MAX_FOLDED {
            break;
        }
        if text.is_ascii() {
            let start = folded.len();
            folded.push_str(text);
            folded.get_mut(start..).into_iter().for_each(str::make_ascii_lowercase);
            folded.push(' ');
        } else {
            text.split_whitespace().for_each(|token| fold(token, &mut folded));
        }
    }
    folded
}

/// Adds a token without differences of case and accents, and a space.
fn fold(token: &str, folded: &mut String) {
    let mut plain = String::with_capacity(token.len());
    // Full case folding: `ß`, `ẞ` and `ss` are equal, and so are the two small forms of sigma.
    let without_case =
        |character: char| character.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    for character in token.nfkd().flat_map(without_case) {
        match undecomposed(character) {
            Some(base) => plain.push_str(base),
            None if is_ignored(character) => {}
            None => plain.push(character),
        }
    }
    folded.extend(plain.nfc());
    folded.push(' ');
}

/// Returns whether searches ignore a character: accents, vowel points, and characters that only affect display.
///
/// Marks of other combining classes count: they are vowels, tones and viramas of the scripts of South and
/// Southeast Asia, and the voicing marks of kana, without which a word would be another one.
fn is_ignored(character: char) -> bool {
    matches!(canonical_combining_class(character), 1 | 10..=36 | 200..)
        || matches!(
            character,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{e0100}'..='\u{e01ef}'
        )
}

/// Returns the usual replacement of a Latin letter or a punctuation mark that Unicode does not decompose.
const fn undecomposed(character: char) -> Option<&'static str> {
    Some(match character {
        'æ' => "ae",
        'œ' => "oe",
        'þ' => "th",
        'ƀ' | 'ɓ' => "b",
        'đ' | 'ð' | 'ɖ' | 'ɗ' => "d",
        'ə' | 'ǝ' | 'ɛ' => "e",
        'ħ' => "h",
        'ɨ' => "i",
        'ƙ' | 'ĸ' => "k",
        'ł' => "l",
        'ŋ' | 'ɲ' => "n",
        'ø' | 'ɔ' | 'ɵ' => "o",
        'ŧ' => "t",
        'ʉ' => "u",
        'ƴ' => "y",
        'ƶ' => "z",
        '‘' | '’' => "'",
        '‐' | '–' | '—' | '−' => "-",
        _ => return None,
    })
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
        let (all, kept) = (words.words.clone(), words.without_beginnings());
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
            let found: BTreeSet<String> = query_words(search).into_iter().map(|word| word.text).collect();
            assert_eq!(Vec::from_iter(found), words, "{search}");
        }
        let mut words = Words::default();
        words.add_text("[::1] std::fmt");
        assert_eq!(Vec::from_iter(words.words), ["1", "::1", "fmt", "std::fmt"]);
    }

    #[test]
    fn words_are_limited_in_number_and_length() {
        let text: Vec<String> =
            (0..2 * MAX_WORDS).map(|number| format!("{number:x}.{}", "y".repeat(100))).collect();
        let text = folded(text.iter().map(String::as_str));
        let mut words = Words::default();
        words.add_text(&text);
        words.add_text("last");
        assert_eq!(words.words.len(), MAX_WORDS);
        assert!(words.words.iter().all(|word| word.len() <= Term::MAX_LENGTH));
    }

    #[test]
    fn repeated_words_are_read_to_a_limit() {
        let text = "again ".repeat(2 * MAX_READ_WORDS);
        let mut words = Words::default();
        words.add_text(&text);
        words.add_text("last");
        assert_eq!((words.read, Vec::from_iter(words.words)), (MAX_READ_WORDS, vec!["again"]));
        let names = ["x".repeat(MAX_FOLDED), "last".to_owned()];
        assert!(!folded(names.iter().map(String::as_str)).contains("last"));
    }

    #[test]
    fn a_separator_after_a_word_is_part_of_an_address() {
        for (search, text, address) in [
            ("10.1.", "10.1", "10.1."),
            ("(10.1)", "10.1", "10.1"),
            ("2001:DB8::,", "2001:db8", "2001:db8::"),
            ("00-1B-", "00-1b", "00-1b-"),
            ("::1:", "::1", "::1:"),
            ("end...", "end", "end."),
        ] {
            let word = QueryWord { text: text.to_owned(), address: address.to_owned() };
            assert_eq!(query_words(search), BTreeSet::from([word]), "{search}");
        }
    }

    fn folded_text(text: &str) -> String {
        folded([text]).trim_end().to_owned()
    }

    #[test]
    fn case_accents_and_normalization_form_make_no_difference() {
        for (stored, searched) in [
            ("Європа", "європа"),
            ("ΞΕΝΟΔΟΧΕΙΟ", "ξενοδοχειο"),
            ("Ξενοδοχείο", "ΞΕΝΟΔΟΧΕΙΟ"),
            ("ёлка", "елка"),
            ("Київ", "київ"),
            ("Straße", "STRASSE"),
            ("STRAẞE", "strasse"),
            ("İstanbul", "istanbul"),
            ("ısı", "ISI"),
            ("ΟΔΟΣ", "οδος"),
            ("οδός", "οδοσ"),
            ("ᾅδης", "ΑΙΔΗΣ"),
            ("Øresund", "oresund"),
            ("Đà Nẵng", "da nang"),
            ("Łódź", "lodz"),
            ("Æther Œuvre", "aether oeuvre"),
            ("Þór", "thor"),
            ("שָׁלוֹם", "שלום"),
            ("مُحَمَّد", "محمد"),
            ("أحمد", "احمد"),
            ("ﬁle Ⅳ ２４", "file iv 24"),
            ("ｶﾞｽ", "ガス"),
            ("soft\u{ad}ware O’Brien", "software o'brien"),
            ("日本 ルーター 서버", "日本 ルーター 서버"),
        ] {
            assert_eq!(folded_text(stored), folded_text(searched), "{stored}");
        }
        for (one, other) in
            [("か", "が"), ("ハ", "パ"), ("कि", "की"), ("क्ष", "कष"), ("มา", "ม่า"), ("ей", "ий")]
        {
            assert_ne!(folded_text(one), folded_text(other), "{one}");
        }
        assert_eq!(folded_text("ROUTER.Example-01 日本 한국 ガス"), "router.example-01 日本 한국 ガス");
    }

    /// Compares the forms of the letters of all alphabets with case or marks, alone and between others.
    #[test]
    fn forms_of_a_text_are_folded_alike() {
        let alphabets = ('\0'..='\u{1fff}').chain('\u{2c00}'..='\u{2dff}').chain('\u{a640}'..='\u{abff}');
        let characters = alphabets.chain('\u{3040}'..='\u{30ff}').chain('\u{f900}'..='\u{ffff}');
        for character in characters.filter(|character| !character.is_whitespace()) {
            for text in [character.to_string(), format!("a{character}\u{323}\u{301}b")] {
                let folded = folded_text(&text);
                for form in [
                    text.to_uppercase(),
                    text.to_lowercase(),
                    text.nfc().collect(),
                    text.nfd().collect(),
                    text.to_uppercase().nfd().collect(),
                    text.to_lowercase().nfc().collect(),
                ] {
                    assert_eq!(folded_text(&form), folded, "{text:?} and {form:?}");
                }
            }
        }
    }

    #[test]
    fn marks_of_letters_do_not_end_words() {
        let mut words = Words::default();
        words.add_text("ม่า क्ष");
        assert_eq!(words.words.len(), 2);
    }
}
