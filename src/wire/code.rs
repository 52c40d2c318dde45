use http::StatusCode;
use serde::{Deserialize, Serialize};

/// The stable code of an error response. It never changes its meaning; the sentence beside it may change its words.
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
    /// A value is missing. Params: `field`.
    ValidationRequired,
    /// A value is empty. Params: `field`.
    ValidationEmpty,
    /// A text is too long, or a list has too many elements. Params: `field`, `max`.
    ValidationMaxLength,
    /// A text is too short. Params: `field`, `min`.
    ValidationMinLength,
    /// A value is not of the right type or form, or stands twice. Params: `field`.
    ValidationInvalidFormat,
    /// A number or a time is beyond its bounds. Params: `field`, `min`, `max`.
    ValidationOutOfRange,
    /// There is no query parameter of this name. Params: `field`.
    ValidationUnknownParameter,
    /// The body is no JSON object. Params: `line` and `column`, in bytes, of the place where reading it stopped.
    ValidationMalformedJson,
    /// A value refers to a record that does not exist in this organization. Params: `entity`, `field`.
    EntityReferenceInvalid,
    /// What a value refers to is on another network than the body says. Params: `entity`.
    EntityNetworkMismatch,
    /// No credential, or one that is unknown or malformed.
    AuthNotAuthenticated,
    /// The credential's time is over. Params: `entity`.
    EntityExpired,
    /// The credential is switched off. Params: `entity`.
    EntityDisabled,
    /// The session's time is over.
    AuthSessionExpired,
    /// No user has this e-mail address and this password.
    AuthInvalidCredentials,
    /// The level is too low, or more would be granted than the caller has.
    AuthPermissionDenied,
    /// It takes a signed-in user where a key was sent, or any user where the key is a daemon's.
    AuthUserContextRequired,
    /// A request with a session that comes from another site.
    AuthCrossSiteRequest,
    /// The organization does not have what this takes. Params: `feature`.
    BillingFeatureNotAvailable,
    /// A record of the caller's organization that the caller may not reach. Params: `entity`, `id`.
    EntityAccessDenied,
    /// A field that must stay as it is would change. Params: `entity`.
    EntityUpdateForbidden,
    /// No such record, for this caller. Params: `entity`, `id`.
    EntityNotFound,
    /// No such path.
    RouteNotFound,
    /// The path does not answer to this method; the header `Allow` says to which it does.
    MethodNotAllowed,
    /// What must be unique is taken. Params: `entity`, `name`.
    EntityAlreadyExists,
    /// Something else needs it as it is. Params: `entity`, `name`, and `used_by`, the entity that needs it.
    EntityInUse,
    /// Other changes of the record kept coming first; the request may be sent again. Params: `entity`, `id`.
    EntityConflict,
    /// A quota of the organization does not allow this. Params: `entity` and `limit`, in records, or in bytes for a record
    /// that is too large.
    QuotaExceeded,
    /// The body is too large. Params: `limit`, in bytes.
    RequestTooLarge,
    /// The body is not JSON, by its `Content-Type`.
    RequestUnsupportedMediaType,
    /// Too many requests. Params: `retry_after`, in seconds.
    RateLimitExceeded,
    /// Too many logins with this e-mail address have failed. Params: `retry_after`, in seconds.
    AuthTooManyAttempts,
    /// A fault of the server. Its log has the details.
    InternalError,
    /// The store cannot be reached now. Its log has the details.
    StoreUnavailable,
}

impl ErrorCode {
    /// The code as text.
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

    /// The status of a response with this code.
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
