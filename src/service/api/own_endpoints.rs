//! Credentials, rate limit and envelope of the API for endpoints of the host application.

use std::pin::pin;
use std::sync::Arc;
#[cfg(feature = "axum")]
use std::sync::OnceLock;
use std::time::Duration;

#[cfg(feature = "axum")]
use http::Version;
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderValue, Response};
use serde::Serialize;
use tokio::time::timeout;
use tracing::Instrument;

use super::Api;
use crate::access::Caller;
use crate::inventory::Error;
#[cfg(feature = "axum")]
use crate::service::budget::Reservation;
use crate::service::dispatch::close_if_early;
use crate::service::observation::OwnObservation;
use crate::service::response::body::{RequestRoom, ResponseBody};
use crate::service::response::error::{ApiError, catch_panic};
use crate::service::response::{Outcome, add_allowance};
use crate::service::revocations::RequestStart;
use crate::service::sender::Sender;
use crate::service::sender::rate_limit::Allowance;
use crate::service::served::Served;
use crate::service::shutdown::OpenWork;
use crate::service::state::ApiState;

/// A request to an endpoint of the host application that [`Api::admit`] has admitted.
///
/// With the feature `axum`, it is an extractor. [`Api::drained`] waits until it is dropped, with all of its clones:
/// move it into work that outlives the handler, such as the body of a stream.
#[derive(Clone, Debug)]
pub struct Admitted {
    caller: Caller,
    began: RequestStart,
    /// `None` without a rate limit.
    allowance: Option<Allowance>,
    observation: OwnObservation,
    /// Counts the request as work of the service. `None` if the host application announces no shutdown.
    _work: Option<Arc<OpenWork>>,
    /// The memory of the body that an extractor has read.
    #[cfg(feature = "axum")]
    pub(super) body: Arc<OnceLock<Reservation>>,
}

impl Admitted {
    /// Returns the caller, with the rights of the credential: those of an API key may be fewer than its user's.
    #[must_use]
    pub const fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Returns the caller.
    #[must_use]
    pub fn into_caller(self) -> Caller {
        self.caller
    }

    /// Runs work for the request in its span, which [`Api::admit`] has begun.
    ///
    /// The span `request` has the same fields as those of the API's own endpoints, with the route [`Served::OWN`].
    /// [`Api::respond`] adds the status.
    pub fn within<F: Future>(&self, work: F) -> impl Future<Output = F::Output> + use<F> {
        work.instrument(self.observation.span().clone())
    }
}

impl Api {
    /// Admits a request to an endpoint of the host application by the rules of the API's own endpoints. It needs a
    /// valid credential, counts for the rate limit of its sender, and must not use a session from another site.
    ///
    /// A [`Caller`] that the host application has set as a request extension is the credential, as for the API's own endpoints;
    /// [`admit_as`](Self::admit_as) takes one that it has not set. Daemon keys are refused.
    ///
    /// ```
    /// use http::{Request, Response};
    /// use toposcope::service::{Api, ResponseBody};
    /// # use toposcope::inventory::{Bootstrap, Inventory};
    /// # use toposcope::store::MemoryStore;
    /// use toposcope::model::HostId;
    ///
    /// /// Answers how many ports a host has.
    /// async fn port_count(api: &Api, request: Request<String>, host: HostId) -> Response<ResponseBody> {
    ///     let (request, _) = request.into_parts();
    ///     let admitted = match api.admit(&request).await {
    ///         Ok(admitted) => admitted,
    ///         Err(refusal) => return refusal,
    ///     };
    ///     let host = api.inventory().hosts().get(admitted.caller(), host).await;
    ///     api.respond(&admitted, host.map(|host| host.ports.len()))
    /// }
    /// #
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let start = inventory.bootstrap(Bootstrap::new("Example", "me@example.net")).await?;
    /// # let key = start.issued_key.ok_or("only the first start issues a key")?;
    /// # let api = Api::builder(inventory).build();
    ///
    /// let request = Request::get("/racks/ports").body(String::new())?;
    /// assert_eq!(port_count(&api, request, HostId::nil()).await.status(), 401);
    /// # let key = format!("Bearer {}", key.plaintext());
    /// # let request = Request::get("/racks/ports").header("authorization", key).body(String::new())?;
    /// # assert_eq!(port_count(&api, request, HostId::nil()).await.status(), 404);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The response that the API itself would give: 401 and 403 for credentials, 404 for a [`Caller`] whose organization does not
    /// exist, 429 beyond the rate limit, 503 if the store is unavailable.
    pub async fn admit(&self, request: &Parts) -> Result<Admitted, Response<ResponseBody>> {
        self.admit_identified(request, self.state.credentials.identify_caller(request)).await
    }

