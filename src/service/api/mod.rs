#[cfg(feature = "axum")]
mod axum_extract;
#[cfg(feature = "axum")]
mod axum_routes;
mod builder;
mod own_endpoints;

use std::convert::Infallible;
use std::error::Error as StdError;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Response};
use http_body::Body;

#[cfg(feature = "axum")]
pub use self::axum_extract::Extract;
pub use self::builder::ApiBuilder;
#[cfg(feature = "openapi")]
pub(super) use self::builder::absolute_path;
pub use self::own_endpoints::Admitted;
use super::input::{box_body, normalize_path};
use super::observation::ApiFigures;
use super::response::body::ResponseBody;
use super::state::ApiState;
use crate::inventory::{Error, Inventory};
use crate::model::UserId;

/// The network inventory API over an [`Inventory`], as a [`tower::Service`](tower_service::Service).
///
/// The service is always ready, never fails and is cheap to clone. It opens no socket, and the tasks that it spawns
/// end with it. Mount it in axum with `Router::new().fallback_service(api)`, in hyper with
/// `TowerToHyperService::new(api)`, or call it in process:
///
/// ```
/// use http::Request;
/// use toposcope::inventory::Inventory;
/// use toposcope::service::Api;
/// use toposcope::store::MemoryStore;
/// use tower::ServiceExt;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let api = Api::builder(Inventory::new(MemoryStore::new())).server_version("2.0.0").build();
/// let response = api.oneshot(Request::get("/api/version").body(String::new())?).await?;
/// assert_eq!(response.status(), 200);
/// # Ok(())
/// # }
/// ```
///
/// A host application that authenticates its users itself sets a [`Caller`](crate::access::Caller) as a request
/// extension, which the service trusts. [`client_address`](ApiBuilder::client_address) sets how the service finds the
/// address of a client. Its own endpoints use the credentials, the rate limit and the envelope of the API by [`admit`](Self::admit)
/// and [`respond`](Self::respond).
#[derive(Clone)]
pub struct Api {
    state: Arc<ApiState>,
}

impl Api {
    /// Creates a builder for an API over this inventory.
    #[must_use]
    pub fn builder(inventory: Inventory) -> ApiBuilder {
        ApiBuilder::new(inventory)
    }

    /// Ends a user's event streams, whole lists and imports at once.
    ///
    /// Call it when the host application has ended the user's session: the service cannot know when a
    /// [`Caller`](crate::access::Caller) of the host application ceases to be valid. Lists are broken off, streams end, also those
    /// whose requests have begun and are not answered yet, and imports end before their next
    /// group of lines with 401 `auth_session_expired`. Streams of
    /// your own endpoints know of it by [`ended`](Self::ended). If the store is shared, other instances follow within a second. Other
    /// APIs over one store that is not shared do not: revoke the user on each.
    ///
    /// Requests that begin afterwards are answered, so stop setting callers of the user before you call this. The user
    /// is revoked in all organizations, and however the responses were authenticated.
    ///
    /// ```
    /// # use toposcope::{Api, Inventory, MemoryStore};
    /// # use toposcope::model::UserId;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// let api = Api::builder(Inventory::new(MemoryStore::new())).build();
    /// api.revoke(UserId::from_u128(42)).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `StoreUnavailable`: the responses of this instance have ended, but other instances may not know.
    pub async fn revoke(&self, user_id: UserId) -> Result<(), Error> {
        self.state.revocations.revoke(user_id).await
    }

    /// Returns figures for monitoring: requests, limits, caches, and those of the inventory.
    ///
    /// ```
    /// use http::Request;
    /// use toposcope::{Api, Inventory, MemoryStore};
    /// use tower::ServiceExt;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let api = Api::builder(Inventory::new(MemoryStore::new())).build();
    /// api.clone().oneshot(Request::get("/api/version").body(String::new())?).await?;
    /// let figures = api.figures();
    /// assert_eq!(figures.requests[0].route, "/api/version");
    /// assert_eq!(figures.requests[0].by_status, [(200, 1)]);
    /// println!("{}", figures.to_openmetrics());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn figures(&self) -> ApiFigures {
        self.state.figures()
    }

    /// Waits until the [shutdown](ApiBuilder::shutdown) has begun. Without a shutdown, it waits for ever.
    ///
    /// With it, streams and uploads of the host application's own endpoints end together with those of the API:
    ///
    /// ```
    /// # use toposcope::{Api, Inventory, MemoryStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// # let (stop, stopped) = tokio::sync::oneshot::channel();
    /// # let stopped = async { stopped.await.unwrap_or_default() };
    /// let api = Api::builder(Inventory::new(MemoryStore::new())).shutdown(stopped).build();
    /// let stopping = api.stopping();
    /// let events = tokio::spawn(async move {
    ///     tokio::select! {
    ///         () = stopping => "the stream ends",
    ///         () = std::future::pending() => "the next event",
    ///     }
    /// });
    /// # stop.send(()).unwrap();
    /// # assert_eq!(events.await.unwrap(), "the stream ends");
    /// # }
    /// ```
    pub fn stopping(&self) -> impl Future<Output = ()> + Send + use<> {
        self.state.shutdown.stopping()
    }

    /// Waits until the [shutdown](ApiBuilder::shutdown) has begun, all requests are answered, and their responses have been read or
    /// dropped. Without a shutdown, it waits for ever.
    ///
    /// A request to an endpoint of the host application counts as long as its [`Admitted`] exists, and the response of
    /// [`respond`](Self::respond) until it has been read or dropped.
    pub async fn drained(&self) {
        self.state.shutdown.drained().await;
    }
}

impl fmt::Debug for Api {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Api").field("inventory", &self.state.inventory).finish_non_exhaustive()
    }
}

impl<B> tower_service::Service<Request<B>> for Api
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ResponseFuture {
        let state = Arc::clone(&self.state);
        let (mut request, body) = request.into_parts();
        normalize_path(&mut request.uri);
        let body = box_body(body);
        ResponseFuture(Box::pin(async move { Ok(state.respond(&request, body).await) }))
    }
}

/// The future response of an [`Api`].
///
/// Dropping it cancels the request. A commit that has begun is still applied either fully or not at all.
pub struct ResponseFuture(Pin<Box<dyn Future<Output = Result<Response<ResponseBody>, Infallible>> + Send>>);

impl Future for ResponseFuture {
    type Output = Result<Response<ResponseBody>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(context)
    }
}

impl fmt::Debug for ResponseFuture {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
