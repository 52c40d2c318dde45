use std::collections::{BTreeMap, HashMap};

use uuid::Uuid;

use super::interner::Partition;
use super::list::OrderingCache;
use super::rows::{Rows, Slot};
use super::run::{RowId, Run};
use super::terms::Postings;
use crate::invariant::Invariant;
use crate::store::Name;

/// One run for each slot of the table.
pub(super) type Runs = Vec<Run>;

/// Identifies a set of runs of an organization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum RunSet {
    /// The runs of the organization as a whole.
    Organization,
    /// The runs of one network; `None`: the runs of the records without a network.
    Network(Option<Uuid>),
}

/// The sorted runs and the postings of one kind of record. There is one set of runs for each organization and one for
/// each of its networks. Postings belong to an organization.
#[derive(Debug, Default)]
pub(super) struct KindTable {
    sort_names: Vec<Name>,
    organizations: HashMap<Option<Uuid>, Organization>,
    /// The numbers of changes of organizations that have lost their last records. With them, revisions do not repeat
    /// when such an organization has records again. The index bounds the number of entries.
    emptied: HashMap<Option<Uuid>, u64>,
}

#[derive(Debug, Default)]
struct Organization {
    /// The number of changes of its records. Counted separately for each organization, so that it reveals nothing
    /// about others.
    changes: u64,
    all: Runs,
    /// The runs of each network that has records, sorted by its id.
    networks: BTreeMap<Option<Uuid>, Runs>,
    postings: Postings,
    orderings: OrderingCache,
}

impl KindTable {
    pub(super) fn sort_names(&self) -> &[Name] {
        &self.sort_names
    }

    /// Returns the number of rows.
    pub(super) fn count(&self) -> usize {
        self.organizations.values().map(|organization| length(&organization.all)).sum()
    }

    /// Estimates the memory of all postings, in bytes.
    pub(super) fn postings_bytes(&self) -> usize {
        self.organizations.values().map(|organization| organization.postings.bytes()).sum()
    }

    /// Returns the number of runs in a set. There is one run by id, and one for each sort name.
    pub(super) fn slots(&self) -> usize {
        self.sort_names.len() + 1
    }

    /// Returns the slot of an order. For an unknown name it is the order by id, because all records have the empty
    /// key.
    pub(super) fn slot(&self, name: Name) -> Slot {
        self.sort_names.iter().position(|known| *known == name).map_or(0, |place| place + 1)
    }

    /// Adds an order. All existing records have the empty key in it, so it starts as the order by id.
    pub(super) fn add_sort_name(&mut self, name: Name) {
        if self.sort_names.contains(&name) {
            return;
        }
        self.sort_names.push(name);
        for organization in self.organizations.values_mut() {
            for runs in std::iter::once(&mut organization.all).chain(organization.networks.values_mut()) {
                if let Some(by_id) = runs.first() {
                    runs.push(by_id.with_prefix(0));
                }
            }
        }
    }

    pub(super) fn insert(&mut self, rows: &Rows, partition: Partition, slot: Slot, row: RowId) {
        for set in [RunSet::Organization, RunSet::Network(partition.network)] {
            if let Some(run) = self.runs_mut(partition.organization, set).get_mut(slot).asserted() {
                insert_into_run(run, rows, slot, row);
            }
        }
    }

    /// Takes out a set of runs of an organization, one for each slot.
    pub(super) fn take_runs(&mut self, organization: Option<Uuid>, set: RunSet) -> Runs {
        std::mem::take(self.runs_mut(organization, set))
    }

    /// Puts runs back that were taken out.
    pub(super) fn put_runs(&mut self, organization: Option<Uuid>, set: RunSet, runs: Runs) {
        *self.runs_mut(organization, set) = runs;
    }

    fn runs_mut(&mut self, organization: Option<Uuid>, set: RunSet) -> &mut Runs {
        let slots = self.slots();
        let organization = self.organization_mut(organization);
        let runs = match set {
            RunSet::Organization => &mut organization.all,
            RunSet::Network(network) => organization.networks.entry(network).or_default(),
        };
        runs.resize_with(slots, Run::default);
        runs
    }

    pub(super) fn remove(&mut self, rows: &Rows, partition: Partition, slot: Slot, row: RowId) {
        let key = rows.rank_key(slot, row);
        let organization = self.organizations.get_mut(&partition.organization);
        let Some(organization) = organization.asserted() else { return };
        let network = organization.networks.get_mut(&partition.network).asserted();
        for runs in std::iter::once(&mut organization.all).chain(network) {
            let Some(run) = runs.get_mut(slot).asserted() else { continue };
            let is_before = |other| rows.rank_key(slot, other) < key;
            let was_there = run.remove(row, |row| rows.prefix(slot, row), is_before);
            debug_assert!(was_there, "a row is in all runs of its organization and its network");
        }
    }

    /// Removes a network, and an organization, that has no records left.
    pub(super) fn forget_if_empty(&mut self, partition: Partition) {
        let organization = self.organizations.get_mut(&partition.organization);
        let Some(organization) = organization.asserted() else { return };
        if organization.networks.get(&partition.network).is_some_and(|runs| length(runs) == 0) {
            organization.networks.remove(&partition.network);
        }
        if organization.networks.is_empty() {
            self.emptied.insert(partition.organization, organization.changes);
            self.organizations.remove(&partition.organization);
        }
    }

    /// Returns the number of organizations without records whose changes are remembered.
    pub(super) fn emptied(&self) -> usize {
        self.emptied.len()
    }

