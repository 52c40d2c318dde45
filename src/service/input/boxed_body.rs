//! Request bodies of any type, without the type.

use std::error::Error as StdError;
#[cfg(feature = "axum")]
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf, Bytes};
#[cfg(feature = "axum")]
use http_body::SizeHint;
use http_body::{Body, Frame};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, LengthLimitError};

use super::timeout_body::TimeoutBody;
#[cfg(feature = "axum")]
use crate::service::budget::BudgetExhausted;
use crate::service::response::error::ApiError;
use crate::service::shutdown::Shutdown;

/// A request body of any type; `None` if it is known to be empty.
pub(in crate::service) type RequestBody = Option<BoxedBody>;

/// A type-erased request body.
pub(in crate::service) struct BoxedBody {
    pub(super) shared: Arc<Mutex<UnreadBody>>,
    /// The minimum size in bytes, by the size hint of the original body. The boxed body loses that hint.
    pub(super) min_size: u64,
}

/// The body, which its reader may leave before the end.
pub(super) struct UnreadBody {
    pub(super) body: TimeoutBody<UnsyncBoxBody<Bytes, BodyReadError>>,
    pub(super) is_over: bool,
}

impl UnreadBody {
    pub(super) fn poll_frame(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyReadError>>> {
        let frame = self.body.poll_frame(context);
        self.is_over |= matches!(frame, Poll::Ready(None));
        frame
    }
}

pub(super) fn lock(shared: &Mutex<UnreadBody>) -> MutexGuard<'_, UnreadBody> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The request body could not be read to its end.
#[derive(Debug, thiserror::Error)]
pub(in crate::service) enum BodyReadError {
    #[error("the request body could not be read to its end")]
    Broken(#[source] Box<dyn StdError + Send + Sync>),
    #[error("the request body did not arrive in time")]
    TooSlow,
    /// `None`: the limit is that of a layer of the host application, and unknown.
    #[error("the request body is too large")]
    TooLarge(Option<u64>),
    #[error("the request body did not arrive before the server stopped")]
    Stopped,
    #[cfg(feature = "axum")]
    #[error("there is no room for the request body")]
    NoRoom(#[source] BudgetExhausted),
}

impl BodyReadError {
    fn of(error: Box<dyn StdError + Send + Sync>) -> Self {
        let mut cause: Option<&(dyn StdError + 'static)> = Some(&*error);
        while let Some(present) = cause {
            if present.is::<LengthLimitError>() {
                return Self::TooLarge(None);
            }
            cause = present.source();
        }
        Self::Broken(error)
    }
}

impl From<&BodyReadError> for ApiError {
    fn from(error: &BodyReadError) -> Self {
        match error {
            BodyReadError::Broken(_) => Self::body_incomplete(),
            BodyReadError::TooSlow => Self::request_timeout(),
            BodyReadError::TooLarge(limit) => Self::request_too_large(*limit),
            BodyReadError::Stopped => Self::stopping(),
            #[cfg(feature = "axum")]
            BodyReadError::NoRoom(exhausted) => (*exhausted).into(),
        }
    }
}

impl From<BodyReadError> for ApiError {
    fn from(error: BodyReadError) -> Self {
        Self::from(&error)
    }
}

/// Erases the type of a request body, so that its readers are compiled only once.
pub(in crate::service) fn box_body<B>(body: B) -> RequestBody
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    if body.is_end_stream() {
        return None;
    }
    let (min_size, size) = (body.size_hint().lower(), body.size_hint().exact());
    let body = body.map_frame(|frame| frame.map_data(|mut data| data.copy_to_bytes(data.remaining())));
    let body = body.map_err(|error| BodyReadError::of(error.into())).boxed_unsync();
    let shared = UnreadBody { body: TimeoutBody::new(body, size), is_over: false };
    Some(BoxedBody { shared: Arc::new(Mutex::new(shared)), min_size })
}

impl BoxedBody {
    /// Makes the body fail if its client stalls for this long or is too slow, and when the service stops. `None` is no
    /// time limit.
    pub(in crate::service) fn limited(self, stall_timeout: Option<Duration>, shutdown: &Shutdown) -> Self {
        lock(&self.shared).body.limit(stall_timeout, shutdown);
        self
    }

    pub(in crate::service) fn poll_frame(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyReadError>>> {
        lock(&self.shared).poll_frame(context)
    }
}

/// Endpoints of the host application read the body by extractors of axum.
#[cfg(feature = "axum")]
impl Body for BoxedBody {
    type Data = Bytes;
    type Error = BodyReadError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyReadError>>> {
        self.get_mut().poll_frame(context)
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = SizeHint::new();
        hint.set_lower(self.min_size);
        hint
    }
}
