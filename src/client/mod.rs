//! A typed client for the API, over any `tower::Service` that speaks HTTP (feature `client`).
//!
//! [`Client`] sends its requests to an [`Api`](crate::Api) in process, or to a server through an HTTP client. Each
//! operation is a method; the types of records are those of [`model`](crate::model), and the inputs and queries those of
//! [`wire`](crate::wire).
//!
//! Without a method are the page of a share, which is for browsers, and three options that change the form of a response:
//! `fields` of the list of hosts, `layout=false` of a graph, and exported topologies outside of an envelope.
//!
//! ```
//! use toposcope::client::Client;
//! use toposcope::inventory::{Bootstrap, ListQuery};
//! use toposcope::model::Tag;
//! use toposcope::wire::ErrorCode;
//! use toposcope::{Api, Inventory, MemoryStore};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let inventory = Inventory::new(MemoryStore::new());
//! let start = inventory.bootstrap(Bootstrap::new("Example", "me@example.net")).await?;
//! let key = start.issued_key.ok_or("only the first start issues a key")?;
//! let client = Client::new(Api::builder(inventory).build()).with_api_key(key.plaintext())?;
//!
//! let mut created = client.create(&Tag::new("critical")).await?;
//! created.record.name = "important".to_owned();
//! let renamed = client.update(&created.record, created.tag.as_ref()).await?;
//!
//! // The record has changed since this tag was read.
//! let error = client.delete::<Tag>(renamed.record.id, created.tag.as_ref()).await.unwrap_err();
//! assert_eq!(error.code(), Some(ErrorCode::PreconditionFailed));
//!
//! let mut tags = client.records::<Tag>(ListQuery::default());
//! while let Some(tag) = tags.next().await {
//!     assert_eq!(tag?.name, "important");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Layers
//! A client repeats no request and has no time limit of its own: tower's layers between it and its service have both. Each
//! request is sent on a clone of the service, once that clone is ready.
//!
//! Tower's timeout ends with the head of a response. A server that stalls in the middle of a body stalls the request: a
//! timeout around the call, such as `tokio::time::timeout`, or one of the HTTP client covers both.
//!
//! # Memory
//! A response of more than 64 MiB is an error; [`Client::with_response_limit`] sets another limit. [`Client::records`] reads
//! one page at a time, and [`Client::export_hosts`] and [`Client::import_hosts`] stream.

mod accounts;
mod call;
mod collection;
#[cfg(feature = "discovery")]
mod discovery;
mod entity_tag;
mod error;
mod history;
mod hosts;
mod keys;
mod kinds;
mod past;
mod query;
#[cfg(feature = "topology")]
mod questions;
mod records;
mod server;
mod shares;
#[cfg(feature = "topology")]
mod topology;
mod transport;

use std::fmt;

use http::{HeaderValue, Uri};

pub use self::collection::{Page, Tagged};
#[cfg(feature = "discovery")]
pub use self::discovery::ReportOptions;
pub use self::entity_tag::{EntityTag, EntityTagError};
pub use self::error::{ClientError, ClientErrorKind};
pub use self::history::Follower;
pub use self::hosts::{HostOutcome, ImportOptions, Outcome, OutcomeError};
pub use self::keys::CreatedKey;
pub use self::kinds::{BulkDeletable, Collection, Creatable, Deletable, Readable, Recorded, Updatable};
pub use self::past::Revertable;
use self::query::PagedQuery;
pub use self::query::{Parameters, PartQuery};
pub use self::records::Records;
pub use self::server::Versions;
#[cfg(feature = "topology")]
pub use self::topology::{OpenedShare, SharedTopology, TopologyFile};
pub use self::transport::{Download, HttpService, RequestBody};

/// A typed client for the API over a service.
///
/// Cloning it clones the service. A clone has the same credential, but further logins do not affect it.
///
/// # Errors
/// In addition to the errors listed for a method, every method may fail with every other [kind](ClientErrorKind) of error
/// and with the codes that any request can get, such as `auth_not_authenticated` and `rate_limit_exceeded`.
#[derive(Clone)]
pub struct Client<S> {
    service: S,
    /// The prefix of the path of each request. Empty in process.
    base_url: String,
    credential: Credential,
    user_agent: HeaderValue,
    response_limit: usize,
    /// The `Idempotency-Key` of requests that create records.
    idempotency_key: Option<HeaderValue>,
    /// The name of the session cookie.
    cookie_name: String,
}

/// The credential of the caller, as the value of a header.
#[derive(Clone)]
enum Credential {
    None,
    ApiKey(HeaderValue),
    Session(HeaderValue),
}

const DEFAULT_RESPONSE_LIMIT: usize = 64 * 1024 * 1024;
const USER_AGENT: &str = concat!("toposcope/", env!("CARGO_PKG_VERSION"));

