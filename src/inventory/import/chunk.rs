//! Lines that are read, parsed and stored together.

use std::collections::HashSet;
use std::sync::Arc;

use tokio::io::AsyncRead;
use tokio::task::JoinSet;

use super::parse::{LineParser, ParsedLine};
use super::rows::{ImportRow, ImportRows};
use crate::fair_threads::yield_turn;
use crate::inventory::Error;
use crate::model::{Host, NetworkId};
use crate::wire::Refusal;

/// The maximum lines and bytes that are stored together; a longer line is stored alone.
const CHUNK_LINES: usize = 256;
const CHUNK_BYTES: usize = 1024 * 1024;

/// Lines that are stored together.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    /// The number of lines read at the end of the chunk, blank ones included.
    pub(super) lines: u64,
    /// The number of bytes read at the end of the chunk.
    pub(super) bytes: u64,
    pub(super) accepted: Vec<ParsedLine>,
    pub(super) refusals: Vec<Refusal>,
}

/// A chunk that is being parsed on a blocking thread, in the organization's turn.
///
/// Dropping it abandons the chunk.
#[derive(Debug)]
pub(super) struct Parsing(JoinSet<Result<Chunk, Error>>);

impl Parsing {
    /// Reads lines and starts parsing them; `None` at the end of input.
    pub(super) async fn begin<R: AsyncRead + Unpin>(
        parser: &LineParser,
        rows: &mut ImportRows<R>,
    ) -> Result<Option<Self>, Error> {
        let mut chunk = Chunk::default();
        let mut whole = Vec::new();
        let (before, mut size) = (rows.count(), 0);
        while whole.len() < CHUNK_LINES && size < CHUNK_BYTES {
            let Some((number, row)) = rows.next().await.map_err(Error::unreadable)? else { break };
            size += row.likely_length();
            whole.push((number, row));
        }
        if whole.is_empty() && rows.count() == before {
            return Ok(None);
        }
        (chunk.lines, chunk.bytes) = (rows.count(), rows.bytes());
        let (state, parser) = (Arc::clone(&parser.inventory.state), parser.clone());
        let mut task = JoinSet::new();
        task.spawn(async move {
            state.offload.run(parser.organization, size, move || chunk.parse(whole, &parser)).await?
        });
        Ok(Some(Self(task)))
    }

    pub(super) async fn finish(mut self) -> Result<Chunk, Error> {
        let parsed = self.0.join_next().await.ok_or_else(|| Error::internal("a chunk was not parsed"))?;
        parsed.map_err(Error::internal)?
    }
}

impl Chunk {
    fn parse(mut self, rows: Vec<(u64, ImportRow)>, parser: &LineParser) -> Result<Self, Error> {
        for (number, row) in rows {
            yield_turn();
            let parsed = match row.into_json() {
                Ok(None) => continue,
                Ok(Some(bytes)) => parser.parse(number, &bytes)?,
                Err(refusal) => Err(refusal),
            };
            match parsed {
                Ok(parsed) => self.accepted.push(parsed),
                Err(refusal) => self.refusals.push(refusal),
            }
        }
        Ok(self)
    }
}

impl Chunk {
    /// Refuses the lines on other networks than this one.
    pub(super) fn refuse_other_networks(&mut self, network: NetworkId) {
        self.refuse(|host| {
            (host.network_id != network).then(|| format!("is not {network}, the only network to be imported"))
        });
    }

    /// Refuses the lines for whose network there is a reason.
    pub(super) fn refuse(&mut self, reason: impl Fn(&Host) -> Option<String>) {
        for line in std::mem::take(&mut self.accepted) {
            match reason(line.host()) {
                None => self.accepted.push(line),
                Some(reason) => {
                    let field = Some("network_id".to_owned());
                    self.refusals.push(Refusal { line: line.facts.line, field, reason, code: None });
                }
            }
        }
    }
}

/// Splits lines, in order, into parts without repeated hosts.
///
/// A batch may name a record only once.
pub(super) fn split_repeated_ids(lines: Vec<ParsedLine>) -> Vec<Vec<ParsedLine>> {
    let mut parts = Vec::new();
    let mut part: Vec<ParsedLine> = Vec::new();
    let mut seen = HashSet::new();
    for line in lines {
        if !seen.insert(line.host().id) {
            parts.push(std::mem::take(&mut part));
            seen = HashSet::from([line.host().id]);
        }
        part.push(line);
    }
    parts.push(part);
    parts
}
