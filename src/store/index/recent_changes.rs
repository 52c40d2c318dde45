//! The last changes of all records, so that a reader of many records reads only those again that have changed.

use std::collections::{BTreeSet, VecDeque};

use uuid::Uuid;

use super::interner::NameId;

/// Number of changes that are remembered, of all organizations and kinds together: they take about 300 KB.
const MAX_REMEMBERED: usize = if cfg!(test) { 64 } else { 8_192 };

/// A change of a record, as the index counts it: a replaced record counts twice.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecentChange {
    pub(super) table: NameId,
    pub(super) organization: Option<Uuid>,
    pub(super) id: Uuid,
}

/// The last changes, the oldest first.
#[derive(Debug, Default)]
pub(super) struct RecentChanges(VecDeque<RecentChange>);

impl RecentChanges {
    pub(super) fn note(&mut self, change: RecentChange) {
        if self.0.len() == MAX_REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back(change);
    }

    /// Returns the records of this number of last changes of an organization, in order of their ids; `None` if not all of these changes
    /// are remembered.
    pub(super) fn last(&self, table: NameId, organization: Uuid, number: u64) -> Option<Vec<Uuid>> {
        let number = usize::try_from(number).ok().filter(|number| *number <= self.0.len())?;
        let is_its =
            |change: &&RecentChange| change.table == table && change.organization == Some(organization);
        let (mut ids, mut found) = (BTreeSet::new(), 0);
        for change in self.0.iter().rev().filter(is_its).take(number) {
            ids.insert(change.id);
            found += 1;
        }
        (found == number).then(|| ids.into_iter().collect())
    }
}
