//! The entries that led to changes of links.

use std::collections::HashMap;

use serde::Deserialize;

use super::followers::FollowedKey;
use super::touched::Touched;
use crate::inventory::history::log::position::Place;
use crate::inventory::history::log::reader::{LogFilter, LogReader, Span};
use crate::inventory::history::log::record::{ChangeEntry, CommitChanges};
use crate::inventory::history::recording::recorder::is_lead;
use crate::inventory::{Error, Inventory};
use crate::model::{ChangedEntity, HostId, LinkEnd};
use crate::store::Direction;

/// The number of records of commits that are read at a time, and about the number of commits that are read at most.
const READ_TOGETHER: usize = 15;
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
        Touched { hosts, manual: self.manual, all: self.is_cut, ..Touched::default() }
    }

    /// Adds the entries of a commit.
    fn add(&mut self, changes: &CommitChanges) {
        for entry in changes.entries.iter().filter(|entry| is_lead(entry)) {
            let place = changes.place(entry.number);
            let is_by_hand = entry.entity == ChangedEntity::TopologyLink;
            self.newest = self.newest.max(Some(place));
            self.manual |= is_by_hand;
            let hosts = if is_by_hand { hosts_of(entry) } else { vec![HostId::new(entry.id)] };
            for host in hosts {
                let newest = self.of_hosts.entry(host).or_insert(place);
                *newest = place.max(*newest);
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

    /// Reads entries from the newest on until they are enough. Some of them may be in runs already.
    async fn read_leads(
        &self,
        (organization, network): FollowedKey,
        after: Option<Place>,
        is_enough: impl Fn(&Leads) -> bool,
    ) -> Result<Leads, Error> {
        let filter = LogFilter { network: Some(network), ..LogFilter::all(organization) };
        let span = Span { after, until: None };
        let mut log = LogReader::new(self, filter, span, Direction::Descending).some_at_a_time(READ_TOGETHER);
        let (mut leads, mut read) = (Leads::default(), 0);
        loop {
            let commits = log.next().await?;
            if commits.is_empty() {
                return Ok(leads);
            }
            commits.iter().for_each(|changes| leads.add(changes));
            read += commits.len();
            if is_enough(&leads) {
                return Ok(leads);
            }
            if read >= MAX_READ {
                return Ok(Leads { is_cut: true, ..leads });
            }
        }
    }
}
