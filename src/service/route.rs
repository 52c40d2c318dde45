use http::Method;

use crate::wire::ApiError;

/// An endpoint, with the id of its path as the client wrote it.
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
    /// The endpoint of a request, by its path exactly as given. What answers to GET answers to HEAD.
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

    /// Whether the endpoint looks at no credential.
    pub(super) const fn is_public(self) -> bool {
        matches!(self, Self::Version | Self::LogIn | Self::ShareMetadata(_))
    }
}

/// What stands before and behind the last slash of a path.
fn split_id(path: &str) -> Option<(&str, &str)> {
    path.rsplit_once('/').filter(|(_, id)| !id.is_empty())
}
