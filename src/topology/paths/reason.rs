//! Reasons for which answers are not complete.

use uuid::Uuid;

use crate::text_enum::text_enum;

text_enum! {
    /// A reason for which an answer may not be complete.
    #[derive(PartialOrd, Ord)]
    #[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
    #[non_exhaustive]
    pub enum UnknownReason {
        /// Links or forwarding tables contradict each other, or several devices claim the address.
        Conflict = "conflict",
        /// Only ports that lead to other switches, or that learned other devices too, have learned the address.
        Edge = "edge",
        /// Some hosts have no known link, no links lead where the question asks, or no port has learned the address.
        Links = "links",
        /// The next router on the way is no host of the network.
        NextHop = "next_hop",
        /// A routing table has no route to the receiver, or discards packets to it.
        NoRoute = "no_route",
        /// A routing table on the way may lack rows.
        Routes = "routes",
        /// The subnets of the ends are not known, several routers may route between them, or the link to the next router is not known.
        Routing = "routing",
        /// Routing tables lead packets in a circle.
        RoutingLoop = "routing_loop",
        /// Several paths exist, and the spanning tree that decides between them is not known.
        SpanningTree = "spanning_tree",
        /// Only earlier reports show where the device is, or which device has the address.
        Stale = "stale",
        /// The ends are in one VLAN, and no links are known to carry it from one to the other; they are in one subnet and different VLANs;
        /// or links that take over after a failure lack VLANs of the links before.
        Vlan = "vlan",
        /// The network is too large for all paths to be compared, or paths are longer than 1,000 links.
        WorkLimit = "work_limit",
    }
}

/// The error for an id that no node or link of the network has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the network has no {id}")]
#[non_exhaustive]
pub struct UnknownIdError {
    /// The id.
    pub id: Uuid,
}
