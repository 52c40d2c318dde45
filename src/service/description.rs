use serde_json::Value;

use super::openapi::build;
use super::routes::RouteTable;
use super::sender::session_cookie::DEFAULT_NAME;

/// Returns the OpenAPI 3.1 document of the API.
///
/// The API serves it at `/openapi.json` and `/api/openapi.json`. Its server URL is relative to the former, so that the
/// document is valid wherever the API is mounted. The session cookie has its default name.
///
/// ```
/// let document = toposcope::openapi();
/// assert_eq!(document["openapi"], "3.1.0");
/// assert_eq!(document["paths"]["/api/v1/hosts"]["get"]["operationId"], "get_all_hosts");
/// ```
#[must_use]
pub fn openapi() -> Value {
    build(RouteTable::all(), ".", DEFAULT_NAME)
}
