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
    /// A value refers to a record that does not exist in this organization. Params: `entity`, `field`.
    EntityReferenceInvalid,
    /// No credential, or one that is unknown or malformed.
    AuthNotAuthenticated,
    /// The credential's time is over. Params: `entity`.
    EntityExpired,
    /// The credential is switched off. Params: `entity`.
    EntityDisabled,
    /// The level is too low, or more would be granted than the caller has.
    AuthPermissionDenied,
    /// The organization does not have what this takes. Params: `feature`.
    BillingFeatureNotAvailable,
    /// A record of the caller's organization that the caller may not reach. Params: `entity`, `id`.
    EntityAccessDenied,
    /// No such record, for this caller. Params: `entity`, `id`.
    EntityNotFound,
    /// No such path.
    RouteNotFound,
    /// The path does not answer to this method; the header `Allow` says to which it does.
    MethodNotAllowed,
    /// What must be unique is taken. Params: `entity`, `name`.
    EntityAlreadyExists,
    /// The record kept changing underneath; the request may be sent again. Params: `entity`, `id`.
    EntityConflict,
    /// Too many requests. Params: `retry_after`, in seconds.
    RateLimitExceeded,
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
            Self::EntityReferenceInvalid => "entity_reference_invalid",
            Self::AuthNotAuthenticated => "auth_not_authenticated",
            Self::EntityExpired => "entity_expired",
            Self::EntityDisabled => "entity_disabled",
            Self::AuthPermissionDenied => "auth_permission_denied",
            Self::BillingFeatureNotAvailable => "billing_feature_not_available",
            Self::EntityAccessDenied => "entity_access_denied",
            Self::EntityNotFound => "entity_not_found",
            Self::RouteNotFound => "route_not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::EntityAlreadyExists => "entity_already_exists",
            Self::EntityConflict => "entity_conflict",
            Self::RateLimitExceeded => "rate_limit_exceeded",
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
            | Self::EntityReferenceInvalid => StatusCode::BAD_REQUEST,
            Self::AuthNotAuthenticated | Self::EntityExpired | Self::EntityDisabled => {
                StatusCode::UNAUTHORIZED
            }
            Self::AuthPermissionDenied | Self::BillingFeatureNotAvailable | Self::EntityAccessDenied => {
                StatusCode::FORBIDDEN
            }
            Self::EntityNotFound | Self::RouteNotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::EntityAlreadyExists | Self::EntityConflict => StatusCode::CONFLICT,
            Self::RateLimitExceeded => StatusCode::TOO_MANY_REQUESTS,
            Self::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
            Self::StoreUnavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}
