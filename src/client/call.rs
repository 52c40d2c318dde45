//! One request and its response.

use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, COOKIE, HeaderName, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, Request, Uri};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::transport::UnreadResponse;
use super::{Client, ClientError, Credential, EntityTag, HttpService, RequestBody, Tagged};
use crate::wire::Success;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A request, before the client adds the address and the credential.
pub(super) struct ClientCall {
    method: Method,
    /// The path and the query.
    target: String,
    headers: HeaderMap,
    body: RequestBody,
}

impl ClientCall {
    pub(super) fn new(method: Method, target: impl Into<String>) -> Self {
        let headers = HeaderMap::from_iter([(ACCEPT, JSON)]);
        Self { method, target: target.into(), headers, body: RequestBody::default() }
    }

    pub(super) fn get(target: impl Into<String>) -> Self {
        Self::new(Method::GET, target)
    }

    pub(super) fn post(target: impl Into<String>) -> Self {
        Self::new(Method::POST, target)
    }

    pub(super) fn put(target: impl Into<String>) -> Self {
        Self::new(Method::PUT, target)
    }

    pub(super) fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    pub(super) fn json(self, body: &(impl Serialize + ?Sized)) -> Result<Self, ClientError> {
        let bytes = serde_json::to_vec(body)
            .map_err(|error| ClientError::request("The body has no JSON form.").caused_by(error))?;
        Ok(self.body(JSON, RequestBody::new(bytes)))
    }

    pub(super) fn body(self, content_type: HeaderValue, body: RequestBody) -> Self {
        Self { body, ..self.header(CONTENT_TYPE, content_type) }
    }
}

impl<S: HttpService> Client<S> {
    /// Sends a request, and returns the response if it is a success.
    pub(super) async fn send(&self, call: ClientCall) -> Result<UnreadResponse, ClientError> {
        let request = self.request(call)?;
        let response = self.service.exchange(request).await?;
        if response.parts.status.is_success() {
            return Ok(response);
        }
        let (parts, body) = response.read(self.response_limit).await?;
        Err(ClientError::of_response(parts.status, &parts.headers, &body))
    }

    /// Sends a request for a response of this media type, which is not JSON.
    pub(super) async fn send_for(
        &self,
        call: ClientCall,
        media_type: &'static str,
    ) -> Result<UnreadResponse, ClientError> {
        let response = self.send(call.header(ACCEPT, HeaderValue::from_static(media_type))).await?;
        let content_type = response.parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if !content_type.is_some_and(|content_type| content_type.starts_with(media_type)) {
            let error = ClientError::unexpected(format!("The response is not of the type {media_type}."));
            return Err(error.with_status(response.parts.status));
        }
        Ok(response)
    }

    fn request(&self, call: ClientCall) -> Result<Request<RequestBody>, ClientError> {
        let ClientCall { method, target, headers, body } = call;
        let uri: Uri = format!("{}{target}", self.base_url)
            .parse()
            .map_err(|error| ClientError::request("The request has no valid URL.").caused_by(error))?;
        let is_creation = method == Method::POST;
        let mut request = Request::new(body);
        (*request.method_mut(), *request.uri_mut(), *request.headers_mut()) = (method, uri, headers);
        let headers = request.headers_mut();
        headers.insert(USER_AGENT, self.user_agent.clone());
        if let Some(key) = self.idempotency_key.as_ref().filter(|_| is_creation) {
            headers.insert(IDEMPOTENCY_KEY, key.clone());
        }
        match &self.credential {
            Credential::None => {}
            Credential::ApiKey(header) => {
                // The token of a share takes precedence.
                headers.entry(AUTHORIZATION).or_insert_with(|| header.clone());
            }
            Credential::Session(header) => {
                headers.insert(COOKIE, header.clone());
            }
        }
        Ok(request)
    }

    /// Sends a request, and returns the envelope and the headers of the response.
    pub(super) async fn envelope<T: DeserializeOwned>(
        &self,
        call: ClientCall,
    ) -> Result<(Success<T>, HeaderMap), ClientError> {
        let (parts, body) = self.send(call).await?.read(self.response_limit).await?;
        let status = parts.status;
        match decode::<Success<T>>(&body) {
            Ok(envelope) if envelope.success => Ok((envelope, parts.headers)),
            Ok(_) => Err(ClientError::of_response(status, &parts.headers, &body)),
            Err(error) => Err(error.with_status(status)),
        }
    }

    /// Sends a request, and returns the data of the response.
    pub(super) async fn value<T: DeserializeOwned>(&self, call: ClientCall) -> Result<T, ClientError> {
        Ok(self.envelope(call).await?.0.data)
    }

    /// Sends a request, and returns the record in the response.
    pub(super) async fn tagged<T: DeserializeOwned>(
        &self,
        call: ClientCall,
    ) -> Result<Tagged<T>, ClientError> {
        let (envelope, headers) = self.envelope(call).await?;
        Ok(Tagged { record: envelope.data, tag: EntityTag::of(&headers) })
    }
}

/// Decodes JSON. The error has the path of the value that cannot be decoded.
pub(super) fn decode<T: DeserializeOwned>(json: &[u8]) -> Result<T, ClientError> {
    let unexpected = || ClientError::unexpected("The response cannot be decoded.");
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let value =
        serde_path_to_error::deserialize(&mut deserializer).map_err(|error| unexpected().caused_by(error))?;
    deserializer.end().map_err(|error| unexpected().caused_by(error))?;
    Ok(value)
}
