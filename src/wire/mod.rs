//! The parts of the protocol that servers and clients share.
//!
//! They are response envelopes, error codes and pagination, and the inputs, queries and results of operations.
//!
//! [`inventory`](crate::inventory) exports the inputs, queries and results again: its methods take and return them.

#[cfg(feature = "topology")]
mod addresses;
mod atomicity;
mod change_query;
mod code;
#[cfg(feature = "discovery")]
pub mod daemon;
#[cfg(feature = "discovery")]
mod discovery;
#[cfg(feature = "discovery")]
mod discovery_work;
mod host_query;
mod import_report;
mod list_query;
mod new_records;
mod page_cursor;
mod past_query;
mod port_update;
mod share_token;

#[cfg(feature = "topology")]
pub use addresses::{
    AddressClaim, AddressDoubt, AddressDoubtError, AddressList, AddressQuery, AddressState,
    AddressStateError, SubnetAddress,
};
pub use atomicity::Atomicity;
pub use change_query::{ActorFilter, ChangePage, ChangeQuery, Moment, MomentError};
pub use code::ErrorCode;
pub use host_query::{HostQuery, PortFilter, PortFilterError};
pub use import_report::{Alteration, DroppedPort, ImportReport, Reassignment, Refusal};
pub use list_query::{ListOrderField, ListQuery};
pub use new_records::{NewDaemonApiKey, NewShare, NewUser, NewUserApiKey};
pub use page_cursor::{PageCursor, PageCursorError};
#[cfg(feature = "topology")]
pub use past_query::GraphMoments;
pub use past_query::{DiffQuery, SummaryQuery};
pub use port_update::PortUpdate;
pub use share_token::ShareToken;
#[cfg(feature = "discovery")]
pub use {
    discovery::{
        DiscoveredHost, DiscoveredSubnet, DiscoveredTable, DiscoveryOutcome, DiscoveryReport, HostSplit,
        StaleDeletion,
    },
    discovery_work::{DaemonStatus, DiscoveryUpdate, NewDaemon, NewDiscovery},
};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::model::ChangePosition;

/// The API version that this crate implements. It increases only with breaking changes.
pub const API_VERSION: u32 = 1;

/// The largest `limit` of a page, in items.
#[cfg(feature = "service")]
pub(crate) const MAX_LIMIT: u32 = 1000;

/// The envelope of a successful response.
///
/// ```
/// use toposcope::model::Host;
/// use toposcope::wire::Success;
///
/// let body = r#"{"success": true, "data": [], "meta": {"api_version": 1, "server_version": "2.0.0",
///     "pagination": {"total_count": 0, "limit": 50, "offset": 0, "has_more": false}}}"#;
/// let page: Success<Vec<Host>> = serde_json::from_str(body)?;
/// assert_eq!(page.meta.pagination.map(|pagination| pagination.total_count), Some(0));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Success<T> {
    /// Always `true`.
    pub success: bool,
    /// The requested data.
    pub data: T,
    /// Metadata of the response.
    pub meta: Meta,
}

impl<T> Success<T> {
    /// Wraps data in an envelope.
    #[must_use]
    pub const fn new(data: T, meta: Meta) -> Self {
        Self { success: true, data, meta }
    }
}

/// The envelope of an error response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", schemars(rename = "Error"))]
#[non_exhaustive]
pub struct Failure {
    /// Always `false`.
    pub success: bool,
    /// A sentence that describes the error to a person.
    pub error: String,
    /// The error's [`ErrorCode`] as text, or a code of the host application, which has a dot, for programs.
    #[cfg_attr(feature = "openapi", schemars(with = "ErrorCode"))]
    pub code: String,
    /// Details of the error. The documentation of each [`ErrorCode`] lists the keys.
    pub params: Map<String, Value>,
    /// Metadata of the response.
    pub meta: Meta,
}

impl Failure {
    /// Creates the envelope of an error, with a sentence for people. The params are empty.
    ///
    /// The code is that of an [`ErrorCode`], or one of the host application, such as `racks.full`.
    ///
    /// ```
    /// use toposcope::wire::{Failure, Meta};
    ///
    /// let failure = Failure::new("racks.full", "The rack is full.", Meta::new("2.0.0"));
    /// assert!(!failure.success && failure.params.is_empty());
    /// ```
    #[must_use]
    pub fn new(code: impl Into<String>, error: impl Into<String>, meta: Meta) -> Self {
        Self { success: false, error: error.into(), code: code.into(), params: Map::new(), meta }
    }
}

/// Metadata of a response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Meta {
    /// [`API_VERSION`] of the server.
    pub api_version: u32,
    /// The version of the host application.
    pub server_version: String,
    /// The position of the page in its list; `None` unless the data is a list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schemars(with = "Pagination"))]
    pub pagination: Option<Pagination>,
}

impl Meta {
    /// Creates the metadata of a response that is no list.
    #[must_use]
    pub fn new(server_version: impl Into<String>) -> Self {
        Self { api_version: API_VERSION, server_version: server_version.into(), pagination: None }
    }

    /// Returns the metadata with the position of a page.
    #[must_use]
    pub fn with_pagination(self, pagination: Pagination) -> Self {
        Self { pagination: Some(pagination), ..self }
    }
}

/// The position of a page in its list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Pagination {
    /// Number of items that match the query, regardless of the page.
    ///
    /// Without a limit: the offset plus the number of items sent, even if items were added or deleted meanwhile.
    pub total_count: u64,
    /// Maximum number of items on the page; 0 means no limit.
    pub limit: u64,
    /// Number of items in the list before the page.
    pub offset: u64,
    /// Whether items follow the page.
    pub has_more: bool,
    /// The cursor after the page, of a list that is read by cursor. Null after the last page.
    ///
    /// `None` for a list that is read by offset.
    #[serde(default, deserialize_with = "null_or_text", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schemars(with = "Option<String>"))]
    pub next_cursor: Option<Option<String>>,
}

/// Distinguishes null from a missing field, which serde does not do by itself.
fn null_or_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

impl Pagination {
    /// Creates the pagination of a page that has `items` items.
    #[must_use]
    pub const fn new(total_count: u64, limit: u64, offset: u64, items: u64) -> Self {
        let has_more = limit > 0 && offset.saturating_add(items) < total_count;
        Self { total_count, limit, offset, has_more, next_cursor: None }
    }

    /// Creates the pagination of a page that is read by cursor. Its offset is always 0.
    #[must_use]
    pub const fn by_cursor(total_count: u64, limit: u64, next: Option<String>) -> Self {
        let has_more = limit > 0 && next.is_some();
        Self { total_count, limit, offset: 0, has_more, next_cursor: Some(next) }
    }
}

/// Metadata of a page of the history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FeedMeta {
    /// [`API_VERSION`] of the server.
    pub api_version: u32,
    /// The version of the host application.
    pub server_version: String,
    /// The position of the page.
    pub pagination: FeedPagination,
}

/// The position of a page in the history, which has neither a total nor an offset.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FeedPagination {
    /// Maximum number of entries on the page. With 0, it has the newest position alone.
    pub limit: u64,
    /// Whether further entries may follow now.
    pub has_more: bool,
    /// The position to go on from: `after` of the next page, or its `before` in descending order. Entries that the filters
    /// left out are before it, too.
    pub next_cursor: ChangePosition,
}
