//! The API as a [`tower::Service`](tower_service::Service): [`Api`], and how it is built.

mod api;
mod body;
mod builder;
mod client_address;
mod conditional;
mod contained;
mod cookie;
mod credentials;
mod cross_site;
mod daemon_keys;
mod hosts;
mod input;
mod kept_pages;
mod list_slots;
mod ports;
mod rate_limit;
mod referrals;
mod refusal_log;
mod response;
mod route;
mod sessions;
mod shared;
mod shares;
mod user_keys;
mod version;
mod whole_list;

pub use api::{Api, ResponseFuture};
pub use body::{BodyError, ResponseBody};
pub use builder::ApiBuilder;
pub use client_address::{ClientAddr, ClientAddressSource};
pub use rate_limit::RateLimit;
