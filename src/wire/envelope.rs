use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The version of the API that this crate speaks. It grows only when a client could break.
pub const API_VERSION: u32 = 1;

/// The envelope of a success.
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
    /// What was asked for.
    pub data: T,
    /// About the response.
    pub meta: Meta,
}

/// The envelope of an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Failure {
    /// Always `false`.
    pub success: bool,
    /// What is wrong, in a sentence for people.
    pub error: String,
    /// What is wrong, for programs: an [`ErrorCode`](super::ErrorCode) as text.
    pub code: String,
    /// What the code is about; its documentation names the keys.
    pub params: Map<String, Value>,
    /// About the response.
    pub meta: Meta,
}

/// About a response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Meta {
    /// [`API_VERSION`] of the server.
    pub api_version: u32,
    /// The version of the application that embeds the API.
    pub server_version: String,
    /// Which part of a list this is. Only lists have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pagination: Option<Pagination>,
}

/// Which part of a list a response is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Pagination {
    /// How many items match the query, whatever the page. Without a limit: those before the offset and those in the list, also
    /// when others came or went while it was sent.
    pub total_count: u64,
    /// The limit that was applied; 0: none.
    pub limit: u64,
    /// How many items of the list come before the page.
    pub offset: u64,
    /// Whether items follow the page.
    pub has_more: bool,
}

impl Pagination {
    /// Of a page with so many items.
    #[must_use]
    pub const fn new(total_count: u64, limit: u64, offset: u64, items: u64) -> Self {
        let has_more = limit > 0 && offset.saturating_add(items) < total_count;
        Self { total_count, limit, offset, has_more }
    }
}
