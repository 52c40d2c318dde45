//! Tests of arrangements.

mod anchors;
mod containers;
mod faults;
mod fixture;
mod labels;
mod networks;
mod quality;
mod rings;
mod same_bytes;
mod tiers;
mod two_hubs;
