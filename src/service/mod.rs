//! The API as a [`tower::Service`](tower_service::Service): [`Api`] and its builder.

mod api;
mod body;
mod client_address;
mod credentials;
mod dispatch;
mod endpoints;
mod entity_tag;
mod error;
mod hosts;
mod input;
mod page_cache;
mod rate_limit;
mod response;
mod route;
mod state;

pub use api::{Api, ApiBuilder, ResponseFuture};
pub use body::{BodyError, ResponseBody};
pub use client_address::{ClientAddr, ClientAddressSource};
pub use credentials::CookiePathError;
pub use rate_limit::RateLimit;
