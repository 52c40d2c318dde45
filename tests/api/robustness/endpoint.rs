use http::Method;

/// An endpoint that can answer 200.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Endpoint {
    Version,
    ListHosts,
    LogIn,
    LogOut,
    UpdatePort,
    CreateDaemonKey,
    UpdateUserKey,
    DeleteUserKey,
    ShareMetadata,
    SubmitReferral,
}

impl Endpoint {
    pub(super) const ALL: [Self; 10] = [
        Self::Version,
        Self::ListHosts,
        Self::LogIn,
        Self::LogOut,
        Self::UpdatePort,
        Self::CreateDaemonKey,
        Self::UpdateUserKey,
        Self::DeleteUserKey,
        Self::ShareMetadata,
        Self::SubmitReferral,
    ];

    /// The endpoints with the most possible faults.
    pub(super) const WITH_BODY: [Self; 5] =
        [Self::LogIn, Self::UpdatePort, Self::CreateDaemonKey, Self::UpdateUserKey, Self::SubmitReferral];

    pub(super) const fn method(self) -> Method {
        match self {
            Self::Version | Self::ListHosts | Self::ShareMetadata => Method::GET,
            Self::LogIn | Self::LogOut | Self::CreateDaemonKey | Self::SubmitReferral => Method::POST,
            Self::UpdatePort | Self::UpdateUserKey => Method::PUT,
            Self::DeleteUserKey => Method::DELETE,
        }
    }

    /// Returns its path, up to the id if it contains one.
    pub(super) const fn path(self) -> &'static str {
        match self {
            Self::Version => "/api/version",
            Self::ListHosts => "/api/v1/hosts",
            Self::LogIn => "/api/auth/login",
            Self::LogOut => "/api/auth/logout",
            Self::UpdatePort => "/api/v1/ports/",
            Self::CreateDaemonKey => "/api/v1/auth/daemon",
            Self::UpdateUserKey | Self::DeleteUserKey => "/api/v1/auth/keys/",
            Self::ShareMetadata => "/api/v1/shares/public/",
            Self::SubmitReferral => "/api/v1/organizations/referral-source",
        }
    }

    /// Returns the endpoint of a request, if the request succeeded.
    pub(super) fn of(method: &Method, path: &str) -> Option<Self> {
        let method = if method == Method::HEAD { &Method::GET } else { method };
        let is_at = |endpoint: &Self| {
            let known = endpoint.path();
            if known.ends_with('/') { path.starts_with(known) } else { path == known }
        };
        Self::ALL.into_iter().find(|endpoint| endpoint.method() == *method && is_at(endpoint))
    }

    /// Returns whether the endpoint requires a user session.
    pub(super) const fn takes_session(self) -> bool {
        matches!(self, Self::LogOut | Self::UpdateUserKey | Self::DeleteUserKey | Self::SubmitReferral)
    }
}
