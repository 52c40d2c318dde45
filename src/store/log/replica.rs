//! The replica that an instance holds in memory. It consists of the index of all facets as of a position of the log,
//! and of cached bodies.

use std::collections::{HashMap, VecDeque};

use bytes::Bytes;
use uuid::Uuid;

use super::batch::AcceptedBatch;
use super::body::BodyRef;
use super::body_cache::BodyCache;
use super::entry::{Contents, Effect, LogEntry};
use crate::store::index::{Index, Packs, ReplacedRows, RowId, is_large};
use crate::store::lock::StateLock;
use crate::store::{Cursor, Key, Name, Revision, StoreError, Version, Write};

/// A position in the log, with the nonce of its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogPosition {
    /// Number of loads before: positions of different loads may belong to different logs.
    pub(crate) load: u64,
    pub(crate) number: i64,
    pub(crate) nonce: Uuid,
}

impl LogPosition {
    /// Returns whether a state at this position contains everything up to another one.
    pub(crate) const fn covers(self, other: Self) -> bool {
        self.load == other.load && self.number >= other.number
    }
}

/// Returns the version of the first batch of the entry at a position. The versions of the other batches follow it.
///
/// The random part differs between two entries at one position of two logs: after a failover that lost commits, or
/// after a backup was restored. So a version never names two contents, and callers may compare it with a version of
/// the lost log.
pub(crate) const fn first_version(position: i64, random: u16) -> Version {
    Version(position.cast_unsigned() << 24 | (random as u64) << 8)
}

/// The state of an instance.
#[derive(Debug)]
pub(crate) struct Replica {
    pub(crate) index: Index,
    pub(crate) bodies: BodyCache,
    pub(crate) position: LogPosition,
    pub(crate) contents: Contents,
    pub(crate) revisions: Revisions,
}

/// The nonces of the last entries that touched an organization's records of a kind.
#[derive(Debug, Default)]
pub(crate) struct Revisions {
    pub(crate) tokens: HashMap<(Uuid, Name), Uuid>,
    /// Part of every revision, so that a new value changes all revisions.
    pub(crate) base: Uuid,
    /// The last revisions of all organizations and kinds, the oldest first.
    recent: VecDeque<RecentRevision>,
}

/// Maximum number of revisions since which the changes are known.
const MAX_RECENT: usize = 1_024;

/// A revision of an organization's records of a kind, and that of the same state in the index.
#[derive(Clone, Copy, Debug)]
struct RecentRevision {
    organization: Uuid,
    kind: Name,
    revision: Revision,
    of_index: Revision,
}

impl Revisions {
    fn get(&self, kind: Name, organization: Uuid) -> Revision {
        let token = self.tokens.get(&(organization, kind)).copied().unwrap_or_default();
        Revision::new(token.as_u128() ^ self.base.as_u128())
    }

    /// Notes the present revision of an organization's records of a kind.
    fn note(&mut self, (organization, kind): (Uuid, Name), index: &Index) {
        if self.recent.len() == MAX_RECENT {
            self.recent.pop_front();
        }
        let (revision, of_index) = (self.get(kind, organization), index.revision(kind, organization));
        self.recent.push_back(RecentRevision { organization, kind, revision, of_index });
    }

    /// Returns the revision in the index that is the same state as a revision, if it is remembered.
    fn of_index(&self, kind: Name, organization: Uuid, revision: Revision) -> Option<Revision> {
        let is_same = |recent: &&RecentRevision| {
            recent.revision == revision && recent.kind == kind && recent.organization == organization
        };
        self.recent.iter().rev().find(is_same).map(|recent| recent.of_index)
    }
}

impl Replica {
    /// Applies the entry after the present position. `packs` holds the facets of each batch, as far as they are packed.
    pub(crate) fn apply<'b>(
        &mut self,
        position: LogPosition,
        effect: Effect,
        is_renewal: bool,
        batches: impl Iterator<Item = (&'b AcceptedBatch, &'b [Write])>,
        packs: Vec<Packs>,
    ) -> Discarded {
        let Self { index, bodies, .. } = self;
        let mut discarded = Discarded::default();
        for ((accepted, writes), packs) in batches.zip(packs) {
            let rows = accepted.apply(writes, packs, index, |row, body| {
                discarded.bodies.extend(bodies.remove(row));
                let Some((body_ref, body)) = body else { return };
                bodies.set_body_ref(row, body_ref);
                // The batches of other instances come without bodies.
                if body.len() == body_ref.length() {
                    bodies.insert(row, body_ref, body);
                }
            });
            discarded.rows.push(rows);
        }
        discarded.bodies.extend(self.bodies.evict());
        self.contents = effect.contents;
        if is_renewal {
            self.revisions.base = position.nonce;
        }
        for touched in effect.touched {
            self.revisions.tokens.insert(touched, position.nonce);
            self.revisions.note(touched, &self.index);
        }
        self.position = position;
        discarded
    }

    /// Returns the record of a row, with its body if that is in memory.
    pub(crate) fn locate(&self, row: RowId) -> Option<LocatedRecord> {
        let (key, version) = self.index.key(row)?;
        Some(LocatedRecord { row, key, version, body: self.bodies.read(row).cloned() })
    }

    pub(crate) fn revision(&self, kind: Name, organization: Uuid) -> Revision {
        self.revisions.get(kind, organization)
    }

    /// Returns the ids of the records that have changed since a revision, in order; `None` when unknown.
    pub(crate) fn changed_since(
        &self,
        kind: Name,
        organization: Uuid,
        revision: Revision,
    ) -> Option<Vec<Uuid>> {
        let of_index = self.revisions.of_index(kind, organization, revision)?;
        self.index.changed_since(kind, organization, of_index)
    }

    /// Returns the reference to the body of a record. `None` if the record has another version by now.
    fn body_ref(&self, located: &LocatedRecord) -> Option<BodyRef> {
        let is_present = self.index.key(located.row) == Some((located.key, located.version));
        self.bodies.body_ref(located.row).filter(|_| is_present)
    }
}

