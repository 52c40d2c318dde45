//! What the views show.

mod folding;
mod layer2;
mod layer3;
mod redaction;
mod roles;
pub(crate) mod support;
mod workloads;
