use std::fmt;

use crc32fast::Hasher;
use serde::Serialize;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::task::spawn_blocking;

use super::line::{self, End, Header};
use super::{MAX_LINE, PIECE_RECORDS, TransferError, TransferReport};
use crate::store::{Entry, Store};

/// Writes all that a store holds as JSON lines, for a [`Restore`](super::Restore) into any other store.
///
/// It is one state of the store, that of the moment at which it begins, whatever is committed meanwhile. It holds every
/// record with body and facets; versions are not kept: a store gives its own.
///
/// **Keep an export like a secret.** It holds the digests of API keys and of session ids, the hashes of passwords, the
/// e-mail addresses of users, and what every host has to hide.
///
/// # Format
/// UTF-8, one JSON object a line, every line ended by a line feed. It is for machines: whatever is altered in a record, be
/// it a space, makes the whole invalid.
///
/// * The first line is `{"format":"toposcope-store","version":1}`.
/// * Then a line for each record, in no order, with `kind` and `id`; with `organization`, `network`, `expires_at`, `links`,
///   `sort_keys` and `unique_keys` where there are any; and with `body` where that is JSON of one line, otherwise with
///   `body_base64`. Links are pairs of the relation and the target, sort keys and unique keys of the name and the value, which
///   is in Base64.
/// * The last line is `{"records":…,"crc32":…}`: how many records there are, and the CRC-32 of all bytes before the line.
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
    /// Reports no progress.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls this at the beginning, after every piece of at most a thousand records and at the end, with the report so far.
    #[must_use]
    pub fn on_progress(self, call: impl FnMut(&TransferReport) + Send + 'p) -> Self {
        Self { on_progress: Box::new(call) }
    }

    /// Exports a store. Its readers and writers go on meanwhile; memory holds a piece of some megabytes, beside what the
    /// store needs for the snapshot. The writer is flushed in the end, but not shut down.
    ///
    /// It must be called within a tokio runtime. If it fails or is dropped before its end, what was written has no last
    /// line, and a restoration refuses it.
    ///
    /// # Errors
    /// `Store`, `Medium`, `TooLong` and `Internal`.
    pub async fn write<S, W>(self, store: &S, mut writer: W) -> Result<TransferReport, TransferError>
    where
        S: Store + ?Sized,
        W: AsyncWrite + Unpin + Send,
    {
        let Self { mut on_progress } = self;
        let mut snapshot = store.snapshot().await?;
        let mut report = TransferReport::default();
        let mut sum = Hasher::new();
        let mut lines = line_of(&Header::THIS)?;
        loop {
            sum.update(&lines);
            writer.write_all(&lines).await?;
            report.bytes += lines.len() as u64;
            on_progress(&report);
            let entries = snapshot.next(PIECE_RECORDS).await?;
            if entries.is_empty() {
                break;
            }
            report.records += entries.len() as u64;
            lines = spawn_blocking(move || lines_of(entries)).await??;
        }
        let end = line_of(&End { records: report.records, crc32: sum.finalize() })?;
        writer.write_all(&end).await?;
        writer.flush().await?;
        report.bytes += end.len() as u64;
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
        let (key, body, begin) = (entry.record.key, entry.record.body.len(), lines.len());
        if body <= MAX_LINE {
            line::write(entry, &mut lines).map_err(TransferError::unwritable)?;
        }
        if body.max(lines.len() - begin) > MAX_LINE {
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
