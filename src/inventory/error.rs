use std::error::Error as StdError;

use uuid::Uuid;

use super::ApplicationCode;
use super::schema::ORGANIZATION;
use crate::access::{PasswordError, RandomError};
use crate::model::{OrganizationId, Timestamp};
use crate::printable::printable;
use crate::store::{StoreError, StoreErrorKind};
use crate::text_enum::text_enum;

/// Maximum number of characters of a record's name in a sentence.
const MAX_NAME: usize = 64;

/// The error of an inventory operation.
///
/// `Display` writes one sentence that is safe to send to API clients. Details for the log, such as the cause of a
/// store failure, are in [`source`](StdError::source).
///
/// ```
/// use toposcope::inventory::{Entity, Error, ErrorKind};
/// use uuid::Uuid;
///
/// let error = Error::from(ErrorKind::NotFound { entity: Entity::Host, id: Uuid::nil() });
/// assert_eq!(error.to_string(), "There is no Host 00000000-0000-0000-0000-000000000000.");
/// ```
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Error(Box<Inner>);

#[derive(Debug, thiserror::Error)]
#[error("{kind}")]
struct Inner {
    kind: ErrorKind,
    /// Where in the request the error is, if the kind does not say it.
    field: Option<String>,
    #[source]
    source: Option<Box<dyn StdError + Send + Sync>>,
}

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
    /// The operation requires another kind of caller.
    ///
    /// It requires a user session where an API key was sent, or a user where a daemon key was sent.
    #[error(
        "This credential is not accepted here; the operation requires a user session or, where API keys are accepted, \
         a user's API key."
    )]
    UserContextRequired,
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
    /// The host application refuses the request by an [`ApplicationError`](super::ApplicationError).
    #[error("{message}")]
    Refused {
        /// The code of the host application.
        code: ApplicationCode,
        /// The sentence for people.
        message: String,
        /// The path of the value that is refused; of a policy, in the record. [`Error::field`] is its path in the request.
        field: Option<String>,
    },
    /// The [`Policy`](super::Policy) of the host application did not answer in time.
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

/// An organization among which a client chooses.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct OrganizationChoice {
    /// The id.
    pub id: OrganizationId,
    /// The name.
    pub name: String,
}

/// The rule that an invalid value breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The value is missing.
    #[error("is required")]
    Required,
    /// The value is empty.
    #[error("must not be empty")]
    Empty,
    /// The value has more than `max` characters or elements.
    #[error("must have at most {max} characters or elements")]
    MaxLength {
        /// The maximum length.
        max: usize,
    },
    /// The value has fewer than `min` characters.
    #[error("must have at least {min} characters")]
    MinLength {
        /// The minimum length.
        min: usize,
    },
    /// The value has the wrong type or format.
    #[error("has an invalid format")]
    InvalidFormat,
    /// The number is out of range.
    #[error("must be between {min} and {max}")]
    OutOfRange {
        /// The minimum.
        min: i64,
        /// The maximum.
        max: i64,
    },
    /// The time is not in the future.
    #[error("must be in the future")]
    NotInFuture {
        /// The current time.
        now: Timestamp,
    },
    /// The inventory does not support the filter.
    #[error("is not supported by this server")]
    Unsupported,
    /// Hosts have no field of this name.
    #[error("is not a field of hosts")]
    UnknownField,
    /// The value occurs twice where it may occur once.
    #[error("must not be repeated")]
    Duplicate,
    /// The selected part refers to a part that is not selected, or such a part refers to it.
    #[error("and the parts that it refers to, or that refer to it, must all be selected or none of them")]
    Inseparable,
}

