//! The OpenAPI document, made from the route table and from the types of the records.

mod collector;
mod document;
mod endpoints;
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
pub(super) use self::endpoints::{Descriptions, at_root, under_api};
pub(super) use self::excerpt::excerpt;