impl<S> Client<S> {
    /// Creates a client without a credential, for a service that needs no base URL.
    #[must_use]
    pub fn new(service: S) -> Self {
        Self {
            service,
            base_url: String::new(),
            credential: Credential::None,
            user_agent: HeaderValue::from_static(USER_AGENT),
            response_limit: DEFAULT_RESPONSE_LIMIT,
            idempotency_key: None,
            cookie_name: accounts::COOKIE_NAME.to_owned(),
        }
    }

    /// Sends an `Idempotency-Key` with every `POST`, so that a request that is repeated changes nothing again.
    ///
    /// The server answers a repetition as it answered the first request, for 24 hours. Use a key for one request and its
    /// repetitions. Requests whose answers have a secret, and imports, are refused with a key.
    ///
    /// ```
    /// # use toposcope::client::{Client, ClientError, HttpService};
    /// # use toposcope::model::Tag;
    /// # async fn example<S: HttpService + Clone>(client: Client<S>) -> Result<(), ClientError> {
    /// let once = client.clone().with_idempotency_key("order 17")?;
    /// let first = once.create(&Tag::new("critical")).await?;
    /// let again = once.create(&Tag::new("critical")).await?;
    /// assert_eq!(first, again);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Request` unless the key has 1 to 255 visible ASCII characters or spaces.
    pub fn with_idempotency_key(self, key: &str) -> Result<Self, ClientError> {
        let message = "An idempotency key has 1 to 255 visible ASCII characters or spaces.";
        let is_valid =
            (1..=255).contains(&key.len()) && key.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        let header = is_valid.then(|| HeaderValue::from_str(key).ok()).flatten();
        let header = header.ok_or_else(|| ClientError::request(message))?;
        Ok(Self { idempotency_key: Some(header), ..self })
    }

    /// Sets the URL that precedes `/api/…`, such as `https://example.net` or `https://example.net/inventory`.
    ///
    /// # Errors
    /// `Request` unless it has a scheme and a host, and neither user information nor a query.
    pub fn with_base_url(self, url: &str) -> Result<Self, ClientError> {
        let message = "The base URL must have a scheme and a host, and no user information and no query.";
        let uri: Uri = url.parse().map_err(|error| ClientError::request(message).caused_by(error))?;
        let authority = uri.authority().filter(|authority| !authority.as_str().contains('@'));
        let (Some(scheme), Some(authority), None) = (uri.scheme_str(), authority, uri.query()) else {
            return Err(ClientError::request(message));
        };
        let base_url = format!("{scheme}://{authority}{}", uri.path().trim_end_matches('/'));
        Ok(Self { base_url, ..self })
    }

    /// Sets the API key of a user or of daemons, or another token that is sent as Bearer. It replaces any other credential.
    ///
    /// # Errors
    /// `Request` if the text cannot be sent in a header.
    pub fn with_api_key(self, key: &str) -> Result<Self, ClientError> {
        Ok(Self { credential: Credential::ApiKey(secret_header(&format!("Bearer {key}"))?), ..self })
    }

    /// Sets the plaintext of a session, in place of any other credential.
    ///
    /// # Errors
    /// `Request` if the text cannot be sent in a header.
    pub fn with_session(self, session: &str) -> Result<Self, ClientError> {
        let cookie = format!("{}={session}", self.cookie_name);
        Ok(Self { credential: Credential::Session(secret_header(&cookie)?), ..self })
    }

    /// Sets the name of the session cookie, for servers that have changed it. Default: `session_id`.
    ///
    /// Set it before [`with_session`](Self::with_session) and before a login.
    #[must_use]
    pub fn with_cookie_name(self, name: impl Into<String>) -> Self {
        Self { cookie_name: name.into(), ..self }
    }

    /// Sets the `User-Agent` header. Default: `toposcope/` and the version of this crate.
    ///
    /// # Errors
    /// `Request` if the text cannot be sent in a header.
    pub fn with_user_agent(self, user_agent: &str) -> Result<Self, ClientError> {
        Ok(Self { user_agent: header(user_agent)?, ..self })
    }

    /// Sets the maximum size of a response, in bytes. Default: 64 MiB. Downloads are not limited.
    #[must_use]
    pub fn with_response_limit(self, bytes: usize) -> Self {
        Self { response_limit: bytes, ..self }
    }
}

/// Omits the credential.
impl<S> fmt::Debug for Client<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Client")
            .field("base_url", &self.base_url)
            .field("user_agent", &self.user_agent)
            .field("response_limit", &self.response_limit)
            .finish_non_exhaustive()
    }
}

fn header(text: &str) -> Result<HeaderValue, ClientError> {
    let invalid = |_| ClientError::request("The text contains characters that a header cannot have.");
    HeaderValue::from_str(text).map_err(invalid)
}

fn secret_header(text: &str) -> Result<HeaderValue, ClientError> {
    let mut header = header(text)?;
    header.set_sensitive(true);
    Ok(header)
}
