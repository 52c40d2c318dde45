//! The parts of a host one by one: interfaces, ports, services and interface entries.

mod list;
mod operations;
mod places;
mod port_update;
mod record;
mod update;

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

pub(in crate::inventory) use self::places::PartLists;
pub(super) use self::record::{Embedded, settle};
use super::texts::check_part_texts;
use crate::inventory::hosts::document::json;
use crate::inventory::schema::damaged;
use crate::inventory::{Error, Inventory};
use crate::store::Record;

/// A record embedded in a host, as returned by [`HostParts::get`](crate::inventory::HostParts::get).
///
/// The parts of a host are its [`Interface`](crate::model::Interface)s, [`Port`](crate::model::Port)s,
/// [`Service`](crate::model::Service)s and [`IfEntry`](crate::model::IfEntry)s. No other type can implement this trait.
pub trait Part: Embedded {}

impl<P: Embedded> Part for P {}

/// Parses a part that a request describes, and limits its texts.
///
/// # Errors
/// `Invalid`, with the path of the faulty value in the part.
pub(crate) fn parse_part<P: Part>(json: &[u8]) -> Result<P, Error> {
    let part = P::parse(json)?;
    check_part_texts(&part, None)?;
    Ok(part)
}

/// The parts of one kind of the hosts of an organization: interfaces, ports, services or interface entries.
pub struct HostParts<'a, P> {
    inventory: &'a Inventory,
    kind: PhantomData<fn() -> P>,
}

impl Inventory {
    /// The parts of one kind of the hosts of an organization: interfaces, ports, services or interface entries.
    #[must_use]
    pub const fn parts<P: Part>(&self) -> HostParts<'_, P> {
        HostParts { inventory: self, kind: PhantomData }
    }
}

impl<P> Clone for HostParts<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for HostParts<'_, P> {}

impl<P> fmt::Debug for HostParts<'_, P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HostParts").field("inventory", self.inventory).finish()
    }
}

/// Returns the parts of a stored host.
fn parts_of<P: Part>(record: &Record) -> Result<Vec<P>, Error> {
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
