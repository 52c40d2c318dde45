//! Import of hosts from JSON lines.

mod parse;
mod report;

use std::collections::{BTreeSet, HashSet};
use std::fmt;

use tokio::io::{AsyncRead, BufReader};
use tokio::task::JoinHandle;
use uuid::Uuid;

pub use report::{Alteration, DroppedPort, ImportReport, Refusal};

use self::parse::{ParsedLine, parse, refusal};
use super::hosts::{EncodedHost, HostEncoder};
use super::schema::network_key;
use super::{Error, ErrorKind, Inventory};
use crate::lines::{Line, Lines};
use crate::store::Key;

/// Options of an import.
///
/// ```
/// use toposcope::inventory::{Import, Inventory};
/// use toposcope::store::MemoryStore;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), toposcope::inventory::Error> {
/// let inventory = Inventory::new(MemoryStore::new());
/// let organization = inventory.create_organization("Example").await?;
/// let lines = &b"{\"id\": \"not an id\"}\n"[..];
/// let import = Import::new().create_missing_networks().on_progress(|report| println!("{} lines", report.lines));
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
    /// Creates the default options.
    ///
    /// Hosts on unknown networks are refused, lines may have up to 64 MiB, and no progress is reported.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates missing networks named by hosts, with the id as name. Default: such hosts are refused.
    ///
    /// A network is created even if its host is refused for another reason.
    #[must_use]
    pub fn create_missing_networks(self) -> Self {
        Self { create_networks: true, ..self }
    }

    /// Sets the maximum line length in bytes; longer lines are refused. Memory use is a few times this.
    #[must_use]
    pub fn max_line(self, bytes: usize) -> Self {
        Self { max_line: bytes, ..self }
    }

    /// Calls `progress` with the report so far after every few hundred lines.
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
    /// Imports hosts from JSON lines, one host per line as served by `GET /api/v1/hosts`.
    ///
    /// Blank lines are skipped. Each line is stored or refused on its own; a host with an existing id is replaced.
    /// Odd values from real devices are repaired and counted in the report (see [`Alteration`]); any other fault
    /// refuses the line. The input is streamed, and memory use does not grow with its length. Lines are stored in
    /// groups of a few hundred, so that adjacent hosts may exchange ports and services in either order.
    ///
    /// # Errors
    /// `NotFound` when there is no such organization; `Unreadable` when reading the input fails; `StoreUnavailable`
    /// when the store fails. Hosts stored before the failure remain; that is all but at most the last few hundred
    /// lines.
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
            // The next chunk is parsed while this one is stored. If reading it fails, this one is still stored.
            let following = Parsing::begin(&mut lines, encoder).await;
            if create_networks {
                report.created_networks += self.create_missing_networks(organization, &accepted).await?;
            }
            for part in split_repeated_ids(accepted) {
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

    /// Stores lines together or, if that fails, one by one.
    ///
    /// Thus only faulty lines are refused.
    async fn store_lines(
        &self,
        organization: Uuid,
        lines: Vec<ParsedLine>,
        report: &mut ImportReport,
        refusals: &mut Vec<Refusal>,
    ) -> Result<(), Error> {
        let (encoded, rest): (Vec<EncodedHost>, Vec<_>) =
            lines.into_iter().map(|parsed| (parsed.encoded, (parsed.line, parsed.alterations))).unzip();
        let together =
            self.put_hosts(organization, &encoded).await.map_or_else(refused, |ids| Ok(Ok(ids)))?;
        for (host, (line, alterations)) in encoded.iter().zip(&rest) {
            let replaced = match &together {
                Ok(ids) => Ok(ids.contains(&host.host.id)),
                Err(_) => {
                    let alone = self.put_hosts(organization, std::slice::from_ref(host)).await;
                    alone.map_or_else(refused, |ids| Ok(Ok(!ids.is_empty())))?
                }
            };
            match replaced {
                Ok(replaced) => report.accept(replaced, alterations),
                Err(error) => refusals.push(refusal(*line, &error)),
            }
        }
        Ok(())
    }

    /// Creates missing networks named by the lines. Returns how many.
    async fn create_missing_networks(&self, organization: Uuid, lines: &[ParsedLine]) -> Result<u64, Error> {
        let named: BTreeSet<Uuid> = lines.iter().map(|parsed| parsed.encoded.host.network_id).collect();
        let keys: Vec<Key> = named.iter().map(|id| network_key(*id)).collect();
        let found = self.store.get(&keys).await?;
        let mut created = 0;
        for (id, _) in named.into_iter().zip(found).filter(|(_, record)| record.is_none()) {
            match self.create_network_with_id(organization, id, &id.to_string()).await {
                Ok(_) => created += 1,
                // Another writer created it. The validation of the hosts determines the owner.
                Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(created)
    }
}

/// Separates errors that refuse a host from errors that end the import.
fn refused<T>(error: Error) -> Result<Result<T, Error>, Error> {
    match error.kind() {
        ErrorKind::StoreUnavailable | ErrorKind::Internal => Err(error),
        _ => Ok(Err(error)),
    }
}

/// Splits lines, in order, into parts without repeated hosts.
///
/// A batch may name a record only once.
fn split_repeated_ids(lines: Vec<ParsedLine>) -> Vec<Vec<ParsedLine>> {
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

/// The maximum lines and bytes that are stored together; a longer line is stored alone.
const CHUNK_LINES: u64 = 256;
const CHUNK_BYTES: usize = 1024 * 1024;

/// Lines that are stored together.
#[derive(Debug, Default)]
struct Chunk {
    /// The number of lines read at the end of the chunk, blank ones included.
    lines: u64,
    /// The number of bytes read at the end of the chunk.
    bytes: u64,
    accepted: Vec<ParsedLine>,
    refusals: Vec<Refusal>,
}

/// A chunk that is being parsed on a blocking thread.
#[derive(Debug)]
struct Parsing(JoinHandle<Chunk>);

impl Parsing {
    /// Reads lines and starts parsing them; `None` at the end of input.
    async fn begin<R: AsyncRead + Unpin>(
        lines: &mut Lines<BufReader<R>>,
        encoder: HostEncoder,
    ) -> Result<Option<Self>, Error> {
        let mut chunk = Chunk::default();
        let mut whole = Vec::new();
        let (before, mut size) = (lines.count, 0);
        while lines.count - before < CHUNK_LINES && size < CHUNK_BYTES {
            let Some(line) = lines.next().await.map_err(Error::unreadable)? else { break };
            match line {
                Line::TooLong => {
                    let reason = format!("the line is longer than {} bytes", lines.max_length);
                    chunk.refusals.push(Refusal { line: lines.count, field: None, reason });
                }
                Line::Whole(bytes) if bytes.trim_ascii().is_empty() => {}
                Line::Whole(bytes) => {
                    size += bytes.len();
                    whole.push((lines.count, bytes));
                }
            }
        }
        if lines.count == before {
            return Ok(None);
        }
        (chunk.lines, chunk.bytes) = (lines.count, lines.bytes);
        Ok(Some(Self(tokio::task::spawn_blocking(move || chunk.parse(whole, encoder)))))
    }

    async fn finish(self) -> Result<Chunk, Error> {
        self.0.await.map_err(Error::internal)
    }
}

impl Chunk {
    fn parse(mut self, lines: Vec<(u64, Vec<u8>)>, encoder: HostEncoder) -> Self {
        for (number, bytes) in lines {
            match parse(number, &bytes, encoder) {
                Ok(parsed) => self.accepted.push(parsed),
                Err(refusal) => self.refusals.push(refusal),
            }
        }
        self
    }
}
