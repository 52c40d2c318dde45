//! The differences between two states of an organization.

use std::collections::BTreeMap;

use serde_json::Value;

use super::diffed_links::MergedLinks;
use super::merged::{Outcome, is_order};
use super::past_records::MergedRecords;
use crate::access::Caller;
use crate::inventory::history::log::position::Place;
use crate::inventory::history::recording::difference::{FieldText, differences};
use crate::inventory::{ChangeQuery, Error, Inventory, Problem};
use crate::model::{
    ChangedEntity, ChangedHost, DiffedHost, FieldChange, HostDiff, HostId, NetworkId, StateDiff,
};
use crate::wire::DiffQuery;

/// The maximum number of hosts and links in a diff.
pub(crate) const MAX_ELEMENTS: usize = 10_000;

/// The maximum number of bytes that the names and fields of a diff take in memory.
pub(in crate::inventory::history) const MAX_BYTES: usize = 32 * 1024 * 1024;

impl Inventory {
    /// Returns the differences between two states of the caller's organization.
    ///
    /// Changes that cancel out are left out. The work is in proportion to the number of changes between the two states. A diff
    /// of more than 10,000 hosts and links, or of very many fields, is truncated. Links of which one end has moved to another
    /// port are one element. The links that came and went with [other rules](crate::model::ChangeAction::RulesChanged) are left out.
    ///
    /// ```
    /// # use toposcope::access::Caller;
    /// # use toposcope::inventory::{ChangeQuery, DiffQuery, Moment};
    /// # use toposcope::model::{Host, Network};
    /// # use toposcope::{Inventory, MemoryStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// # let caller = Caller::system(organization.id);
    /// # let network = inventory.networks().create(&caller, Network::new("Office")).await?;
    /// let before = inventory.changes(&caller, &ChangeQuery::default()).await?.next;
    /// inventory.hosts().put(&caller, Host::new(network.id, "printer")).await?;
    /// let diff = inventory.diff(&caller, &DiffQuery::new(Moment::Position(before))).await?;
    /// assert_eq!(diff.hosts.added[0].name, "printer");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Invalid` for a position that is not one of this organization, and for a state `to` that is before `from`; `BeforeHistory` for a
    /// time before the history began; `PositionGone` for a position whose entry is no longer there.
    pub async fn diff(&self, caller: &Caller, query: &DiffQuery) -> Result<StateDiff, Error> {
        let from = self.place_of_state(caller, "from", &query.from).await?;
        let to = match &query.to {
            Some(moment) => Some(self.place_of_state(caller, "to", moment).await?),
            None => None,
        };
        if to.is_some_and(|to| to < from) {
            return Err(Error::invalid("to", Problem::Before { other: "from" }));
        }
        let (merged, links, to) = self.merged_between(caller, (from, to), query.network_id).await?;
        let mut diff = StateDiff::default();
        for (id, merged) in merged.records {
            let id = HostId::new(id);
            let host = DiffedHost { id, name: merged.name.clone(), network_id: merged.network_id };
            match merged.outcome() {
                Outcome::Nothing => {}
                Outcome::Added => diff.add_new(host),
                Outcome::Removed => diff.add_gone(host),
                Outcome::Changed(fields) => diff.add_changed(host, Some(fields)),
                Outcome::Replaced => {
                    let fields = self.replaced_fields(caller, id, (from, to)).await?;
                    if !fields.is_empty() {
                        diff.add_changed(host, Some(fields));
                    }
                }
                Outcome::Unknown => diff.add_changed(host, None),
            }
        }
        diff.truncated |= links.diff(MAX_ELEMENTS.saturating_sub(diff.elements()), &mut diff.links);
        Ok(diff)
    }

    /// Returns the merged changes of hosts and links after one place up to another one; `None`: up to the newest, which is returned.
    async fn merged_between(
        &self,
        caller: &Caller,
        span: (Place, Option<Place>),
        network_id: Option<NetworkId>,
    ) -> Result<(MergedRecords, MergedLinks, Place), Error> {
        let query = ChangeQuery { network_id, ..ChangeQuery::default() };
        let mut changes = self.changes_between(caller, span, query).await?;
        let (mut hosts, mut links) = (MergedRecords::default(), MergedLinks::default());
        while let Some(page) = changes.next().await? {
            for change in page {
                match change.entity {
                    ChangedEntity::Host => hosts.add(change),
                    ChangedEntity::Link => links.add(&change),
                    _ => {}
                }
            }
        }
        Ok((hosts, links, changes.to))
    }

    /// Returns the fields in which a host differs that was deleted and created again in between.
    async fn replaced_fields(
        &self,
        caller: &Caller,
        id: HostId,
        (from, to): (Place, Place),
    ) -> Result<BTreeMap<String, FieldChange>, Error> {
        let mut texts = Vec::with_capacity(2);
        for place in [from, to] {
            let document = self.document_at_place(caller, (ChangedEntity::Host, id.uuid()), place).await?;
            texts.push(serde_json::to_string(&document.unwrap_or_default()).map_err(Error::internal)?);
        }
        let [before, after] = texts.as_slice() else { return Ok(BTreeMap::new()) };
        let differences = differences(before, after).map_err(Error::internal)?;
        let fields = differences.into_iter().filter(|difference| !is_order(&difference.path));
        let value = |text: Option<FieldText<'_>>| match text {
            Some(FieldText::Stored(text)) => {
                serde_json::from_str(text.get()).map_err(Error::internal).map(Some)
            }
            Some(FieldText::Order(ids)) => Ok(Some(Value::from(ids))),
            None => Ok(None),
        };
        let fields = fields.map(|difference| {
            let field = FieldChange { before: value(difference.before)?, after: value(difference.after)? };
            Ok((difference.path, field))
        });
        fields.collect()
    }
}

impl StateDiff {
    fn add_new(&mut self, host: DiffedHost) {
        self.hosts.counts.added += 1;
        match self.has_room() {
            true => self.hosts.added.push(host),
            false => self.truncated = true,
        }
    }

    fn add_gone(&mut self, host: DiffedHost) {
        self.hosts.counts.removed += 1;
        match self.has_room() {
            true => self.hosts.removed.push(host),
            false => self.truncated = true,
        }
    }

    /// Adds a host that differs in these fields. `None`: they are not known.
    fn add_changed(&mut self, host: DiffedHost, fields: Option<BTreeMap<String, FieldChange>>) {
        self.hosts.counts.changed += 1;
        match fields.filter(|_| self.has_room()) {
            Some(fields) => {
                let DiffedHost { id, name, network_id } = host;
                self.hosts.changed.push(ChangedHost { id, name, network_id, fields });
            }
            None => self.truncated = true,
        }
    }

    const fn has_room(&self) -> bool {
        self.elements() < MAX_ELEMENTS
    }

    /// Returns the number of hosts in the lists.
    const fn elements(&self) -> usize {
        let HostDiff { added, removed, changed, .. } = &self.hosts;
        added.len() + removed.len() + changed.len()
    }
}
