use uuid::Uuid;

use super::{Entity, Problem};
use crate::inventory::ApplicationCode;
use crate::model::{ChangePosition, OrganizationId, Timestamp};
use crate::printable::printable;

/// Maximum number of characters of a record's name in a sentence.
const MAX_NAME: usize = 64;

/// The kind of an inventory error. Each kind corresponds to an API error code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A value is invalid.
    #[error("{field} {problem}.")]
    Invalid {
        /// The dotted path of the value, such as `ports.3.number`.
        field: String,
        /// The rule that the value breaks.
        problem: Problem,
    },
    /// A value refers to a record that does not exist in this organization.
    #[error("{field} does not refer to an existing {entity}.")]
    ReferenceInvalid {
        /// The kind of the missing record.
        entity: Entity,
        /// The dotted path of the value.
        field: String,
    },
    /// A host belongs to another network than the one given with it.
    #[error("The {entity} is on another network.")]
    NetworkMismatch {
        /// The kind of the record on the other network.
        entity: Entity,
    },
    /// The credential is missing or unknown.
    #[error("The request has no valid credential; send an API key as a Bearer token, or log in.")]
    NotAuthenticated,
    /// The credential has expired.
    #[error("The {entity} has expired.")]
    Expired {
        /// The kind of credential.
        entity: Entity,
    },
    /// The credential is disabled.
    #[error("The {entity} is disabled.")]
    Disabled {
        /// The kind of credential.
        entity: Entity,
    },
    /// The session has expired.
    #[error("The session has expired; log in again.")]
    SessionExpired,
    /// The e-mail address or the password is wrong.
    #[error("The e-mail address or the password is wrong.")]
    InvalidCredentials,
    /// The current password of a user who changes it is wrong.
    #[error("`current_password` is not the password of the user.")]
    PasswordIncorrect,
    /// The e-mail address and the password are those of users of several organizations.
    #[error("Users of several organizations have this e-mail address and password; name the organization.")]
    ChooseOrganization {
        /// These organizations.
        organizations: Vec<OrganizationChoice>,
    },
    /// The password of the share is wrong.
    #[error("The password of the share is wrong.")]
    SharePasswordIncorrect,
    /// The share has a password, and the request has no valid token for it.
    #[error("This share requires a password; exchange it for a token and send the token as Bearer.")]
    SharePasswordRequired,
    /// Too many logins with this e-mail address or this share's password have failed.
    #[error("Too many attempts have failed. Retry in {retry_after} seconds.")]
    TooManyAttempts {
        /// Seconds until the next attempt is possible.
        retry_after: u64,
    },
    /// Too many logins, or too many large jobs of the organization, are in progress or waiting.
    #[error("The server is busy; try again.")]
    Busy,
    /// The organization does not have API access.
    #[error("The organization does not have API access.")]
    ApiAccessRequired,
    /// The operation requires a user, and a daemon key was sent.
    #[error("Daemon keys are not accepted here; the operation requires a user's API key or session.")]
    UserContextRequired,
    /// The operation requires a session, and an API key was sent.
    #[error("API keys are not accepted here; the operation requires a session: log in, and send its cookie.")]
    SessionRequired,
    /// The permission level is too low for the operation.
    ///
    /// Also returned when a caller would grant more than the caller has.
    #[error("Your permission level does not allow this operation.")]
    PermissionDenied,
    /// The record belongs to the caller's organization, but the caller has no access to it.
    #[error("You do not have access to the {entity} {id}.")]
    AccessDenied {
        /// The kind of the record.
        entity: Entity,
        /// The id of the record.
        id: Uuid,
    },
    /// An immutable field would change.
    #[error("The {entity} cannot be moved to another user, organization or host.")]
    UpdateForbidden {
        /// The kind of the record.
        entity: Entity,
    },
    /// The record does not exist or is not visible to the caller.
    #[error("There is no {entity} {id}.")]
    NotFound {
        /// The kind of the record.
        entity: Entity,
        /// The id of the record.
        id: Uuid,
    },
    /// No record that the caller may see has this address or name.
    #[error("There is no {entity} {}.", printable(name, MAX_NAME))]
    NotNamed {
        /// The kind of the record.
        entity: Entity,
        /// The address or the name.
        name: String,
    },
    /// A value that must be unique is taken.
    #[error("The {entity} {} already exists.", printable(name, MAX_NAME))]
    AlreadyExists {
        /// The kind of the existing record.
        entity: Entity,
        /// The name or id of the existing record.
        name: String,
    },
    /// Another record depends on the record.
    #[error(
        "The {entity} {} cannot be changed or deleted: a record of type {used_by} depends on it.",
        printable(name, MAX_NAME)
    )]
    InUse {
        /// The kind of the record in use.
        entity: Entity,
        /// The name of the record in use.
        name: String,
        /// The kind of the record that uses it.
        used_by: Entity,
    },
    /// The subnet has fewer free addresses than would be reserved.
    #[error("The subnet has only {free} free addresses.")]
    AddressesExhausted {
        /// The number of free addresses.
        free: u64,
    },
    /// The owner has reached its quota for this kind of record.
    #[error("The quota is exhausted: at most {limit} records of type {entity} are allowed.")]
    QuotaExceeded {
        /// The kind of record.
        entity: Entity,
        /// The maximum number of records.
        limit: u64,
    },
    /// The record exceeds the size quota.
    #[error("The {entity} is too large: at most {limit} bytes of JSON are allowed.")]
    TooLarge {
        /// The kind of record.
        entity: Entity,
        /// The maximum size in bytes of JSON.
        limit: usize,
    },
    /// The record is not in the state that the update or deletion requires.
    #[error(
        "The {entity} {id} is not in the state that the request names. Read it again, and use its new tag."
    )]
    PreconditionFailed {
        /// The kind of the record.
        entity: Entity,
        /// The id of the record.
        id: Uuid,
    },
    /// The record has changed since the time that the update expects.
    #[error("The {entity} {id} has changed since `expected_updated_at`; read it again.")]
    Outdated {
        /// The kind of the record.
        entity: Entity,
        /// The id of the record.
        id: Uuid,
    },
    /// The history no longer has the entry of a position: it was removed, or the store was restored.
    #[error(
        "The history has no longer this position; read the records again, and go on from the newest one."
    )]
    PositionGone {
        /// The position of the oldest entry that the caller may see.
        oldest: ChangePosition,
        /// The position of the newest entry that the caller may see.
        newest: ChangePosition,
    },
    /// The time is before the history began.
    #[error("The history begins at {began_at}; ask for a later time.")]
    BeforeHistory {
        /// When the history began.
        began_at: Timestamp,
        /// The position of the oldest entry that the caller may see.
        oldest: ChangePosition,
        /// The position of the newest entry that the caller may see.
        newest: ChangePosition,
    },
    /// The idempotency key belongs to a request with another body.
    #[error("The idempotency key belongs to a request with another body; use a new key for a new request.")]
    KeyReused,
    /// The first request with the idempotency key is still running.
    #[error("The first request with this idempotency key is still running; try again.")]
    RequestRunning,
    /// Other processes kept changing the record, or too many changes of it are waiting.
    #[error("The {entity} {id} is being changed concurrently; try again.")]
    Conflict {
        /// The kind of the record.
        entity: Entity,
        /// The id of the record.
        id: Uuid,
    },
    /// Reading the input failed.
    #[error("The input cannot be read.")]
    Unreadable,
    /// The host application refuses the request by an [`ApplicationError`](crate::inventory::ApplicationError).
    #[error("{message}")]
    Refused {
        /// The code of the host application.
        code: ApplicationCode,
        /// The sentence for people.
        message: String,
        /// The path of the value that is refused; of a policy, in the record. [`Error::field`](crate::inventory::Error::field) is its path in the request.
        field: Option<String>,
    },
    /// The [`Policy`](crate::inventory::Policy) of the host application did not answer in time.
    #[error("The rules of this server could not be checked in time; try again.")]
    PolicyUnavailable,
    /// A custom field of the filter or of the order is not indexed completely yet.
    #[error("The records are still being indexed by this field; try again.")]
    IndexIncomplete,
    /// The store is temporarily unavailable.
    #[error("The store is temporarily unavailable; try again.")]
    StoreUnavailable,
    /// An internal error: a bug or damaged stored data.
    #[error("An internal error occurred.")]
    Internal,
}

impl ErrorKind {
    /// Returns the kind of record that the error concerns.
    pub(super) const fn entity(&self) -> Option<Entity> {
        match self {
            Self::ReferenceInvalid { entity, .. }
            | Self::NetworkMismatch { entity }
            | Self::Expired { entity }
            | Self::Disabled { entity }
            | Self::AccessDenied { entity, .. }
            | Self::UpdateForbidden { entity }
            | Self::NotFound { entity, .. }
            | Self::NotNamed { entity, .. }
            | Self::AlreadyExists { entity, .. }
            | Self::InUse { entity, .. }
            | Self::QuotaExceeded { entity, .. }
            | Self::TooLarge { entity, .. }
            | Self::PreconditionFailed { entity, .. }
            | Self::Outdated { entity, .. }
            | Self::Conflict { entity, .. } => Some(*entity),
            _ => None,
        }
    }
}

/// One of the organizations among which a client must choose.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct OrganizationChoice {
    /// The id.
    pub id: OrganizationId,
    /// The name.
    pub name: String,
}
