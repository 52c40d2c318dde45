use std::fmt;

use crc32fast::Hasher;
use serde::Serialize;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::task::spawn_blocking;

use super::line::{self, Header, Trailer};
use super::{CHUNK_RECORDS, MAX_LINE, TransferError, TransferReport};
use crate::store::{Entry, Store};

/// Writes all records of a store as JSON lines, for a [`Restore`](super::Restore) into any backend.
///
/// An export reflects one state of the store, the one at its start, even if commits follow during the export. It contains
/// the body and the facets of every record, but not its version: the restored store assigns new versions.
///
/// **Protect an export like a secret.** It contains the digests of API keys and session ids, password hashes, the e-mail
/// addresses of users, and the complete inventory.
///
/// # Format
/// UTF-8 text with one JSON object per line, each line terminated by a line feed. Exports are not meant to be edited: any
/// change, even of a space, invalidates the checksum.
///
/// * The first line is `{"format":"toposcope-store","version":1}`.
/// * One line per record follows, in any order. It has `kind` and `id`; `organization`, `network`, `expires_at`, `links`,
///   `sort_keys` and `unique_keys` if set; and either `body`, if the body is JSON on a single line, or `body_base64`. A link
///   is a pair of relation and target. A sort key or unique key is a pair of name and Base64-encoded value.
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
pub struct Export<'p> {
    on_progress: Box<dyn FnMut(&TransferReport) + Send + 'p>,
}

impl Default for Export<'_> {
    fn default() -> Self {
        Self { on_progress: Box::new(|_| {}) }
    }
}

impl<'p> Export<'p> {
    /// Creates an export that reports no progress.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets a callback for progress: at the start, after every chunk of at most 1,000 records, and at the end.
    #[must_use]
    pub fn on_progress(self, call: impl FnMut(&TransferReport) + Send + 'p) -> Self {
        Self { on_progress: Box::new(call) }
    }

    /// Exports a store to a writer.
    ///
    /// Reads and commits proceed during the export. It uses a few megabytes of memory for one chunk, plus what the store
    /// needs for the snapshot. The writer is flushed at the end, but not shut down. Requires a tokio runtime.
    ///
    /// If the export fails or is dropped before its end, the output lacks the last line and cannot be restored.
    ///
    /// # Errors
    /// [`Store`](super::TransferErrorKind::Store), [`Io`](super::TransferErrorKind::Io),
    /// [`TooLong`](super::TransferErrorKind::TooLong) or [`Internal`](super::TransferErrorKind::Internal).
    pub async fn write<S, W>(self, store: &S, mut writer: W) -> Result<TransferReport, TransferError>
    where
        S: Store + ?Sized,
        W: AsyncWrite + Unpin + Send,
    {
        let Self { mut on_progress } = self;
        let mut snapshot = store.snapshot().await?;
        let mut report = TransferReport::default();
        let mut checksum = Hasher::new();
        let mut lines = line_of(&Header::THIS)?;
        loop {
            checksum.update(&lines);
            writer.write_all(&lines).await?;
            report.bytes += lines.len() as u64;
            on_progress(&report);
            let entries = snapshot.next(CHUNK_RECORDS).await?;
            if entries.is_empty() {
                break;
            }
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

impl fmt::Debug for Export<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Export").finish_non_exhaustive()
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
