//! The parts of a host one by one: interfaces, ports, services and interface entries.

mod list;
mod operations;
mod port_update;
mod record;
mod update;

pub use self::port_update::PortUpdate;
pub(super) use self::record::{Common, Embedded, settle};

/// A record embedded in a host, as returned by [`Inventory::part_as`](crate::Inventory::part_as).
///
/// The parts of a host are its [`Interface`](crate::model::Interface)s, [`Port`](crate::model::Port)s,
/// [`Service`](crate::model::Service)s and [`IfEntry`](crate::model::IfEntry)s. No other type can implement this trait.
pub trait Part: Embedded {}

impl<P: Embedded> Part for P {}
