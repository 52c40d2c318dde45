#[cfg(feature = "openapi")]
use std::borrow::Cow;

use http::StatusCode;

use crate::text_enum::text_enum;

text_enum! {
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
    #[non_exhaustive]
    pub enum ErrorCode {
        /// A required value is missing. Params: `field`.
        ValidationRequired = "validation_required",
        /// A value is empty but must not be. Params: `field`.
        ValidationEmpty = "validation_empty",
        /// A text is too long, or a list has too many elements. Params: `field`, `max`.
        ValidationMaxLength = "validation_max_length",
        /// A text is too short. Params: `field`, `min`.
        ValidationMinLength = "validation_min_length",
        /// A value has the wrong type or format, or is given twice. Params: `field`.
        ValidationInvalidFormat = "validation_invalid_format",
        /// A number or a time is out of range. Params: `field`, `min`, `max`.
        ValidationOutOfRange = "validation_out_of_range",
        /// Several hosts have the address or the name. Params: `field`, and `candidates`, the ids of up to 20 of these hosts.
        ValidationAmbiguous = "validation_ambiguous",
        /// The endpoint has no query parameter of this name. Params: `field`.
        ValidationUnknownParameter = "validation_unknown_parameter",
        /// The body cannot be read as JSON of the expected form. Params: `line` and `column` (counted from 1, the column in
        /// bytes) of the error.
        ValidationMalformedJson = "validation_malformed_json",
        /// No line of an import could be stored. Params: `report`, the report of the import.
        ImportRefused = "import_refused",
        /// An upload ended early. Params: `report`, the report of what was done before.
        RequestIncomplete = "request_incomplete",
        /// A value refers to a record that does not exist in this organization. Params: `entity`, `field`.
        EntityReferenceInvalid = "entity_reference_invalid",
        /// The referenced record is on a different network than the body states. Params: `entity`.
        EntityNetworkMismatch = "entity_network_mismatch",
        /// The request has no credential, or its credential is unknown or malformed.
        AuthNotAuthenticated = "auth_not_authenticated",
        /// The credential has expired. Params: `entity`.
        EntityExpired = "entity_expired",
        /// The credential is disabled. Params: `entity`.
        EntityDisabled = "entity_disabled",
        /// The session has expired.
        AuthSessionExpired = "auth_session_expired",
        /// No user has this combination of e-mail address and password.
        AuthInvalidCredentials = "auth_invalid_credentials",
        /// The current password that a change of the password needs is wrong. The session stays valid. Params: `field`.
        AuthPasswordIncorrect = "auth_password_incorrect",
        /// Users of several organizations have this e-mail address and password; `organization_id` chooses. Params:
        /// `organizations`, those organizations, each with `id` and `name`.
        AuthChooseOrganization = "auth_choose_organization",
        /// The password of the share is wrong.
        SharePasswordIncorrect = "share_password_incorrect",
        /// The share has a password, and the request has no valid token for it.
        SharePasswordRequired = "share_password_required",
        /// The caller's level is too low, or the request grants more than the caller has.
        AuthPermissionDenied = "auth_permission_denied",
        /// The credential is not accepted here.
        ///
        /// The operation requires a user session or, where API keys are accepted, a user's API key.
        AuthUserContextRequired = "auth_user_context_required",
        /// The request uses a session but comes from another site.
        AuthCrossSiteRequest = "auth_cross_site_request",
        /// The organization does not have the required feature. Params: `feature`.
        BillingFeatureNotAvailable = "billing_feature_not_available",
        /// The record belongs to the caller's organization, but the caller may not access it. Params: `entity`, `id`.
        EntityAccessDenied = "entity_access_denied",
        /// The update would change a field that cannot change. Params: `entity`.
        EntityUpdateForbidden = "entity_update_forbidden",
        /// No record with this id is visible to the caller. Params: `entity`, `id`.
        EntityNotFound = "entity_not_found",
        /// The history no longer has the entry of a position. Params: `oldest` and `newest`, the positions of the
        /// oldest and of the newest entry that the caller may see.
        PositionGone = "position_gone",
        /// The daemon that asks for work is not registered, or another key has registered it. Params: `entity`, `id`.
        ///
        /// Daemons older than 0.15 get `entity_not_found`.
        DaemonNotRegistered = "daemon_not_registered",
        /// No route matches the path.
        RouteNotFound = "route_not_found",
        /// The path does not support this method; the `Allow` header lists the supported ones.
        MethodNotAllowed = "method_not_allowed",
        /// Another record already has this unique name. Params: `entity`, `name`, and `id` of that record where the caller may see
        /// it.
        EntityAlreadyExists = "entity_already_exists",
        /// Another record depends on this one. Params: `entity`, `name`, and `used_by`, the entity of the dependent
        /// record. If the request has a list of parts without this one, `field` is its path.
        EntityInUse = "entity_in_use",
        /// Concurrent changes to the record kept the request from being applied; it may be retried. Params: `entity`,
        /// `id`.
        EntityConflict = "entity_conflict",
        /// The subnet has fewer free addresses than the request would reserve. Params: `free`, their number.
        AddressesExhausted = "addresses_exhausted",
        /// The idempotency key belongs to a request with another body.
        IdempotencyKeyReused = "idempotency_key_reused",
        /// The first request with the idempotency key is still running.
        IdempotencyKeyInUse = "idempotency_key_in_use",
        /// The record is in another state than `If-Match` names: its `ETag` is not in the header. Params: `entity`, `id`.
        PreconditionFailed = "precondition_failed",
        /// The request would exceed a quota of the organization.
        ///
        /// Params: `entity` and `limit`, in records, or in bytes if one record is too large.
        QuotaExceeded = "quota_exceeded",
        /// The host application refuses the request, by its rules for changes or at an endpoint of its own.
        ///
        /// The response has the code of the host application instead, which has a dot, such as `policy.frozen`. Params: `field`,
        /// if a value is refused; in a bulk request, the place of the host.
        PolicyRefused = "policy.refused",
        /// The request body did not arrive in time. Params: of an import, `report`, the report of what was done before.
        RequestTimeout = "request_timeout",
        /// The request body is too large.
        ///
        /// Params: `limit`, in bytes; null if it is that of a layer before the service; of an import, `report`.
        RequestTooLarge = "request_too_large",
        /// The answer would be too large. Params: `limit`, in bytes.
        AnswerTooLarge = "answer_too_large",
        /// The endpoint does not accept the `Content-Type` of the body, or the body has a `Content-Encoding`.
        RequestUnsupportedMediaType = "request_unsupported_media_type",
        /// The client has sent too many requests, or has too many long operations in progress. Params: `retry_after`, in
        /// seconds.
        RateLimitExceeded = "rate_limit_exceeded",
        /// Too many logins have failed, with this e-mail address or with this share's password. Params: `retry_after`, in
        /// seconds.
        AuthTooManyAttempts = "auth_too_many_attempts",
        /// The server failed. Its log has the details.
        InternalError = "internal_error",
        /// The store is temporarily unavailable, the server is busy, or the rules of the host application could not be
        /// checked in time; the request may be retried.
        StoreUnavailable = "store_unavailable",
        /// The server is shutting down, and begins no work that lasts. Another instance, or this one after its restart, accepts
        /// the request. Params: of an import, `report`, the report of what was done before.
        ServerStopping = "server_stopping",
    }
}

