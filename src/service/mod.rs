//! The API as a [`tower::Service`](tower_service::Service): [`Api`] and its builder.

mod accounts;
mod api;
mod body;
mod client_address;
mod collections;
mod credentials;
#[cfg(feature = "discovery")]
mod daemons;
#[cfg(feature = "discovery")]
mod discoveries;
#[cfg(feature = "discovery")]
mod discovery_stream;
mod dispatch;
mod endpoints;
mod entity_tag;
mod error;
mod health;
mod hosts;
mod input;
mod lists;
mod many;
#[cfg(feature = "openapi")]
mod openapi;
mod page_cache;
mod rate_limit;
#[cfg(feature = "discovery")]
mod reports;
mod response;
mod routes;
mod shape;
mod state;

pub use api::{Api, ApiBuilder, ResponseFuture};
pub use body::{BodyError, ResponseBody};
pub use client_address::{ClientAddr, ClientAddressSource};
pub use credentials::CookiePathError;
#[cfg(feature = "openapi")]
pub use openapi::openapi;
pub use rate_limit::RateLimit;
