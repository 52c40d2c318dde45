//! Custom fields: their limits, and the index of hosts by them.

mod index;

pub(super) use self::index::{CustomIndex, filter, order};
use super::validate::is_readable_value;
use super::{Error, Problem};
use crate::model::Custom;
use crate::printable::printable;

/// The maximum number of custom fields of a record.
pub(crate) const MAX_CUSTOM_FIELDS: usize = 64;

/// The maximum number of characters of a name.
const MAX_NAME: usize = 64;

/// The maximum size of the custom fields of a record, in bytes of JSON.
const MAX_BYTES: usize = 16 * 1024;

/// Checks the number, the names and the size of custom fields.
///
/// # Errors
/// `Invalid` with the field `custom`, or `custom.` and the name of a field.
pub(super) fn check_custom(custom: &Custom) -> Result<(), Error> {
    if custom.is_empty() {
        return Ok(());
    }
    if custom.len() > MAX_CUSTOM_FIELDS {
        return Err(Error::invalid("custom", Problem::MaxLength { max: MAX_CUSTOM_FIELDS }));
    }
    for (name, value) in custom {
        if !is_custom_name(name) || !is_readable_value(value) {
            let field = format!("custom.{}", printable(name, MAX_NAME));
            return Err(Error::invalid(field, Problem::InvalidFormat));
        }
    }
    if serde_json::to_vec(custom).map_err(Error::internal)?.len() > MAX_BYTES {
        return Err(Error::invalid("custom", Problem::MaxLength { max: MAX_BYTES }));
    }
    Ok(())
}

/// Returns whether a custom field can have a name.
pub(crate) fn is_custom_name(text: &str) -> bool {
    let is_allowed = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.' | b'-');
    (1..=MAX_NAME).contains(&text.len()) && text.bytes().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(fields: impl IntoIterator<Item = (String, serde_json::Value)>) -> Option<String> {
        let error = check_custom(&fields.into_iter().collect()).err()?;
        Some(error.to_string())
    }

    #[test]
    fn fields_are_limited_in_number_name_size_and_depth() {
        let numbered = |count: usize| (0..count).map(|number| (format!("f{number}"), json!(number)));
        assert_eq!(check(numbered(64)), None);
        let too_many = Some("custom must have at most 64 characters or elements.".to_owned());
        assert_eq!(check(numbered(65)), too_many);

        let named = |name: &str| check([(name.to_owned(), json!(1))]);
        for name in ["a", "asset_tag", "x.y-z_0", &"a".repeat(64)] {
            assert_eq!(named(name), None, "{name}");
        }
        for name in ["", "A", "a b", "ä", "a:b", &"a".repeat(65), "$serde_json::private::Number"] {
            assert!(named(name).is_some_and(|error| error.starts_with("custom.")), "{name}");
        }

        // The text has two quotes, and the object two braces and `"a":`.
        let sized = |size: usize| check([("a".to_owned(), json!("x".repeat(size - 8)))]);
        assert_eq!(sized(16_384), None);
        assert!(sized(16_385).is_some());

        let nested = |depth: usize| {
            let value = (0..depth).fold(json!(1), |value, _| json!([value]));
            check([("a".to_owned(), value)])
        };
        assert_eq!(nested(64), None);
        assert!(nested(65).is_some());
        assert!(check([("a".to_owned(), json!({"$serde_json::private::Number": "1"}))]).is_some());
    }
}
