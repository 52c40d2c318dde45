use http::Method;

use crate::wire::ApiError;

/// An endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    Version,
    ListHosts,
}

/// The methods of a path that can only be read. What answers to GET answers to HEAD.
const READ_ONLY: &str = "GET, HEAD";

impl Route {
    /// The endpoint of a request, by its path exactly as given.
    pub(super) fn find(method: &Method, path: &str) -> Result<Self, ApiError> {
        let route = match path {
            "/api/version" => Self::Version,
            "/api/v1/hosts" => Self::ListHosts,
            _ => return Err(ApiError::route_not_found()),
        };
        if method == Method::GET || method == Method::HEAD {
            Ok(route)
        } else {
            Err(ApiError::method_not_allowed(READ_ONLY))
        }
    }

    /// Whether the endpoint looks at no credential.
    pub(super) const fn is_public(self) -> bool {
        matches!(self, Self::Version)
    }
}
