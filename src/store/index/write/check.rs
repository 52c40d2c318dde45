use std::collections::{HashMap, HashSet};

use uuid::Uuid;

use super::difference::borrowed;
use super::pack::Packs;
use crate::invariant::Invariant;
use crate::store::index::Index;
use crate::store::index::interner::NameId;
use crate::store::index::lookup::LinkedRows;
use crate::store::index::run::RowId;
use crate::store::{Facets, Guard, Key, Link, Name, Precondition, StoreError, Term, UniqueKey, Write};

/// Maximum size of the packed facets of a row, in bytes. It ensures that offsets fit into 32 bits.
const MAX_FACETS: usize = 1 << 30;

impl Index {
    /// Checks whether a batch may be applied to the present state.
    ///
    /// # Errors
    /// The errors of [`Store::commit`](crate::store::Store::commit), for the first condition found that is not met.
    pub(crate) fn check(&self, writes: &[Write], packs: &Packs, guards: &[Guard]) -> Result<(), StoreError> {
        // The facets of the others were checked when they were packed, and the index knows their names.
        let unpacked = writes.iter().enumerate().filter(|(place, _)| packs.get(*place).is_none());
        let keys = self.check_limits(writes.iter(), puts(unpacked.map(|(_, write)| write)))?;
        for write in writes {
            self.check_precondition(write.key(), write.precondition())?;
        }
        for guard in guards {
            self.check_guard(guard, &keys)?;
        }
        if packs.have_distinct_keys {
            self.check_distinct_keys(writes, packs, &keys)
        } else {
            self.check_unique_keys(puts(writes.iter()), &keys)
        }
    }

    /// Checks whether the index can hold the written records, in any state. Returns the keys of the writes.
    ///
    /// `unpacked` has the puts whose facets have not been checked.
    fn check_limits<'w>(
        &self,
        writes: impl Iterator<Item = &'w Write>,
        unpacked: impl Iterator<Item = (Key, &'w Facets)> + Clone,
    ) -> Result<HashSet<Key>, StoreError> {
        let mut keys = HashSet::with_capacity(writes.size_hint().0);
        for write in writes {
            if !keys.insert(write.key()) {
                return Err(StoreError::invalid(format!("two writes name {}", write.key())));
            }
        }
        for (key, facets) in unpacked.clone() {
            check_facets(key, facets)?;
        }
        self.check_room(keys.len(), unpacked)?;
        Ok(keys)
    }

    fn check_room<'a>(
        &self,
        rows: usize,
        puts: impl Iterator<Item = (Key, &'a Facets)> + Clone,
    ) -> Result<(), StoreError> {
        if !self.rows.has_room_for(rows) {
            return Err(StoreError::unavailable("the index can number no more records"));
        }
        // Exact counting is needed only when the names would not fit even if all were new.
        let max: usize = puts.clone().map(|(key, facets)| names_of(key, facets).count()).sum();
        if !self.names.has_room_for(max) && !self.names.has_room_for(self.unknown_names(puts)) {
            return Err(StoreError::invalid("the index can number no more names"));
        }
        Ok(())
    }

    fn check_precondition(&self, key: Key, precondition: Precondition) -> Result<(), StoreError> {
        let found = self.find(key).and_then(|row| self.key(row)).map(|(_, version)| version);
        let met = match precondition {
            Precondition::Any => true,
            Precondition::Absent => found.is_none(),
            Precondition::Present => found.is_some(),
            Precondition::Version(version) => found == Some(version),
        };
        if met { Ok(()) } else { Err(StoreError::conflict(key)) }
    }

    fn check_guard(&self, guard: &Guard, written: &HashSet<Key>) -> Result<(), StoreError> {
        match guard {
            Guard::Record { key, precondition } => self.check_precondition(*key, *precondition),
            Guard::UniqueKey { unique_key, holder } => {
                let found =
                    self.get_by_unique_key(unique_key).and_then(|row| self.key(row)).map(|(key, _)| key);
                if found == *holder { Ok(()) } else { Err(StoreError::unique_key_taken(unique_key.clone())) }
            }
            Guard::LinkedWithin { organization, link } => {
                let linked = self.rows_linked(*link);
                let linked = linked.iter().filter(|row| self.belongs_to(**row, *organization));
                let within = linked.filter_map(|row| self.key(*row)).all(|(key, _)| written.contains(&key));
                if within { Ok(()) } else { Err(StoreError::linked(*link)) }
            }
            Guard::NetworkEmpty { organization, network, except } => {
                let there = self.rows_on(*network, *organization, except);
                let mut there = there.filter_map(|row| self.key(row));
                let within = there.all(|(key, _)| written.contains(&key));
                if within { Ok(()) } else { Err(StoreError::network_in_use(*network)) }
            }
        }
    }

