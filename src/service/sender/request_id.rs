use std::sync::Arc;

use http::request::Parts;

use crate::access::Caller;

/// The id that the host application gives a request, as a request extension.
///
/// Changes that the request makes are recorded with it, and the lines of the log about the request have it. So they can be found by the ids of
/// other logs. The service makes no ids, and records none of a header, because clients may send any.
///
/// ```
/// use toposcope::service::RequestId;
///
/// let mut request = http::Request::new(());
/// request.extensions_mut().insert(RequestId::new("4bf92f35"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RequestId(Arc<str>);

impl RequestId {
    /// Creates an id of at most 128 characters. Further ones are cut off.
    #[must_use]
    pub fn new(id: &str) -> Self {
        let end = id.char_indices().nth(128).map_or(id.len(), |(end, _)| end);
        Self(id.get(..end).unwrap_or_default().into())
    }

    pub(in crate::service) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns the caller as one of a request, which may have an id.
pub(in crate::service) fn in_request(caller: Caller, request: &Parts) -> Caller {
    match request.extensions.get::<RequestId>() {
        Some(RequestId(id)) => caller.in_request(id),
        None => caller,
    }
}
