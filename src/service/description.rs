use serde_json::Value;

use super::api::absolute_path;
use super::openapi::{build, excerpt};
use super::routes::RouteTable;
use super::routes::endpoints::Endpoints;
use super::sender::session_cookie::DEFAULT_NAME;

/// Returns the OpenAPI 3.1 document of the API.
///
/// The API serves it at `/openapi.json` and `/api/openapi.json`. Its server URL is relative to the former, so that the
/// document is valid wherever the API is mounted. It has all endpoints, and the session cookie has its default name: the
/// document that an API serves lacks what its [builder](crate::service::ApiBuilder::without) leaves out.
///
/// ```
/// let document = toposcope::openapi();
/// assert_eq!(document["openapi"], "3.1.0");
/// assert_eq!(document["paths"]["/api/v1/hosts"]["get"]["operationId"], "get_all_hosts");
/// ```
#[must_use]
pub fn openapi() -> Value {
    build(RouteTable::without(Endpoints::default()), ".", DEFAULT_NAME)
}

/// The error for a group that the OpenAPI document does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the OpenAPI document has no group `{group}`")]
#[non_exhaustive]
pub struct UnknownGroup {
    /// The name that no group has.
    pub group: String,
}

/// Returns a part of the OpenAPI document, to be merged into that of the host application.
///
/// A group is a tag of the [whole document](openapi), such as `hosts`, and has the operations with this tag. Without
/// groups, the result has all of them. Its paths begin with the prefix below which the API is mounted, it names no server,
/// and it has only the components that its operations need.
///
/// ```
/// let document = toposcope::openapi_for("/netinv", &["hosts", "subnets"])?;
/// assert!(document["paths"]["/netinv/api/v1/hosts"].is_object());
/// assert!(document["paths"]["/netinv/api/v1/tags"].is_null());
/// # Ok::<(), toposcope::service::UnknownGroup>(())
/// ```
///
/// # Errors
/// [`UnknownGroup`] for the first name that no group has.
pub fn openapi_for(prefix: &str, groups: &[&str]) -> Result<Value, UnknownGroup> {
    let document = openapi();
    let has_group = |group: &str| {
        let mut tags = document.get("tags").and_then(Value::as_array).into_iter().flatten();
        tags.any(|tag| tag.get("name").is_some_and(|name| name == group))
    };
    match groups.iter().find(|group| !has_group(group)) {
        Some(unknown) => Err(UnknownGroup { group: (*unknown).to_owned() }),
        None => {
            let is_wanted = |group: &str| groups.is_empty() || groups.contains(&group);
            Ok(excerpt(document, &absolute_path(prefix), &is_wanted))
        }
    }
}
