//! The reference store: the contract of [`Store`] in its shortest form.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::vec;

use async_trait::async_trait;

use super::as_returned;
use crate::model::Timestamp;
use crate::store::{
    Batch, Cursor, Direction, Entry, Facets, Guard, Key, Link, LinkCondition, LinkFilter, Name, Order, Page,
    Precondition, Query, Record, Snapshot, Start, Store, StoreError, Term, TermFilter, UniqueKey, Version,
    Write,
};

/// A naive store: the contract of [`Store`] as a program.
///
/// It keeps all records in one map behind one lock. Every filter, order and guard is written as the contract states it,
/// and examines every record. Where the words of the contract leave doubt, this source decides.
///
/// The conformance suite compares every backend with it: a case performs thousands of random operations on both, and their
/// answers must be the same. Where the contract leaves a choice, such as which of several errors a commit reports, every
/// choice is accepted. It is meant to be read. For use, [`MemoryStore`](crate::store::MemoryStore) has an index.
///
/// ```no_run
/// # async fn conforms() {
/// toposcope::testing::run(async || toposcope::testing::ReferenceStore::default()).await.assert_passed();
/// # }
/// ```
#[derive(Debug, Default)]
pub struct ReferenceStore {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    entries: BTreeMap<Key, Entry>,
    last_version: u64,
}

#[async_trait]
impl Store for ReferenceStore {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Record>>, StoreError> {
        let state = self.state();
        Ok(keys.iter().map(|key| state.entries.get(key).map(|entry| entry.record.clone())).collect())
    }

    async fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Result<Option<Record>, StoreError> {
        Ok(self.state().holder(unique_key).map(|entry| entry.record.clone()))
    }

    async fn list(&self, query: &Query) -> Result<Page, StoreError> {
        self.state().list(query)
    }

    async fn commit(&self, batch: Batch) -> Result<(), StoreError> {
        let mut state = self.state();
        if let Some(violation) = state.violations(&batch).into_iter().next() {
            return Err(violation);
        }
        let version = Version(state.last_version + 1);
        state.apply(&batch, |_| version);
        Ok(())
    }

    async fn purge_expired(&self, now: Timestamp) -> Result<u64, StoreError> {
        let mut state = self.state();
        let before = state.entries.len();
        state.entries.retain(|_, entry| entry.facets.expires_at.is_none_or(|time| time > now));
        Ok((before - state.entries.len()) as u64)
    }

    async fn snapshot(&self) -> Result<Box<dyn Snapshot>, StoreError> {
        let entries: Vec<Entry> = self.state().entries.values().cloned().collect();
        Ok(Box::new(ReferenceSnapshot { entries: entries.into_iter() }))
    }

    fn is_shared(&self) -> bool {
        false
    }
}

#[derive(Debug)]
struct ReferenceSnapshot {
    entries: vec::IntoIter<Entry>,
}

#[async_trait]
impl Snapshot for ReferenceSnapshot {
    async fn next(&mut self, limit: usize) -> Result<Vec<Entry>, StoreError> {
        Ok(self.entries.by_ref().take(limit).collect())
    }
}

impl ReferenceStore {
    /// Returns every error that the batch may fail with. The contract lets a store report any one of them.
    pub(super) fn violations(&self, batch: &Batch) -> Vec<StoreError> {
        self.state().violations(batch)
    }

    /// Applies a batch that another store has accepted, with the versions that it has assigned.
    pub(super) fn follow(&self, batch: &Batch, versions: &BTreeMap<Key, Version>) {
        self.state().apply(batch, |key| versions.get(&key).copied().unwrap_or(Version(0)));
    }

    pub(super) fn version(&self, key: Key) -> Option<Version> {
        self.state().entries.get(&key).map(|entry| entry.record.version)
    }

