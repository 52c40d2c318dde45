//! An extractor for axum whose rejections are answers of the API (feature `axum`).

use std::convert::Infallible;
use std::error::Error as StdError;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use axum::body::Body;
use axum::extract::path::ErrorKind as PathErrorKind;
use axum::extract::rejection::{
    BytesRejection, FailedToDeserializeQueryString, JsonRejection, PathRejection, QueryRejection,
    StringRejection,
};
use axum::extract::{FromRef, FromRequest, FromRequestParts, RawPathParams, Request};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::request::Parts;
use http_body::{Body as HttpBody, Frame, SizeHint};
use serde::de::value::Error as QueryError;

use super::{Admitted, Api};
use crate::inventory::{Error, Problem, dotted};
use crate::service::input::{BodyReadError, BoxedBody, FREE_BYTES, RequestBody, box_body};
use crate::service::response::body::{IncomingBody, RequestRoom};
use crate::service::response::error::ApiError;
use crate::service::state::ApiState;

/// Wraps an extractor of axum, and answers its rejections in the envelope of the API.
///
/// It takes [`Path`](axum::extract::Path), [`Query`](axum::extract::Query), [`Json`](axum::Json), `Bytes`, `String` and
/// [`Body`](axum::body::Body). A rejection has the code, the status and the params that the API itself answers with, such as 400
/// `validation_invalid_format {field}`. The body of the request ends as those of the API do: if its client stalls
/// (408), and half a second after the [shutdown](crate::service::ApiBuilder::shutdown) has begun (503). If it is read as a whole, its
/// bytes count toward the [memory limit](crate::service::ApiBuilder::body_limit) of all request bodies until every clone of [`Admitted`]
/// is dropped, and only while it is extracted if the handler does not take [`Admitted`]; if there is no room for it, the answer is
/// 429. A body of more than the share of one user never has room.
///
/// The state of the router is, or has, the [`Api`]. After [`Admitted`], rejections have the headers of the rate limit as well,
/// and clients without a valid credential learn nothing of the endpoint.
///
/// ```
/// use axum::extract::{Path, State};
/// use axum::{Json, Router, routing::put};
/// use http::Response;
/// use serde::Deserialize;
/// use toposcope::Api;
/// use toposcope::inventory::{ApplicationCode, ApplicationError, Error};
/// use toposcope::model::{Host, HostId};
/// use toposcope::service::{Admitted, Extract, ResponseBody};
///
/// #[derive(Deserialize)]
/// struct Place {
///     rack: String,
///     unit: u16,
/// }
///
/// const NO_UNIT: ApplicationCode = ApplicationCode::new("racks.no_unit", 409);
///
/// async fn place(
///     State(api): State<Api>,
///     admitted: Admitted,
///     Extract(Path(host)): Extract<Path<HostId>>,
///     Extract(Json(place)): Extract<Json<Place>>,
/// ) -> Response<ResponseBody> {
///     let set = |host: &mut Host| match place.unit {
///         1..=42 => Ok(drop(host.custom.insert("rack".to_owned(), place.rack.clone().into()))),
///         _ => Err(ApplicationError::new(NO_UNIT, "Racks have 42 units.").at("unit").into()),
///     };
///     api.respond(&admitted, api.inventory().hosts().update(admitted.caller(), host, set).await)
/// }
///
/// let router: Router<Api> = Router::new().route("/places/{host}", put(place));
/// # let _ = (router, None::<Error>);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Extract<E>(pub E);

impl<E, S> FromRequestParts<S> for Extract<E>
where
    E: FromRequestParts<S>,
    E::Rejection: Rejection,
    S: Send + Sync,
    Api: FromRef<S>,
{
    type Rejection = Response;

    async fn from_request_parts(request: &mut Parts, state: &S) -> Result<Self, Response> {
        let rejection = match E::from_request_parts(request, state).await {
            Ok(extracted) => return Ok(Self(extracted)),
            Err(rejection) => rejection,
        };
        let error = rejection.into_error(&path_names(request, state).await);
        let (admitted, version) = (request.extensions.get(), request.version);
        Err(Api::from_ref(state).reject(admitted, version, error).into_response())
    }
}

