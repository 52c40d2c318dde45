//! Requests with an `Idempotency-Key`.

use http::HeaderName;
use http::request::Parts;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::Caller;
use crate::inventory::{Begun, Error, ErrorKind, Inventory, KeyedRequest, Problem, RequestAnswer};
use crate::service::response::Outcome;
use crate::service::response::entity_tag::EntityTag;
use crate::service::response::error::ApiError;
use crate::service::routes::route::{Call, Route};
use crate::service::state::ApiState;

pub(in crate::service) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const IDEMPOTENT_REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

/// The name of the header, as errors name it.
const FIELD: &str = "Idempotency-Key";

/// The maximum number of characters of a key.
pub(in crate::service) const MAX_KEY: usize = 255;

/// The record that a request has created.
#[derive(Deserialize)]
struct Created {
    id: Uuid,
}

/// A request that is executed once for an idempotency key.
#[derive(Clone, Copy)]
pub(in crate::service) struct Repeatable<'r> {
    state: &'r ApiState,
    request: &'r Parts,
    route: &'r Route,
}

impl<'r> Call<'r> {
    /// Returns the parts of the call that identify a repetition of the request.
    pub(in crate::service) const fn repeatable(&self) -> Repeatable<'r> {
        Repeatable { state: self.state, request: self.input.request, route: self.route }
    }
}

impl<'r> Repeatable<'r> {
    /// Executes a request whose body and caller have been checked.
    ///
    /// With an idempotency key, the answer is stored with the change, and a repetition gets it without being executed.
    pub(in crate::service) async fn once<T, F>(
        self,
        caller: &Caller,
        body: &[u8],
        execute: impl FnOnce(Inventory) -> F,
        respond: impl FnOnce(&T) -> Result<Outcome, ApiError>,
    ) -> Result<Outcome, ApiError>
    where
        T: Serialize,
        F: Future<Output = Result<T, Error>> + Send,
    {
        let inventory = &self.state.inventory;
        let Some(key) = self.idempotency_key()? else {
            return respond(&execute(inventory.clone()).await?);
        };
        let request = self.request;
        let keyed = KeyedRequest { method: request.method.as_str(), path: request.uri.path(), key, body };
        let execution = match inventory.begin_keyed(caller, keyed).await? {
            Begun::Execution(execution) => execution,
            Begun::Answered(answer) => return self.replay(&answer),
        };
        let error = match execute(execution.inventory()).await {
            Ok(data) => {
                // The change is made; without this, a repetition completes the request again.
                if let Err(error) = execution.finish(&data).await {
                    tracing::warn!("an answer could not be stored: {}", error.with_causes());
                }
                // Otherwise a part of the results says only that another server continues the request.
                if !execution.is_lost() {
                    return respond(&data);
                }
                ErrorKind::RequestRunning.into()
            }
            Err(error) => error,
        };
        let is_lost = execution.is_lost();
        drop(execution);
        // Another server may have executed the same request in the meantime.
        match inventory.begin_keyed(caller, keyed).await {
            Ok(Begun::Answered(answer)) => self.replay(&answer),
            Ok(Begun::Execution(_)) if is_lost => Err(Error::from(ErrorKind::RequestRunning).into()),
            Err(running) if is_lost => Err(running.into()),
            _ => Err(error.into()),
        }
    }

    /// Returns the only `Idempotency-Key` of the request.
    fn idempotency_key(self) -> Result<Option<&'r str>, Error> {
        let mut values = self.request.headers.get_all(&IDEMPOTENCY_KEY).iter();
        let Some(value) = values.next() else { return Ok(None) };
        let key = value.to_str().ok().filter(|_| values.next().is_none());
        let key = key.ok_or_else(|| Error::invalid(FIELD, Problem::InvalidFormat))?;
        match key.len() {
            0 => Err(Error::invalid(FIELD, Problem::Empty)),
            length if length > MAX_KEY => Err(Error::invalid(FIELD, Problem::MaxLength { max: MAX_KEY })),
            _ => Ok(Some(key)),
        }
    }

    fn replay(self, answer: &RequestAnswer) -> Result<Outcome, ApiError> {
        let data = answer.data.get().as_bytes();
        let tag = match self.route.is_tagged && answer.is_whole {
            true => Some(EntityTag::of_document(data)?),
            false => None,
        };
        let mut outcome = self.state.responder.stored_document(data)?.with_tag(tag);
        if self.route.creates_in.is_some() {
            let Created { id } = serde_json::from_slice(data).map_err(Error::internal)?;
            outcome = outcome.with_location(self.route, id)?;
        }
        Ok(outcome.with_header(IDEMPOTENT_REPLAYED, http::HeaderValue::from_static("true")))
    }
}
