//! Normalization, validation and comparison of e-mail addresses.

use crate::inventory::{Error, Problem, validate};
use crate::printable::is_format;

/// The minimum and maximum number of characters of an address.
const MIN_LENGTH: usize = 3;
const MAX_LENGTH: usize = 254;

/// A trimmed e-mail address in lower case, of 3 to 254 characters.
///
/// Only letters whose lower case is one letter are changed, so that the length stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EmailAddress(String);

impl EmailAddress {
    /// Normalizes and validates the address of a user to be stored.
    ///
    /// Validation is loose: text on both sides of an `@`, without white space and without characters that do not show.
    ///
    /// # Errors
    /// `Invalid` for the field.
    pub(super) fn parse(field: &str, text: &str) -> Result<Self, Error> {
        let address = Self::normalize(field, text)?;
        let is_hidden = |letter: char| letter.is_whitespace() || letter.is_control() || is_format(letter);
        match address.0.split_once('@') {
            Some((local, domain))
                if !local.is_empty() && !domain.is_empty() && !address.0.contains(is_hidden) =>
            {
                Ok(address)
            }
            _ => Err(Error::invalid(field, Problem::InvalidFormat)),
        }
    }

    /// Normalizes a login address. Malformed addresses are accepted; they belong to no user.
    ///
    /// # Errors
    /// `Invalid` for the field when the address is too short or too long for any user.
    pub(super) fn normalize(field: &str, text: &str) -> Result<Self, Error> {
        let text = validate::name(field, text, MAX_LENGTH)?;
        if text.chars().count() < MIN_LENGTH {
            return Err(Error::invalid(field, Problem::MinLength { min: MIN_LENGTH }));
        }
        Ok(Self(text.chars().map(lower).collect()))
    }

    /// Returns the comparable form: the same for addresses that differ only in case.
    pub(super) fn comparable(&self) -> String {
        self.0.chars().map(fold).collect()
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }
}

/// Folds the case of a letter, as the simple case folding of Unicode does.
///
/// A letter only ever becomes one letter. Otherwise `ß` would be `ss` and `ﬁ` would be `fi`, and two people could have
/// addresses that count as one.
pub(super) fn fold(letter: char) -> char {
    match letter {
        // Its upper case is that of `i`, but it is not the same letter in another case.
        'ı' => letter,
        'ς' => 'σ',
        _ => match lower(upper(lower(letter))) {
            'ς' => 'σ',
            folded => folded,
        },
    }
}

/// Returns the lower case of a letter if that is one letter, or else the letter itself.
fn lower(letter: char) -> char {
    single(letter.to_lowercase()).unwrap_or(letter)
}

/// Returns the upper case of a letter if that is one letter, or else the letter itself.
fn upper(letter: char) -> char {
    single(letter.to_uppercase()).unwrap_or(letter)
}

fn single(mut letters: impl Iterator<Item = char>) -> Option<char> {
    letters.next().filter(|_| letters.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalized(text: &str) -> EmailAddress {
        EmailAddress::normalize("email", text).unwrap()
    }

    /// All characters that lower-casing changes, and `ς`, which depends on its neighbors.
    fn letters() -> impl Iterator<Item = char> {
        ('\0'..=char::MAX).filter(|letter| *letter == 'ς' || letter.to_lowercase().ne([*letter]))
    }

    #[test]
    fn normalization_of_every_letter_in_every_position_is_idempotent() {
        for letter in letters() {
            for text in [format!("{letter}a@b"), format!("a{letter}@b"), format!("a@b{letter}")] {
                let once = normalized(&text);
                let twice = normalized(&once.0);
                assert_eq!(once, twice, "{letter:?}");
                assert_eq!(once.comparable(), twice.comparable(), "{letter:?}");
            }
        }
    }

    #[test]
    fn letters_that_differ_only_in_case_are_equal_and_others_are_not() {
        for (one, other) in
            [('A', 'a'), ('ẞ', 'ß'), ('Σ', 'ς'), ('σ', 'ς'), ('µ', 'Μ'), ('ſ', 'S'), ('K', 'k')]
        {
            assert_eq!(fold(one), fold(other), "{one} {other}");
        }
        for (one, other) in [("ß", "ss"), ("ﬁ", "fi"), ("ŉ", "ʼn"), ("İ", "i\u{307}"), ("ı", "i"), ("а", "a")]
        {
            let [one, other] =
                [one, other].map(|text| normalized(&format!("{text}@example.net")).comparable());
            assert_ne!(one, other);
        }
    }

    #[test]
    fn address_with_characters_that_do_not_show_is_refused() {
        for hidden in
            ['\0', '\u{7f}', '\u{85}', '\u{ad}', '\u{200b}', '\u{202e}', '\u{2066}', '\u{feff}', '\u{e0041}']
        {
            for text in [format!("a{hidden}b@example.net"), format!("ab@exam{hidden}ple.net")] {
                assert!(EmailAddress::parse("email", &text).is_err(), "{hidden:?}");
            }
        }
        for text in ["größe@example.net", "日本語@例え.jp", "🦀@example.net"] {
            assert!(EmailAddress::parse("email", text).is_ok(), "{text}");
        }
    }
}
