//! JSON of the commands `ip` and `bridge` of Linux.

mod addresses;
mod fdb;
mod neighbors;
mod vlans;

use std::fmt;
use std::io::BufRead;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{ParseOptions, json};

pub(super) use addresses::read as read_addresses;
pub(super) use fdb::read as read_fdb;
pub(super) use neighbors::read as read_neighbors;
pub(super) use vlans::read as read_vlans;

/// Reads a list of objects one by one, so that no more than one is in memory as a document.
fn read_list<T: for<'de> Deserialize<'de>>(
    reader: &mut dyn BufRead,
    options: &ParseOptions,
    counts: &json::Counts,
    expected: &'static str,
    visit: impl FnMut(T),
) -> serde_json::Result<()> {
    let mut deserializer = json::deserializer(reader, counts, options);
    let list = List { expected, visit, entry: PhantomData::<T> };
    list.deserialize(&mut deserializer).and_then(|()| deserializer.end())
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
        while let Some(entry) = list.next_element()? {
            (self.visit)(entry);
        }
        Ok(())
    }
}
