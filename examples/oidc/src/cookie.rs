//! The cookies of the application.

use axum::http::{HeaderMap, HeaderValue, header};

/// A cookie that browsers send to this host alone. Pages of other sites can send it only by navigating the browser here.
///
/// Browsers accept the prefix only with `Secure` and `Path=/`, so that no other host can set the cookie.
pub(crate) struct Cookie(pub(crate) &'static str);

/// The login that has begun in the browser.
pub(crate) const LOGIN: Cookie = Cookie("__Host-login");

/// The session of the user.
pub(crate) const SESSION: Cookie = Cookie("__Host-session");

impl Cookie {
    /// Returns the parts of the value, which are separated by dots.
    pub(crate) fn parts<const N: usize>(&self, headers: &HeaderMap) -> Option<[String; N]> {
        let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs =
            values.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let (_, value) = pairs.find(|(name, _)| *name == self.0)?;
        let parts: Vec<_> = value.split('.').map(str::to_owned).collect();
        parts.try_into().ok()
    }

    /// Returns the value of the header `Set-Cookie`.
    pub(crate) fn set(&self, parts: &[&str], seconds: u64) -> HeaderValue {
        let Self(name) = self;
        let value = parts.join(".");
        let text = format!("{name}={value}; Max-Age={seconds}; Path=/; Secure; HttpOnly; SameSite=Lax");
        // Names of tenants and random texts are visible ASCII, which a header takes.
        HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(""))
    }
}
