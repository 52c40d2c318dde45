//! The parts of a host one by one: interfaces, ports, services and interface entries.

mod fields;
mod list;
mod operations;
mod places;
mod port_update;
mod record;
mod update;

pub(in crate::inventory) use self::places::PartLists;
pub(super) use self::record::{Embedded, settle};
use std::fmt;
use std::marker::PhantomData;

use super::texts::check_part_texts;
use crate::inventory::{Error, Inventory};

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
