//! Parsers of the JSON of iproute2: `ip -j` without neighbors, and `bridge -j`.

mod addresses;
mod fdb;
mod routes;
mod vlans;

use std::fmt;
use std::io::BufRead;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{ParseOptions, json};
use crate::json_objects::Objects;

pub(super) use addresses::read as read_addresses;
pub(super) use fdb::read as read_fdb;
pub(super) use routes::read as read_routes;
pub(super) use vlans::read as read_vlans;

/// Reads lists of objects, of several runs of a command one after the other. Each object is passed on with the number of its
/// list. Returns the lengths of the lists.
///
/// No more than one object is in memory as a document. Entries that a filter of the command leaves out are empty objects.
/// They are skipped.
fn read_lists<T: for<'de> Deserialize<'de>>(
    reader: &mut dyn BufRead,
    options: &ParseOptions,
    counts: &json::InputCounts,
    expected: &'static str,
    mut visit: impl FnMut(usize, T),
) -> serde_json::Result<ListLengths> {
    let mut deserializer = json::deserializer(reader, counts, options);
    let mut lists = ListLengths::default();
    json::each_document(&mut deserializer, |deserializer| {
        let mut is_empty = true;
        let visit = |entry| {
            is_empty = false;
            visit(lists.count, entry);
        };
        let list = List { expected, visit, entry: PhantomData::<T> };
        list.deserialize(Objects(deserializer))?;
        lists.count += 1;
        lists.has_empty |= is_empty;
        Ok(())
    })?;
    Ok(lists)
}

/// The lists of several runs of a command.
#[derive(Clone, Copy, Debug, Default)]
struct ListLengths {
    count: usize,
    /// Whether any list has no entry.
    has_empty: bool,
}

/// A list of which each entry is passed on.
struct List<T, V> {
    expected: &'static str,
    visit: V,
    entry: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>, V: FnMut(T)> DeserializeSeed<'de> for List<T, V> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, T: Deserialize<'de>, V: FnMut(T)> Visitor<'de> for List<T, V> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the list of `{}`", self.expected)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        while let Some(NonEmpty(entry)) = list.next_element()? {
            entry.into_iter().for_each(&mut self.visit);
        }
        Ok(())
    }
}

/// An entry of a list; `None` for an empty object.
struct NonEmpty<T>(Option<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for NonEmpty<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntryVisitor(PhantomData)).map(Self)
    }
}

struct EntryVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for EntryVisitor<T> {
    type Value = Option<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Option<T>, A::Error> {
        let Some(first) = map.next_key::<String>()? else { return Ok(None) };
        T::deserialize(MapAccessDeserializer::new(WithFirst { first: Some(first), map })).map(Some)
    }
}

/// An object whose first key was read already.
struct WithFirst<A> {
    first: Option<String>,
    map: A,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for WithFirst<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        match self.first.take() {
            Some(first) => seed.deserialize(first.into_deserializer()).map(Some),
            None => self.map.next_key_seed(seed),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}
