//! Reconciliation of reports with the hosts that they may concern.
//!
//! All functions are pure: they use neither a store nor a clock.
//!
//! 1. [`join_pieces`] joins the elements of a scan that describe one device. [`Identity::of_device`] returns the
//!    identities of a device of a report. An index of [`Identity::of_host`] by [`Identity::term`] finds the hosts that
//!    share one of them.
//! 2. [`recognize_with_notes`] decides which of these hosts the device is, and which of them are one. It states why.
//! 3. [`Projection::of_device`] converts the device to the form of a host.
//! 4. [`merge()`] merges the projection into the host. Values that users have changed stay; [`HostState`] remembers them.
//! 5. [`resolve`] finds the neighbors of the host's ports among the hosts that its LLDP and CDP tables name ([`named_by`]).
//!
//! All results depend on the arguments alone, and not on the order of their rows.

mod attributes;
mod cached;
mod entries;
mod identity;
mod merge;
mod names;
mod neighbors;
mod pieces;
mod port_names;
mod prefixes;
mod project;
mod recognize;
mod reported;
mod state;

#[cfg(feature = "topology")]
pub(crate) use {
    identity::Traits,
    names::trimmed,
    neighbors::named::{KnownHosts, Named, NamedHost},
    neighbors::ports::SwitchPorts,
};

pub(crate) use cached::{
    device_at, is_address_only, lists_others, own_macs, restore_cached_macs, set_cached_macs,
    withdraw_cached_macs,
};
pub(crate) use names::is_own_mac;
#[cfg(feature = "topology")]
pub(crate) use names::{is_placeholder, is_router_mac};
pub(crate) use prefixes::{described_prefixes, undescribed_prefixes};
pub(crate) use project::derived_name;

pub use identity::{Identity, IdentityKind};
pub(crate) use merge::edits::take_edits;
pub use merge::merge;
pub(crate) use merge::merge_owned;
pub use merge::outcome::{MergeOutcome, Merged};
pub use neighbors::remotes::Candidate;
pub use neighbors::{named_by, resolve, set_neighbors, set_subnets};
pub use pieces::join_pieces;
pub use port_names::{PortNames, PortNamesError};
pub use project::{Projection, new_host_id};
pub use recognize::{
    AddressTimes, Context, MatchedBy, Merging, Recognition, RecognitionNote, Recognized, name_of_device,
    name_of_host, recognize, recognize_with_notes,
};
pub use reported::device_of;
pub use state::{HostState, Observed, STALE_AFTER, Seen};
pub(crate) use state::{has_recent_ages, set_ages};
