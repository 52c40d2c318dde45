//! The rules that make candidates of claims.

pub(super) mod access;
pub(super) mod adjacency;
pub(super) mod fdb;
pub(super) mod manual;
pub(super) mod neighbors;
mod phones;
