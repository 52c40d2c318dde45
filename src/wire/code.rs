use http::StatusCode;
use serde::{Deserialize, Serialize};

/// The stable, machine-readable code of an error response.
///
/// The meaning of a code never changes; the wording of the accompanying sentence may. The params of an error that
/// concerns one host of a bulk request also have `field`: the place of the host, such as `hosts.3`, or of the value in it.
///
/// ```
/// use toposcope::wire::ErrorCode;
///
/// assert_eq!(ErrorCode::RouteNotFound.as_str(), "route_not_found");
/// assert_eq!(ErrorCode::RouteNotFound.status().as_u16(), 404);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorCode {
    /// A required value is missing. Params: `field`.
    ValidationRequired,
    /// A value is empty but must not be. Params: `field`.
    ValidationEmpty,
    /// A text is too long, or a list has too many elements. Params: `field`, `max`.
    ValidationMaxLength,
    /// A text is too short. Params: `field`, `min`.
    ValidationMinLength,
    /// A value has the wrong type or format, or is given twice. Params: `field`.
    ValidationInvalidFormat,
    /// A number or a time is out of range. Params: `field`, `min`, `max`.
    ValidationOutOfRange,
    /// The endpoint has no query parameter of this name. Params: `field`.
    ValidationUnknownParameter,
    /// The body cannot be read as JSON of the expected form. Params: `line` and `column` (counted from 1, the column in bytes) of the error.
    ValidationMalformedJson,
    /// No line of an import could be stored. Params: `report`, the report of the import.
    ImportRefused,
    /// An upload ended early. Params: `report`, the report of what was done before.
    RequestIncomplete,
    /// A value refers to a record that does not exist in this organization. Params: `entity`, `field`.
    EntityReferenceInvalid,
    /// The referenced record is on a different network than the body states. Params: `entity`.
    EntityNetworkMismatch,
    /// The request has no credential, or its credential is unknown or malformed.
    AuthNotAuthenticated,
    /// The credential has expired. Params: `entity`.
    EntityExpired,
    /// The credential is disabled. Params: `entity`.
    EntityDisabled,
    /// The session has expired.
    AuthSessionExpired,
    /// No user has this combination of e-mail address and password.
    AuthInvalidCredentials,
    /// The password of the share is wrong.
    SharePasswordIncorrect,
    /// The share has a password, and the request has no valid token for it.
    SharePasswordRequired,
    /// The caller's level is too low, or the request grants more than the caller has.
    AuthPermissionDenied,
    /// The credential is not accepted here.
    ///
    /// The operation requires a user session or, where API keys are accepted, a user's API key.
    AuthUserContextRequired,
    /// The request uses a session but comes from another site.
    AuthCrossSiteRequest,
    /// The organization does not have the required feature. Params: `feature`.
    BillingFeatureNotAvailable,
    /// The record belongs to the caller's organization, but the caller may not access it. Params: `entity`, `id`.
    EntityAccessDenied,
    /// The update would change a field that cannot change. Params: `entity`.
    EntityUpdateForbidden,
    /// No record with this id is visible to the caller. Params: `entity`, `id`.
    EntityNotFound,
    /// The daemon that asks for work is not registered, or another key has registered it. Params: `entity`, `id`.
    ///
    /// Daemons older than 0.15 get `entity_not_found`.
    DaemonNotRegistered,
    /// No route matches the path.
    RouteNotFound,
    /// The path does not support this method; the `Allow` header lists the supported ones.
    MethodNotAllowed,
    /// Another record already has this unique name. Params: `entity`, `name`.
    EntityAlreadyExists,
    /// Another record depends on this one. Params: `entity`, `name`, and `used_by`, the entity of the dependent
    /// record.
    EntityInUse,
    /// Concurrent changes to the record kept the request from being applied; it may be retried. Params: `entity`,
    /// `id`.
    EntityConflict,
    /// The idempotency key belongs to a request with another body.
    IdempotencyKeyReused,
    /// The first request with the idempotency key is still running.
    IdempotencyKeyInUse,
    /// The record is in another state than `If-Match` names: its `ETag` is not in the header. Params: `entity`, `id`.
    PreconditionFailed,
    /// The request would exceed a quota of the organization.
    ///
    /// Params: `entity` and `limit`, in records, or in bytes if one record is too large.
    QuotaExceeded,
    /// The request body did not arrive in time. Params: of an import, `report`, the report of what was done before.
    RequestTimeout,
    /// The request body is too large.
    ///
    /// Params: `limit`, in bytes; null if it is that of a layer before the service; of an import, `report`.
    RequestTooLarge,
    /// The answer would be too large. Params: `limit`, in bytes.
    AnswerTooLarge,
    /// The endpoint does not accept the `Content-Type` of the body, or the body has a `Content-Encoding`.
    RequestUnsupportedMediaType,
    /// The client has sent too many requests, or has too many long operations in progress. Params: `retry_after`, in
    /// seconds.
    RateLimitExceeded,
    /// Too many logins have failed, with this e-mail address or with this share's password. Params: `retry_after`, in
    /// seconds.
    AuthTooManyAttempts,
    /// The server failed. Its log has the details.
    InternalError,
    /// The store is temporarily unavailable, or the server is busy; the request may be retried.
    StoreUnavailable,
}

