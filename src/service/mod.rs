//! The API as a [`tower::Service`](tower_service::Service): [`Api`] and its builder.

mod api;
mod budget;
#[cfg(feature = "openapi")]
mod description;
mod dispatch;
mod endpoints;
mod input;
mod observation;
#[cfg(feature = "openapi")]
mod openapi;
mod response;
mod revocations;
mod routes;
mod sender;
mod served;
mod shutdown;
mod state;

#[cfg(feature = "axum")]
pub use api::Extract;
pub use api::{Admitted, Api, ApiBuilder, ResponseFuture};
#[cfg(feature = "openapi")]
pub use description::{UnknownGroup, openapi, openapi_for};
pub use input::normalize_path;
pub use observation::{ApiFigures, LimitFigures, RouteFigures};
pub use response::body::{BodyError, ResponseBody};
pub use routes::endpoints::Endpoints;
pub use sender::client_address::{ClientAddr, ClientAddressSource};
pub use sender::rate_limit::RateLimit;
pub use sender::request_id::RequestId;
pub use sender::session_cookie::{SameSite, SessionCookie, SessionCookieError};
pub use served::Served;