    pub(super) fn holder(&self, unique_key: &UniqueKey) -> Option<Key> {
        self.state().holder(unique_key).map(|entry| entry.record.key)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn holder(&self, unique_key: &UniqueKey) -> Option<&Entry> {
        self.entries.values().find(|entry| entry.facets.unique_keys.contains(unique_key))
    }

    fn list(&self, query: &Query) -> Result<Page, StoreError> {
        if !is_valid(query) {
            return Err(StoreError::invalid("the cursor or the order of the query"));
        }
        let mut places: Vec<(Cursor, &Entry)> = self
            .entries
            .values()
            .filter(|entry| entry.passes(query))
            .map(|entry| (entry.place(&query.order), entry))
            .collect();
        places.sort_by(|(left, _), (right, _)| compare(&query.order, left, right));
        Ok(page(query, &places))
    }

    fn violations(&self, batch: &Batch) -> Vec<StoreError> {
        let written: BTreeSet<Key> = batch.writes().iter().map(Write::key).collect();
        let mut violations = Vec::new();
        if written.len() < batch.writes().len() || !puts(batch).all(|(_, facets)| are_valid(facets)) {
            violations.push(StoreError::invalid("a key twice in the batch, or the facets of a put"));
        }
        let failed = batch.writes().iter().filter(|it| !self.satisfies(it.key(), it.precondition()));
        violations.extend(failed.map(|write| StoreError::conflict(write.key())));
        violations.extend(batch.guards().iter().filter_map(|guard| self.violation(guard, &written)));
        violations.extend(self.shared_after(batch, &written).into_iter().map(StoreError::unique_key_taken));
        violations
    }

    fn apply(&mut self, batch: &Batch, version_of: impl Fn(Key) -> Version) {
        for write in batch.writes() {
            match write {
                Write::Put { key, facets, body, .. } => {
                    let version = version_of(*key);
                    self.last_version = self.last_version.max(version.0);
                    let record = Record { key: *key, version, body: body.clone() };
                    let facets = as_returned(facets.completed(version).into_owned());
                    self.entries.insert(*key, Entry::new(record, facets));
                }
                Write::Delete { key, .. } => drop(self.entries.remove(key)),
            }
        }
    }

    fn satisfies(&self, key: Key, precondition: Precondition) -> bool {
        let version = self.entries.get(&key).map(|entry| entry.record.version);
        match precondition {
            Precondition::Absent => version.is_none(),
            Precondition::Present => version.is_some(),
            Precondition::Version(expected) => version == Some(expected),
            Precondition::Any => true,
        }
    }

    fn violation(&self, guard: &Guard, written: &BTreeSet<Key>) -> Option<StoreError> {
        let is_outside = |organization: &Option<_>, except: &[Name], has: &dyn Fn(&Facets) -> bool| {
            self.entries.values().any(|Entry { record, facets, .. }| {
                !written.contains(&record.key)
                    && !except.contains(&record.key.kind)
                    && (organization.is_none() || facets.organization == *organization)
                    && has(facets)
            })
        };
        match guard {
            Guard::Record { key, precondition } => {
                (!self.satisfies(*key, *precondition)).then(|| StoreError::conflict(*key))
            }
            Guard::UniqueKey { unique_key, holder } => {
                (self.holder(unique_key).map(|entry| entry.record.key) != *holder)
                    .then(|| StoreError::unique_key_taken(unique_key.clone()))
            }
            Guard::LinkedWithin { organization, link } => {
                is_outside(organization, &[], &|facets| facets.links.contains(link))
                    .then(|| StoreError::linked(*link))
            }
            Guard::NetworkEmpty { organization, network, except } => {
                is_outside(organization, except, &|facets| facets.network == Some(*network))
                    .then(|| StoreError::network_in_use(*network))
            }
        }
    }

    /// Returns the unique keys that two records would have after the batch.
    fn shared_after(&self, batch: &Batch, written: &BTreeSet<Key>) -> BTreeSet<UniqueKey> {
        let mut holders: BTreeMap<&UniqueKey, BTreeSet<Key>> = BTreeMap::new();
        for (key, facets) in puts(batch) {
            facets.unique_keys.iter().for_each(|unique_key| {
                holders.entry(unique_key).or_default().insert(key);
            });
        }
        for (key, entry) in self.entries.iter().filter(|(key, _)| !written.contains(key)) {
            for unique_key in &entry.facets.unique_keys {
                holders.entry(unique_key).and_modify(|keys| {
                    keys.insert(*key);
                });
            }
        }
        let shared = holders.into_iter().filter(|(_, keys)| keys.len() > 1);
        shared.map(|(unique_key, _)| unique_key.clone()).collect()
    }
}

impl Entry {
    fn passes(&self, query: &Query) -> bool {
        let Key { kind, id } = self.record.key;
        let network = self.facets.network;
        kind == query.kind
            && (query.organization.is_none() || query.organization == self.facets.organization)
            && query.networks.as_ref().is_none_or(|any| network.is_some_and(|network| any.contains(&network)))
            && query.ids.as_ref().is_none_or(|any| any.contains(&id))
            && query.links.iter().all(|filter| self.is_linked(filter))
            && query.terms.iter().all(|filter| self.has_term(filter))
            && query.keys.iter().all(|filter| filter.range.contains(&self.sort_key(filter.name)))
    }

