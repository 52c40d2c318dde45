//! What endpoints of the host application share with those of the API: credentials, rate limit and envelope.

use std::pin::pin;

use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderValue, Response};
use serde::Serialize;

use super::Api;
use crate::access::Caller;
use crate::inventory::Error;
use crate::service::dispatch::close_if_early;
use crate::service::response::add_allowance;
use crate::service::response::body::{RequestRoom, ResponseBody};
use crate::service::response::error::{ApiError, catch_panic};
use crate::service::sender::Sender;
use crate::service::sender::rate_limit::Allowance;
use crate::service::served::Served;
use crate::service::state::ApiState;

/// A request to an endpoint of the host application that [`Api::admit`] has admitted.
///
/// With the feature `axum`, it is an extractor.
#[derive(Clone, Debug)]
pub struct Admitted {
    caller: Caller,
    /// `None` without a rate limit.
    allowance: Option<Allowance>,
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
}

impl Api {
    /// Admits a request to an endpoint of the host application, by the rules of the API's own endpoints: it needs a valid
    /// credential, counts for the rate limit of its sender, and must not use a session from another site.
    ///
    /// A [`Caller`] that the host application has set as a request extension is the credential. Daemon keys are refused.
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
    /// The response that the API itself would give: 401 and 403 for credentials, 429 beyond the rate limit, 503 if the
    /// store is unavailable.
    pub async fn admit(&self, request: &Parts) -> Result<Admitted, Response<ResponseBody>> {
        let state = &*self.state;
        let sender = catch_panic(pin!(state.credentials.identify_caller(request))).await.map(Sender::Caller);
        let identified = sender.as_ref().ok().cloned();
        let prefix = if identified.is_none() { state.client_prefixes.of(request) } else { None };
        let allowance = state.allowance(identified.as_ref(), prefix);
        let admitted = match allowance.and_then(|allowance| allowance.retry_after) {
            Some(seconds) => Err(ApiError::rate_limit_exceeded(seconds)),
            None => state.admit(sender, request).and_then(|sender| Ok(sender.into_caller()?)),
        };
        admitted.map(|caller| Admitted { caller, allowance }).map_err(|error| {
            let served = Served::own(identified.as_ref(), Some(error.code));
            let mut response = state.responder.respond(Err(error));
            response.extensions_mut().insert(served);
            if let Some(allowance) = &allowance {
                add_allowance(&mut response, allowance);
            }
            if has_body(request) {
                close_if_early(&mut response, request);
            }
            response
        })
    }

    /// Returns the response of an endpoint of the host application: the data, or the error, in the envelope of the API, with
    /// its headers.
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
        let served = Served::own(Some(&sender), outcome.as_ref().err().map(|error| error.code));
        let mut response = state.responder.respond(outcome);
        response.extensions_mut().insert(served);
        if let Some(allowance) = &admitted.allowance {
            add_allowance(&mut response, allowance);
        }
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
