//! The API as a [`tower::Service`](tower_service::Service): [`Api`] and its builder.

mod accounts;
mod api;
mod body;
mod client_address;
mod collections;
mod credentials;
#[cfg(feature = "discovery")]
mod daemons;
#[cfg(feature = "openapi")]
mod description;
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
mod parameter;
mod rate_limit;
#[cfg(feature = "discovery")]
mod reports;
mod response;
mod route;
mod routes;
mod sender;
mod shape;
mod state;
#[cfg(feature = "topology")]
mod topology;

pub use api::{Api, ApiBuilder, ResponseFuture};
pub use body::{BodyError, ResponseBody};
pub use client_address::{ClientAddr, ClientAddressSource};
pub use credentials::CookiePathError;
#[cfg(feature = "openapi")]
pub use description::openapi;
pub use rate_limit::RateLimit;
