use std::error::Error as StdError;
use std::fmt;

use uuid::Uuid;

use super::Entity;
use crate::access::{PasswordError, RandomError};
use crate::model::Timestamp;
use crate::store::{StoreError, StoreErrorKind};

/// Why the inventory did not do as asked.
///
/// The text is one sentence that a client of the API may read. What goes to a log alone, of a store that failed say, is
/// the [`source`](StdError::source).
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
    #[source]
    source: Option<Box<dyn StdError + Send + Sync>>,
}

/// The reasons, as the codes of the API tell them apart.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A value cannot be accepted.
    Invalid {
        /// The dotted path of the value, such as `ports.3.number`.
        field: String,
        /// What is wrong with it.
        problem: Problem,
    },
    /// A value refers to a record that does not exist in this organization.
    ReferenceInvalid {
        /// What it should refer to.
        entity: Entity,
        /// The dotted path of the value.
        field: String,
    },
    /// A host is on another network than the one that was named with it.
    NetworkMismatch {
        /// What is elsewhere.
        entity: Entity,
    },
    /// No credential, or none that is known.
    NotAuthenticated,
    /// The credential's time is over.
    Expired {
        /// What sort of credential.
        entity: Entity,
    },
    /// The credential is switched off.
    Disabled {
        /// What sort of credential.
        entity: Entity,
    },
    /// The session's time is over.
    SessionExpired,
    /// No user has this e-mail address and this password.
    InvalidCredentials,
    /// Too many logins with this e-mail address have failed.
    TooManyAttempts {
        /// In how many seconds the next one is possible.
        retry_after: u64,
    },
    /// Too many logins are under way.
    Busy,
    /// The organization does not have API access.
    ApiAccessRequired,
    /// It takes a user: one in person where a key was shown, or any where it was a daemon's key.
    UserContextRequired,
    /// The level is too low, or more would be granted than the caller has.
    PermissionDenied,
    /// A record of the caller's organization that the caller may not reach.
    AccessDenied {
        /// What may not be reached.
        entity: Entity,
        /// Its id.
        id: Uuid,
    },
    /// A field that must stay as it is would change.
    UpdateForbidden {
        /// What it is a field of.
        entity: Entity,
    },
    /// No such record, for this caller.
    NotFound {
        /// What was asked for.
        entity: Entity,
        /// Its id.
        id: Uuid,
    },
    /// What must be unique is taken.
    AlreadyExists {
        /// What there is already.
        entity: Entity,
        /// What names it.
        name: String,
    },
    /// Something else needs it as it is.
    InUse {
        /// What is needed.
        entity: Entity,
        /// What names it.
        name: String,
        /// What needs it.
        used_by: Entity,
    },
    /// The owner has as many records of this sort as its quota allows.
    QuotaExceeded {
        /// Which sort of record.
        entity: Entity,
        /// How many are allowed.
        limit: u64,
    },
    /// The record takes more bytes than the quota allows.
    TooLarge {
        /// Which sort of record.
        entity: Entity,
        /// How many bytes of JSON are allowed.
        limit: usize,
    },
    /// Other processes kept changing the record, or too many changes of it are waiting.
    Conflict {
        /// Which sort of record.
        entity: Entity,
        /// Its id.
        id: Uuid,
    },
    /// The input could not be read.
    Unreadable,
    /// The store cannot do it now.
    StoreUnavailable,
    /// A fault of this program or of what it has stored.
    Internal,
}