impl<E, S> FromRequest<S> for Extract<E>
where
    E: FromRequest<S>,
    E::Rejection: Rejection,
    S: Send + Sync,
    Api: FromRef<S>,
{
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Response> {
        let api = Api::from_ref(state);
        let (version, admitted) = (request.version(), request.extensions().get::<Admitted>().cloned());
        let (parts, body) = request.into_parts();
        let (body, held) = match api.limited(body) {
            Some(body) if E::Rejection::IS_READ_AS_A_WHOLE => {
                let (body, held) = api.counted(body, &parts, admitted.as_ref());
                (Body::new(body), Some(held))
            }
            body => (body.map_or_else(Body::empty, Body::new), None),
        };
        let extracted = E::from_request(Request::from_parts(parts, body), state).await;
        let arrived = held.and_then(Arc::into_inner).map(Mutex::into_inner);
        if let (Ok(_), Some(admitted), Some(arrived)) = (&extracted, &admitted, arrived) {
            let arrived = arrived.unwrap_or_else(PoisonError::into_inner).into_arrived();
            // A request has one body.
            drop(admitted.body.set(arrived));
        }
        extracted.map(Self).map_err(|rejection| {
            api.reject(admitted.as_ref(), version, rejection.into_error(&[])).into_response()
        })
    }
}

impl Api {
    /// Applies the time limits and the shutdown of the API's own endpoints to a body.
    fn limited(&self, body: Body) -> RequestBody {
        let state = &*self.state;
        box_body(body).map(|body| body.limited(state.stall_timeout, &state.shutdown))
    }

    /// Counts the bytes of a body toward the memory of all bodies, until the returned reservation is dropped.
    fn counted(
        &self,
        body: BoxedBody,
        request: &Parts,
        admitted: Option<&Admitted>,
    ) -> (CountedBody, Arc<Mutex<IncomingBody>>) {
        let state = &*self.state;
        let holder = match admitted {
            Some(admitted) => admitted.caller().into(),
            None => ApiState::holder(None, state.client_prefixes.of(request)),
        };
        let held = Arc::new(Mutex::new(RequestRoom::new(state.body_budgets(), holder).begin_body()));
        (CountedBody { body, held: Arc::clone(&held), received: 0 }, held)
    }
}

/// A body whose bytes are held by the extractor that reads it.
struct CountedBody {
    body: BoxedBody,
    held: Arc<Mutex<IncomingBody>>,
    received: usize,
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = BodyReadError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyReadError>>> {
        let this = self.get_mut();
        let frame = ready!(this.body.poll_frame(context));
        if let Some(data) = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref()) {
            this.received = this.received.saturating_add(data.len());
            let held = this.received.saturating_sub(FREE_BYTES);
            let grown = this.held.lock().unwrap_or_else(PoisonError::into_inner).grow(held);
            if let Err(exhausted) = grown {
                return Poll::Ready(Some(Err(BodyReadError::NoRoom(exhausted))));
            }
        }
        Poll::Ready(frame)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Returns the names of the parameters of the path, in their order.
async fn path_names<S: Send + Sync>(request: &mut Parts, state: &S) -> Vec<String> {
    let parameters = RawPathParams::from_request_parts(request, state).await;
    parameters.iter().flat_map(|parameters| parameters.iter().map(|(name, _)| name.to_owned())).collect()
}

/// A rejection of an extractor of axum that has an answer of the API.
trait Rejection: Send {
    /// Whether the extractor reads the body of the request as a whole.
    const IS_READ_AS_A_WHOLE: bool = false;

    /// Returns the answer. `path_names` are the names of the parameters of the path.
    fn into_error(self, path_names: &[String]) -> ApiError;
}

impl Rejection for Infallible {
    fn into_error(self, _path_names: &[String]) -> ApiError {
        match self {}
    }
}

impl Rejection for PathRejection {
    fn into_error(self, path_names: &[String]) -> ApiError {
        let Self::FailedToDeserializePathParams(error) = self else { return fault_of(self) };
        let name = match error.kind() {
            PathErrorKind::ParseErrorAtKey { key, .. }
            | PathErrorKind::InvalidUtf8InPathParam { key }
            | PathErrorKind::DeserializeError { key, .. } => Some(key),
            PathErrorKind::ParseErrorAtIndex { index, .. } => path_names.get(*index),
            PathErrorKind::ParseError { .. } | PathErrorKind::Message(_) => path_names.first(),
            // The handler expects other parameters than its route has.
            _ => None,
        };
        match name {
            Some(name) => Error::invalid(name, Problem::InvalidFormat).into(),
            None => fault_of(error),
        }
    }
}

impl Rejection for QueryRejection {
    fn into_error(self, _path_names: &[String]) -> ApiError {
        match &self {
            Self::FailedToDeserializeQueryString(error) => of_query(error),
            _ => fault_of(self),
        }
    }
}

impl Rejection for JsonRejection {
    const IS_READ_AS_A_WHOLE: bool = true;

