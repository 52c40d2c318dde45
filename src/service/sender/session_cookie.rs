use http::HeaderValue;
use http::header::COOKIE;
use http::request::Parts;

use crate::inventory::IssuedSession;
use crate::service::response::error::ApiError;

/// Default name of the cookie.
pub(in crate::service) const DEFAULT_NAME: &str = "session_id";

/// The prefix of cookies that browsers accept from the host itself alone.
const HOST_PREFIX: &str = "__Host-";

/// The prefixes to which browsers attach conditions, in lower case: they ignore case.
const PREFIXES: [&str; 4] = ["__host-", "__secure-", "__http-", "__host-http-"];

/// Maximum length of a name, a path or a domain. Browsers ignore attributes of more than 1,024 bytes.
const MAX_LENGTH: usize = 1024;

/// Maximum number of session ids read from one request; further ones are ignored.
///
/// Browsers send one, or two while a cookie of an older path or domain exists. Each id costs look-ups in the store,
/// and the headers of a request have room for thousands.
const MAX_SESSION_IDS: usize = 4;

/// The attributes of the cookie that carries a session.
///
/// By default the cookie is `session_id`, for all paths of the host that sets it, with `HttpOnly` and `SameSite=Lax`. It is
/// `Secure` unless the builder has [`insecure_cookies`](crate::service::ApiBuilder::insecure_cookies).
///
/// ```
/// use toposcope::service::{SameSite, SessionCookie};
/// use toposcope::{Api, Inventory, MemoryStore};
///
/// let cookie = SessionCookie::new().with_name("inventory_session")?.with_path("/inventory")?;
/// let cookie = cookie.with_same_site(SameSite::Strict);
/// let api = Api::builder(Inventory::new(MemoryStore::new())).session_cookie(cookie)?.build();
/// # Ok::<(), toposcope::service::SessionCookieError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionCookie {
    name: String,
    path: String,
    domain: Option<String>,
    same_site: SameSite,
    is_host_bound: bool,
    is_secure: bool,
}

/// The requests of other sites with which browsers send the session cookie.
///
/// With every value, requests of other sites that change records are refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SameSite {
    /// None, not even when a user follows a link of another site.
    Strict,
    /// Only those that open a page, such as by a link.
    #[default]
    Lax,
    /// All. Applications that other sites show in a frame need this. The cookie is then always `Secure`.
    None,
}

/// The error for attributes that browsers would not accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SessionCookieError {
    /// The name is no token, or has a prefix with a meaning of its own.
    #[error(
        "the name of a cookie must have 1 to 1024 letters, digits and characters of !#$%&'*+-.^_`|~, without a prefix such as `__Host-`"
    )]
    Name,
    /// The path is no absolute path, or has characters that a cookie cannot have.
    #[error("a cookie path must begin with `/` and have at most 1024 visible ASCII characters, without `;`")]
    Path,
    /// The domain is no host name.
    #[error("the domain of a cookie must be a host name such as `example.net`")]
    Domain,
    /// The prefix `__Host-` is asked for together with a path other than `/`, or with a domain.
    #[error("a cookie with the prefix `__Host-` has the path `/` and no domain")]
    HostPrefix,
}

impl Default for SessionCookie {
    fn default() -> Self {
        Self {
            name: DEFAULT_NAME.to_owned(),
            path: "/".to_owned(),
            domain: None,
            same_site: SameSite::Lax,
            is_host_bound: false,
            is_secure: true,
        }
    }
}

impl SessionCookie {
    /// Creates a cookie with the default attributes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the name. Default: `session_id`.
    ///
    /// Set it if another application on the same host has a cookie of this name. Two applications of this crate need
    /// two names, or paths of which neither is within the other.
    ///
    /// # Errors
    /// If the name is no token of RFC 9110, or begins with `__Host-`, `__Secure-` or another such prefix.
    pub fn with_name(self, name: impl Into<String>) -> Result<Self, SessionCookieError> {
        let name = name.into();
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        let lower = name.to_ascii_lowercase();
        let is_valid = (1..=MAX_LENGTH).contains(&name.len())
            && name.bytes().all(is_token)
            && !PREFIXES.iter().any(|prefix| lower.starts_with(prefix));
        if is_valid { Ok(Self { name, ..self }) } else { Err(SessionCookieError::Name) }
    }

