//! The entries that led to changes of links.

use std::collections::HashMap;

use serde::Deserialize;

use super::followers::FollowedKey;
use super::touched::Touched;
use crate::inventory::history::log::position::Place;
use crate::inventory::history::log::reader::{LogFilter, ordered};
use crate::inventory::history::log::record::{ChangeEntry, CommitChanges};
use crate::inventory::schema::WRITTEN;
use crate::inventory::{Error, Inventory};
use crate::model::{ChangedEntity, HostId, LinkEnd};
use crate::store::{Direction, KeyFilter, Query, Start, TermRange};

/// The number of records of commits that are read at a time, and at most.
const READ_TOGETHER: usize = 32;
const MAX_READ: usize = 2_048;

/// Entries of a network that links may follow from.
#[derive(Debug, Default)]
pub(super) struct Leads {
    pub(super) newest: Option<Place>,
    of_hosts: HashMap<HostId, Place>,
    /// Whether links that users enter were changed.
    manual: bool,
    /// Whether older ones were left out.
    is_cut: bool,
}

impl Leads {
    /// Returns the entry that led to a change of a link between these hosts.
    pub(super) fn of(&self, hosts: impl Iterator<Item = HostId>) -> Option<Place> {
        hosts.filter_map(|host| self.of_hosts.get(&host)).max().copied().or(self.newest)
    }

    /// Returns the changes.
    pub(super) fn touched(&self) -> Touched {
        let hosts = self.of_hosts.keys().copied().collect();
        Touched { hosts, manual: self.manual, all: self.is_cut, opening: false }
    }

    /// Adds the entries of a commit that are later than a place. The entries of later commits must have been added before.
    fn add(&mut self, changes: &CommitChanges, after: Option<Place>) {
        for entry in changes.entries.iter().rev() {
            let place = changes.place(entry.number);
            let is_by_hand = entry.entity == ChangedEntity::TopologyLink;
            let is_lead = is_by_hand || entry.entity == ChangedEntity::Host;
            if !is_lead || after.is_some_and(|after| place <= after) {
                continue;
            }
            self.newest = self.newest.max(Some(place));
            self.manual |= is_by_hand;
            if is_by_hand {
                for host in hosts_of(entry) {
                    self.of_hosts.entry(host).or_insert(place);
                }
            } else {
                self.of_hosts.entry(HostId::new(entry.id)).or_insert(place);
            }
        }
    }
}

/// Returns the hosts at the ends of a link that a user has entered; none if the content of the entry was erased.
fn hosts_of(entry: &ChangeEntry) -> Vec<HostId> {
    #[derive(Deserialize)]
    struct Ends {
        source: LinkEnd,
        target: LinkEnd,
    }
    let ends = serde_json::from_slice::<Ends>(&entry.content).ok();
    ends.into_iter().flat_map(|Ends { source, target }| [source.host_id, target.host_id]).collect()
}

impl Inventory {
    /// Returns the last entry of a network, after a place, that links may follow from.
    pub(super) async fn newest_lead(
        &self,
        key: FollowedKey,
        after: Option<Place>,
    ) -> Result<Option<Place>, Error> {
        Ok(self.read_leads(key, after, |leads| leads.newest.is_some()).await?.newest)
    }

    /// Returns the entries of a network, after a place, that links may follow from.
    pub(super) async fn leads(&self, key: FollowedKey, after: Option<Place>) -> Result<Leads, Error> {
        self.read_leads(key, after, |_| false).await
    }

    /// Reads entries from the newest on until they are enough.
    async fn read_leads(
        &self,
        (organization, network): FollowedKey,
        after: Option<Place>,
        is_enough: impl Fn(&Leads) -> bool,
    ) -> Result<Leads, Error> {
        let filter = LogFilter { network: Some(network), ..LogFilter::all(organization) };
        let range = TermRange::new(after.map(Place::commit_key).unwrap_or_default(), None);
        let mut query = Query {
            keys: vec![KeyFilter::new(WRITTEN, range)],
            limit: Some(READ_TOGETHER),
            max_bytes: None,
            ..ordered(&filter.commits(), Direction::Descending)
        };
        let (mut leads, mut read) = (Leads::default(), 0);
        loop {
            let page = self.store.list(&query).await?;
            for record in &page.records {
                leads.add(&CommitChanges::read(record)?, after);
            }
            read += page.records.len();
            let Some(next) = page.next.filter(|_| !is_enough(&leads)) else { return Ok(leads) };
            if read >= MAX_READ {
                return Ok(Leads { is_cut: true, ..leads });
            }
            query.start = Start::After(next);
        }
    }
}