/// What is wrong with a value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// It is missing.
    Required,
    /// It is empty.
    Empty,
    /// It is longer than `max` characters, or has more than `max` elements.
    MaxLength {
        /// The greatest length.
        max: usize,
    },
    /// It is shorter than `min` characters.
    MinLength {
        /// The least length.
        min: usize,
    },
    /// It is not of the right type or form.
    InvalidFormat,
    /// It is a number beyond its bounds.
    OutOfRange {
        /// The least number.
        min: i64,
        /// The greatest number.
        max: i64,
    },
    /// It is a time that is not in the future.
    NotInFuture {
        /// The present time.
        now: Timestamp,
    },
    /// It stands twice where it may stand once.
    Repeated,
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid { field, problem } => write!(formatter, "{field} {problem}."),
            Self::ReferenceInvalid { entity, field } => {
                write!(formatter, "{field} refers to no known {entity}.")
            }
            Self::NetworkMismatch { entity } => write!(formatter, "The {entity} is on another network."),
            Self::NotAuthenticated => formatter.write_str("Valid credentials are required."),
            Self::Expired { entity } => write!(formatter, "The {entity} has expired."),
            Self::Disabled { entity } => write!(formatter, "The {entity} is disabled."),
            Self::SessionExpired => formatter.write_str("The session has expired; log in again."),
            Self::InvalidCredentials => formatter.write_str("The e-mail address or the password is wrong."),
            Self::TooManyAttempts { retry_after } => {
                write!(
                    formatter,
                    "Too many logins have failed; the next one is possible in {retry_after} seconds."
                )
            }
            Self::Busy => formatter.write_str("Too many logins are under way; try again."),
            Self::UserContextRequired => {
                formatter.write_str("This takes a signed-in user; the key that was sent does not do.")
            }
            Self::ApiAccessRequired => formatter.write_str("The organization does not have API access."),
            Self::PermissionDenied => formatter.write_str("The permission level does not allow this."),
            Self::AccessDenied { entity, id } => write!(formatter, "The {entity} {id} may not be accessed."),
            Self::UpdateForbidden { entity } => {
                write!(formatter, "The {entity} cannot be given to another user or organization.")
            }
            Self::NotFound { entity, id } => write!(formatter, "There is no {entity} {id}."),
            Self::AlreadyExists { entity, name } => write!(formatter, "The {entity} {name} already exists."),
            Self::InUse { entity, name, used_by } => {
                write!(formatter, "The {entity} {name} is in use by a {used_by}.")
            }
            Self::QuotaExceeded { entity, limit } => {
                write!(formatter, "The quota is used up: at most {limit} of type {entity} are allowed.")
            }
            Self::TooLarge { entity, limit } => {
                write!(formatter, "The {entity} is too large: at most {limit} bytes of JSON are allowed.")
            }
            Self::Conflict { entity, id } => write!(formatter, "The {entity} {id} kept changing; try again."),
            Self::Unreadable => formatter.write_str("The input cannot be read."),
            Self::StoreUnavailable => {
                formatter.write_str("The data cannot be reached at the moment; try again.")
            }
            Self::Internal => formatter.write_str("An internal error occurred."),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Required => formatter.write_str("is required"),
            Self::Empty => formatter.write_str("must not be empty"),
            Self::MaxLength { max } => write!(formatter, "must have at most {max} characters or elements"),
            Self::MinLength { min } => write!(formatter, "must have at least {min} characters"),
            Self::InvalidFormat => formatter.write_str("has an invalid format"),
            Self::OutOfRange { min, max } => write!(formatter, "must be from {min} to {max}"),
            Self::NotInFuture { .. } => formatter.write_str("must be in the future"),
            Self::Repeated => formatter.write_str("stands there twice"),
        }
    }
}

impl Error {
    /// The reason.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The text and those of all causes behind it: for the log.
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

    pub(crate) fn invalid(field: impl Into<String>, problem: Problem) -> Self {
        ErrorKind::Invalid { field: field.into(), problem }.into()
    }

    pub(crate) fn internal(cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Self::new(ErrorKind::Internal, Some(cause.into()))
    }

    pub(crate) fn unreadable(error: std::io::Error) -> Self {
        Self::new(ErrorKind::Unreadable, Some(error.into()))
    }

    fn new(kind: ErrorKind, source: Option<Box<dyn StdError + Send + Sync>>) -> Self {
        Self(Box::new(Inner { kind, source }))
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self::new(kind, None)
    }
}

/// What the rules do not foresee of a store is no fault of the caller.
impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        let kind = match error.kind() {
            StoreErrorKind::Unavailable => ErrorKind::StoreUnavailable,
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
