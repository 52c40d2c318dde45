//! The addresses of subnets: the free ones, the devices that use the others, and reservations.
//!
//! | Room | |
//! |---|---|
//! | `record` | reservations as records: one for each address |
//! | `claims` | what hosts and their neighbor caches state about addresses, and whether these devices are the same |
//! | `ranked_set` | a sorted set that counts and finds gaps |
//! | `table` | the addresses of a network that are not free |
//! | `following` | keeps such a table up to date |
//! | `reserve` | reserves and releases addresses |
//!
//! The subnets of a network share its addresses: an address that is reserved in one of them is reserved in each that contains
//! it. The key of a reservation follows from network and address, and the store creates a record only once. So two instances never
//! give the same address, whatever they know of each other.

#[cfg(feature = "topology")]
mod claims;
#[cfg(feature = "topology")]
mod following;
#[cfg(feature = "topology")]
mod ranked_set;
mod record;
#[cfg(feature = "topology")]
mod reserve;
#[cfg(feature = "topology")]
mod table;

#[cfg(feature = "topology")]
pub use self::reserve::Addresses;
#[cfg(feature = "topology")]
pub(crate) use self::reserve::{MAX_RELEASED, MAX_RESERVED};
#[cfg(feature = "topology")]
pub(super) use self::table::NetworkAddresses;
