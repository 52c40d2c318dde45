use std::error::Error;
use std::fmt;
use std::io;

use tokio::task::JoinError;

use crate::store::{Key, StoreError};

/// Why a store was not exported, or not restored.
///
/// The text names the line and the field at fault, never what stands there. What a store or a medium has to say is the
/// [`source`](Error::source).
///
/// ```
/// use toposcope::store::{MemoryStore, Restore, TransferErrorKind};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let error = Restore::new().read(&MemoryStore::new(), &b"no export\n"[..]).await.unwrap_err();
/// assert_eq!(error.kind(), TransferErrorKind::NotAnExport);
/// assert_eq!(error.to_string(), "line 1: this is no export of a store");
/// # });
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct TransferError(Box<Inner>);

/// What went wrong, by what can be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TransferErrorKind {
    /// The store that is to be restored into holds records. It was left as it was.
    NotEmpty,
    /// The first line is not that of an export.
    NotAnExport,
    /// The export is of a version that is not known here.
    UnknownVersion,
    /// A line is not what an export holds.
    Malformed,
    /// A record makes a line longer than [`Restore::MAX_LINE`](super::Restore::MAX_LINE).
    TooLong,
    /// The export ends before its last line.
    Cut,
    /// The lines are not those that were written: their number or their checksum is another.
    Damaged,
    /// The medium cannot be read or written.
    Medium,
    /// The store cannot be read or written.
    Store,
    /// A fault of this program, or its runtime was shut down.
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
    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> TransferErrorKind {
        self.0.kind
    }

    /// The number of the line at fault, from 1, where it is one.
    #[must_use]
    pub fn line(&self) -> Option<u64> {
        self.0.line
    }

    /// The field at fault, where it is one.
    #[must_use]
    pub fn field(&self) -> Option<&'static str> {
        self.0.field
    }

    pub(super) fn new(kind: TransferErrorKind) -> Self {
        Self(Box::new(Inner { kind, line: None, field: None, source: None }))
    }

    pub(super) fn at(kind: TransferErrorKind, line: u64) -> Self {
        Self::new(kind).with_line(line)
    }

    pub(super) fn malformed(field: Option<&'static str>) -> Self {
        let mut error = Self::new(TransferErrorKind::Malformed);
        error.0.field = field;
        error
    }

    pub(super) fn with_line(mut self, line: u64) -> Self {
        self.0.line = Some(line);
        self
    }

    /// A record whose line is too long. There is no such line, so it is named by its key.
    pub(super) fn too_long(key: Key) -> Self {
        Self::caused(TransferErrorKind::TooLong, key.to_string())
    }

    /// Of a line that cannot be made. Where one is read, the same error would tell what stands there.
    pub(super) fn unwritable(error: serde_json::Error) -> Self {
        Self::caused(TransferErrorKind::Internal, error)
    }

    fn caused(kind: TransferErrorKind, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
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
        Self::caused(TransferErrorKind::Medium, error)
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
            Self::NotEmpty => "refusing to overwrite: the store holds records",
            Self::NotAnExport => "this is no export of a store",
            Self::UnknownVersion => "the export is of a version that is not known here",
            Self::Malformed => "this is not what an export holds",
            Self::TooLong => "the line of a record is too long",
            Self::Cut => "the export ends before its last line",
            Self::Damaged => "the lines are not those that were exported",
            Self::Medium => "the medium cannot be read or written",
            Self::Store => "the store cannot be read or written",
            Self::Internal => "an internal fault",
        })
    }
}
