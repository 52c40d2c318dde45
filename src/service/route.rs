use http::Method;

use super::error::ApiError;

/// An endpoint, with the unparsed id from its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route<'p> {
    Version,
    LogIn,
    LogOut,
    ListHosts,
    UpdatePort(&'p str),
    CreateDaemonKey,
    UpdateUserKey(&'p str),
    DeleteUserKey(&'p str),
    ShareMetadata(&'p str),
    SubmitReferral,
}

impl<'p> Route<'p> {
    /// Finds the endpoint for a method and a path. Paths are compared exactly; HEAD is routed like GET.
    ///
    /// # Errors
    /// `route_not_found`, or `method_not_allowed` with the methods that the path supports.
    pub(super) fn find(method: &Method, path: &'p str) -> Result<Self, ApiError> {
        let method = if method == Method::HEAD { &Method::GET } else { method };
        let (endpoints, allow): (&[(Method, Self)], _) = match path {
            "/api/version" => (&[(Method::GET, Self::Version)], "GET, HEAD"),
            "/api/auth/login" => (&[(Method::POST, Self::LogIn)], "POST"),
            "/api/auth/logout" => (&[(Method::POST, Self::LogOut)], "POST"),
            "/api/v1/hosts" => (&[(Method::GET, Self::ListHosts)], "GET, HEAD"),
            "/api/v1/auth/daemon" => (&[(Method::POST, Self::CreateDaemonKey)], "POST"),
            "/api/v1/organizations/referral-source" => (&[(Method::POST, Self::SubmitReferral)], "POST"),
            _ => match split_id(path).ok_or_else(ApiError::route_not_found)? {
                ("/api/v1/ports", id) => (&[(Method::PUT, Self::UpdatePort(id))], "PUT"),
                ("/api/v1/shares/public", id) => (&[(Method::GET, Self::ShareMetadata(id))], "GET, HEAD"),
                ("/api/v1/auth/keys", id) => (
                    &[(Method::PUT, Self::UpdateUserKey(id)), (Method::DELETE, Self::DeleteUserKey(id))],
                    "PUT, DELETE",
                ),
                _ => return Err(ApiError::route_not_found()),
            },
        };
        let endpoint = endpoints.iter().find(|(known, _)| known == method);
        endpoint.map(|(_, route)| *route).ok_or_else(|| ApiError::method_not_allowed(allow))
    }

    /// Returns whether the endpoint ignores credentials.
    pub(super) const fn is_public(self) -> bool {
        matches!(self, Self::Version | Self::LogIn | Self::ShareMetadata(_))
    }
}

/// Splits a path at its last slash, if an id follows it.
fn split_id(path: &str) -> Option<(&str, &str)> {
    path.rsplit_once('/').filter(|(_, id)| !id.is_empty())
}
