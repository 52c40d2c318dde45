//! The OpenAPI document, made from the route table and from the types of the records.

mod document;
mod envelopes;
mod errors;
mod examples;
mod excerpt;
mod headers;
mod inputs;
mod operation;
mod parameters;
mod patches;
mod schemas;

pub(super) use self::document::build;
pub(super) use self::document::{Descriptions, at_root, under_api};
pub(super) use self::excerpt::excerpt;
