//! Reconciliation of reports with the hosts that they may concern: pure functions, without a store and without a clock.
//!
//! 1. [`Identity::of_device`] returns what identifies a device of a report. An index of [`Identity::of_host`] by
//!    [`Identity::term`] finds the hosts that share one of them.
//! 2. [`recognize()`] decides which of these hosts the device is.
//! 3. [`Projection::of_device`] converts the device to the form of a host.
//! 4. [`merge()`] merges the projection into the host. Values that users have changed stay; [`HostState`] remembers them.
//! 5. [`resolve`] finds the neighbors of the host's ports among the hosts that its LLDP and CDP tables name ([`named_by`]).
//!
//! All results depend on the arguments alone, and not on the order of their rows.

mod attributes;
mod derived;
mod edits;
mod entries;
mod identity;
mod merge;
mod named;
mod names;
mod neighbors;
mod outcome;
mod parts;
mod plan;
mod ports;
mod project;
mod recognize;
mod remotes;
mod reported;
mod state;

#[cfg(feature = "topology")]
pub(crate) use {
    identity::Traits,
    named::{Found, Known, Named},
    names::{is_own_mac, trimmed},
    ports::{Ports, abbreviated},
};

pub use derived::{set_neighbors, set_subnets};
pub use identity::{Identity, IdentityKind};
pub use merge::merge;
pub use neighbors::{named_by, resolve};
pub use outcome::{MergeOutcome, MergeReason, Merged};
pub use project::{Projection, new_host_id};
pub use recognize::{MatchedBy, Merging, Recognition, recognize};
pub use remotes::Candidate;
pub use reported::device_of;
pub use state::{HostState, Observed, STALE_AFTER, Seen};
