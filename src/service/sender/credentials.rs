//! Credentials of a request, and the sites that may use a session. The credentials are in the `Authorization` header or
//! the session cookie.

use http::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, Method};

use super::request_id::in_request;
use super::session_cookie::SessionCookie;
use super::{AllowedSenders, Sender};
use crate::access::Caller;
use crate::inventory::{Error, ErrorKind, Inventory};
use crate::service::response::error::ApiError;

/// Identifies the senders of requests by their credentials.
#[derive(Clone)]
pub(in crate::service) struct Credentials {
    inventory: Inventory,
    pub(in crate::service) cookie: SessionCookie,
}

impl Credentials {
    pub(in crate::service) const fn new(inventory: Inventory, cookie: SessionCookie) -> Self {
        Self { inventory, cookie }
    }

    /// Identifies the sender of a request by the credentials that an endpoint accepts.
    pub(in crate::service) async fn identify(
        &self,
        access: AllowedSenders,
        request: &Parts,
    ) -> Result<Sender, Error> {
        match access {
            AllowedSenders::Session => self.identify_by_cookie(request).await.map(Sender::Caller),
            #[cfg(feature = "discovery")]
            AllowedSenders::Daemon => self.identify_daemon(request).await,
            #[cfg(feature = "discovery")]
            AllowedSenders::CallerOrDaemon(_) => match self.identify_caller(request).await {
                // A valid key, but of a daemon.
                Err(error) if *error.kind() == ErrorKind::UserContextRequired => {
                    self.identify_daemon(request).await
                }
                caller => caller.map(Sender::Caller),
            },
            _ => self.identify_caller(request).await.map(Sender::Caller),
        }
    }

    #[cfg(feature = "discovery")]
    async fn identify_daemon(&self, request: &Parts) -> Result<Sender, Error> {
        let key = bearer_token(request).ok_or(ErrorKind::NotAuthenticated)?;
        self.inventory.authenticate_daemon_key(key).await.map(Sender::Daemon)
    }

    /// Identifies the caller of a request.
    ///
    /// A caller set by the host application has precedence, then the API key in the `Authorization` header, then the
    /// session cookie. Cookies are ignored if the request has an `Authorization` header, even an invalid one.
    ///
    /// # Errors
    /// The errors of [`identify_host_caller`](Self::identify_host_caller) for a caller set by the host application; the
    /// errors of invalid credentials.
    pub(in crate::service) async fn identify_caller(&self, request: &Parts) -> Result<Caller, Error> {
        if let Some(caller) = request.extensions.get() {
            return self.identify_host_caller(caller, request).await;
        }
        if request.headers.contains_key(AUTHORIZATION) {
            let key = bearer_token(request).ok_or(ErrorKind::NotAuthenticated)?;
            let caller = self.inventory.authenticate_user_key(key).await?;
            return Ok(in_request(caller, request));
        }
        self.identify_by_cookie(request).await
    }

    /// Identifies a caller whom the host application has authenticated.
    ///
    /// # Errors
    /// The errors of [`accept`](Self::accept); `NotFound` if the caller's organization does not exist.
    pub(in crate::service) async fn identify_host_caller(
        &self,
        caller: &Caller,
        request: &Parts,
    ) -> Result<Caller, Error> {
        let caller = self.accept(caller, request)?;
        self.inventory.require_organization_of(&caller).await?;
        Ok(caller)
    }

    /// Returns the caller that the host application has set as a request extension.
    ///
    /// # Errors
    /// The errors of [`accept`](Self::accept).
    pub(in crate::service) fn set_by_host_application(
        &self,
        request: &Parts,
    ) -> Option<Result<Caller, Error>> {
        request.extensions.get().map(|caller| self.accept(caller, request))
    }

    /// Accepts a caller of the host application.
    ///
    /// # Errors
    /// `SessionExpired` for one that has expired; `NotAuthenticated` for [the system](Caller::system): it may read the secrets of
    /// all users, so no request is answered with it.
    fn accept(&self, caller: &Caller, request: &Parts) -> Result<Caller, Error> {
        if caller.is_system() {
            tracing::error!(
                "the host application has set the system as the caller of a request, which is refused"
            );
            return Err(ErrorKind::NotAuthenticated.into());
        }
        if caller.expires_at().is_some_and(|expires_at| expires_at <= self.inventory.now()) {
            return Err(ErrorKind::SessionExpired.into());
        }
        Ok(in_request(caller.clone(), request))
    }

    async fn identify_by_cookie(&self, request: &Parts) -> Result<Caller, Error> {
        self.session(request).await.map(|(caller, _)| caller)
    }

