use http::StatusCode;
use serde::{Deserialize, Serialize};

/// The stable, machine-readable code of an error response.
///
/// The meaning of a code never changes; the wording of the accompanying sentence may.
///
/// ```
/// use toposcope::wire::ErrorCode;
///
/// assert_eq!(ErrorCode::RouteNotFound.as_str(), "route_not_found");
/// assert_eq!(ErrorCode::RouteNotFound.status().as_u16(), 404);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
    /// The body is not a JSON object. Params: `line` and `column` (counted from 1, the column in bytes) of the error.
    ValidationMalformedJson,
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
    /// The caller's level is too low, or the request grants more than the caller has.
    AuthPermissionDenied,
    /// The API key is not accepted: the operation requires a user session, or a user's key.
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
    /// The request would exceed a quota of the organization.
    ///
    /// Params: `entity` and `limit`, in records, or in bytes if one record is too large.
    QuotaExceeded,
    /// The request body is too large. Params: `limit`, in bytes.
    RequestTooLarge,
    /// The `Content-Type` of the body is not JSON.
    RequestUnsupportedMediaType,
    /// The client has sent too many requests. Params: `retry_after`, in seconds.
    RateLimitExceeded,
    /// Too many logins with this e-mail address have failed. Params: `retry_after`, in seconds.
    AuthTooManyAttempts,
    /// The server failed. Its log has the details.
    InternalError,
    /// The store is temporarily unavailable. The server's log has the details.
    StoreUnavailable,
}

impl ErrorCode {
    /// Returns the code as text, as in a response.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ValidationRequired => "validation_required",
            Self::ValidationEmpty => "validation_empty",
            Self::ValidationMaxLength => "validation_max_length",
            Self::ValidationMinLength => "validation_min_length",
            Self::ValidationInvalidFormat => "validation_invalid_format",
            Self::ValidationOutOfRange => "validation_out_of_range",
            Self::ValidationUnknownParameter => "validation_unknown_parameter",
            Self::ValidationMalformedJson => "validation_malformed_json",
            Self::EntityReferenceInvalid => "entity_reference_invalid",
            Self::EntityNetworkMismatch => "entity_network_mismatch",
            Self::AuthNotAuthenticated => "auth_not_authenticated",
            Self::EntityExpired => "entity_expired",
            Self::EntityDisabled => "entity_disabled",
            Self::AuthSessionExpired => "auth_session_expired",
            Self::AuthInvalidCredentials => "auth_invalid_credentials",
            Self::AuthPermissionDenied => "auth_permission_denied",
            Self::AuthUserContextRequired => "auth_user_context_required",
            Self::AuthCrossSiteRequest => "auth_cross_site_request",
            Self::BillingFeatureNotAvailable => "billing_feature_not_available",
            Self::EntityAccessDenied => "entity_access_denied",
            Self::EntityUpdateForbidden => "entity_update_forbidden",
            Self::EntityNotFound => "entity_not_found",
            Self::RouteNotFound => "route_not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::EntityAlreadyExists => "entity_already_exists",
            Self::EntityInUse => "entity_in_use",
            Self::EntityConflict => "entity_conflict",
            Self::QuotaExceeded => "quota_exceeded",
            Self::RequestTooLarge => "request_too_large",
            Self::RequestUnsupportedMediaType => "request_unsupported_media_type",
            Self::RateLimitExceeded => "rate_limit_exceeded",
            Self::AuthTooManyAttempts => "auth_too_many_attempts",
            Self::InternalError => "internal_error",
            Self::StoreUnavailable => "store_unavailable",
        }
    }

    /// Returns the HTTP status of a response with this code.
    #[must_use]
    pub const fn status(self) -> StatusCode {
        match self {
            Self::ValidationRequired
            | Self::ValidationEmpty
            | Self::ValidationMaxLength
            | Self::ValidationMinLength
            | Self::ValidationInvalidFormat
            | Self::ValidationOutOfRange
            | Self::ValidationUnknownParameter
            | Self::ValidationMalformedJson
            | Self::EntityReferenceInvalid
            | Self::EntityNetworkMismatch => StatusCode::BAD_REQUEST,
            Self::AuthNotAuthenticated
            | Self::EntityExpired
            | Self::EntityDisabled
            | Self::AuthSessionExpired
            | Self::AuthInvalidCredentials => StatusCode::UNAUTHORIZED,
            Self::AuthPermissionDenied
            | Self::AuthUserContextRequired
            | Self::AuthCrossSiteRequest
            | Self::BillingFeatureNotAvailable
            | Self::EntityAccessDenied
            | Self::EntityUpdateForbidden => StatusCode::FORBIDDEN,
            Self::EntityNotFound | Self::RouteNotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::EntityAlreadyExists | Self::EntityInUse | Self::EntityConflict | Self::QuotaExceeded => {
                StatusCode::CONFLICT
            }
            Self::RequestTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::RequestUnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::RateLimitExceeded | Self::AuthTooManyAttempts => StatusCode::TOO_MANY_REQUESTS,
            Self::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
            Self::StoreUnavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}
