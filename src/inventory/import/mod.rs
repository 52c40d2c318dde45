//! Import of hosts as JSON lines.

mod chunk;
mod document;
mod parse;
mod repair;
mod report;

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use tokio::io::{AsyncRead, BufReader};
use uuid::Uuid;

pub use report::{Alteration, DroppedPort, ImportReport, Refusal};

use self::chunk::{Chunk, Parsing};
use self::parse::{ParsedLine, refusal};
use super::hosts::EncodedHost;
use super::records::network_key;
use super::{Error, ErrorKind, Inventory};
use crate::lines::Lines;
use crate::store::Key;

/// How an import goes about it.
///
/// ```
/// use toposcope::inventory::{Import, Inventory};
/// use toposcope::store::MemoryStore;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), toposcope::inventory::Error> {
/// let inventory = Inventory::new(MemoryStore::new());
/// let organization = inventory.create_organization("Example", true).await?;
/// let lines = &b"{\"id\": \"not an id\"}\n"[..];
/// let import = Import::new().create_networks(true).on_progress(|report| println!("{} lines", report.lines));
/// let report = inventory.import_hosts(organization.id, lines, import).await?;
/// assert_eq!((report.imported, report.refused), (0, 1));
/// assert_eq!(report.refusals[0].field.as_deref(), Some("id"));
/// # Ok(())
/// # }
/// ```
pub struct Import<'p> {
    create_networks: bool,
    max_line: usize,
    on_progress: Box<dyn FnMut(&ImportReport) + Send + 'p>,
}

impl Default for Import<'_> {
    fn default() -> Self {
        Self { create_networks: false, max_line: 64 * 1024 * 1024, on_progress: Box::new(|_| {}) }
    }
}

impl<'p> Import<'p> {
    /// Refuses hosts of unknown networks, takes lines of up to 64 MiB, and reports no progress.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates the networks that hosts name and that are not there, under their id as name; also when the host is refused
    /// for something else.
    #[must_use]
    pub fn create_networks(self, create: bool) -> Self {
        Self { create_networks: create, ..self }
    }

    /// The longest line in bytes; longer ones are refused. The import's memory is a few times this.
    #[must_use]
    pub fn max_line(self, bytes: usize) -> Self {
        Self { max_line: bytes, ..self }
    }

    /// Calls this after every few hundred lines with the report so far.
    #[must_use]
    pub fn on_progress(self, call: impl FnMut(&ImportReport) + Send + 'p) -> Self {
        Self { on_progress: Box::new(call), ..self }
    }
}

impl fmt::Debug for Import<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Import")
            .field("create_networks", &self.create_networks)
            .field("max_line", &self.max_line)
            .finish_non_exhaustive()
    }
}

impl Inventory {
    /// Imports hosts from JSON lines: one host a line, as `GET /api/v1/hosts` serves it; blank lines are passed over.
    ///
    /// Each line is stored or refused for itself; a host of a known id is replaced. Odd values that real devices send are
    /// mended, and each mending is counted in the report (see [`Alteration`]); anything else that is wrong refuses the
    /// line. The input is read as it comes, and memory does not grow with its length. Lines are stored some hundred
    /// together, so that neighbours may pass ports and services to each other in either order.
    ///
    /// # Errors
    /// `NotFound` when there is no such organization, `Unreadable` when the input fails, `StoreUnavailable` when the store
    /// does. What was stored until then stays, some hundred lines before the fault at the least.
    pub async fn import_hosts<R>(
        &self,
        organization: Uuid,
        input: R,
        import: Import<'_>,
    ) -> Result<ImportReport, Error>
    where
        R: AsyncRead + Unpin + Send,
    {
        let Import { create_networks, max_line, mut on_progress } = import;
        self.organization(organization).await?;
        let mut lines = Lines::new(BufReader::with_capacity(64 * 1024, input), max_line);
        let mut report = ImportReport::default();
        let encoder = self.host_encoder(organization);
        let mut parsing = Parsing::begin(&mut lines, encoder).await?;
        while let Some(parsed) = parsing {
            let Chunk { lines: read, bytes, accepted, mut refusals } = parsed.finish().await?;
            // The next lines are parsed while these are stored. If they cannot be read, these are stored all the same.
            let following = Parsing::begin(&mut lines, encoder).await;
            if create_networks {
                report.created_networks += self.create_missing_networks(organization, &accepted).await?;
            }
            for part in without_repeated_ids(accepted) {
                self.store_lines(organization, part, &mut report, &mut refusals).await?;
            }
            refusals.sort_by_key(|refusal| refusal.line);
            refusals.into_iter().for_each(|refusal| report.refuse(refusal));
            (report.lines, report.bytes) = (read, bytes);
            on_progress(&report);
            parsing = following?;
        }
        Ok(report)
    }

    /// Stores lines together, and if that is refused, one by one, so that the bad one is found and the others get in.
    async fn store_lines(
        &self,
        organization: Uuid,
        lines: Vec<ParsedLine>,
        report: &mut ImportReport,
        refusals: &mut Vec<Refusal>,
    ) -> Result<(), Error> {
        let (encoded, rest): (Vec<EncodedHost>, Vec<_>) =
            lines.into_iter().map(|parsed| (parsed.encoded, (parsed.line, parsed.notes))).unzip();
        let together =
            self.put_hosts(organization, &encoded).await.map_or_else(refused, |ids| Ok(Ok(ids)))?;
        for (host, (line, notes)) in encoded.iter().zip(&rest) {
            let replaced = match &together {
                Ok(ids) => Ok(ids.contains(&host.host.id)),
                Err(_) => {
                    let alone = self.put_hosts(organization, std::slice::from_ref(host)).await;
                    alone.map_or_else(refused, |ids| Ok(Ok(!ids.is_empty())))?
                }
            };
            match replaced {
                Ok(replaced) => report.accept(replaced, notes),
                Err(error) => refusals.push(refusal(*line, &error)),
            }
        }
        Ok(())
    }

    /// Creates the networks that lines name and that are not there, and tells how many.
    async fn create_missing_networks(&self, organization: Uuid, lines: &[ParsedLine]) -> Result<u64, Error> {
        let named: BTreeSet<Uuid> = lines.iter().map(|parsed| parsed.encoded.host.network_id).collect();
        let keys: Vec<Key> = named.iter().map(|id| network_key(*id)).collect();
        let found = self.store.get(&keys).await?;
        let mut created = 0;
        for (id, _) in named.into_iter().zip(found).filter(|(_, record)| record.is_none()) {
            match self.create_network_with_id(organization, id, &id.to_string()).await {
                Ok(_) => created += 1,
                // Somebody else was faster. Whose it is the hosts' own check will tell.
                Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(created)
    }
}

/// Tells an error that is about the hosts from one that ends the import.
fn refused<T>(error: Error) -> Result<Result<T, Error>, Error> {
    match error.kind() {
        ErrorKind::StoreUnavailable | ErrorKind::Internal => Err(error),
        _ => Ok(Err(error)),
    }
}

/// The lines in their order, in parts within which no host stands twice: a batch names a record once.
fn without_repeated_ids(lines: Vec<ParsedLine>) -> Vec<Vec<ParsedLine>> {
    let mut parts = Vec::new();
    let mut part: Vec<ParsedLine> = Vec::new();
    let mut seen = HashSet::new();
    for line in lines {
        if !seen.insert(line.encoded.host.id) {
            parts.push(std::mem::take(&mut part));
            seen = HashSet::from([line.encoded.host.id]);
        }
        part.push(line);
    }
    parts.push(part);
    parts
}
