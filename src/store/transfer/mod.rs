//! Export of a whole store as JSON lines, and its restoration.

mod error;
mod line;
mod reader;

use std::fmt;

use crc32fast::Hasher;
use serde::Serialize;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::task::spawn_blocking;
use uuid::Uuid;

use crate::store::{Batch, Entry, Precondition, Store};

pub use self::error::{TransferError, TransferErrorKind};
use self::line::{Header, Trailer};
pub(crate) use self::reader::{ExportReader, ExportedRecord, ExportedRecords};

/// Maximum number of records in a chunk.
const CHUNK_RECORDS: usize = 1000;

/// Maximum length of a line, in bytes.
const MAX_LINE: usize = 256 * 1024 * 1024;

/// The progress of an export or a restoration, or its final result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TransferReport {
    /// Number of records written. An export writes them to the output, a restoration to the store.
    pub records: u64,
    /// Number of bytes written to the output, or read from the input.
    pub bytes: u64,
}

/// The callback for the progress of an export or a restoration.
struct OnProgress<'p>(Box<dyn FnMut(&TransferReport) + Send + 'p>);

impl Default for OnProgress<'_> {
    fn default() -> Self {
        Self(Box::new(|_| {}))
    }
}

impl fmt::Debug for OnProgress<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("OnProgress(..)")
    }
}

/// Writes all records of a store as JSON lines, for a [`Restore`] into any backend.
///
/// An export reflects one state of the store, the one at its start, even if commits follow during the export. It
/// contains the body and the facets of every record, but not its version: the restored store assigns new versions.
///
/// **Protect an export like a secret.** It contains the digests of API keys and session ids, password hashes, the
/// e-mail addresses of users, and the complete inventory.
///
/// # Format
/// UTF-8 text with one JSON object per line, each line terminated by a line feed. Exports are not meant to be edited: any
/// change, even of a space, invalidates the checksum.
///
/// * The first line is `{"format":"toposcope-store","version":1}`. In the export of an organization, it also has
///   `organization`, its id, and `form`, which describes how its records are indexed.
/// * One line per record follows, in any order. It has `kind` and `id`; `organization`, `network`, `expires_at`, `links`,
///   `terms`, `sort_keys` and `unique_keys` if set; and either `body`, if the body is JSON on a single line, or
///   `body_base64`. A link is a pair of relation and target. A term, sort key or unique key is a pair of name and
///   Base64-encoded value.
/// * The last line is `{"records":…,"crc32":…}`: the number of records, and the CRC-32 of all bytes before this line.
///
/// ```
/// use toposcope::store::{Batch, Precondition, Export, Facets, Key, MemoryStore, Name, Restore, Store};
/// use uuid::Uuid;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = MemoryStore::new();
/// let key = Key::new(Name::new("note"), Uuid::nil());
/// let mut batch = Batch::new();
/// batch.put(key, Precondition::Absent, Facets::default(), "{\"text\": \"a body\"}");
/// store.commit(batch).await?;
///
/// let mut file = Vec::new();
/// let export = Export::new().on_progress(|report| println!("{} records", report.records));
/// let report = export.write(&store, &mut file).await?;
/// assert_eq!((report.records, report.bytes), (1, file.len() as u64));
///
/// let other = MemoryStore::new();
/// Restore::new().read(&other, &file[..]).await?;
/// let found = other.get(&[key]).await?;
/// assert_eq!(found[0].as_ref().map(|record| &record.body[..]), Some(&b"{\"text\": \"a body\"}"[..]));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Export<'p> {
    on_progress: OnProgress<'p>,
}

impl<'p> Export<'p> {
    /// Creates an export that reports no progress.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a callback for progress. It is called at the start, after every chunk of at most 1,000 records, and at
    /// the end.
    #[must_use]
    pub fn on_progress(self, call: impl FnMut(&TransferReport) + Send + 'p) -> Self {
        Self { on_progress: OnProgress(Box::new(call)) }
    }

    /// Exports a store to a writer.
    ///
    /// Reads and commits proceed during the export. It uses a few megabytes of memory for one chunk, plus what the
    /// store needs for the snapshot. The writer is flushed at the end, but not shut down. Requires a tokio runtime.
    ///
    /// If the export fails or is dropped before its end, the output lacks the last line and cannot be restored.
    ///
    /// # Errors
    /// [`Store`](TransferErrorKind::Store), [`Io`](TransferErrorKind::Io),
    /// [`TooLong`](TransferErrorKind::TooLong) or [`Internal`](TransferErrorKind::Internal).
    pub async fn write<S, W>(self, store: &S, writer: W) -> Result<TransferReport, TransferError>
    where
        S: Store + ?Sized,
        W: AsyncWrite + Unpin + Send,
    {
        self.write_some(store, None, |_| true, writer).await
    }

