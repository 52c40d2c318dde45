//! The error codes and params of inventory errors.

use http::StatusCode;
use serde_json::{Map, Value, json};

use super::{ApplicationCode, Entity, Error, ErrorKind, Problem};
use crate::model::Timestamp;
use crate::wire::{ErrorCode, Failure, Meta};

impl Error {
    /// Returns the code that the API answers this error with; `PolicyRefused` for all errors of the host application.
    ///
    /// ```
    /// use toposcope::inventory::{Entity, Error, ErrorKind};
    /// use toposcope::wire::ErrorCode;
    /// use uuid::Uuid;
    ///
    /// let error = Error::from(ErrorKind::NotFound { entity: Entity::Host, id: Uuid::nil() });
    /// assert_eq!(error.code(), ErrorCode::EntityNotFound);
    /// assert_eq!(error.status(), 404);
    /// assert_eq!(error.params()["entity"], "Host");
    /// ```
    #[must_use]
    pub fn code(&self) -> ErrorCode {
        code_and_params(self.kind()).0
    }

    /// Returns the code of the response: the host application's if it refuses the request, otherwise that of
    /// [`code`](Self::code).
    #[must_use]
    pub fn code_text(&self) -> &str {
        self.application_code().map_or_else(|| self.code().as_str(), ApplicationCode::as_str)
    }

    /// Returns the HTTP status of the response.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.application_code().map_or_else(|| self.code().status(), ApplicationCode::status)
    }

    /// Returns the code of the host application, if it refuses the request.
    pub(crate) fn application_code(&self) -> Option<ApplicationCode> {
        match self.kind() {
            ErrorKind::Refused { code, .. } => Some(*code),
            _ => None,
        }
    }

    /// Returns the details of this error, under the keys that the documentation of its [`ErrorCode`] lists.
    #[must_use]
    pub fn params(&self) -> Map<String, Value> {
        let Value::Object(mut params) = code_and_params(self.kind()).1 else { return Map::new() };
        if let Some(field) = self.field() {
            params.insert("field".to_owned(), field.into());
        }
        if let Some(id) = self.existing() {
            params.insert("id".to_owned(), id.to_string().into());
        }
        if let Some(name) = self.application_kind() {
            params.insert("entity".to_owned(), name.into());
        }
        params
    }

    /// Returns the sentence for a client, which reveals no details of an internal error.
    pub(crate) fn client_message(&self) -> String {
        if self.code() == ErrorCode::InternalError {
            ErrorKind::Internal.to_string()
        } else {
            self.to_string()
        }
    }
}

impl Failure {
    /// Creates the envelope of an error of the inventory, as the API would answer it.
    #[must_use]
    pub fn of(error: &Error, meta: Meta) -> Self {
        let (code, params) = (error.code_text().to_owned(), error.params());
        Self { success: false, error: error.client_message(), code, params, meta }
    }
}

/// Returns the params of an error that concerns a kind of record.
fn entity_params(entity: Entity) -> Value {
    json!({"entity": entity.as_str()})
}

