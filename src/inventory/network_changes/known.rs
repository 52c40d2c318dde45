//! What is known of the records of a network, so that only changed ones are decoded again.

use uuid::Uuid;

use crate::inventory::Error;
use crate::model::HostId;
use crate::store::{Record, Revision, Version};

/// The known state of the hosts and claims of a network.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownNetwork {
    /// The revisions of the organization's hosts and claims before these were read; `None` if the store has none.
    pub(super) revisions: Option<[Revision; 2]>,
    pub(super) hosts: KnownRecords<()>,
    pub(super) claims: KnownRecords<HostId>,
}

impl KnownNetwork {
    /// Returns the number of hosts.
    pub(crate) fn len(&self) -> usize {
        self.hosts.all.len()
    }

    /// Returns the number of bytes of all hosts and claims.
    pub(super) const fn bytes(&self) -> usize {
        self.hosts.bytes + self.claims.bytes
    }
}

/// The known records of one kind.
///
/// They are sorted by id, so that the records of now are compared with them in one pass.
#[derive(Clone, Debug)]
pub(super) struct KnownRecords<T> {
    all: Vec<KnownRecord<T>>,
    bytes: usize,
}

/// A record without its body.
#[derive(Clone, Copy, Debug)]
pub(super) struct KnownRecord<T> {
    pub(super) id: Uuid,
    /// What is kept of the body.
    pub(super) kept: T,
    version: Version,
    bytes: u32,
}

impl<T> Default for KnownRecords<T> {
    fn default() -> Self {
        Self { all: Vec::new(), bytes: 0 }
    }
}

impl<T: Copy> KnownRecords<T> {
    /// Takes all records that there are now. Returns those that are new or changed, and those that no longer are, with what is kept of
    /// each.
    pub(super) fn replace_all(
        &mut self,
        records: &[Record],
        kept: impl Fn(&Record) -> Result<T, Error>,
    ) -> Result<RecordDifferences<T>, Error> {
        let (now, differences) = compare(self.all.iter(), records, kept)?;
        self.bytes = bytes_of(now.iter());
        self.all = now;
        Ok(differences)
    }

    /// Takes the records that there are now of these ids, in ascending order. Returns the same as [`replace_all`](Self::replace_all).
    pub(super) fn replace(
        &mut self,
        ids: &[Uuid],
        records: &[Record],
        kept: impl Fn(&Record) -> Result<T, Error>,
    ) -> Result<RecordDifferences<T>, Error> {
        let places: Vec<usize> = ids.iter().filter_map(|id| self.place(*id)).collect();
        let before = || places.iter().filter_map(|place| self.all.get(*place));
        let (now, differences) = compare(before(), records, kept)?;
        self.bytes = self.bytes + bytes_of(now.iter()) - bytes_of(before());
        let are_same = before().map(|known| known.id).eq(now.iter().map(|known| known.id));
        if are_same {
            for (place, record) in places.iter().zip(now) {
                if let Some(known) = self.all.get_mut(*place) {
                    *known = record;
                }
            }
        } else {
            let mut left = ids.iter().peekable();
            self.all.retain(|known| {
                while left.next_if(|id| **id < known.id).is_some() {}
                left.peek().is_none_or(|id| **id != known.id)
            });
            self.all.extend(now);
            // The list is two sorted parts: stable sorting joins them in one pass.
            self.all.sort_by_key(|known| known.id);
        }
        Ok(differences)
    }

    /// Returns what is kept of each record, in order.
    pub(super) fn all_kept(&self) -> impl Iterator<Item = T> {
        self.all.iter().map(|known| known.kept)
    }

    /// Returns what is kept of a record.
    pub(super) fn kept(&self, id: Uuid) -> Option<T> {
        Some(self.all.get(self.place(id)?)?.kept)
    }

    fn place(&self, id: Uuid) -> Option<usize> {
        self.all.binary_search_by_key(&id, |known| known.id).ok()
    }
}

/// The records that differ from the known ones.
#[derive(Debug)]
pub(super) struct RecordDifferences<T> {
    /// The records that are new or changed.
    pub(super) changed: Vec<KnownRecord<T>>,
    /// The records that no longer are.
    pub(super) removed: Vec<KnownRecord<T>>,
}

/// Compares records with the known ones; both are sorted by id. Returns all records of now, and the differences.
fn compare<'k, T: Copy + 'k>(
    known: impl Iterator<Item = &'k KnownRecord<T>>,
    records: &[Record],
    kept: impl Fn(&Record) -> Result<T, Error>,
) -> Result<(Vec<KnownRecord<T>>, RecordDifferences<T>), Error> {
    debug_assert!(records.is_sorted_by_key(|record| record.key.id));
    let mut before = known.copied().peekable();
    let mut now = Vec::with_capacity(records.len());
    let mut differences = RecordDifferences { changed: Vec::new(), removed: Vec::new() };
    for record in records {
        let (id, version) = (record.key.id, record.version);
        while let Some(former) = before.next_if(|former| former.id < id) {
            differences.removed.push(former);
        }
        let former = before.next_if(|former| former.id == id);
        let kept = former.map_or_else(|| kept(record), |former| Ok(former.kept))?;
        let bytes = u32::try_from(record.body.len()).unwrap_or(u32::MAX);
        let present = KnownRecord { id, kept, version, bytes };
        if former.is_none_or(|former| former.version != version) {
            differences.changed.push(present);
        }
        now.push(present);
    }
    differences.removed.extend(before);
    Ok((now, differences))
}

fn bytes_of<'k, T: 'k>(records: impl Iterator<Item = &'k KnownRecord<T>>) -> usize {
    records.map(|record| record.bytes as usize).sum()
}
