//! The API as a [`tower::Service`](tower_service::Service): [`Api`], and how it is built.

mod api;
mod body;
mod builder;
mod credentials;
mod hosts;
mod rate_limit;
mod response;
mod route;
mod version;

pub use api::{Api, ResponseFuture};
pub use body::ResponseBody;
pub use builder::ApiBuilder;
pub use rate_limit::{ClientAddr, RateLimit};
