//! The revision of a graph: a digest of its content.

use std::io::{self, BufWriter, Write};

use sha2::{Digest, Sha256};

use crate::fair_threads::yield_turn;
use crate::invariant::Invariant;
use crate::topology::graph::Graph;

/// Number of bytes that are encoded and hashed in about 0.1 ms.
const TURN: usize = 32 * 1024;

/// Returns a text that changes whenever the graph changes.
pub(super) fn revision_of(graph: &Graph) -> String {
    let mut writer = BufWriter::with_capacity(TURN, Hashed(Sha256::new()));
    // Numbers, strings and maps with string keys always have a JSON form, and hashing never fails.
    let written = serde_json::to_writer(&mut writer, graph).ok();
    let hashed = written.and_then(|()| writer.into_inner().ok());
    let digest = hashed.map(|Hashed(digest)| digest.finalize()).asserted_or_default();
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

/// A digest of what is written, in turns.
#[derive(Debug)]
struct Hashed(Sha256);

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        yield_turn();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