    /// Sets the path, as browsers see it. Default: `/`.
    ///
    /// Browsers send the cookie only with requests for this path and those below it. Set it if other applications on
    /// the same host must not receive the cookie, for example to the path at which the API is nested.
    ///
    /// # Errors
    /// If the path does not begin with `/`, has more than 1,024 characters, or has a space, a `;`, or a character that
    /// is not visible ASCII.
    pub fn with_path(self, path: impl Into<String>) -> Result<Self, SessionCookieError> {
        let path = path.into();
        let is_valid = path.starts_with('/')
            && path.len() <= MAX_LENGTH
            && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b';');
        if is_valid { Ok(Self { path, ..self }) } else { Err(SessionCookieError::Path) }
    }

    /// Lets browsers send the cookie to this host and all hosts below it. Default: only to the host that sets it.
    ///
    /// # Errors
    /// If the domain is not a host name.
    pub fn with_domain(self, domain: impl Into<String>) -> Result<Self, SessionCookieError> {
        let domain = domain.into();
        let is_label = |label: &str| {
            (1..=63).contains(&label.len())
                && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        let is_valid = domain.len() <= MAX_LENGTH && domain.split('.').all(is_label);
        if is_valid { Ok(Self { domain: Some(domain), ..self }) } else { Err(SessionCookieError::Domain) }
    }

    /// Sets with which requests of other sites browsers send the cookie. Default: [`SameSite::Lax`].
    #[must_use]
    pub fn with_same_site(self, same_site: SameSite) -> Self {
        Self { same_site, ..self }
    }

    /// Puts `__Host-` before the name. Browsers then accept the cookie from the host itself alone, and over HTTPS only.
    ///
    /// Other hosts of the same domain cannot replace such a cookie. It is always `Secure`, has the path `/` and no
    /// domain.
    #[must_use]
    pub fn with_host_prefix(self) -> Self {
        Self { is_host_bound: true, ..self }
    }

    /// Returns the name, with its prefix.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}{}", if self.is_host_bound { HOST_PREFIX } else { "" }, self.name)
    }

    /// Checks the attributes that restrict each other.
    pub(in crate::service) fn check(&self) -> Result<(), SessionCookieError> {
        let is_valid = !self.is_host_bound || self.path == "/" && self.domain.is_none();
        if is_valid { Ok(()) } else { Err(SessionCookieError::HostPrefix) }
    }

    /// Omits `Secure`, unless browsers would refuse the cookie without it.
    pub(in crate::service) fn insecure(self) -> Self {
        Self { is_secure: false, ..self }
    }

    /// Returns the `Set-Cookie` value for a new session, with the lifetime of the session.
    pub(in crate::service) fn begin(&self, session: &IssuedSession) -> Result<HeaderValue, ApiError> {
        let (begin, end) = (session.session().created_at, session.session().expires_at);
        self.header(session.plaintext(), (end.unix_micros() - begin.unix_micros()) / 1_000_000)
    }

    /// Returns the `Set-Cookie` value that makes a browser delete its session cookie.
    pub(in crate::service) fn end(&self) -> Result<HeaderValue, ApiError> {
        self.header("", 0)
    }

    fn header(&self, value: &str, seconds: i64) -> Result<HeaderValue, ApiError> {
        let (name, path) = (self.name(), &self.path);
        let domain = self.domain.as_deref().map(|domain| format!("; Domain={domain}")).unwrap_or_default();
        let same_site = match self.same_site {
            SameSite::Strict => "Strict",
            SameSite::Lax => "Lax",
            SameSite::None => "None",
        };
        let is_secure = self.is_secure || self.is_host_bound || self.same_site == SameSite::None;
        let secure = if is_secure { "; Secure" } else { "" };
        let text = format!(
            "{name}={value}; Path={path}{domain}; HttpOnly; SameSite={same_site}; Max-Age={seconds}{secure}"
        );
        let mut header = HeaderValue::try_from(text).map_err(|_| ApiError::internal())?;
        header.set_sensitive(true);
        Ok(header)
    }

    /// Returns the first [`MAX_SESSION_IDS`] different session ids in a request's cookies.
    pub(in crate::service) fn session_ids<'r>(&self, request: &'r Parts) -> Vec<&'r str> {
        let own = self.name();
        let headers = request.headers.get_all(COOKIE).iter();
        let cookies = headers.flat_map(|header| header.as_bytes().split(|byte| *byte == b';'));
        let ids = cookies.filter_map(|cookie| {
            // Other cookies may hold any bytes, so each one is decoded on its own.
            let (name, value) = std::str::from_utf8(cookie).ok()?.split_once('=')?;
            (name.trim() == own).then(|| value.trim().trim_matches('"'))
        });
        let mut different: Vec<&str> = Vec::new();
        for id in ids {
            if different.len() == MAX_SESSION_IDS {
                break;
            }
            if !different.contains(&id) {
                different.push(id);
            }
        }
        different
    }
}