impl ErrorCode {
    /// Returns the code as text, as in a response.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.text_and_status().0
    }

    /// Returns the HTTP status of a response with this code.
    #[must_use]
    pub const fn status(self) -> StatusCode {
        self.text_and_status().1
    }

    const fn text_and_status(self) -> (&'static str, StatusCode) {
        match self {
            Self::ValidationRequired => ("validation_required", StatusCode::BAD_REQUEST),
            Self::ValidationEmpty => ("validation_empty", StatusCode::BAD_REQUEST),
            Self::ValidationMaxLength => ("validation_max_length", StatusCode::BAD_REQUEST),
            Self::ValidationMinLength => ("validation_min_length", StatusCode::BAD_REQUEST),
            Self::ValidationInvalidFormat => ("validation_invalid_format", StatusCode::BAD_REQUEST),
            Self::ValidationOutOfRange => ("validation_out_of_range", StatusCode::BAD_REQUEST),
            Self::ValidationUnknownParameter => ("validation_unknown_parameter", StatusCode::BAD_REQUEST),
            Self::ValidationMalformedJson => ("validation_malformed_json", StatusCode::BAD_REQUEST),
            Self::ImportRefused => ("import_refused", StatusCode::BAD_REQUEST),
            Self::RequestIncomplete => ("request_incomplete", StatusCode::BAD_REQUEST),
            Self::EntityReferenceInvalid => ("entity_reference_invalid", StatusCode::BAD_REQUEST),
            Self::EntityNetworkMismatch => ("entity_network_mismatch", StatusCode::BAD_REQUEST),
            Self::AuthNotAuthenticated => ("auth_not_authenticated", StatusCode::UNAUTHORIZED),
            Self::EntityExpired => ("entity_expired", StatusCode::UNAUTHORIZED),
            Self::EntityDisabled => ("entity_disabled", StatusCode::UNAUTHORIZED),
            Self::AuthSessionExpired => ("auth_session_expired", StatusCode::UNAUTHORIZED),
            Self::AuthInvalidCredentials => ("auth_invalid_credentials", StatusCode::UNAUTHORIZED),
            Self::SharePasswordIncorrect => ("share_password_incorrect", StatusCode::FORBIDDEN),
            Self::SharePasswordRequired => ("share_password_required", StatusCode::UNAUTHORIZED),
            Self::AuthPermissionDenied => ("auth_permission_denied", StatusCode::FORBIDDEN),
            Self::AuthUserContextRequired => ("auth_user_context_required", StatusCode::FORBIDDEN),
            Self::AuthCrossSiteRequest => ("auth_cross_site_request", StatusCode::FORBIDDEN),
            Self::BillingFeatureNotAvailable => ("billing_feature_not_available", StatusCode::FORBIDDEN),
            Self::EntityAccessDenied => ("entity_access_denied", StatusCode::FORBIDDEN),
            Self::EntityUpdateForbidden => ("entity_update_forbidden", StatusCode::FORBIDDEN),
            Self::EntityNotFound => ("entity_not_found", StatusCode::NOT_FOUND),
            Self::DaemonNotRegistered => ("daemon_not_registered", StatusCode::NOT_FOUND),
            Self::RouteNotFound => ("route_not_found", StatusCode::NOT_FOUND),
            Self::MethodNotAllowed => ("method_not_allowed", StatusCode::METHOD_NOT_ALLOWED),
            Self::EntityAlreadyExists => ("entity_already_exists", StatusCode::CONFLICT),
            Self::EntityInUse => ("entity_in_use", StatusCode::CONFLICT),
            Self::EntityConflict => ("entity_conflict", StatusCode::CONFLICT),
            Self::IdempotencyKeyReused => ("idempotency_key_reused", StatusCode::CONFLICT),
            Self::IdempotencyKeyInUse => ("idempotency_key_in_use", StatusCode::CONFLICT),
            Self::PreconditionFailed => ("precondition_failed", StatusCode::PRECONDITION_FAILED),
            Self::QuotaExceeded => ("quota_exceeded", StatusCode::CONFLICT),
            Self::RequestTimeout => ("request_timeout", StatusCode::REQUEST_TIMEOUT),
            Self::RequestTooLarge => ("request_too_large", StatusCode::PAYLOAD_TOO_LARGE),
            Self::AnswerTooLarge => ("answer_too_large", StatusCode::PAYLOAD_TOO_LARGE),
            Self::RequestUnsupportedMediaType => {
                ("request_unsupported_media_type", StatusCode::UNSUPPORTED_MEDIA_TYPE)
            }
            Self::RateLimitExceeded => ("rate_limit_exceeded", StatusCode::TOO_MANY_REQUESTS),
            Self::AuthTooManyAttempts => ("auth_too_many_attempts", StatusCode::TOO_MANY_REQUESTS),
            Self::InternalError => ("internal_error", StatusCode::INTERNAL_SERVER_ERROR),
            Self::StoreUnavailable => ("store_unavailable", StatusCode::SERVICE_UNAVAILABLE),
        }
    }
}