    /// Returns the caller of the session cookie, and the id of the session.
    ///
    /// A browser sends two cookies of one name if an older one has another path or domain, and the request does not
    /// show which is which. Cookies that authenticate no user are skipped.
    ///
    /// # Errors
    /// `NotAuthenticated` if the cookies are those of different users; the first error if none is valid.
    pub(in crate::service) async fn session<'r>(
        &self,
        request: &'r Parts,
    ) -> Result<(Caller, &'r str), Error> {
        let (mut valid, mut first_error): (Option<(Caller, &str)>, _) = (None, None);
        for id in self.cookie.session_ids(request) {
            match self.inventory.authenticate_session(id).await {
                Ok(caller) => match &valid {
                    Some((other, _)) if other.user_id() != caller.user_id() => {
                        return Err(ErrorKind::NotAuthenticated.into());
                    }
                    Some(_) => {}
                    None => valid = Some((in_request(caller, request), id)),
                },
                Err(error) if is_fault(&error) => return Err(error),
                // The error of an expired session is more useful than that of an unknown one.
                Err(error)
                    if first_error
                        .as_ref()
                        .is_none_or(|known: &Error| *known.kind() == ErrorKind::NotAuthenticated) =>
                {
                    first_error = Some(error);
                }
                Err(_) => {}
            }
        }
        valid.ok_or_else(|| first_error.unwrap_or_else(|| ErrorKind::NotAuthenticated.into()))
    }
}

/// Returns whether a failure of the server kept a credential from being checked.
pub(in crate::service) fn is_fault(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::StoreUnavailable | ErrorKind::Internal | ErrorKind::Unreadable)
}

/// Returns the token of the only `Authorization` header. With several headers it is ambiguous, and none is used.
pub(in crate::service) fn bearer_token(request: &Parts) -> Option<&str> {
    let mut headers = request.headers.get_all(AUTHORIZATION).iter();
    let (Some(header), None) = (headers.next(), headers.next()) else { return None };
    let (scheme, token) = header.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_matches(' '))
}

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Decides which sites may write with a user's session.
///
/// Browsers attach the session cookie to every request, including those that another site's page sends.
#[derive(Debug)]
pub(in crate::service) struct CrossSitePolicy {
    /// Origins allowed in addition to the request's own host.
    allowed_origins: Vec<String>,
}

impl CrossSitePolicy {
    pub(in crate::service) const fn new(allowed_origins: Vec<String>) -> Self {
        Self { allowed_origins }
    }

    /// Checks a request that uses a session. Non-browser clients pass, because they send neither header.
    ///
    /// # Errors
    /// `auth_cross_site_request` if the method writes and a page of another site sent the request.
    pub(in crate::service) fn check(&self, request: &Parts) -> Result<(), ApiError> {
        let is_reading = request.method == Method::GET || request.method == Method::HEAD;
        let is_allowed = is_reading
            || is_marked_same_origin(&request.headers)
            || !is_marked_cross_site(&request.headers)
                && request.headers.get_all(ORIGIN).iter().all(|origin| {
                    origin.to_str().is_ok_and(|origin| self.is_listed(origin) || is_own(origin, request))
                });
        if is_allowed { Ok(()) } else { Err(ApiError::cross_site_request()) }
    }

    fn is_listed(&self, origin: &str) -> bool {
        self.allowed_origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin))
    }
}

fn is_marked_cross_site(headers: &HeaderMap) -> bool {
    headers.get_all(SEC_FETCH_SITE).iter().any(|site| site.as_bytes().eq_ignore_ascii_case(b"cross-site"))
}

/// Returns whether a browser states that a page of the same origin sends the request.
///
/// No page can set this header. It is enough by itself: a proxy that changes `Host` makes the origin look foreign.
fn is_marked_same_origin(headers: &HeaderMap) -> bool {
    let mut sites = headers.get_all(SEC_FETCH_SITE).iter();
    matches!((sites.next(), sites.next()), (Some(site), None) if site == "same-origin")
}

/// Returns whether an origin is the host that the request was sent to.
///
/// Schemes are not compared: behind a proxy that terminates TLS, the service does not know its own scheme.
fn is_own(origin: &str, request: &Parts) -> bool {
    let authority = request.uri.authority().map(http::uri::Authority::as_str);
    let header = || request.headers.get(HOST).and_then(|host| host.to_str().ok());
    let Some(host) = authority.or_else(header) else { return false };
    let Some((scheme, authority)) = origin.split_once("://") else { return false };
    let default_port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return false,
    };
    let without_port =
        |authority: &str| authority.strip_suffix(default_port).unwrap_or(authority).to_ascii_lowercase();
    without_port(authority) == without_port(host)
}