/// The rows and bodies that an entry has replaced. The caller drops them after it has released the lock.
#[derive(Debug, Default)]
pub(crate) struct Discarded {
    bodies: Vec<Bytes>,
    rows: Vec<ReplacedRows>,
}

/// A record in the index, and its body if that is in memory.
#[derive(Clone, Debug)]
pub(crate) struct LocatedRecord {
    pub(crate) row: RowId,
    pub(crate) key: Key,
    pub(crate) version: Version,
    pub(crate) body: Option<Bytes>,
}

/// Records of one state. `total` and `next` are those of a list.
#[derive(Debug)]
pub(crate) struct FoundRecords {
    pub(crate) position: LogPosition,
    pub(crate) records: Vec<Option<LocatedRecord>>,
    pub(crate) total: u64,
    pub(crate) next: Option<Cursor>,
}

/// The outcome of applying entries that were read from the log.
#[derive(Debug)]
pub(crate) enum Followed {
    /// The replica has all of the entries, and the log ended here.
    Current(LogPosition),
    /// The replica has all of the entries, but the log may have more.
    Partly,
    /// The entries do not continue the replica's log, or its contents are unexpected.
    Lost,
}

/// A row of the log; the changes of the first one are not read.
#[derive(Debug)]
pub(crate) struct LogRow {
    pub(crate) number: i64,
    pub(crate) nonce: Uuid,
    pub(crate) changes: Vec<u8>,
}

impl StateLock<Replica> {
    /// Verifies bodies that were read for records, and caches those of records that still have that version.
    ///
    /// # Errors
    /// `Corrupt` when a body is damaged.
    pub(crate) fn cache(&self, read: &[(&LocatedRecord, &Bytes)]) -> Result<(), StoreError> {
        let replica = self.read()?;
        let body_refs: Vec<Option<BodyRef>> =
            read.iter().map(|(located, _)| replica.body_ref(located)).collect();
        drop(replica);
        // A checksum of megabytes takes longer than the lock may be held.
        let mut verified = Vec::with_capacity(read.len());
        for ((located, body), body_ref) in read.iter().zip(body_refs) {
            let Some(body_ref) = body_ref else { continue };
            if !body_ref.verify(body) {
                return Err(StoreError::corrupt(format!("the body of {} is damaged", located.key)));
            }
            verified.push((*located, body_ref, *body));
        }
        let mut replica = self.write()?;
        for (located, body_ref, body) in verified {
            // The replica may have another log by now, whose numbers of bodies begin anew.
            if replica.body_ref(located) == Some(body_ref) {
                replica.bodies.insert(located.row, body_ref, body.clone());
            }
        }
        let evicted = replica.bodies.evict();
        drop(replica);
        drop(evicted);
        Ok(())
    }