    /// Exports the selected records: those of an organization, whose id and form of facets the header names, or all.
    pub(crate) async fn write_some<S, W>(
        self,
        store: &S,
        organization: Option<(Uuid, Value)>,
        mut is_selected: impl FnMut(&Entry) -> bool,
        mut writer: W,
    ) -> Result<TransferReport, TransferError>
    where
        S: Store + ?Sized,
        W: AsyncWrite + Unpin + Send,
    {
        let Self { on_progress: OnProgress(mut on_progress) } = self;
        let mut snapshot = store.snapshot().await?;
        let mut report = TransferReport::default();
        let mut checksum = Hasher::new();
        let mut lines = line_of(&Header::new(organization))?;
        loop {
            checksum.update(&lines);
            writer.write_all(&lines).await?;
            report.bytes += lines.len() as u64;
            on_progress(&report);
            let mut entries = snapshot.next(CHUNK_RECORDS).await?;
            if entries.is_empty() {
                break;
            }
            entries.retain(&mut is_selected);
            report.records += entries.len() as u64;
            lines = spawn_blocking(move || lines_of(entries)).await??;
        }
        let trailer = line_of(&Trailer { records: report.records, crc32: checksum.finalize() })?;
        writer.write_all(&trailer).await?;
        writer.flush().await?;
        report.bytes += trailer.len() as u64;
        on_progress(&report);
        Ok(report)
    }
}

fn lines_of(entries: Vec<Entry>) -> Result<Vec<u8>, TransferError> {
    let mut lines = Vec::new();
    for entry in entries {
        let (key, body, start) = (entry.record.key, entry.record.body.len(), lines.len());
        if body <= MAX_LINE {
            line::write(entry, &mut lines).map_err(TransferError::unwritable)?;
        }
        if body.max(lines.len() - start) > MAX_LINE {
            return Err(TransferError::too_long(key));
        }
        lines.push(b'\n');
    }
    Ok(lines)
}

fn line_of<T: Serialize>(value: &T) -> Result<Vec<u8>, TransferError> {
    let mut line = serde_json::to_vec(value).map_err(TransferError::unwritable)?;
    line.push(b'\n');
    Ok(line)
}

/// Reads an [`Export`] into an empty store.
///
/// Afterwards the store holds the exported records with the same bodies and facets, under new versions. API keys and
/// passwords remain valid, and sessions that were open at the time of the export are open again until they expire.
///
/// **Discard a store whose restoration failed.** It holds only some of the records, and these are unverified: the
/// checksum is in the last line of the export.
///
/// ```
/// use toposcope::store::{Export, MemoryStore, Restore, TransferErrorKind};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut file = Vec::new();
/// Export::new().write(&MemoryStore::new(), &mut file).await?;
///
/// let report = Restore::new().read(&MemoryStore::new(), &file[..]).await?;
/// assert_eq!(report.bytes, file.len() as u64);
///
/// let cut = &file[..file.len() - 10];
/// let error = Restore::new().read(&MemoryStore::new(), cut).await.unwrap_err();
/// assert_eq!((error.kind(), error.line()), (TransferErrorKind::Truncated, Some(2)));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
pub struct Restore<'p> {
    on_progress: OnProgress<'p>,
}

impl<'p> Restore<'p> {
    /// Maximum length of a line, in bytes, for exports and restorations.
    pub const MAX_LINE: usize = MAX_LINE;

    /// Creates a restoration that reports no progress.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a callback for progress, called after every chunk of at most 1,000 records.
    #[must_use]
    pub fn on_progress(self, call: impl FnMut(&TransferReport) + Send + 'p) -> Self {
        Self { on_progress: OnProgress(Box::new(call)) }
    }

    /// Restores an export into an empty store.
    ///
    /// The input is read in chunks, one commit per chunk. Memory use is a few megabytes, or a few times the longest
    /// line. Nothing else should write to the store during the restoration. Requires a tokio runtime.
    ///
    /// # Errors
    /// - [`NotEmpty`](TransferErrorKind::NotEmpty) if the store holds any record. Nothing is read or overwritten.
    /// - [`NotAnExport`](TransferErrorKind::NotAnExport) or [`UnknownVersion`](TransferErrorKind::UnknownVersion). The store
    ///   is still empty.
    /// - Any other kind. Discard the store.
    pub async fn read<S, R>(self, store: &S, input: R) -> Result<TransferReport, TransferError>
    where
        S: Store + ?Sized,
        R: AsyncRead + Unpin + Send,
    {
        let Self { on_progress: OnProgress(mut on_progress) } = self;
        if !store.snapshot().await?.next(1).await?.is_empty() {
            return Err(TransferError::new(TransferErrorKind::NotEmpty));
        }
        let mut input = ExportReader::begin(input).await?;
        loop {
            let ExportedRecords { records, is_last } = input.records().await?;
            let mut batch = Batch::new();
            for ExportedRecord { key, facets, body, .. } in records {
                batch.put(key, Precondition::Absent, facets, body);
            }
            store.commit(batch).await?;
            let report = input.report();
            on_progress(&report);
            if is_last {
                return Ok(report);
            }
        }
    }

    /// Returns the callback for progress.
    pub(crate) fn into_progress(self) -> Box<dyn FnMut(&TransferReport) + Send + 'p> {
        self.on_progress.0
    }
}
