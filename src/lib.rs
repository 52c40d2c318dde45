//! Network inventory and topology over HTTP, to embed.

pub mod access;
pub mod inventory;
pub mod model;
pub mod service;
pub mod store;
pub mod wire;
