//! Fields that the API does not know, of the host application or of users.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

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
            while let Some((name, value)) = map.next_entry::<String, Value>()? {
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
    fn nulls_count_as_missing_and_repeated_names_are_refused() {
        assert_eq!(read("null"), Some(Custom::new()));
        assert_eq!(read("{}"), Some(Custom::new()));
        assert_eq!(read(r#"{"a": null, "b": 1}"#), Some(Custom::from([("b".to_owned(), 1.into())])));
        for wrong in ["[]", "1", "\"a\"", r#"{"a": 1, "a": 1}"#, r#"{"a": null, "a": 1}"#] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
