//! Custom fields: their limits, and the index of hosts and networks by them.

mod index;
mod upgrade;

pub(super) use self::index::{CustomIndex, IndexedKind, filter, order, sort_key, term};
use super::validate::is_readable_value;
use super::{Error, Problem};
use crate::model::Custom;
use crate::printable::printable;

/// The text before the name of a custom field in the path of its value, and in the name of a filter by it.
pub(crate) const CUSTOM_PREFIX: &str = "custom.";

/// A filter by a custom field, for sentences of errors.
pub(crate) const CUSTOM_FILTER_EXAMPLE: &str = "custom.asset_tag=A-17";

/// An order by a custom field, for sentences of errors.
pub(crate) const CUSTOM_ORDER_EXAMPLE: &str = "order_by_custom=asset_tag";

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

/// Checks that the joined custom fields of two hosts are within the limits. Of equal names, `own` has the
/// field.
///
/// # Errors
/// `Invalid` with the field `custom`.
#[cfg(feature = "discovery")]
pub(super) fn check_joined(own: &Custom, others: &Custom) -> Result<(), Error> {
    if own.is_empty() || others.is_empty() {
        return Ok(());
    }
    let mut joined = others.clone();
    joined.extend(own.clone());
    check_custom(&joined)
}

/// Adds each field that only `others` has, in the order of names, if it still fits within the limits.
///
/// Returns the names of the fields that are left out.
#[cfg(feature = "discovery")]
pub(super) fn join(own: &mut Custom, others: Custom) -> Vec<String> {
    let mut left_out = Vec::new();
    if others.is_empty() {
        return left_out;
    }
    // Each field counts a comma, of which there is one too many; the two braces therefore add one byte.
    let mut bytes = own.iter().map(|(name, value)| bytes_of(name, value)).sum::<usize>() + 1;
    for (name, value) in others {
        if own.contains_key(&name) {
            continue;
        }
        let added = bytes_of(&name, &value);
        if own.len() < MAX_CUSTOM_FIELDS && bytes + added <= MAX_BYTES {
            bytes += added;
            own.insert(name, value);
        } else {
            left_out.push(name);
        }
    }
    left_out
}

/// Returns the size of a field in bytes of JSON, with its quotes, colon and comma.
#[cfg(feature = "discovery")]
fn bytes_of(name: &str, value: &serde_json::Value) -> usize {
    // A value without JSON does not fit.
    let bytes = serde_json::to_vec(value).map_or(MAX_BYTES, |json| json.len());
    name.len() + bytes + 4
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

    #[cfg(feature = "discovery")]
    #[test]
    fn joined_fields_fill_the_limits_exactly() {
        let text = |size: usize| json!("x".repeat(size));
        let mut own = Custom::from([("b".to_owned(), text(100)), ("c".to_owned(), json!(1))]);
        let rest = MAX_BYTES - serde_json::to_vec(&own).unwrap().len();
        for (size, is_left_out) in [(rest - 7, true), (rest - 8, false)] {
            let mut joined = own.clone();
            let others = Custom::from([("a".to_owned(), text(size + 1)), ("b".to_owned(), json!(2))]);
            assert_eq!(join(&mut joined, others), if is_left_out { vec!["a".to_owned()] } else { vec![] });
            assert_eq!(joined["b"], own["b"], "the own field stays");
            assert!(check_custom(&joined).is_ok());
            assert_eq!(serde_json::to_vec(&joined).unwrap().len() == MAX_BYTES, !is_left_out);
        }
        let numbered = (0..100).map(|number| (format!("f{number:02}"), json!(number)));
        let left_out = join(&mut own, numbered.collect());
        assert_eq!((own.len(), left_out.len(), left_out[0].as_str()), (MAX_CUSTOM_FIELDS, 38, "f62"));
        assert_eq!(join(&mut own, Custom::new()), Vec::<String>::new());
    }
}