    fn is_linked(&self, filter: &LinkFilter) -> bool {
        let wanted = |link: &Link| link.relation == filter.relation && filter.targets.contains(&link.target);
        self.facets.links.iter().any(wanted) == (filter.condition == LinkCondition::Any)
    }

    fn has_term(&self, filter: &TermFilter) -> bool {
        let is_in = |term: &Term| filter.ranges.iter().any(|range| range.contains(&term.value));
        self.facets.terms.iter().any(|term| term.name == filter.name && is_in(term))
    }

    fn place(&self, order: &[Order]) -> Cursor {
        Cursor::new(order.iter().map(|field| self.sort_key(field.name)).collect(), self.record.key.id)
    }

    fn sort_key(&self, name: Name) -> Vec<u8> {
        let mut keys = self.facets.sort_keys.iter();
        keys.find(|key| key.name == name).map_or_else(Vec::new, |key| key.value.clone())
    }
}

fn puts(batch: &Batch) -> impl Iterator<Item = (Key, &Facets)> {
    batch.writes().iter().filter_map(|write| match write {
        Write::Put { key, facets, .. } => Some((*key, facets)),
        Write::Delete { .. } => None,
    })
}

fn are_valid(facets: &Facets) -> bool {
    let names: BTreeSet<Name> = facets.sort_keys.iter().map(|key| key.name).collect();
    names.len() == facets.sort_keys.len()
        && facets.terms.iter().all(|term| term.value.len() <= Term::MAX_LENGTH)
        && facets.unique_keys.iter().all(|key| key.value.len() <= UniqueKey::MAX_LENGTH)
}

fn is_valid(query: &Query) -> bool {
    let names: BTreeSet<_> = query.order.iter().map(|field| field.name).collect();
    let has_keys = |cursor: &Cursor| cursor.keys().len() == query.order.len();
    names.len() == query.order.len() && !matches!(&query.start, Start::After(cursor) if !has_keys(cursor))
}

fn compare(order: &[Order], left: &Cursor, right: &Cursor) -> Ordering {
    let fields = order.iter().zip(left.keys().iter().zip(right.keys()));
    let by_fields = fields.map(|(field, (left, right))| match field.direction {
        Direction::Ascending => left.cmp(right),
        Direction::Descending => right.cmp(left),
    });
    by_fields.fold(Ordering::Equal, Ordering::then).then(left.id().cmp(&right.id()))
}

fn page(query: &Query, places: &[(Cursor, &Entry)]) -> Page {
    let skipped = match &query.start {
        Start::Offset(offset) => usize::try_from(*offset).unwrap_or(usize::MAX),
        Start::After(cursor) => {
            places.iter().filter(|(place, _)| compare(&query.order, place, cursor).is_le()).count()
        }
    };
    let shown: Vec<_> = places.iter().skip(skipped).take(query.limit.unwrap_or(usize::MAX)).collect();
    let has_more = places.len() > skipped.saturating_add(shown.len());
    let records = shown.iter().map(|(_, entry)| entry.record.clone()).collect();
    let next = shown.last().filter(|_| has_more).map(|(place, _)| place.clone());
    Page::new(records, places.len() as u64, next).cut(query.max_bytes)
}
