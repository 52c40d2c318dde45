//! Links between hosts, derived from their claims.
//!
//! [`Device::of`] reduces a host and its claims to the data from which links are derived; [`Links`] holds the links of
//! all devices of a network and follows changes. For each link:
//!
//! 1. A neighbor that a device names is looked up among the hosts: by its chassis id, or else its name, or else its
//!    address, as discovery does. Only a unique host counts; an unknown device becomes a [`Stub`].
//! 2. Rules make candidates of the claims, in the order of [`Rule`]: the claims of two devices about each other are
//!    paired by their ports; forwarding databases show which bridges are adjacent and which hosts are at which port.
//! 3. Candidates between the same ports are one link. For each port the strongest rule wins, and the [`Link`] keeps the
//!    claims that it overrides. Claims of equal rank that contradict each other are [`Confidence::Conflicting`].
//! 4. A port with several neighbors is a [`Segment`], and the ports of an aggregation group are one link with members.
//! 5. Claims that complete tables lack by now still make links, which are [`stale`](Link::stale) or down. They lose against
//!    all others.

mod address_book;
mod bridges;
mod changed_entries;
mod contest;
mod device;
mod devices;
mod hub;
mod key;
mod lag;
mod link;
mod missing;
mod multimap;
mod network;
mod resolve;
mod rules;
mod state;
mod stub;
pub(in crate::topology) mod vlans;
mod warning;
mod whereabouts;

pub(in crate::topology) use self::contest::MAX_REJECTED;
pub use self::device::Device;
pub(in crate::topology) use self::device::routes::RouteTarget;
pub use self::device::routes::{RoutingTable, VirtualRouter};
pub use self::link::{
    Confidence, End, Evidence, Link, LinkMember, Method, PortRef, RejectedClaim, Rule, Segment, Stub,
};
#[cfg(feature = "service")]
pub(in crate::topology) use self::network::LinkChanges;
pub use self::network::Links;
pub use self::rules::manual::{ManualEnd, ManualLink};
pub use self::state::LinkState;
pub use self::vlans::VlanRange;
pub use self::warning::{CrowdedPort, LinkWarning};
pub(in crate::topology) use self::whereabouts::{LearnedPort, PortVlans, StatedMac};

/// The number of the rules. It is increased when links follow from equal records otherwise than before.
#[cfg(feature = "service")]
pub(crate) const RULES: u32 = 1;
