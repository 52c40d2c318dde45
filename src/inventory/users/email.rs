//! E-mail addresses: the one place where they are normalized, validated and compared.

use crate::inventory::records::EMAIL_UNIQUE_KEY;
use crate::inventory::{Error, Problem, text};
use crate::store::UniqueKey;

/// The least and the greatest number of characters of an address in lower case.
const MIN_LENGTH: usize = 3;
const MAX_LENGTH: usize = 254;

/// An e-mail address in lower case without surrounding white space, of 3 to 254 characters.
///
/// Lengths are those of the lower-case text, which is what is stored: some letters become longer in lower case, such as
/// `İ` with two characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::inventory) struct EmailAddress(String);

impl EmailAddress {
    /// Normalizes and validates the address of a user to be stored.
    ///
    /// Validation is loose: something on both sides of an `@`, and no white space.
    ///
    /// # Errors
    /// `Invalid` for the field.
    pub(in crate::inventory) fn parse(field: &str, text: &str) -> Result<Self, Error> {
        let address = Self::normalize(field, text)?;
        match address.0.split_once('@') {
            Some((local, domain))
                if !local.is_empty() && !domain.is_empty() && !address.0.contains(char::is_whitespace) =>
            {
                Ok(address)
            }
            _ => Err(Error::invalid(field, Problem::InvalidFormat)),
        }
    }

    /// Normalizes the address of a login, which may have any form: a malformed one belongs to no user.
    ///
    /// # Errors
    /// `Invalid` for the field when the address is too short or too long for any user.
    pub(in crate::inventory) fn normalize(field: &str, text: &str) -> Result<Self, Error> {
        // Lower-casing never makes a text shorter, so text that is too long already is not lower-cased at all.
        let text = text::name(field, text, MAX_LENGTH)?.to_lowercase();
        match text.chars().count() {
            ..MIN_LENGTH => Err(Error::invalid(field, Problem::MinLength { min: MIN_LENGTH })),
            MIN_LENGTH..=MAX_LENGTH => Ok(Self(text)),
            _ => Err(Error::invalid(field, Problem::MaxLength { max: MAX_LENGTH })),
        }
    }

    /// Returns the text by which addresses are compared: two that differ only in case have the same.
    pub(in crate::inventory) fn comparable(&self) -> String {
        comparable(&self.0)
    }

    pub(in crate::inventory) fn into_string(self) -> String {
        self.0
    }
}

/// Returns the unique key of the user with this normalized address.
pub(in crate::inventory) fn email_unique_key(address: &str) -> UniqueKey {
    UniqueKey::new(EMAIL_UNIQUE_KEY, comparable(address))
}

/// Lower-casing a text makes `Σ` at the end of a word `ς` and elsewhere `σ`; both are the same letter in upper case.
fn comparable(address: &str) -> String {
    address.replace('ς', "σ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normalized(text: &str) -> EmailAddress {
        EmailAddress::normalize("email", text).unwrap()
    }

    /// All characters that lower-casing changes, and the letter that it gives or keeps depending on what is beside it.
    fn letters() -> impl Iterator<Item = char> {
        ('\0'..=char::MAX).filter(|letter| *letter == 'ς' || letter.to_lowercase().ne([*letter]))
    }

    #[test]
    fn normalizing_twice_changes_nothing_for_every_letter_in_every_position() {
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
    fn every_letter_is_as_long_in_lower_case_or_longer() {
        for letter in letters() {
            assert!(letter.to_lowercase().next().is_some(), "{letter:?}");
        }
    }
}
