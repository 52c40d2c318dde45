//! The topology of a network: from the hosts and their claims to a picture.
//!
//! Four steps, each a pure function of the one before: [`links`] derives the connections, with the evidence for each;
//! [`graph`] selects the nodes and edges of a view; [`layout`] places it; [`render`] draws it or writes it as a file.
//! The same input gives the same bytes on every machine. Beside them, [`paths`] answers questions about the links: what breaks, what is
//! fragile, and how a device is reached.
//!
//! [`Topologies`] does all of it for the networks of an [`Inventory`](crate::Inventory) (feature `service`).

mod edge_details;
pub mod graph;
pub mod layout;
pub mod links;
#[cfg(feature = "service")]
mod networks;
pub mod paths;
pub mod render;

pub use self::edge_details::EdgeDetails;
#[cfg(feature = "service")]
pub(crate) use self::networks::Placement;
#[cfg(feature = "service")]
pub use self::networks::Topologies;