    /// Checks that unique keys are unique after the batch. They must be unique among its puts, and with all records
    /// that it leaves alone.
    fn check_unique_keys<'w>(
        &self,
        puts: impl Iterator<Item = (Key, &'w Facets)> + Clone,
        written: &HashSet<Key>,
    ) -> Result<(), StoreError> {
        let puts = puts.filter(|(_, facets)| !facets.unique_keys.is_empty());
        let is_alone = puts.clone().count() <= 1;
        let count = if is_alone { 0 } else { puts.clone().map(|(_, facets)| facets.unique_keys.len()).sum() };
        let mut claims: HashMap<&UniqueKey, Key> = HashMap::with_capacity(count);
        for (key, facets) in puts {
            let there = self.find(key).and_then(|row| self.rows.get(row));
            for unique_key in &facets.unique_keys {
                let others_claim =
                    !is_alone && claims.insert(unique_key, key).is_some_and(|claimant| claimant != key);
                // Most puts repeat the unique keys of the record, so they are compared with these first.
                let is_own = there.is_some_and(|row| {
                    self.names
                        .find(unique_key.name)
                        .is_some_and(|name| row.facets.has_unique_key(name, &unique_key.value))
                });
                if others_claim
                    || (!is_own && self.is_left_alone(self.get_by_unique_key(unique_key), written))
                {
                    return Err(StoreError::unique_key_taken(unique_key.clone()));
                }
            }
        }
        Ok(())
    }

    /// Checks the unique keys of packed puts that have none in common. Only added unique keys are looked up.
    fn check_distinct_keys(
        &self,
        writes: &[Write],
        packs: &Packs,
        written: &HashSet<Key>,
    ) -> Result<(), StoreError> {
        for (place, write) in writes.iter().enumerate() {
            let Some(packed) = packs.get(place) else { continue };
            match self.find(write.key()).and_then(|row| self.rows.get(row)) {
                Some(row) => match packed.difference(row) {
                    Some(difference) => self.check_free(borrowed(&difference.unique_keys.gained), written)?,
                    None => self.check_free(packed.facets.unique_keys_beside(&row.facets), written)?,
                },
                None => self.check_free(packed.facets.unique_keys(), written)?,
            }
        }
        Ok(())
    }

    /// Checks that no record that the batch leaves alone has one of these unique keys.
    fn check_free<'k>(
        &self,
        mut unique_keys: impl Iterator<Item = (NameId, &'k [u8])>,
        written: &HashSet<Key>,
    ) -> Result<(), StoreError> {
        let is_held = |(name, value): &(NameId, &[u8])| {
            self.is_left_alone(self.unique_keys.find(&self.rows, *name, value), written)
        };
        let Some((name, value)) = unique_keys.find(is_held) else { return Ok(()) };
        let name = self.names.name(name).ok_or_else(|| StoreError::corrupt("a unique key has no name"))?;
        Err(StoreError::unique_key_taken(UniqueKey::new(name, value)))
    }

    /// Returns whether the row exists and the batch does not write it.
    fn is_left_alone(&self, row: Option<RowId>, written: &HashSet<Key>) -> bool {
        row.and_then(|row| self.key(row)).is_some_and(|(key, _)| !written.contains(&key))
    }

    fn unknown_names<'a>(&self, puts: impl Iterator<Item = (Key, &'a Facets)>) -> usize {
        let names = puts.flat_map(|(key, facets)| names_of(key, facets));
        names.filter(|name| self.names.find(*name).is_none()).collect::<HashSet<_>>().len()
    }

    fn belongs_to(&self, row: RowId, organization: Option<Uuid>) -> bool {
        let row = self.rows.get(row).asserted();
        let partition = row.and_then(|row| self.rows.partitions().get(row.partition));
        organization.is_none() || partition.is_some_and(|partition| partition.organization == organization)
    }

    fn rows_linked(&self, link: Link) -> LinkedRows<'_> {
        let relation = self.names.find(link.relation);
        relation
            .map_or_else(LinkedRows::default, |relation| self.links.rows(&self.rows, relation, link.target))
    }

    /// Iterates over the rows of all kinds on a network of an organization. `None`: of any organization or none.
    fn rows_on(
        &self,
        network: Uuid,
        organization: Option<Uuid>,
        except: &[Name],
    ) -> impl Iterator<Item = RowId> {
        let except: Vec<_> = except.iter().filter_map(|kind| self.names.find(*kind)).collect();
        let tables = self.tables.iter().filter(move |(kind, _)| !except.contains(kind));
        let tables: Vec<_> = tables.map(|(_, table)| table).collect();
        let partitions = self.rows.partitions().on(network, organization);
        partitions.flat_map(move |partition| {
            tables.clone().into_iter().flat_map(move |table| table.rows(partition))
        })
    }
}

