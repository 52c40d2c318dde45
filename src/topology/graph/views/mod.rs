//! The views: which nodes, edges and containers each of them shows.

pub(super) mod l2;
pub(super) mod l3;
pub(super) mod parallel;
pub(super) mod workloads;
