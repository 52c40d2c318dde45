//! The content of the views.

mod blind_spots;
mod compare;
mod filters;
mod folding;
mod lab_roles;
mod layer2;
mod layer3;
mod limits;
pub(crate) mod nothing_vanishes;
mod other_roles;
mod overview;
mod parallel;
mod redaction;
mod roles;
pub(crate) mod scenes;
mod service_roles;
mod staleness;
mod states;
pub(crate) mod support;
mod warnings;
mod workloads;
