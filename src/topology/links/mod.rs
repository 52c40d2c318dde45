//! Links between hosts, derived from their claims.

mod link;

pub use self::link::{
    Confidence, End, Evidence, Link, LinkMember, Method, PortRef, RejectedClaim, Rule, Segment, Stub,
};