    /// Admits a request like [`admit`](Self::admit), from a caller whom the host application has authenticated.
    ///
    /// The request's own credentials are ignored, and so are its extensions but for a [`RequestId`](crate::service::RequestId).
    ///
    /// ```
    /// use http::Request;
    /// use toposcope::access::{Caller, Scope};
    /// # use toposcope::model::{Permission, UserId};
    /// # use toposcope::{Api, Inventory, MemoryStore};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let (tenant, user) = (inventory.organizations().create("Example").await?.id, UserId::from_u128(42));
    /// # let api = Api::builder(inventory).build();
    /// let (request, _) = Request::get("/racks").body(())?.into_parts();
    /// let caller = Caller::new(tenant, user, Permission::Member, Scope::all());
    /// match api.admit_as(&request, caller).await {
    ///     Ok(admitted) => assert_eq!(admitted.caller().user_id(), user),
    ///     Err(refusal) => panic!("{refusal:?}"),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As for [`admit`](Self::admit). [The system](Caller::system) is refused with 401.
    pub async fn admit_as(
        &self,
        request: &Parts,
        caller: Caller,
    ) -> Result<Admitted, Response<ResponseBody>> {
        self.admit_identified(request, self.state.credentials.identify_host_caller(&caller, request)).await
    }

    async fn admit_identified(
        &self,
        request: &Parts,
        identifying: impl Future<Output = Result<Caller, Error>>,
    ) -> Result<Admitted, Response<ResponseBody>> {
        let state = &*self.state;
        let work = state.shutdown.begin();
        let begun_at = state.inventory.monotonic();
        let began = state.revocations.moment(begun_at);
        let observation = OwnObservation::begin(request, begun_at);
        let identifying = pin!(identifying);
        let identifying = pin!(catch_panic(identifying).instrument(observation.span().clone()));
        let sender = identifying.await.map(Sender::Caller);
        let identified = sender.as_ref().ok().cloned();
        observation.sent_by(identified.as_ref());
        let prefix = if identified.is_none() { state.client_prefixes.of(request) } else { None };
        let allowance = state.allowance(identified.as_ref(), prefix);
        let admitted = match allowance.and_then(|allowance| allowance.retry_after) {
            Some(seconds) => Err(ApiError::rate_limit_exceeded(seconds)),
            None => state.admit(sender, request).and_then(|sender| Ok(sender.into_caller()?)),
        };
        match admitted {
            Ok(caller) => Ok(Admitted {
                caller,
                began,
                allowance,
                observation,
                _work: work.map(Arc::new),
                #[cfg(feature = "axum")]
                body: Arc::default(),
            }),
            Err(error) => {
                let mut response =
                    self.answer_own(identified.as_ref(), allowance.as_ref(), Some(&observation), Err(error));
                if has_body(request) {
                    close_if_early(&mut response, request.version);
                }
                Err(response)
            }
        }
    }

