use serde_json::Value;

use super::openapi::build;
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
