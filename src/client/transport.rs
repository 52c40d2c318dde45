//! The service below a client, and the bodies of requests and responses.

use std::error::Error as StdError;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use http::response::Parts;
use http::{Request, Response};
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use tower_service::Service;

use super::ClientError;

pub(super) type BoxError = Box<dyn StdError + Send + Sync>;

/// A service that a [`Client`](super::Client) can send its requests to.
///
/// Implemented by every `tower::Service<http::Request<RequestBody>>` that is `Clone + Send + Sync + 'static`, has a
/// `Send` future, and resolves to an `http::Response` of any body: an [`Api`](crate::Api), HTTP clients such as
/// hyper-util's, and both of them under tower's layers.
pub trait HttpService: Exchange {}

impl<S: Exchange> HttpService for S {}

/// An [`HttpService`], with the types of its body and its errors erased.
pub trait Exchange: Clone + Send + Sync + 'static {
    /// Waits until the service is ready, and sends a request.
    fn exchange(
        &self,
        request: Request<RequestBody>,
    ) -> impl Future<Output = Result<UnreadResponse, ClientError>> + Send;
}

impl<S, R> Exchange for S
where
    S: Service<Request<RequestBody>, Response = Response<R>> + Clone + Send + Sync + 'static,
    S::Future: Send,
    S::Error: Into<BoxError>,
    R: Body + Send + 'static,
    R::Data: Send,
    R::Error: Into<BoxError>,
{
    async fn exchange(&self, request: Request<RequestBody>) -> Result<UnreadResponse, ClientError> {
        let failed = |error: S::Error| ClientError::transport("The request failed.", error.into());
        let mut service = self.clone();
        poll_fn(|context| service.poll_ready(context)).await.map_err(failed)?;
        let (parts, body) = service.call(request).await.map_err(failed)?.into_parts();
        Ok(UnreadResponse { parts, min_size: body.size_hint().lower(), body: erase(body) })
    }
}

type ErasedBody = UnsyncBoxBody<Bytes, BoxError>;

fn erase<B>(body: B) -> ErasedBody
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    let body = body.map_frame(|frame| frame.map_data(|mut data| data.copy_to_bytes(data.remaining())));
    body.map_err(Into::into).boxed_unsync()
}

/// A response whose body has not been read yet.
#[derive(Debug)]
pub struct UnreadResponse {
    pub(super) parts: Parts,
    /// Minimum size in bytes, by the size hint of the original body.
    min_size: u64,
    body: ErasedBody,
}

impl UnreadResponse {
    /// Reads the body, of at most `limit` bytes.
    pub(super) async fn read(mut self, limit: usize) -> Result<(Parts, Vec<u8>), ClientError> {
        let is_too_large = |size: u64| size > limit as u64;
        let mut bytes = Vec::new();
        if is_too_large(self.min_size) {
            return Err(ClientError::too_large(limit).with_status(self.parts.status));
        }
        while let Some(frame) = self.body.frame().await {
            let Ok(data) = frame.map_err(broken_off)?.into_data() else { continue };
            if is_too_large(bytes.len() as u64 + data.len() as u64) {
                return Err(ClientError::too_large(limit).with_status(self.parts.status));
            }
            bytes.extend_from_slice(&data);
        }
        Ok((self.parts, bytes))
    }

    pub(super) fn into_download(self) -> Download {
        Download(Mutex::new(self.body))
    }
}

fn broken_off(error: BoxError) -> ClientError {
    ClientError::transport("The response broke off.", error)
}

/// The body of a request.
///
/// `None` from [`try_clone`](Self::try_clone) means to a retry policy that a request cannot be sent twice.
pub struct RequestBody(Content);

enum Content {
    Bytes(Full<Bytes>),
    /// A `Mutex` only to make the body `Sync`; it is never locked.
    Stream(Mutex<ErasedBody>),
}

impl RequestBody {
    /// Creates a body from bytes in memory.
    #[must_use]
    pub fn new(bytes: impl Into<Bytes>) -> Self {
        Self(Content::Bytes(Full::new(bytes.into())))
    }

    /// Creates a body that is read while it is sent.
    ///
    /// ```
    /// use bytes::Bytes;
    /// use http_body_util::Full;
    /// use toposcope::client::RequestBody;
    ///
    /// let line = Full::new(Bytes::from_static(b"{\"name\": \"printer\"}\n"));
    /// assert!(RequestBody::stream(line).try_clone().is_none());
    /// ```
    #[must_use]
    pub fn stream<B>(body: B) -> Self
    where
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<Box<dyn StdError + Send + Sync>>,
    {
        Self(Content::Stream(Mutex::new(erase(body))))
    }

    /// Copies a body that is in memory. Returns `None` for a stream, which can be sent only once.
    #[must_use]
    pub fn try_clone(&self) -> Option<Self> {
        match &self.0 {
            Content::Bytes(bytes) => Some(Self(Content::Bytes(bytes.clone()))),
            Content::Stream(_) => None,
        }
    }
}

/// An empty body.
impl Default for RequestBody {
    fn default() -> Self {
        Self::new(Bytes::new())
    }
}

/// Omits the contents, because a request may contain a password.
impl fmt::Debug for RequestBody {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RequestBody").finish_non_exhaustive()
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        match &mut self.0 {
            Content::Bytes(bytes) => Pin::new(bytes).poll_frame(context).map_err(|never| match never {}),
            Content::Stream(stream) => Pin::new(inner(stream)).poll_frame(context),
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.0, Content::Bytes(bytes) if bytes.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Content::Bytes(bytes) => bytes.size_hint(),
            Content::Stream(_) => SizeHint::new(),
        }
    }
}

/// A response of any length, as an `http_body::Body`.
///
/// It can be written to a file frame by frame, or sent as a [`RequestBody::stream`]. If the server aborts it, the last
/// frame is an error.
pub struct Download(Mutex<ErasedBody>);

impl fmt::Debug for Download {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Download").finish_non_exhaustive()
    }
}

impl Body for Download {
    type Data = Bytes;
    type Error = ClientError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, ClientError>>> {
        Pin::new(inner(&mut self.0)).poll_frame(context).map_err(broken_off)
    }
}

fn inner(body: &mut Mutex<ErasedBody>) -> &mut ErasedBody {
    body.get_mut().unwrap_or_else(PoisonError::into_inner)
}