#[cfg(any(feature = "sled", feature = "postgres"))]
impl Index {
    /// Checks whether one more record with these facets can be held.
    pub(super) fn check_record(&self, key: Key, facets: &Facets) -> Result<(), StoreError> {
        check_facets(key, facets)?;
        self.check_room(1, std::iter::once((key, facets)))
    }

    /// Returns whether the writes contain a name without a number.
    pub(crate) fn introduces_names(&self, writes: &[Write]) -> bool {
        self.unknown_names(puts(writes.iter())) > 0
    }
}

#[cfg(feature = "postgres")]
impl Index {
    /// Checks whether the writes of one entry of a log may be applied to the present state. Its batches do not depend on
    /// each other.
    ///
    /// # Errors
    /// The errors of [`check`](Self::check), for the first limit that is broken.
    pub(crate) fn check_entry<'w>(
        &self,
        writes: impl Iterator<Item = &'w Write> + Clone,
    ) -> Result<(), StoreError> {
        let keys = self.check_limits(writes.clone(), puts(writes.clone()))?;
        self.check_unique_keys(puts(writes), &keys)
    }
}

/// Iterates over the keys and facets of the puts.
fn puts<'w>(
    writes: impl Iterator<Item = &'w Write> + Clone,
) -> impl Iterator<Item = (Key, &'w Facets)> + Clone {
    writes.filter_map(|write| match write {
        Write::Put { key, facets, .. } => Some((*key, facets)),
        Write::Delete { .. } => None,
    })
}

fn names_of(key: Key, facets: &Facets) -> impl Iterator<Item = Name> + '_ {
    let relations = facets.links.iter().map(|link| link.relation);
    let sort_names = facets.sort_keys.iter().map(|key| key.name);
    let unique_keys = facets.unique_keys.iter().map(|unique_key| unique_key.name);
    std::iter::once(key.kind).chain(relations).chain(sort_names).chain(unique_keys).chain(term_names(facets))
}

/// Iterates over the names of the terms. Terms of one name usually follow each other, so few names occur twice.
pub(super) fn term_names(facets: &Facets) -> impl Iterator<Item = Name> + '_ {
    let alike = facets.terms.chunk_by(|left, right| left.name == right.name);
    alike.filter_map(|terms| terms.first()).map(|term| term.name)
}

pub(super) fn check_facets(key: Key, facets: &Facets) -> Result<(), StoreError> {
    let mut names: Vec<Name> = facets.sort_keys.iter().map(|key| key.name).collect();
    names.sort_unstable();
    if names.windows(2).any(|pair| pair.first() == pair.last()) {
        return Err(StoreError::invalid(format!("{key} names a sort key twice")));
    }
    let keys_size: usize = facets.sort_keys.iter().map(|key| key.value.len()).sum();
    let others_size = (facets.links.len() + facets.unique_keys.len()).saturating_mul(UniqueKey::MAX_LENGTH);
    let terms_size = facets.terms.len().saturating_mul(2 * Term::MAX_LENGTH);
    if keys_size.saturating_add(others_size).saturating_add(terms_size) > MAX_FACETS {
        return Err(StoreError::invalid(format!("{key} has facets of more than {MAX_FACETS} bytes")));
    }
    if facets.unique_keys.iter().any(|unique_key| unique_key.value.len() > UniqueKey::MAX_LENGTH) {
        return Err(StoreError::invalid(format!(
            "{key} has a unique key of more than {} bytes",
            UniqueKey::MAX_LENGTH
        )));
    }
    if facets.terms.iter().any(|term| term.value.len() > Term::MAX_LENGTH) {
        return Err(StoreError::invalid(format!("{key} has a term of more than {} bytes", Term::MAX_LENGTH)));
    }
    Ok(())
}
