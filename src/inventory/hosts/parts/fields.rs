//! Reading the parts of one kind from stored hosts, without the rest of the hosts.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use super::Part;
use crate::inventory::Error;
use crate::inventory::hosts::document::json;
use crate::inventory::schema::damaged;
use crate::store::Record;

/// Returns the parts of a stored host.
pub(super) fn parts_of<P: Part>(record: &Record) -> Result<Vec<P>, Error> {
    let mut reader = serde_json::Deserializer::from_slice(json(record));
    PartsOf(PhantomData).deserialize(&mut reader).map_err(|error| damaged(record.key, &error))
}

/// Reads the list of parts of a host and skips everything else.
struct PartsOf<P>(PhantomData<P>);

impl<'de, P: Part> DeserializeSeed<'de> for PartsOf<P> {
    type Value = Vec<P>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<P>, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, P: Part> Visitor<'de> for PartsOf<P> {
    type Value = Vec<P>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a host")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Vec<P>, A::Error> {
        let mut parts = Vec::new();
        while let Some(field) = fields.next_key::<Cow<'_, str>>()? {
            if field == P::LIST {
                parts = fields.next_value()?;
            } else {
                fields.next_value::<IgnoredAny>()?;
            }
        }
        Ok(parts)
    }
}
