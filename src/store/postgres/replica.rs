//! What an instance holds in memory: the index of all facets as of a position of the log, and cached bodies.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use uuid::Uuid;

use super::entry::{Contents, Effect, Entry};
use super::pool::Pool;
use crate::store::index::{Index, RowId, Selection};
use crate::store::lock::StateLock;
use crate::store::log::batch::AcceptedBatch;
use crate::store::log::body_cache::BodyCache;
use crate::store::materializer::Indexed;
use crate::store::{Cursor, Key, Name, Revision, StoreError, Version, Write};

/// A position in the log, with the nonce of its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    /// Number of loads before: positions of different loads may belong to different logs.
    pub(super) load: u64,
    pub(super) number: i64,
    pub(super) nonce: Uuid,
}

impl Position {
    /// Returns whether a state at this position contains everything up to another one.
    pub(super) const fn covers(self, other: Self) -> bool {
        self.load == other.load && self.number >= other.number
    }
}

/// The state of an instance.
#[derive(Debug)]
pub(super) struct Replica {
    pub(super) index: Index,
    pub(super) bodies: BodyCache,
    pub(super) position: Position,
    pub(super) contents: Contents,
    pub(super) revisions: Revisions,
}

/// The nonces of the last entries that touched an organization's records of a kind.
#[derive(Debug, Default)]
pub(super) struct Revisions {
    pub(super) tokens: HashMap<(Uuid, Name), Uuid>,
    /// Changes all revisions.
    pub(super) base: Uuid,
}

impl Revisions {
    fn get(&self, kind: Name, organization: Uuid) -> Revision {
        let token = self.tokens.get(&(organization, kind)).copied().unwrap_or_default();
        Revision::new(token.as_u128() ^ self.base.as_u128())
    }
}

impl Replica {
    /// Applies the entry after the present position.
    pub(super) fn apply<'b>(
        &mut self,
        position: Position,
        effect: Effect,
        is_renewal: bool,
        batches: impl Iterator<Item = (&'b AcceptedBatch, &'b [Write])>,
    ) {
        let Self { index, bodies, .. } = self;
        for (accepted, writes) in batches {
            accepted.apply(writes, index, |row, body| match body {
                None => drop(bodies.remove(row)),
                Some((body_ref, body)) => {
                    bodies.remove(row);
                    bodies.set_body_ref(row, body_ref);
                    // The batches of other instances come without bodies.
                    if body.len() == body_ref.length as usize {
                        bodies.insert(row, body_ref, body);
                    }
                }
            });
        }
        drop(self.bodies.evict());
        self.contents = effect.contents;
        let tokens = effect.touched.into_iter().map(|touched| (touched, position.nonce));
        self.revisions.tokens.extend(tokens);
        if is_renewal {
            self.revisions.base = position.nonce;
        }
        self.position = position;
    }

    /// Returns the record of a row, with its body if that is in memory.
    pub(super) fn locate(&self, row: RowId) -> Option<Located> {
        let (key, version) = self.index.key(row)?;
        Some(Located { row, key, version, body: self.bodies.read(row).cloned() })
    }

    pub(super) fn revision(&self, kind: Name, organization: Uuid) -> Revision {
        self.revisions.get(kind, organization)
    }

    /// Verifies a body that was read for a record, and caches it if the record still has that version.
    pub(super) fn cache(&mut self, located: &Located, body: &Bytes) -> Result<(), StoreError> {
        if self.index.key(located.row) != Some((located.key, located.version)) {
            return Ok(());
        }
        let Some(body_ref) = self.bodies.body_ref(located.row) else { return Ok(()) };
        if body_ref.length as usize != body.len() || body_ref.checksum != crc32fast::hash(body) {
            return Err(StoreError::corrupt(format!("the body of {} is damaged", located.key)));
        }
        self.bodies.insert(located.row, body_ref, body.clone());
        Ok(())
    }
}

/// A record in the index, and its body if that is in memory.
#[derive(Clone, Debug)]
pub(super) struct Located {
    pub(super) row: RowId,
    pub(super) key: Key,
    pub(super) version: Version,
    pub(super) body: Option<Bytes>,
}

/// Records of one state. `total` and `next` are those of a list.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) position: Position,
    pub(super) records: Vec<Option<Located>>,
    pub(super) total: u64,
    pub(super) next: Option<Cursor>,
}

/// What the parts of an open store share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) replica: StateLock<Replica>,
    pub(super) pool: Pool,
    pub(super) counts: Counts,
    /// Held while the replica is loaded again.
    pub(super) loading: tokio::sync::Mutex<()>,
}

/// Figures for [`PostgresStatus`](super::PostgresStatus).
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) rounds: AtomicU64,
    pub(super) lag: AtomicU64,
    pub(super) log_entries: AtomicU64,
    pub(super) conflicts: AtomicU64,
    pub(super) loads: AtomicU64,
}

/// What became of entries that were read from the log.
#[derive(Debug)]
pub(super) enum Followed {
    /// The replica has them all; the log ended here.
    Current(Position),
    /// The replica has them all, but there may be more.
    Partly,
    /// They do not continue the replica's log, or its contents are not what they should be.
    Lost,
}

/// A row of the log; the changes of the first one are not read.
#[derive(Debug)]
pub(super) struct LogRow {
    pub(super) number: i64,
    pub(super) nonce: Uuid,
    pub(super) changes: Vec<u8>,
}

impl Shared {
    /// Applies entries that a statement found at a position of the replica and after it, in their order.
    pub(super) fn follow(
        &self,
        from: Position,
        rows: &[LogRow],
        limit: usize,
    ) -> Result<Followed, StoreError> {
        let Some((first, rest)) = rows.split_first() else { return Ok(Followed::Lost) };
        if (first.number, first.nonce) != (from.number, from.nonce) {
            return Ok(Followed::Lost);
        }
        self.counts.lag.store(rest.len() as u64, Ordering::Relaxed);
        let mut position = from;
        for row in rest {
            position = Position { number: row.number, nonce: row.nonce, ..from };
            if self.replica.read()?.position.covers(position) {
                continue;
            }
            let undecodable = || StoreError::corrupt(format!("entry {} of the log is damaged", row.number));
            let Entry { batches, contents, is_renewal } =
                Entry::decode(&row.changes).ok_or_else(undecodable)?;
            let batches = || batches.iter().map(|batch| (&batch.accepted, batch.writes.as_slice()));
            let mut replica = self.replica.write()?;
            let at = replica.position;
            if at.load != from.load || at.number + 1 < row.number {
                return Ok(Followed::Lost);
            }
            if at.number + 1 == row.number {
                let effect = Effect::new(&replica.index, replica.contents, batches());
                let is_expected = effect.contents == contents;
                replica.apply(position, effect, is_renewal, batches());
                if !is_expected {
                    tracing::error!(
                        "the index differs from entry {} of the log: loading it again",
                        row.number
                    );
                    return Ok(Followed::Lost);
                }
            }
        }
        Ok(if rows.len() < limit { Followed::Current(position) } else { Followed::Partly })
    }
}

impl Indexed for Shared {
    type State = Replica;
    type Page = Found;

    fn state(&self) -> &StateLock<Replica> {
        &self.replica
    }

    fn index(replica: &Replica) -> &Index {
        &replica.index
    }

    fn page(replica: &Replica, Selection { rows, total, next }: Selection) -> Found {
        let records = rows.into_iter().map(|row| replica.locate(row)).collect();
        Found { position: replica.position, records, total, next }
    }
}