fn code_and_params(kind: &ErrorKind) -> (ErrorCode, Value) {
    match kind {
        ErrorKind::Invalid { field, problem } => problem_code_and_params(field, problem),
        ErrorKind::ReferenceInvalid { entity, field } => {
            (ErrorCode::EntityReferenceInvalid, json!({"entity": entity.as_str(), "field": field}))
        }
        ErrorKind::NetworkMismatch { entity } => (ErrorCode::EntityNetworkMismatch, entity_params(*entity)),
        ErrorKind::NotAuthenticated => (ErrorCode::AuthNotAuthenticated, Value::Null),
        ErrorKind::Expired { entity } => (ErrorCode::EntityExpired, entity_params(*entity)),
        ErrorKind::Disabled { entity } => (ErrorCode::EntityDisabled, entity_params(*entity)),
        ErrorKind::SessionExpired => (ErrorCode::AuthSessionExpired, Value::Null),
        ErrorKind::InvalidCredentials => (ErrorCode::AuthInvalidCredentials, Value::Null),
        ErrorKind::PasswordIncorrect => {
            (ErrorCode::AuthPasswordIncorrect, json!({"field": "current_password"}))
        }
        ErrorKind::ChooseOrganization { organizations } => {
            (ErrorCode::AuthChooseOrganization, json!({"organizations": organizations}))
        }
        ErrorKind::SharePasswordIncorrect => (ErrorCode::SharePasswordIncorrect, Value::Null),
        ErrorKind::SharePasswordRequired => (ErrorCode::SharePasswordRequired, Value::Null),
        ErrorKind::TooManyAttempts { retry_after } => {
            (ErrorCode::AuthTooManyAttempts, json!({"retry_after": retry_after}))
        }
        ErrorKind::UserContextRequired | ErrorKind::SessionRequired => {
            (ErrorCode::AuthUserContextRequired, Value::Null)
        }
        ErrorKind::ApiAccessRequired => {
            (ErrorCode::BillingFeatureNotAvailable, json!({"feature": "api_access"}))
        }
        ErrorKind::PermissionDenied => (ErrorCode::AuthPermissionDenied, Value::Null),
        ErrorKind::AccessDenied { entity, id } => {
            (ErrorCode::EntityAccessDenied, json!({"entity": entity.as_str(), "id": id}))
        }
        ErrorKind::UpdateForbidden { entity } => (ErrorCode::EntityUpdateForbidden, entity_params(*entity)),
        ErrorKind::NotFound { entity, id } => {
            (ErrorCode::EntityNotFound, json!({"entity": entity.as_str(), "id": id}))
        }
        ErrorKind::NotNamed { entity, name } => {
            (ErrorCode::EntityNotFound, json!({"entity": entity.as_str(), "id": name}))
        }
        ErrorKind::AlreadyExists { entity, name } => {
            (ErrorCode::EntityAlreadyExists, json!({"entity": entity.as_str(), "name": name}))
        }
        ErrorKind::InUse { entity, name, used_by } => {
            let params = json!({"entity": entity.as_str(), "name": name, "used_by": used_by.as_str()});
            (ErrorCode::EntityInUse, params)
        }
        ErrorKind::QuotaExceeded { entity, limit } => {
            (ErrorCode::QuotaExceeded, json!({"entity": entity.as_str(), "limit": limit}))
        }
        ErrorKind::TooLarge { entity, limit } => {
            (ErrorCode::QuotaExceeded, json!({"entity": entity.as_str(), "limit": limit}))
        }
        ErrorKind::PreconditionFailed { entity, id } => {
            (ErrorCode::PreconditionFailed, json!({"entity": entity.as_str(), "id": id}))
        }
        ErrorKind::PositionGone { oldest, newest } | ErrorKind::BeforeHistory { oldest, newest, .. } => {
            (ErrorCode::PositionGone, json!({"oldest": oldest, "newest": newest}))
        }
        ErrorKind::KeyReused => (ErrorCode::IdempotencyKeyReused, Value::Null),
        ErrorKind::RequestRunning => (ErrorCode::IdempotencyKeyInUse, Value::Null),
        ErrorKind::AddressesExhausted { free } => (ErrorCode::AddressesExhausted, json!({"free": free})),
        ErrorKind::Conflict { entity, id } | ErrorKind::Outdated { entity, id } => {
            (ErrorCode::EntityConflict, json!({"entity": entity.as_str(), "id": id}))
        }
        ErrorKind::Refused { .. } => (ErrorCode::PolicyRefused, json!({})),
        ErrorKind::StoreUnavailable
        | ErrorKind::PolicyUnavailable
        | ErrorKind::IndexIncomplete
        | ErrorKind::Busy => (ErrorCode::StoreUnavailable, Value::Null),
        ErrorKind::Unreadable | ErrorKind::Internal => (ErrorCode::InternalError, Value::Null),
    }
}

fn problem_code_and_params(field: &str, problem: &Problem) -> (ErrorCode, Value) {
    match problem {
        Problem::Unsupported | Problem::NotIndexed => {
            (ErrorCode::ValidationUnknownParameter, json!({"field": field}))
        }
        Problem::Required | Problem::RequiredUnless { .. } => {
            (ErrorCode::ValidationRequired, json!({"field": field}))
        }
        Problem::Empty => (ErrorCode::ValidationEmpty, json!({"field": field})),
        Problem::MaxLength { max } => (ErrorCode::ValidationMaxLength, json!({"field": field, "max": max})),
        Problem::MinLength { min } => (ErrorCode::ValidationMinLength, json!({"field": field, "min": min})),
        Problem::InvalidFormat
        | Problem::LongInteger
        | Problem::NotOfForm { .. }
        | Problem::SetElsewhere { .. }
        | Problem::NotAmong { .. }
        | Problem::OfOtherList
        | Problem::Before { .. }
        | Problem::Exclusive { .. }
        | Problem::UnknownField
        | Problem::CustomForm { .. }
        | Problem::Duplicate
        | Problem::Inseparable => (ErrorCode::ValidationInvalidFormat, json!({"field": field})),
        Problem::Ambiguous { candidates } => {
            (ErrorCode::ValidationAmbiguous, json!({"field": field, "candidates": candidates}))
        }
        Problem::OutOfRange { min, max } => {
            (ErrorCode::ValidationOutOfRange, json!({"field": field, "min": min, "max": max}))
        }
        Problem::NotInFuture { now } => {
            let (min, max) = (now.plus_micros(1), Timestamp::MAX);
            (ErrorCode::ValidationOutOfRange, json!({"field": field, "min": min, "max": max}))
        }
    }
}