    /// Forgets the changes of organizations without records, whose revisions then repeat.
    pub(super) fn forget_emptied(&mut self) {
        self.emptied = HashMap::new();
    }

    /// Returns the number of changes of an organization's records.
    pub(super) fn changes(&self, organization: Option<Uuid>) -> u64 {
        match self.organizations.get(&organization) {
            Some(organization) => organization.changes,
            None => self.emptied.get(&organization).map_or(0, |changes| *changes),
        }
    }

    /// Counts a change of an organization's records.
    pub(super) fn count_change(&mut self, organization: Option<Uuid>) {
        self.organization_mut(organization).changes += 1;
    }

    fn organization_mut(&mut self, organization: Option<Uuid>) -> &mut Organization {
        self.organizations.entry(organization).or_insert_with(|| Organization {
            changes: self.emptied.remove(&organization).unwrap_or(0),
            ..Organization::default()
        })
    }

    /// Returns the ordering cache of an organization, if it has any records.
    pub(super) fn orderings(&self, organization: Uuid) -> Option<&OrderingCache> {
        self.organizations.get(&Some(organization)).map(|organization| &organization.orderings)
    }

    /// Returns the ordering cache of an organization for a change of its records.
    pub(super) fn orderings_mut(&mut self, organization: Option<Uuid>) -> Option<&mut OrderingCache> {
        self.organizations.get_mut(&organization).map(|organization| &mut organization.orderings)
    }

    /// Returns the postings of each of these organizations; `None`: of all.
    pub(super) fn postings(&self, organization: Option<Uuid>) -> impl Iterator<Item = &Postings> {
        let one = organization.map(|_| self.organizations.get(&organization).into_iter());
        let all = one.is_none().then(|| self.organizations.values());
        let chosen = one.into_iter().flatten().chain(all.into_iter().flatten());
        chosen.map(|organization| &organization.postings)
    }

    /// Returns the postings of an organization for a change of its records.
    pub(super) fn postings_mut(&mut self, organization: Option<Uuid>) -> &mut Postings {
        &mut self.organization_mut(organization).postings
    }

    /// Iterates over the rows of one partition, by id.
    pub(super) fn rows(&self, partition: Partition) -> impl Iterator<Item = RowId> + '_ {
        let organization = self.organizations.get(&partition.organization);
        let by_id = organization.and_then(|found| found.networks.get(&partition.network)?.first());
        by_id.into_iter().flat_map(Run::rows)
    }

    /// Returns the rows of one network of an organization, by id.
    pub(super) fn run_by_id(&self, organization: Option<Uuid>, network: Uuid) -> Option<&Run> {
        self.organizations.get(&organization)?.networks.get(&Some(network))?.first()
    }

    /// Returns the runs of an organization as a whole. Returns `None` if no organization is given, or if it has no
    /// records.
    pub(super) fn runs_of_organization(&self, organization: Option<Uuid>) -> Option<&Runs> {
        organization.and_then(|_| Some(&self.organizations.get(&organization)?.all))
    }

    /// Returns whether all records of an organization are on these networks.
    ///
    /// The ids of the networks must be sorted.
    pub(super) fn is_within(&self, organization: Uuid, networks: &[Uuid]) -> bool {
        self.organizations.get(&Some(organization)).is_some_and(|found| found.is_within(networks))
    }

    /// Returns the fewest runs that together hold the records of an organization on some networks. They hold each
    /// record once.
    ///
    /// `None` as the organization stands for all organizations, and `None` as the networks for records on any network
    /// or none.
    pub(super) fn runs(&self, organization: Option<Uuid>, networks: Option<&[Uuid]>) -> Vec<&Runs> {
        match organization {
            Some(_) => {
                let found = self.organizations.get(&organization);
                found.map_or_else(Vec::new, |found| found.runs(networks))
            }
            None => {
                self.organizations.values().flat_map(|organization| organization.runs(networks)).collect()
            }
        }
    }

    /// Returns the same records as [`runs`](Self::runs), always as one set of runs for each network.
    pub(super) fn runs_by_network(
        &self,
        organization: Option<Uuid>,
        networks: Option<&[Uuid]>,
    ) -> Vec<&Runs> {
        let organizations =
            self.organizations.iter().filter(|(id, _)| organization.is_none() || **id == organization);
        match networks {
            None => organizations.flat_map(|(_, organization)| organization.networks.values()).collect(),
            Some(networks) => {
                organizations.flat_map(|(_, organization)| organization.of_networks(networks)).collect()
            }
        }
    }
}

impl Organization {
    fn runs(&self, networks: Option<&[Uuid]>) -> Vec<&Runs> {
        networks.map_or_else(|| vec![&self.all], |networks| self.of_networks(networks))
    }

    /// Returns whether all records are on these networks, whose ids must be sorted.
    fn is_within(&self, networks: &[Uuid]) -> bool {
        let mut others = networks.iter();
        // One pass over both, because a thousand lookups would take longer than a page.
        networks.len() >= self.networks.len()
            && self.networks.keys().all(|network| others.any(|other| Some(*other) == *network))
    }

    fn of_networks(&self, networks: &[Uuid]) -> Vec<&Runs> {
        networks.iter().filter_map(|network| self.networks.get(&Some(*network))).collect()
    }
}

/// Inserts a row into the run of a slot.
fn insert_into_run(run: &mut Run, rows: &Rows, slot: Slot, row: RowId) {
    let key = rows.rank_key(slot, row);
    run.insert(row, |row| rows.prefix(slot, row), |other| rows.rank_key(slot, other) < key);
}

pub(super) fn length(runs: &Runs) -> usize {
    runs.first().map_or(0, Run::len)
}