impl ErrorCode {
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
            | Self::ValidationAmbiguous
            | Self::ValidationUnknownParameter
            | Self::ValidationMalformedJson
            | Self::ImportRefused
            | Self::RequestIncomplete
            | Self::EntityReferenceInvalid
            | Self::EntityNetworkMismatch => StatusCode::BAD_REQUEST,
            Self::AuthNotAuthenticated
            | Self::EntityExpired
            | Self::EntityDisabled
            | Self::AuthSessionExpired
            | Self::AuthInvalidCredentials
            | Self::SharePasswordRequired => StatusCode::UNAUTHORIZED,
            Self::AuthPasswordIncorrect
            | Self::SharePasswordIncorrect
            | Self::AuthPermissionDenied
            | Self::AuthUserContextRequired
            | Self::AuthCrossSiteRequest
            | Self::BillingFeatureNotAvailable
            | Self::EntityAccessDenied
            | Self::EntityUpdateForbidden => StatusCode::FORBIDDEN,
            Self::EntityNotFound | Self::DaemonNotRegistered | Self::RouteNotFound => StatusCode::NOT_FOUND,
            Self::PositionGone => StatusCode::GONE,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::AuthChooseOrganization
            | Self::EntityAlreadyExists
            | Self::EntityInUse
            | Self::EntityConflict
            | Self::AddressesExhausted
            | Self::IdempotencyKeyReused
            | Self::IdempotencyKeyInUse
            | Self::QuotaExceeded => StatusCode::CONFLICT,
            Self::PolicyRefused => StatusCode::UNPROCESSABLE_ENTITY,
            Self::PreconditionFailed => StatusCode::PRECONDITION_FAILED,
            Self::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::RequestTooLarge | Self::AnswerTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::RequestUnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::RateLimitExceeded | Self::AuthTooManyAttempts => StatusCode::TOO_MANY_REQUESTS,
            Self::InternalError => StatusCode::INTERNAL_SERVER_ERROR,
            Self::StoreUnavailable | Self::ServerStopping => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}

/// A text, since a host application may add codes: a closed list would make clients refuse them.
#[cfg(feature = "openapi")]
impl schemars::JsonSchema for ErrorCode {
    fn schema_name() -> Cow<'static, str> {
        "ErrorCode".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "The stable, machine-readable code of an error. Its meaning never changes.\n\nA host application \
                may answer with other codes as well, which have a dot, such as `policy.frozen`.",
            "x-extensible-enum": Self::TEXTS,
        })
    }
}