text_enum! {
    /// A kind of record, as named in errors.
    #[non_exhaustive]
    pub enum Entity {
        /// A host.
        Host = "Host",
        /// A port of a host.
        Port = "Port",
        /// A network.
        Network = "Network",
        /// A subnet of a network.
        Subnet = "Subnet",
        /// A tag.
        Tag = "Tag",
        /// A share.
        Share = "Share",
        /// A user's API key.
        UserApiKey = "User API Key",
        /// A discovery daemon's API key.
        DaemonApiKey = "Daemon API Key",
        /// An organization.
        Organization = "Organization",
        /// A user.
        User = "User",
        /// A record of the host application.
        ApplicationRecord = "Application Record",
        /// A service of a host.
        Service = "Service",
        /// An interface of a host.
        Interface = "Interface",
        /// A row of a host's SNMP interface table.
        IfEntry = "If Entry",
        /// A session.
        Session = "Session",
        /// A discovery daemon.
        Daemon = "Daemon" if feature "discovery",
        /// A discovery: work for a daemon.
        Discovery = "Discovery" if feature "discovery",
        /// A link that a user has entered.
        TopologyLink = "Topology Link" if feature "topology",
        /// The positions of nodes in a view of a network.
        TopologyLayout = "Topology Layout" if feature "topology",
    }
}

impl Error {
    /// Returns the kind of error.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Returns the dotted path of the value in the request that the error concerns, such as `hosts.3.ports.0.number`.
    ///
    /// Errors that concern the whole request or none of its values have no path.
    #[must_use]
    pub fn field(&self) -> Option<&str> {
        match self.kind() {
            ErrorKind::Invalid { field, .. } | ErrorKind::ReferenceInvalid { field, .. } => Some(field),
            ErrorKind::Refused { field, .. } => self.0.field.as_deref().or(field.as_deref()),
            _ => self.0.field.as_deref(),
        }
    }

    /// Names the value that an error concerns whose kind does not name it.
    pub(crate) fn at(mut self, field: String) -> Self {
        self.0.field = Some(field);
        self
    }

    /// Returns the message followed by the messages of all causes, for the log.
    pub(crate) fn with_causes(&self) -> String {
        let mut text = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        text
    }

    /// Creates the error for an invalid value, such as one that the [kind](super::ApplicationRecord) of a host application refuses.
    ///
    /// `field` is the dotted path of the value.
    ///
    /// ```
    /// use toposcope::inventory::{Error, Problem};
    ///
    /// let error = Error::invalid("units", Problem::OutOfRange { min: 1, max: 60 });
    /// assert_eq!(error.to_string(), "units must be between 1 and 60.");
    /// ```
    #[must_use]
    pub fn invalid(field: impl Into<String>, problem: Problem) -> Self {
        ErrorKind::Invalid { field: field.into(), problem }.into()
    }

    pub(crate) fn internal(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::new(ErrorKind::Internal, Some(cause.into()))
    }

    pub(crate) fn unreadable(error: std::io::Error) -> Self {
        Self::new(ErrorKind::Unreadable, Some(error.into()))
    }

    /// Returns whether an organization does not exist.
    pub(super) fn is_of_missing_organization(&self) -> bool {
        matches!(self.kind(), ErrorKind::NotFound { entity: Entity::Organization, .. })
    }

    fn new(kind: ErrorKind, source: Option<Box<dyn StdError + Send + Sync>>) -> Self {
        Self(Box::new(Inner { kind, field: None, source }))
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self::new(kind, None)
    }
}

/// Store errors that no rule handles are not the caller's fault.
impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        let kind = match error.kind() {
            StoreErrorKind::Unavailable => ErrorKind::StoreUnavailable,
            // Every batch guards the organizations of its records.
            StoreErrorKind::Conflict(key) if key.kind == ORGANIZATION => {
                ErrorKind::NotFound { entity: Entity::Organization, id: key.id }
            }
            _ => ErrorKind::Internal,
        };
        Self::new(kind, Some(error.into()))
    }
}

impl From<RandomError> for Error {
    fn from(error: RandomError) -> Self {
        Self::internal(error)
    }
}

impl From<PasswordError> for Error {
    fn from(error: PasswordError) -> Self {
        match error {
            PasswordError::TooShort { min } => Self::invalid("password", Problem::MinLength { min }),
            PasswordError::TooLong { max } => Self::invalid("password", Problem::MaxLength { max }),
            other => Self::internal(other),
        }
    }
}
