use std::hash::{BuildHasher, RandomState};
use std::ops::Deref;

use hashbrown::HashTable;
use uuid::Uuid;

use super::hashed_rows::HashedRows;
use crate::invariant::Invariant;
use crate::store::index::interner::NameId;
use crate::store::index::rows::Rows;
use crate::store::index::rows::common_values::COMMON_FROM;
use crate::store::index::run::RowId;

/// A link: a relation and its target.
type LinkKey = (NameId, Uuid);

/// Finds the rows with a link, sorted.
///
/// Most links have a single row, such as the subnet of one host. Such a link takes an entry of about 8 bytes and is
/// compared in the row; a posting list of its own would take 130.
#[derive(Debug, Default)]
pub(in crate::store::index) struct LinkIndex {
    hasher: RandomState,
    /// The row of each link that has only one.
    single: HashedRows,
    /// The rows of each link that has several.
    lists: HashTable<(LinkKey, Vec<RowId>)>,
}

impl LinkIndex {
    /// Estimates the memory in bytes, without the rows of links that have several.
    pub(in crate::store::index) fn bytes(&self) -> usize {
        self.single.bytes() + self.lists.allocation_size()
    }

    pub(in crate::store::index) fn rows(
        &self,
        rows: &Rows,
        relation: NameId,
        target: Uuid,
    ) -> LinkedRows<'_> {
        let (link, hash) = ((relation, target), self.hash((relation, target)));
        match self.lists.find(hash, |(key, _)| *key == link) {
            Some((_, list)) => LinkedRows::Several(list),
            None => self.find_single(rows, link, hash).map_or(LinkedRows::default(), LinkedRows::One),
        }
    }

    /// Inserts the links of a row, which `rows` must contain in its new state. Targets that become common are appended
    /// to `common`.
    pub(in crate::store::index) fn insert_all(&mut self, rows: &Rows, id: RowId, common: &mut Vec<Uuid>) {
        let Some(row) = rows.get(id).asserted() else { return };
        for link in row.facets.links(rows.common_values()) {
            common.extend(self.insert(rows, id, link));
        }
    }

    /// Inserts a link that a row has gained. `rows` must contain the other rows with the link. Returns its target if it
    /// has just become common.
    pub(in crate::store::index) fn insert(&mut self, rows: &Rows, id: RowId, link: LinkKey) -> Option<Uuid> {
        let hash = self.hash(link);
        if let Some(((_, target), list)) = self.lists.find_mut(hash, |(key, _)| *key == link) {
            insert_sorted(list, id);
            return Some(*target).filter(|_| list.len() == COMMON_FROM);
        }
        let mut others = self.single.rows(short(hash));
        let other = others.find(|other| *other != id && has_link(rows, *other, link));
        drop(others);
        let Some(other) = other else {
            self.single.insert(short(hash), id);
            return None;
        };
        let was_there = self.single.remove(short(hash), other);
        debug_assert!(was_there, "row {other} was found under this hash");
        let list = vec![other.min(id), other.max(id)];
        let hasher = &self.hasher;
        self.lists.insert_unique(hash, (link, list), |(key, _)| hasher.hash_one(key));
        None
    }

    /// Removes links that a row has lost.
    pub(in crate::store::index) fn remove_all(&mut self, links: impl Iterator<Item = LinkKey>, id: RowId) {
        for link in links {
            let hash = self.hash(link);
            let Ok(mut entry) = self.lists.find_entry(hash, |(key, _)| *key == link) else {
                let was_there = self.single.remove(short(hash), id);
                debug_assert!(was_there, "a link of row {id} is in no lookup");
                continue;
            };
            let (_, list) = entry.get_mut();
            if let Some(place) = list.binary_search(&id).ok().asserted() {
                list.remove(place);
            }
            if let [last] = list[..] {
                entry.remove();
                self.single.insert(short(hash), last);
            }
        }
    }

    fn find_single(&self, rows: &Rows, link: LinkKey, hash: u64) -> Option<RowId> {
        self.single.rows(short(hash)).find(|row| has_link(rows, *row, link))
    }

    fn hash(&self, link: LinkKey) -> u64 {
        self.hasher.hash_one(link)
    }
}

/// The rows with a link, sorted.
#[derive(Clone, Copy, Debug)]
pub(in crate::store::index) enum LinkedRows<'l> {
    One(RowId),
    Several(&'l [RowId]),
}

impl Default for LinkedRows<'_> {
    fn default() -> Self {
        Self::Several(&[])
    }
}

impl Deref for LinkedRows<'_> {
    type Target = [RowId];

    fn deref(&self) -> &[RowId] {
        match self {
            Self::One(row) => std::slice::from_ref(row),
            Self::Several(rows) => rows,
        }
    }
}

/// The half of a hash that `hashbrown` uses least.
const fn short(hash: u64) -> u32 {
    hash as u32
}

fn has_link(rows: &Rows, row: RowId, link: LinkKey) -> bool {
    let row = rows.get(row).asserted();
    row.is_some_and(|row| row.facets.links(rows.common_values()).any(|other| other == link))
}

/// Inserts a row into a sorted list unless the list has it. Most rows are newer than all rows in the list.
fn insert_sorted(list: &mut Vec<RowId>, row: RowId) {
    if list.last().is_none_or(|last| *last < row) {
        list.push(row);
    } else if let Err(place) = list.binary_search(&row) {
        list.insert(place, row);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::store::index::rows::Row;
    use crate::store::index::rows::common_values::CommonValues;
    use crate::store::index::rows::packed::PackedFacets;

    fn row(links: &[LinkKey]) -> Row {
        let facets = PackedFacets::pack(None, &[], links, &[], &[], &CommonValues::default());
        Row { id: Uuid::nil(), version: 1, table: 0, partition: 0, network_slot: 0, facets }
    }

    #[test]
    fn links_agree_with_sets_while_they_gain_and_lose_their_second_rows() {
        let keys: Vec<LinkKey> =
            (0..12).map(|number| (number % 3, Uuid::from_u128(u128::from(number / 3)))).collect();
        let mut random = fastrand::Rng::with_seed(7);
        let (mut rows, mut links) = (Rows::default(), LinkIndex::default());
        let mut model: Vec<BTreeSet<LinkKey>> = vec![BTreeSet::new(); 5];
        model.iter().for_each(|_| _ = rows.insert(row(&[])));
        for step in 0..4_000 {
            let id = random.usize(..model.len());
            let max = if step % 100 < 50 { 4 } else { 2 };
            model[id] = (0..random.usize(..max)).map(|_| *random.choice(&keys).unwrap()).collect();
            let facets = &rows.get(id as RowId).unwrap().facets;
            links.remove_all(facets.links(rows.common_values()), id as RowId);
            *rows.get_mut(id as RowId).unwrap() = row(&model[id].iter().copied().collect::<Vec<_>>());
            links.insert_all(&rows, id as RowId, &mut Vec::new());
            for (relation, target) in &keys {
                let expected = (0..).zip(&model).filter(|(_, links)| links.contains(&(*relation, *target)));
                let expected: Vec<RowId> = expected.map(|(id, _)| id).collect();
                assert_eq!(*links.rows(&rows, *relation, *target), expected);
            }
        }
        let singles = keys.iter().filter(|key| model.iter().filter(|links| links.contains(key)).count() == 1);
        assert_eq!(links.single.len(), singles.count());
    }
}
