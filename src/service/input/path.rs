//! The normal form of paths.

use std::borrow::Cow;

use http::Uri;
use http::uri::PathAndQuery;

/// Decodes the percent-encoded unreserved characters of a path.
///
/// With them encoded, a path is the same (RFC 3986, section 6.2.2.2). All other encoded characters stay, because decoded they
/// may separate segments. [`Api`](crate::Api) does so with each request. A layer of the host application that compares paths
/// does so before, because it would otherwise take `/api/v1/host%73` for another path than the API.
///
/// ```
/// use http::Request;
/// use toposcope::service::normalize_path;
///
/// let mut request = Request::get("/api/v1/host%73?name=%61").body(())?;
/// normalize_path(request.uri_mut());
/// assert_eq!(request.uri(), "/api/v1/hosts?name=%61");
/// # Ok::<(), http::Error>(())
/// ```
pub fn normalize_path(uri: &mut Uri) {
    let Cow::Owned(path) = with_unreserved(uri.path()) else { return };
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = PathAndQuery::try_from(format!("{path}{query}")).ok();
    if let Ok(normal) = Uri::from_parts(parts) {
        *uri = normal;
    }
}

/// Returns a path with its encoded unreserved characters decoded. Nearly all paths have none.
fn with_unreserved(path: &str) -> Cow<'_, str> {
    if !path.contains('%') {
        return path.into();
    }
    let mut pieces = path.split('%');
    let mut decoded = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let digits = piece.get(..2).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte.filter(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(byte)) {
            Some(byte) => {
                decoded.push(char::from(byte));
                decoded.push_str(piece.get(2..).unwrap_or_default());
            }
            None => {
                decoded.push('%');
                decoded.push_str(piece);
            }
        }
    }
    decoded.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unreserved_characters_are_decoded() {
        for (path, normal) in [
            ("/api/v1/hosts?a=%41", "/api/v1/hosts?a=%41"),
            ("/%61pi/v1/hosts/%34%2D", "/api/v1/hosts/4-"),
            ("/a%2Fb%252F%2e%7e%C3%A9%", "/a%2Fb%252F.~%C3%A9%"),
            ("/%4", "/%4"),
            ("/%zz%41", "/%zzA"),
        ] {
            let mut uri: Uri = path.parse().unwrap();
            normalize_path(&mut uri);
            assert_eq!(uri.to_string(), normal, "{path}");
        }
        let mut uri: Uri = "http://host.example/%61?b=%63".parse().unwrap();
        normalize_path(&mut uri);
        assert_eq!(uri.to_string(), "http://host.example/a?b=%63");
    }
}