    fn into_error(self, path_names: &[String]) -> ApiError {
        match self {
            Self::MissingJsonContentType(_) => ApiError::unsupported_media_type("application/json"),
            Self::JsonDataError(error) => of_json(&error),
            Self::JsonSyntaxError(error) => of_json(&error),
            Self::BytesRejection(rejection) => rejection.into_error(path_names),
            _ => fault_of(self),
        }
    }
}

impl Rejection for BytesRejection {
    const IS_READ_AS_A_WHOLE: bool = true;

    fn into_error(self, _path_names: &[String]) -> ApiError {
        of_body(&self, self.status())
    }
}

impl Rejection for StringRejection {
    const IS_READ_AS_A_WHOLE: bool = true;

    fn into_error(self, _path_names: &[String]) -> ApiError {
        of_body(&self, self.status())
    }
}

/// Returns the answer to a body that could not be read, or is no text.
fn of_body(rejection: &(dyn StdError + 'static), status: http::StatusCode) -> ApiError {
    match cause::<BodyReadError>(rejection) {
        Some(error) => error.into(),
        None if status == http::StatusCode::PAYLOAD_TOO_LARGE => ApiError::request_too_large(None),
        None => ApiError::malformed_json("The body is not UTF-8 text.", 1, 1),
    }
}

/// Returns the answer to a body that is not JSON, or not of the expected form.
fn of_json(rejection: &(dyn StdError + 'static)) -> ApiError {
    let error = cause::<serde_path_to_error::Error<serde_json::Error>>(rejection);
    if let Some(error) = error
        && error.inner().is_data()
        && let Some(invalid) = of_value(error.path(), &error.inner().to_string())
    {
        return invalid.into();
    }
    // Text after the value has no path.
    let error = error.map(serde_path_to_error::Error::inner).or_else(|| cause(rejection));
    let (line, column) = error.map_or((1, 1), |error| (error.line(), error.column().max(1)));
    let message =
        format!("The body is not JSON of the expected form: error at line {line}, column {column}.");
    ApiError::malformed_json(message, line, column)
}

fn of_query(rejection: &FailedToDeserializeQueryString) -> ApiError {
    let error = cause::<serde_path_to_error::Error<QueryError>>(rejection);
    let invalid = error.and_then(|error| of_value(error.path(), &error.inner().to_string()));
    invalid.unwrap_or_else(|| Error::invalid("query", Problem::InvalidFormat)).into()
}

/// Returns the error of a value at a path. `None` for the error of a body as a whole.
fn of_value(path: &serde_path_to_error::Path, message: &str) -> Option<Error> {
    // Serde reports the name of a missing field only in its message.
    let missing = message.strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
    match (dotted(path), missing) {
        (Some(path), Some(name)) => Some(Error::invalid(format!("{path}.{name}"), Problem::Required)),
        (None, Some(name)) => Some(Error::invalid(name, Problem::Required)),
        (Some(path), None) => Some(Error::invalid(path, Problem::InvalidFormat)),
        (None, None) => None,
    }
}

/// Returns the answer to a fault of the host application, such as an extractor that does not fit its route.
fn fault_of(rejection: impl StdError + Send + Sync + 'static) -> ApiError {
    Error::internal(rejection).into()
}

/// Returns the first error of this type among an error and its causes.
fn cause<'e, T: StdError + 'static>(error: &'e (dyn StdError + 'static)) -> Option<&'e T> {
    let mut present = Some(error);
    while let Some(error) = present {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        present = error.source();
    }
    None
}
