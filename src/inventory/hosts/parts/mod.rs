//! The parts of a host one by one: interfaces, ports, services and interface entries.

mod fields;
mod list;
mod operations;
mod places;
mod port_update;
mod record;
mod update;

pub(in crate::inventory) use self::places::PartLists;
pub use self::port_update::PortUpdate;
pub(super) use self::record::{Embedded, settle};
use super::texts::check_part_texts;
use crate::inventory::Error;

/// A record embedded in a host, as returned by [`Inventory::part_as`](crate::Inventory::part_as).
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
