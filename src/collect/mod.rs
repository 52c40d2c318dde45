//! Reading devices over SNMP, from one address to a network.
//!
//! | Module | Input and output |
//! |---|---|
//! | [`snmp`] | an address and secrets become an [`SnmpAgent`](snmp::SnmpAgent), of which tables are read |
//! | [`tables`] | the tables of an agent become a [`Report`](crate::discovery::Report) |
//! | [`crawl`] | addresses, limits and secrets become a stream of reports and failures |
//! | [`sweep`] | prefixes become the addresses that are in use |
//!
//! A [`Gate`] sends every packet: to addresses of the [`AllowList`] only, and at a [`Pace`]. Dropping a future or
//! stream of this module ends its work: it sends nothing any more.

mod allow_list;
pub mod crawl;
mod figures;
mod gate;
mod pace;
mod panics;
mod secret;
pub mod snmp;
pub mod sweep;
pub mod tables;
mod transport;

pub use allow_list::{AllowList, AllowListError};
pub use figures::CollectFigures;
pub use gate::Gate;
pub use pace::Pace;
pub use secret::{SnmpAuthentication, SnmpPrivacy, SnmpSecret, SnmpSecrets, SnmpUser};
pub use transport::{Datagram, Transport, TransportFuture, UdpTransport};
