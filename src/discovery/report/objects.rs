//! Lists of objects in the JSON of reports.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::Device;

/// Maximum number of devices of a report.
const MAX_DEVICES: usize = 100_000;

/// Maximum number of rows of a table.
const MAX_ROWS: usize = 500_000;

/// Deserializes the devices of a report.
pub(super) fn devices<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Device>, D::Error> {
    deserializer.deserialize_seq(List { most: MAX_DEVICES, items: "devices", marker: PhantomData })
}

/// Deserializes the rows of a table.
pub(super) fn rows<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    deserializer.deserialize_seq(List { most: MAX_ROWS, items: "rows", marker: PhantomData })
}

/// A list of bounded length.
struct List<T> {
    most: usize,
    items: &'static str,
    marker: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for List<T> {
    type Value = Vec<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a list of {}", self.items)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut items = Vec::new();
        while let Some(Object(item)) = list.next_element()? {
            if items.len() >= self.most {
                return Err(de::Error::custom(format_args!("more than {} {}", self.most, self.items)));
            }
            items.push(item);
        }
        Ok(items)
    }
}

/// A value that is an object in JSON.
///
/// A derived implementation also takes an array, which may be far shorter than the value that it becomes.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Object<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Object)
    }
}