    /// Packs the facets of the batches of an entry if one is large. This takes longer than the lock may be held.
    ///
    /// Returns one element for each batch.
    pub(crate) fn pack<'b>(
        &self,
        batches: impl Iterator<Item = &'b [Write]> + Clone,
    ) -> Result<Vec<Packs>, StoreError> {
        if !batches.clone().any(is_large) {
            return Ok(batches.map(|_| Packs::default()).collect());
        }
        let packer = self.read()?.index.packer(batches.clone().flatten());
        Ok(batches.map(|writes| packer.pack(writes)).collect())
    }

    /// Applies rows of the log, in their order. They were found at a position of the replica and after it.
    ///
    /// Fewer rows than the limit show that the log ends with them.
    pub(crate) fn follow(
        &self,
        from: LogPosition,
        rows: &[LogRow],
        limit: usize,
    ) -> Result<Followed, StoreError> {
        let Some((first, rest)) = rows.split_first() else { return Ok(Followed::Lost) };
        if (first.number, first.nonce) != (from.number, from.nonce) {
            return Ok(Followed::Lost);
        }
        let mut position = from;
        for row in rest {
            position = LogPosition { number: row.number, nonce: row.nonce, ..from };
            if self.read()?.position.covers(position) {
                continue;
            }
            let undecodable = || StoreError::corrupt(format!("entry {} of the log is damaged", row.number));
            let LogEntry { batches, contents, is_renewal } =
                LogEntry::decode(&row.changes).ok_or_else(undecodable)?;
            let batches = || batches.iter().map(|batch| (&batch.accepted, batch.writes.as_slice()));
            let packs = self.pack(batches().map(|(_, writes)| writes))?;
            let mut replica = self.write()?;
            let at = replica.position;
            if at.load != from.load || at.number + 1 < row.number {
                return Ok(Followed::Lost);
            }
            if at.number + 1 == row.number {
                let writes = batches().flat_map(|(_, writes)| writes);
                replica.index.check_entry(writes).map_err(|error| {
                    StoreError::corrupt(format!(
                        "entry {} of the log does not fit into the index",
                        row.number
                    ))
                    .with_source(error)
                })?;
                let effect = Effect::new(&replica.index, replica.contents, batches());
                let is_expected = effect.contents == contents;
                let discarded = replica.apply(position, effect, is_renewal, batches(), packs);
                drop(replica);
                drop(discarded);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::log::body::BodyRef;
    use crate::store::log::codec::{RecordChange, RecordHeader};
    use crate::store::{Facets, SortKey, StoreErrorKind, UniqueKey};

    const KIND: Name = Name::new("host");

    const START: LogPosition = LogPosition { load: 0, number: 4, nonce: Uuid::from_u128(4) };

    fn empty() -> StateLock<Replica> {
        StateLock::new(Replica {
            index: Index::default(),
            bodies: BodyCache::new(0),
            position: START,
            contents: Contents::default(),
            revisions: Revisions::default(),
        })
    }

    /// A batch that puts one record.
    fn put(id: u128, facets: &Facets) -> AcceptedBatch {
        let (key, version) = (Key::new(KIND, Uuid::from_u128(id)), Version(id as u64));
        let (body_ref, body) = BodyRef::plain(0, &Bytes::new());
        let header = RecordHeader::encode(key, version, body_ref, facets).into();
        let change = RecordChange::Put { header, body_ref, body };
        AcceptedBatch { version, changes: vec![(key, change)] }
    }

    /// Follows a log with one entry after the start.
    fn follow(replica: &StateLock<Replica>, batches: &[AcceptedBatch]) -> Result<Followed, StoreError> {
        let mut contents = Contents::default();
        for AcceptedBatch { version, changes } in batches {
            changes.iter().for_each(|(key, _)| contents.add(*key, *version));
        }
        let first = LogRow { number: START.number, nonce: START.nonce, changes: Vec::new() };
        let changes = LogEntry::encode(batches, contents, false);
        let rows = [first, LogRow { number: START.number + 1, nonce: Uuid::from_u128(5), changes }];
        replica.follow(START, &rows, 256)
    }

    #[test]
    fn entry_that_breaks_a_limit_is_an_error_that_names_it_and_changes_nothing() {
        let unique = |length| UniqueKey::new(Name::new("name"), vec![7; length]);
        let fitting = Facets::default().with_unique_keys([unique(UniqueKey::MAX_LENGTH)]);
        let long = Facets::default().with_unique_keys([unique(UniqueKey::MAX_LENGTH + 1)]);
        let sort_key = SortKey::new(Name::new("order"), vec![1]);
        let twice = Facets { sort_keys: vec![sort_key.clone(), sort_key], ..Facets::default() };
        let entries: [(&str, Vec<AcceptedBatch>); 4] = [
            ("unique key of more than", vec![put(1, &Facets::default()), put(2, &long)]),
            ("names a sort key twice", vec![put(1, &twice)]),
            ("two writes name", vec![put(1, &fitting), put(1, &Facets::default())]),
            ("name", vec![put(1, &fitting), put(2, &fitting)]),
        ];
        for (reason, batches) in entries {
            let replica = empty();
            let error = follow(&replica, &batches).unwrap_err();
            assert_eq!(*error.kind(), StoreErrorKind::Corrupt, "{error}");
            assert!(error.to_string().contains("entry 5 of the log"), "{error}");
            let source = std::error::Error::source(&error).unwrap().to_string();
            assert!(source.contains(reason), "{source}");
            assert_eq!(replica.read().unwrap().position, START);
            assert!(replica.read().unwrap().index.find(Key::new(KIND, Uuid::from_u128(1))).is_none());
        }
        let followed = follow(&empty(), &[put(1, &fitting), put(2, &Facets::default())]).unwrap();
        assert!(matches!(followed, Followed::Current(LogPosition { number: 5, .. })), "{followed:?}");
    }
}
