//! Normalization, validation and comparison of e-mail addresses.

use crate::inventory::case::without_case;
use crate::inventory::schema::EMAIL_UNIQUE_KEY;
use crate::inventory::{Error, Problem, validate};
use crate::store::UniqueKey;

/// The minimum and maximum number of characters of an address in lower case.
const MIN_LENGTH: usize = 3;
const MAX_LENGTH: usize = 254;

/// A trimmed e-mail address in lower case, of 3 to 254 characters.
///
/// Lengths refer to the lower-case text that is stored; some letters grow in lower case, such as `İ` to two
/// characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EmailAddress(String);

impl EmailAddress {
    /// Normalizes and validates the address of a user to be stored.
    ///
    /// Validation is loose: text on both sides of an `@`, and no white space.
    ///
    /// # Errors
    /// `Invalid` for the field.
    pub(super) fn parse(field: &str, text: &str) -> Result<Self, Error> {
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

    /// Normalizes a login address. Malformed addresses are accepted; they belong to no user.
    ///
    /// # Errors
    /// `Invalid` for the field when the address is too short or too long for any user.
    pub(super) fn normalize(field: &str, text: &str) -> Result<Self, Error> {
        // Lower-casing never shortens a text, so too long a text is rejected before it.
        let text = validate::name(field, text, MAX_LENGTH)?.to_lowercase();
        match text.chars().count() {
            ..MIN_LENGTH => Err(Error::invalid(field, Problem::MinLength { min: MIN_LENGTH })),
            MIN_LENGTH..=MAX_LENGTH => Ok(Self(text)),
            _ => Err(Error::invalid(field, Problem::MaxLength { max: MAX_LENGTH })),
        }
    }

    /// Returns the comparable form: the same for addresses that differ only in case.
    pub(super) fn comparable(&self) -> String {
        without_case(&self.0)
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }
}

/// Returns the unique key of the user with this normalized address.
pub(super) fn email_unique_key(address: &str) -> UniqueKey {
    UniqueKey::new(EMAIL_UNIQUE_KEY, without_case(address))
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
    fn letter_in_lower_case_is_never_shorter() {
        for letter in letters() {
            assert!(letter.to_lowercase().next().is_some(), "{letter:?}");
        }
    }
}
