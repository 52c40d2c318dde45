use std::error::Error;
use std::fmt;
use std::io;

use tokio::task::JoinError;

use crate::store::{Key, StoreError};

/// The error of an [`Export`](super::Export) or a [`Restore`](super::Restore).
///
/// Its text names the invalid line and field, but never their content, which may be secret. An error of the store or of
/// the input or output is the [`source`](Error::source).
///
/// ```
/// use toposcope::store::{MemoryStore, Restore, TransferErrorKind};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let error = Restore::new().read(&MemoryStore::new(), &b"no export\n"[..]).await.unwrap_err();
/// assert_eq!(error.kind(), TransferErrorKind::NotAnExport);
/// assert_eq!(error.to_string(), "line 1: this is not an export of a store");
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct TransferError(Box<Inner>);

/// The category of a [`TransferError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransferErrorKind {
    /// The store to restore into already holds records. It is left unchanged.
    NotEmpty,
    /// An id or a unique key of the organization to restore, or of one of its records, is taken.
    ///
    /// The [source](Error::source) is the conflict. Also returned for a restoration that was given up.
    Taken,
    /// The export of a whole store cannot be restored as an organization.
    WholeStore,
    /// The records of the export are indexed in another way than those of the store.
    ///
    /// Another version of this crate has exported them, or one with other custom fields in its index.
    OtherForm,
    /// The store has no organization with this id.
    NoOrganization,
    /// The first line is not the header of an export.
    NotAnExport,
    /// The export has a format version that this release cannot read.
    UnknownVersion,
    /// A line or a field is invalid.
    Malformed,
    /// The line of a record is longer than [`Restore::MAX_LINE`](super::Restore::MAX_LINE).
    TooLong,
    /// The export ends before its last line.
    Truncated,
    /// The number of records or the checksum differs from the one in the last line.
    Damaged,
    /// Reading the input or writing the output failed.
    Io,
    /// Reading or writing the store failed.
    Store,
    /// A bug in this crate, or the runtime was shut down.
    Internal,
}

#[derive(Debug)]
struct Inner {
    kind: TransferErrorKind,
    line: Option<u64>,
    field: Option<&'static str>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl TransferError {
    /// Returns the category of the error.
    #[must_use]
    pub fn kind(&self) -> TransferErrorKind {
        self.0.kind
    }

    /// Returns the number of the invalid line, counted from 1. Returns `None` if the error does not concern a line.
    #[must_use]
    pub fn line(&self) -> Option<u64> {
        self.0.line
    }

    /// Returns the name of the invalid field. Returns `None` if the error does not concern a known field.
    #[must_use]
    pub fn field(&self) -> Option<&'static str> {
        self.0.field
    }

    pub(crate) fn new(kind: TransferErrorKind) -> Self {
        Self(Box::new(Inner { kind, line: None, field: None, source: None }))
    }

    pub(super) fn at(kind: TransferErrorKind, line: u64) -> Self {
        Self::new(kind).with_line(line)
    }

    pub(crate) fn malformed(field: Option<&'static str>) -> Self {
        let mut error = Self::new(TransferErrorKind::Malformed);
        error.0.field = field;
        error
    }

    pub(crate) fn with_line(mut self, line: u64) -> Self {
        self.0.line = Some(line);
        self
    }

    /// Creates the error of an export whose record is too long. It has no line number, but names the key.
    pub(super) fn too_long(key: Key) -> Self {
        Self::caused(TransferErrorKind::TooLong, key.to_string())
    }

    /// Creates the error of a line that cannot be serialized. A deserialization error must not become a source, because
    /// its text may quote the line.
    pub(super) fn unwritable(error: serde_json::Error) -> Self {
        Self::caused(TransferErrorKind::Internal, error)
    }

    pub(crate) fn caused(kind: TransferErrorKind, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let mut error = Self::new(kind);
        error.0.source = Some(source.into());
        error
    }
}

impl From<StoreError> for TransferError {
    fn from(error: StoreError) -> Self {
        Self::caused(TransferErrorKind::Store, error)
    }
}

impl From<io::Error> for TransferError {
    fn from(error: io::Error) -> Self {
        Self::caused(TransferErrorKind::Io, error)
    }
}

impl From<JoinError> for TransferError {
    fn from(error: JoinError) -> Self {
        Self::caused(TransferErrorKind::Internal, error)
    }
}

impl Error for Inner {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|source| &**source as &(dyn Error + 'static))
    }
}

impl fmt::Display for Inner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(formatter, "line {line}: ")?;
        }
        if let Some(field) = self.field {
            write!(formatter, "{field}: ")?;
        }
        fmt::Display::fmt(&self.kind, formatter)
    }
}

impl fmt::Display for TransferErrorKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NotEmpty => "the store already holds records; restore into an empty store",
            Self::Taken => "the id of the organization, or something of its records that must be unique, is taken",
            Self::WholeStore => "this is the export of a whole store, not of an organization",
            Self::OtherForm => {
                "the records are indexed in another way than those of the store; export them with the same version"
            }
            Self::NoOrganization => "the store has no organization with this id",
            Self::NotAnExport => "this is not an export of a store",
            Self::UnknownVersion => "the export has a format version that this release cannot read",
            Self::Malformed => "the line is not valid in an export",
            Self::TooLong => "the line of a record is too long",
            Self::Truncated => "the export is truncated: its last line is missing",
            Self::Damaged => "the export was altered: its record count or checksum does not match",
            Self::Io => "reading the input or writing the output failed",
            Self::Store => "reading or writing the store failed",
            Self::Internal => "internal error",
        })
    }
}
