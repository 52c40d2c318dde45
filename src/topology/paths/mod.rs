//! Answers about a network: effects of failures, fragile devices and links, paths, ports and VLANs.
//!
//! [`PathIndex`] prepares the links of a network. Each question is a pure function of it; the work and the memory of each are
//! bounded. The answers state whether they are complete, and why not.
//!
//! | Question | Function |
//! |---|---|
//! | What breaks if this fails? | [`PathIndex::impact`] |
//! | What must not fail? | [`PathIndex::fragile`] |
//! | How does a packet get there? | [`PathIndex::paths`] |
//! | Where is a device connected? | [`PathIndex::locate`] |
//! | Which VLAN is where? | [`PathIndex::vlans`] |
//!
//! *Working* links are those that the latest reports show and that are neither down nor in test mode. The spanning tree may block
//! them: it opens them again when others fail.

#![allow(
    clippy::indexing_slicing,
    reason = "nodes and links are numbered by their places in the lists of `PathIndex`, and all other lists about them are as long"
)]

mod cuts;
mod flood;
mod forwarding;
mod fragile;
mod impact;
mod index;
mod legs;
mod locate;
mod lookup;
mod pairs;
mod reason;
mod redundancy;
mod repair;
mod route;
mod routing;
mod search;
mod top;
mod vlans;

pub use self::fragile::{Fragile, FragileEdge, FragileNode, FragileQuery, LinkSummary};
pub use self::impact::{AffectedHost, Impact, ImpactQuery, SubnetCount};
pub use self::index::PathIndex;
#[cfg(feature = "service")]
pub(in crate::topology) use self::index::{ChangedNode, IndexChanges, IndexedHost};
pub use self::locate::{AddressConflict, GatewayGroup, LocateTarget, Location, LocationCandidate};
pub use self::lookup::LookupError;
pub use self::pairs::{FragilePair, PairReason, PairedNode};
pub use self::reason::{UnknownIdError, UnknownReason};
#[cfg(feature = "service")]
pub(crate) use self::route::DEFAULT_PATHS;
pub(crate) use self::route::MAX_PATHS;
pub use self::route::{NetworkPath, Obstacle, PathHop, PathLayer, PathQuery, Paths, UnusedLink};
pub use self::vlans::{VlanHost, VlanList, VlanQuery, VlanSummary};

/// The number of items of a list in an answer, unless a question asks for another one.
pub(crate) const DEFAULT_LIMIT: usize = 1_000;
