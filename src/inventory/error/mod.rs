//! Errors of the inventory: their kinds, the rules that values break, and the records that they name.

mod entity;
mod kind;
mod problem;

use std::error::Error as StdError;

use uuid::Uuid;

pub use self::entity::Entity;
pub use self::kind::{ErrorKind, OrganizationChoice};
pub use self::problem::Problem;
use super::schema::ORGANIZATION;
use crate::access::{PasswordError, RandomError};
use crate::model::RecordId;
use crate::store::{StoreError, StoreErrorKind};

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
#[error("{}", self.sentence())]
struct Inner {
    kind: ErrorKind,
    /// The name of the host application's kind of record that the error concerns.
    application_kind: Option<&'static str>,
    /// The path of the value in the request, if the kind does not contain it.
    field: Option<String>,
    /// The record that a policy was asked about.
    reviewed: Option<Uuid>,
    /// The record that has a unique value already, if the caller may see it.
    existing: Option<Uuid>,
    #[source]
    source: Option<Box<dyn StdError + Send + Sync>>,
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

    /// Sets the path of the value that the error concerns, for kinds without a path.
    pub(crate) fn at(mut self, field: String) -> Self {
        self.0.field = Some(field);
        self
    }

    /// Sets the record that a policy was asked about.
    pub(in crate::inventory) fn about(mut self, record: Uuid) -> Self {
        self.0.reviewed = Some(record);
        self
    }

    /// Sets the record that has a unique value already, if the caller may see it.
    pub(in crate::inventory) fn of_existing(mut self, record: Option<Uuid>) -> Self {
        self.0.existing = record;
        self
    }

    /// Returns the record that has a unique value already, if the caller may see it.
    pub(in crate::inventory) fn existing(&self) -> Option<Uuid> {
        self.0.existing
    }

    /// Sets the path of the record that a policy was asked about, among the ids of a request.
    pub(in crate::inventory) fn among<I: RecordId>(self, ids: &[I]) -> Self {
        let place = self.0.reviewed.and_then(|record| ids.iter().position(|id| (*id).into() == record));
        match place {
            Some(place) => self.at(format!("ids.{place}")),
            None => self,
        }
    }

    /// Names the host application's kind of record that the error concerns, unless it concerns another kind or has a
    /// name already.
    pub(crate) fn of_application_kind(mut self, name: &'static str) -> Self {
        if self.kind().entity() == Some(Entity::ApplicationRecord) {
            self.0.application_kind.get_or_insert(name);
        }
        self
    }

    /// Returns the name of the host application's kind of record that the error concerns.
    pub(in crate::inventory) fn application_kind(&self) -> Option<&'static str> {
        self.0.application_kind
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
    pub(in crate::inventory) fn is_of_missing_organization(&self) -> bool {
        matches!(self.kind(), ErrorKind::NotFound { entity: Entity::Organization, .. })
    }

    fn new(kind: ErrorKind, source: Option<Box<dyn StdError + Send + Sync>>) -> Self {
        Self(Box::new(Inner {
            kind,
            application_kind: None,
            field: None,
            reviewed: None,
            existing: None,
            source,
        }))
    }
}

impl Inner {
    /// Returns the sentence of the kind, with the name of the host application's kind of record in place of the entity.
    fn sentence(&self) -> String {
        let sentence = self.kind.to_string();
        let Some(name) = self.application_kind else { return sentence };
        let entity = Entity::ApplicationRecord.as_str();
        // A field may precede the entity, and a name may follow it. Both may have the same text, and stay as they are.
        let around = match self.kind {
            ErrorKind::ReferenceInvalid { .. } => sentence.rsplit_once(entity),
            _ => sentence.split_once(entity),
        };
        match around {
            Some((before, after)) => format!("{before}{name}{after}"),
            None => sentence,
        }
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
