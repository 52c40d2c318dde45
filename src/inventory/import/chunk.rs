use tokio::io::{AsyncRead, BufReader};
use tokio::task::JoinHandle;

use super::parse::{ParsedLine, parse};
use super::report::Refusal;
use crate::inventory::Error;
use crate::inventory::hosts::HostEncoder;
use crate::lines::{Line, Lines};

/// The maximum lines and bytes that are stored together; a longer line is stored alone.
const CHUNK_LINES: u64 = 256;
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

/// A chunk that is being parsed on a blocking thread.
#[derive(Debug)]
pub(super) struct Parsing(JoinHandle<Chunk>);

impl Parsing {
    /// Reads lines and starts parsing them; `None` at the end of input.
    pub(super) async fn begin<R: AsyncRead + Unpin>(
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

    pub(super) async fn finish(self) -> Result<Chunk, Error> {
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
