//! Network inventory and topology over HTTP, to embed.
//!
//! A host application gives Toposcope a [`store`] and gets back a [`tower` service](service::Api) that serves the network
//! inventory API: hosts with their interfaces, ports, services and SNMP interface entries, API keys of users and of
//! discovery daemons, sessions, and shares. It mounts that in axum or hyper, or calls it in process.
//!
//! ```
//! use http::{Request, header};
//! use toposcope::inventory::{Inventory, NewUser, NewUserApiKey};
//! use toposcope::model::Permission;
//! use toposcope::service::Api;
//! use toposcope::store::MemoryStore;
//! use tower::ServiceExt;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let inventory = Inventory::new(MemoryStore::new());
//! let organization = inventory.create_organization("Example", true).await?;
//! let owner = inventory.create_user(NewUser::new(organization.id, "me@example.net", Permission::Owner)).await?;
//! let key = inventory.create_user_api_key(NewUserApiKey::new(owner.id, "laptop", Permission::Viewer)).await?;
//!
//! let api = Api::builder(inventory).build();
//! let request = Request::get("/api/v1/hosts?limit=10")
//!     .header(header::AUTHORIZATION, format!("Bearer {}", key.plaintext()))
//!     .body(String::new())?;
//! assert_eq!(api.oneshot(request).await?.status(), 200);
//! # Ok(())
//! # }
//! ```
//!
//! # The rooms
//! Each imports only from those above it.
//!
//! * [`model`]: the records, as plain typed values.
//! * [`store`]: what is asked of a database, in six methods and one more, and the backends.
//! * [`access`]: who asks and what they may reach; keys, passwords, clocks.
//! * [`inventory`]: the rules, on a store; also without HTTP.
//! * [`wire`]: the envelope, the error codes, the reading of paths, queries and bodies.
//! * [`service`]: the API as a `tower::Service`.
//! * `testing` (feature `testing`): the conformance suite for stores.
//!
//! # What a request costs
//! A host is encoded once, when it is written. A page is those bytes between an opening and a closing: nothing is parsed
//! or serialised on the way, and a page is found by its rank in a sorted index, so its cost does not grow with its offset.
//!
//! How that grows in the stores of this crate, with `n` hosts, of which `m` match, on `k` networks of those asked for:
//!
//! | Request | Steps |
//! |---|---|
//! | a page of the organization or of one network, by any order, from anywhere | log `n`, and the page |
//! | the same of several networks, with `tag_ids`, or with `group_by` beside `order_by`: once the list is kept | log `m`, and the page |
//! | of several networks, before | `k` · log `n` some times over, and the page |
//! | with `tag_ids`, before | the hosts that have any of the tags, up to 4,096 |
//! | with `group_by` beside `order_by`, before | log `n` and the groups of the page; those that are a part of their networks are sorted |
//! | any of these that takes more than 8,192 steps, or was read so often that it pays | `n` and `m`, once, on a blocking thread and without holding up anyone else: from then on the list is in the organization's ordering cache, until 32 others were used more recently |
//! | with `ids` | the ids |
//! | `limit=0` | as many pages as there are, one after the other, as the response is read |
//! | with `If-None-Match`, where nothing has changed | none of these |
//! | a page that was asked for twice before, where nothing has changed | none of these: it is sent as it was kept |
//! | an update of a port | the host, encoded anew; log `n` for each order in which it moves, and for each list that is kept |
//!
//! The ordering cache takes at most 16 bytes a host, or 64 KB of a small organization; what is kept of pages, 16 MiB unless
//! [`page_cache`](service::ApiBuilder::page_cache) says otherwise.
//!
//! # Features
//! * `sled`, on by default: `SledStore`, which keeps everything in a folder.
//! * `testing`: the `testing` module, for whoever writes a store. Cases may be added to it in any release.

pub mod access;
mod fair_threads;
pub mod inventory;
mod keyed_lock;
mod lines;
pub mod model;
pub mod service;
pub mod store;
#[cfg(feature = "testing")]
pub mod testing;
pub mod wire;

/// Compiles the README's example.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
