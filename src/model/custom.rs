//! Fields that the API does not know, of the host application or of users.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;

/// Fields of the host application or of users, by name.
///
/// A name has 1 to 64 of the characters `a` to `z`, `0` to `9`, `_`, `.` and `-`. A record has at most 64 such fields, whose
/// JSON has at most 16 KiB in all.
pub type Custom = BTreeMap<String, Value>;

/// Reads fields of requests. Null counts as no fields, and a field that is null as missing.
pub(crate) fn read_custom<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Custom, D::Error> {
    struct Fields;

    impl<'de> Visitor<'de> for Fields {
        type Value = Custom;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("an object")
        }

        fn visit_unit<E>(self) -> Result<Custom, E> {
            Ok(Custom::new())
        }

        fn visit_none<E>(self) -> Result<Custom, E> {
            Ok(Custom::new())
        }

        fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Custom, D::Error> {
            deserializer.deserialize_map(self)
        }

        fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Custom, M::Error> {
            let mut fields = Custom::new();
            while let Some((name, Exact(value))) = map.next_entry::<String, Exact>()? {
                if fields.insert(name, value).is_some() {
                    return Err(M::Error::custom("a field is given twice"));
                }
            }
            fields.retain(|_, value| !value.is_null());
            Ok(fields)
        }
    }

    deserializer.deserialize_option(Fields)
}

/// The beginning of the message about an integer that a value cannot have.
pub(crate) const LONG_INTEGER: &str = "an integer of more than 64 bits";

/// A JSON value of a request, with the digits of its integers.
pub(crate) struct Exact(pub(crate) Value);

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Box::<RawValue>::deserialize(deserializer)?;
        if has_long_integer(json.get()) {
            return Err(D::Error::custom(LONG_INTEGER));
        }
        serde_json::from_str(json.get()).map(Self).map_err(D::Error::custom)
    }
}

impl From<Exact> for Value {
    fn from(Exact(value): Exact) -> Self {
        value
    }
}

/// Returns whether JSON has an integer that is neither an `i64` nor a `u64`, and would become a float of other digits.
fn has_long_integer(json: &str) -> bool {
    let mut rest = json.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = match first {
            b'"' => after_string(after),
            b'-' | b'0'..=b'9' => {
                let is_of_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
                let length = rest.iter().take_while(|byte| is_of_number(byte)).count();
                let (number, after) = rest.split_at_checked(length).unwrap_or((rest, &[]));
                if is_long_integer(number) {
                    return true;
                }
                after
            }
            _ => after,
        };
    }
    false
}

/// Returns the bytes after a string whose first quote was read.
fn after_string(mut rest: &[u8]) -> &[u8] {
    loop {
        rest = match rest {
            [b'\\', _, after @ ..] => after,
            [b'"', after @ ..] => return after,
            [_, after @ ..] => after,
            [] => return rest,
        };
    }
}

fn is_long_integer(number: &[u8]) -> bool {
    let digits = number.strip_prefix(b"-").unwrap_or(number);
    let Ok(text) = str::from_utf8(number) else { return false };
    let has_room = || text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok();
    // JavaScript writes floats below 1e21 as integers.
    let is_float = || text.parse::<f64>().is_ok_and(|float| format!("{float:.0}") == text);
    digits.iter().all(u8::is_ascii_digit) && !has_room() && !is_float()
}

/// Reads stored fields. Records that were stored before there were any have none.
pub(super) fn stored<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Custom, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Option<Custom> {
        read_custom(&mut serde_json::Deserializer::from_str(json)).ok()
    }

    #[test]
    fn nulls_count_as_missing_and_repeated_names_and_long_integers_are_refused() {
        assert_eq!(read("null"), Some(Custom::new()));
        assert_eq!(read("{}"), Some(Custom::new()));
        assert_eq!(read(r#"{"a": null, "b": 1}"#), Some(Custom::from([("b".to_owned(), 1.into())])));
        for exact in [
            "-9223372036854775808",
            "18446744073709551615",
            "100000000000000000000",
            "1e300",
            "1.5",
            "\"99999999999999999999\\\"9\"",
        ] {
            assert!(read(&format!(r#"{{"a": [{exact}]}}"#)).is_some(), "{exact}");
        }
        for long in
            ["-9223372036854775809", "18446744073709551617", "[\"a\", {\"b\": 123456789012345678901}]"]
        {
            assert_eq!(read(&format!(r#"{{"a": {long}}}"#)), None, "{long}");
        }
        for wrong in ["[]", "1", "\"a\"", r#"{"a": 1, "a": 1}"#, r#"{"a": null, "a": 1}"#] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
