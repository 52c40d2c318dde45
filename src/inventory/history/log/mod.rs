//! The log: entries, the records that hold them, and their order.

pub(in crate::inventory::history) mod audience;
pub(in crate::inventory::history) mod class;
pub(in crate::inventory::history) mod counts;
mod frame;
pub(in crate::inventory::history) mod places;
pub(in crate::inventory::history) mod position;
pub(in crate::inventory::history) mod reader;
pub(in crate::inventory::history) mod record;
pub(in crate::inventory::history) mod run;