    /// Waits until a stream to the sender of a request has to end: when the user is [revoked](Self::revoke), when the caller is no longer
    /// [valid](Caller::valid_until), or when the [shutdown](super::ApiBuilder::shutdown) has begun. If the store is unavailable, so
    /// that the first cannot be known, it ends at once.
    ///
    /// ```
    /// # use http::Request;
    /// # use toposcope::access::{Caller, Scope};
    /// # use toposcope::model::{Permission, UserId};
    /// # use toposcope::{Api, Inventory, MemoryStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let tenant = inventory.organizations().create("Example").await?.id;
    /// # let api = Api::builder(inventory).build();
    /// # let user = UserId::from_u128(42);
    /// # let caller = Caller::new(tenant, user, Permission::Member, Scope::all());
    /// # let (request, _) = Request::get("/racks/events").extension(caller).body(())?.into_parts();
    /// let admitted = api.admit(&request).await.map_err(|_| "refused")?;
    /// let ended = api.ended(&admitted);
    /// let events = tokio::spawn(async move {
    ///     tokio::select! {
    ///         () = ended => "the stream ends",
    ///         () = std::future::pending() => "the next event",
    ///     }
    /// });
    /// api.revoke(user).await?;
    /// assert_eq!(events.await?, "the stream ends");
    /// # Ok(())
    /// # }
    /// ```
    pub fn ended(&self, admitted: &Admitted) -> impl Future<Output = ()> + Send + use<> {
        let (state, caller, began) = (Arc::clone(&self.state), admitted.caller.clone(), admitted.began);
        async move {
            let Ok(revocable) = state.revocations.watch(caller.user_id(), began).await else { return };
            let stopping = state.shutdown.stopping();
            let over = async {
                let Some(expires_at) = caller.expires_at() else { return stopping.await };
                let micros = expires_at.unix_micros().saturating_sub(state.inventory.now().unix_micros());
                let remaining = Duration::from_micros(u64::try_from(micros).unwrap_or(0));
                let _either = timeout(remaining, stopping).await;
            };
            let _reason = revocable.unless_revoked(over).await;
        }
    }

    /// Returns the response of an endpoint of the host application. It has the data or the error in the envelope of the
    /// API, with its headers.
    ///
    /// An [`ApplicationError`](crate::inventory::ApplicationError) gives an error a code and a status of the host application.
    ///
    /// The request counts in the [figures](Api::figures), in the row of the route [`Served::OWN`]. An answer that the host
    /// application makes without this method does not.
    ///
    /// The body counts for the [unread responses](super::ApiBuilder::unread_responses) of the caller. If there is no room for
    /// it, the response is a 429.
    pub fn respond<T: Serialize>(
        &self,
        admitted: &Admitted,
        result: Result<T, Error>,
    ) -> Response<ResponseBody> {
        let state = &*self.state;
        let outcome = result.map_err(ApiError::from).and_then(|data| state.responder.value(&data));
        let sender = Sender::Caller(admitted.caller.clone());
        let room = RequestRoom::new(state.body_budgets(), ApiState::holder(Some(&sender), None));
        let outcome = outcome.and_then(|outcome| state.hold_bytes(room, outcome));
        self.answer_own(Some(&sender), admitted.allowance.as_ref(), Some(&admitted.observation), outcome)
    }

    /// Returns the response to a request whose parts an extractor of the host application has rejected.
    #[cfg(feature = "axum")]
    pub(super) fn reject(
        &self,
        admitted: Option<&Admitted>,
        version: Version,
        error: ApiError,
    ) -> Response<ResponseBody> {
        let sender = admitted.map(|admitted| Sender::Caller(admitted.caller.clone()));
        let allowance = admitted.and_then(|admitted| admitted.allowance.as_ref());
        let observation = admitted.map(|admitted| &admitted.observation);
        let mut response = self.answer_own(sender.as_ref(), allowance, observation, Err(error));
        close_if_early(&mut response, version);
        response
    }

    /// Returns the response of an endpoint of the host application, which is work of the service until it is dropped.
    ///
    /// A request that was not admitted before an extractor rejected it has no observation.
    fn answer_own(
        &self,
        sender: Option<&Sender>,
        allowance: Option<&Allowance>,
        observation: Option<&OwnObservation>,
        outcome: Result<Outcome, ApiError>,
    ) -> Response<ResponseBody> {
        let served = Served::own(sender, &outcome);
        let mut response = self.state.responder.respond(outcome);
        if let Some(observation) = observation {
            observation.end(&mut response, &self.state.requests, self.state.inventory.monotonic());
        }
        response.extensions_mut().insert(served);
        if let Some(allowance) = allowance {
            add_allowance(&mut response, allowance);
        }
        response.body_mut().hold(self.state.shutdown.begin());
        response
    }

    /// Returns the inventory of the API.
    #[must_use]
    pub fn inventory(&self) -> &crate::inventory::Inventory {
        &self.state.inventory
    }
}

/// Returns whether a request of HTTP/1 announces a body.
fn has_body(request: &Parts) -> bool {
    let length = request.headers.get(CONTENT_LENGTH);
    length.is_some_and(|length| length != HeaderValue::from_static("0"))
        || request.headers.contains_key(TRANSFER_ENCODING)
}
