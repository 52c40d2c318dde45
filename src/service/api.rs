use std::convert::Infallible;
use std::error::Error as StdError;
use std::fmt;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use http::header::CONTENT_LENGTH;
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body::Body;

use super::contained::contain_panic;
use super::input::{self, Input, RequestBody};
use super::response::{Reply, add_allowance};
use super::route::Route;
use super::shared::Shared;
use super::{
    ApiBuilder, ResponseBody, credentials, daemon_keys, hosts, ports, referrals, sessions, shares, user_keys,
    version,
};
use crate::access::Caller;
use crate::inventory::{Error, ErrorKind, Inventory};
use crate::wire::ApiError;

/// The API as a [`tower::Service`](tower_service::Service): every endpoint, on an [`Inventory`].
///
/// Always ready, never fails, cheap to clone. It listens to nothing, and the few tasks that it spawns end with it. Mount
/// it in axum by `Router::new().fallback_service(api)`, in hyper by `TowerToHyperService::new(api)`, or call it in process:
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
/// A host application that authenticates its users itself sets a [`Caller`] as request extension; it is taken at its
/// word. How the service finds a client's address is set by [`client_address`](ApiBuilder::client_address).
#[derive(Clone)]
pub struct Api {
    shared: Arc<Shared>,
}

impl Api {
    /// Begins an API on this inventory.
    #[must_use]
    pub fn builder(inventory: Inventory) -> ApiBuilder {
        ApiBuilder::new(inventory)
    }

    pub(super) const fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }
}

impl fmt::Debug for Api {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Api").field("inventory", &self.shared.inventory).finish_non_exhaustive()
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
        let shared = Arc::clone(&self.shared);
        let (request, body) = request.into_parts();
        let body = input::erase(body);
        ResponseFuture(Box::pin(async move { Ok(shared.answer(&request, body).await) }))
    }
}

/// The response to come. Dropping it drops the request; what a commit has begun is done wholly or not at all.
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

impl Shared {
    async fn answer(&self, request: &Parts, body: RequestBody) -> Response<ResponseBody> {
        let route = Route::find(&request.method, request.uri.path());
        let caller = contain_panic(pin!(self.caller(route.as_ref().ok(), request))).await;
        let allowance = self.allowance(request, caller.as_ref().ok());
        let outcome = match allowance.and_then(|allowance| allowance.retry_after) {
            Some(seconds) => Err(ApiError::rate_limit_exceeded(seconds)),
            None => {
                let input = Input { request, body, limit: self.body_limit };
                contain_panic(pin!(self.handle(route, caller, input))).await
            }
        };
        let mut response = self.responder.respond(outcome);
        if let Some(allowance) = &allowance {
            add_allowance(&mut response, allowance);
        }
        if request.method == Method::HEAD { without_body(response) } else { response }
    }

    /// Who asks, as far as the endpoint looks at that.
    async fn caller(&self, route: Option<&Route<'_>>, request: &Parts) -> Result<Caller, Error> {
        match (credentials::known(request), route) {
            (Some(caller), _) => Ok(caller.clone()),
            (None, Some(route)) if route.is_public() => Err(ErrorKind::NotAuthenticated.into()),
            (None, Some(Route::LogOut)) => credentials::by_cookie(&self.inventory, request).await,
            _ => credentials::identify(&self.inventory, request).await,
        }
    }

    async fn handle(
        &self,
        route: Result<Route<'_>, ApiError>,
        caller: Result<Caller, Error>,
        input: Input<'_>,
    ) -> Result<Reply, ApiError> {
        let caller = || self.admit(caller, input.request);
        match route? {
            Route::Version => version::get(&self.responder, input.query()),
            Route::ListHosts => hosts::list(self, &caller()?, input.request).await,
            // These are boxed, so that the requests that come most often do not carry the room that they take.
            Route::LogIn => Box::pin(sessions::log_in(self, input)).await,
            Route::LogOut => Box::pin(sessions::log_out(self, input)).await,
            Route::UpdatePort(id) => Box::pin(ports::update(self, &caller()?, id, input)).await,
            Route::CreateDaemonKey => Box::pin(daemon_keys::create(self, &caller()?, input)).await,
            Route::UpdateUserKey(id) => Box::pin(user_keys::update(self, &caller()?, id, input)).await,
            Route::DeleteUserKey(id) => Box::pin(user_keys::delete(self, &caller()?, id, input)).await,
            Route::ShareMetadata(id) => Box::pin(shares::metadata(self, id, input.query())).await,
            Route::SubmitReferral => Box::pin(referrals::submit(self, &caller()?, input)).await,
        }
    }
}

/// The answer to HEAD: the headers of the GET, its length among them where that is known.
fn without_body(mut response: Response<ResponseBody>) -> Response<ResponseBody> {
    if let Some(length) = response.body().length()
        && response.status() != StatusCode::NOT_MODIFIED
    {
        response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    response.map(|_| ResponseBody::default())
}
