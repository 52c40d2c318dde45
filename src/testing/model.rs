//! A simple reference implementation of the contract, which stores are compared with.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use crate::model::Timestamp;
use crate::store::{
    Batch, Cursor, Direction, Entry, Guard, Key, Link, LinkCondition, LinkFilter, Name, Order, Page,
    Precondition, Query, Record, Start, StoreErrorKind, Term, TermFilter, UniqueKey, Version, Write,
};
use crate::testing::{Entries, as_returned, by_key};

#[derive(Debug, Default)]
pub(super) struct Model {
    entries: BTreeMap<Key, Entry>,
}

impl Model {
    pub(super) fn get(&self, key: Key) -> Option<Record> {
        self.entries.get(&key).map(|entry| entry.record.clone())
    }

    pub(super) fn get_by_unique_key(&self, unique_key: &UniqueKey) -> Option<Record> {
        let mut entries = self.entries.values();
        entries.find(|entry| entry.facets.unique_keys.contains(unique_key)).map(|entry| entry.record.clone())
    }

    pub(super) fn list(&self, query: &Query) -> Result<Page, StoreErrorKind> {
        if !is_valid(query) {
            return Err(StoreErrorKind::Invalid);
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

    /// Returns every error that the batch may fail with. The contract lets a store report any one of them.
    pub(super) fn violations(&self, batch: &Batch) -> Vec<StoreErrorKind> {
        let written: BTreeSet<Key> = batch.writes().iter().map(Write::key).collect();
        let mut violations = Vec::new();
        let mut writes = batch.writes().iter();
        if written.len() < batch.writes().len()
            || writes.any(|it| has_sort_key_twice(it) || has_long_term(it))
        {
            violations.push(StoreErrorKind::Invalid);
        }
        let preconditions = batch.writes().iter().map(|write| (write.key(), write.precondition()));
        violations.extend(
            preconditions
                .filter(|(key, precondition)| !self.satisfies(*key, *precondition))
                .map(|(key, _)| StoreErrorKind::Conflict(key)),
        );
        violations.extend(batch.guards().iter().filter_map(|guard| self.violation(guard, &written)));
        violations.extend(self.unique_keys_shared_after(batch, &written).map(StoreErrorKind::UniqueKeyTaken));
        violations
    }

    /// Applies a valid batch, with the versions that the store assigned.
    pub(super) fn apply(&mut self, batch: &Batch, versions: &BTreeMap<Key, Version>) {
        for write in batch.writes() {
            match write {
                Write::Put { key, facets, body, .. } => {
                    let version = versions.get(key).copied().unwrap_or(Version(0));
                    let record = Record { key: *key, version, body: body.clone() };
                    self.entries.insert(*key, Entry { record, facets: facets.clone() });
                }
                Write::Delete { key, .. } => {
                    self.entries.remove(key);
                }
            }
        }
    }

    /// Returns the expected contents of a snapshot.
    pub(super) fn entries(&self) -> Entries {
        let entries = self.entries.values().cloned();
        by_key(entries.map(|Entry { record, facets }| Entry { record, facets: as_returned(facets) }))
    }

    pub(super) fn purge_expired(&mut self, now: Timestamp) -> u64 {
        let before = self.entries.len();
        self.entries.retain(|_, entry| entry.facets.expires_at.is_none_or(|time| time > now));
        (before - self.entries.len()) as u64
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

    fn violation(&self, guard: &Guard, written: &BTreeSet<Key>) -> Option<StoreErrorKind> {
        match guard {
            Guard::Record { key, precondition } => {
                (!self.satisfies(*key, *precondition)).then_some(StoreErrorKind::Conflict(*key))
            }
            Guard::UniqueKey { unique_key, holder } => {
                (self.get_by_unique_key(unique_key).map(|record| record.key) != *holder)
                    .then(|| StoreErrorKind::UniqueKeyTaken(unique_key.clone()))
            }
            Guard::LinkedWithin { organization, link } => self
                .entries
                .iter()
                .filter(|(_, entry)| organization.is_none() || entry.facets.organization == *organization)
                .any(|(key, entry)| entry.facets.links.contains(link) && !written.contains(key))
                .then_some(StoreErrorKind::Linked(*link)),
            Guard::NetworkEmpty { organization, network } => self
                .entries
                .iter()
                .filter(|(_, entry)| organization.is_none() || entry.facets.organization == *organization)
                .any(|(key, entry)| entry.facets.network == Some(*network) && !written.contains(key))
                .then_some(StoreErrorKind::NetworkInUse(*network)),
        }
    }

    fn unique_keys_shared_after(
        &self,
        batch: &Batch,
        written: &BTreeSet<Key>,
    ) -> impl Iterator<Item = UniqueKey> {
        let kept = self.entries.iter().filter(|(key, _)| !written.contains(key));
        let put = batch.writes().iter().filter_map(|write| match write {
            Write::Put { key, facets, .. } => Some((key, facets)),
            Write::Delete { .. } => None,
        });
        let mut holders: BTreeMap<UniqueKey, BTreeSet<Key>> = BTreeMap::new();
        for (key, facets) in kept.map(|(key, entry)| (key, &entry.facets)).chain(put) {
            for unique_key in &facets.unique_keys {
                holders.entry(unique_key.clone()).or_default().insert(*key);
            }
        }
        holders.into_iter().filter(|(_, keys)| keys.len() > 1).map(|(unique_key, _)| unique_key)
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
        Cursor::new(order.iter().map(|term| self.sort_key(term.name)).collect(), self.record.key.id)
    }

    fn sort_key(&self, name: Name) -> Vec<u8> {
        let mut keys = self.facets.sort_keys.iter();
        keys.find(|key| key.name == name).map_or_else(Vec::new, |key| key.value.clone())
    }
}

fn has_sort_key_twice(write: &Write) -> bool {
    let Write::Put { facets, .. } = write else { return false };
    let names: BTreeSet<_> = facets.sort_keys.iter().map(|key| key.name).collect();
    names.len() < facets.sort_keys.len()
}

fn has_long_term(write: &Write) -> bool {
    let Write::Put { facets, .. } = write else { return false };
    facets.terms.iter().any(|term| term.value.len() > Term::MAX_LENGTH)
}

fn is_valid(query: &Query) -> bool {
    let names: BTreeSet<_> = query.order.iter().map(|term| term.name).collect();
    let fits = match &query.start {
        Start::Offset(_) => true,
        Start::After(cursor) => cursor.keys().len() == query.order.len(),
    };
    fits && names.len() == query.order.len()
}

fn compare(order: &[Order], left: &Cursor, right: &Cursor) -> Ordering {
    let terms = order.iter().zip(left.keys().iter().zip(right.keys()));
    let by_terms = terms.map(|(term, (left, right))| match term.direction {
        Direction::Ascending => left.cmp(right),
        Direction::Descending => right.cmp(left),
    });
    by_terms.fold(Ordering::Equal, Ordering::then).then(left.id().cmp(&right.id()))
}

fn page(query: &Query, places: &[(Cursor, &Entry)]) -> Page {
    let skipped = match &query.start {
        Start::Offset(offset) => usize::try_from(*offset).unwrap_or(usize::MAX),
        Start::After(cursor) => {
            places.iter().filter(|(place, _)| compare(&query.order, place, cursor).is_le()).count()
        }
    };
    let limit = query.limit.unwrap_or(usize::MAX);
    let shown: Vec<_> = places.iter().skip(skipped).take(limit).collect();
    let more = places.len() > skipped.saturating_add(shown.len());
    let records = shown.iter().map(|(_, entry)| entry.record.clone()).collect();
    let next = shown.last().filter(|_| more).map(|(place, _)| place.clone());
    Page::new(records, places.len() as u64, next).cut(query.max_bytes)
}
