//! One turn of a network: its links are brought up to date, and the differences are recorded.

use std::collections::BTreeMap;
use std::time::Duration;

use super::claims::{TurnNotes, common_note_key};
use super::differences::DifferingLink;
use super::followers::FollowedKey;
use super::leads::Leads;
use super::memory::FollowedNetwork;
use super::reading::Decided;
use super::recorded::{LinkRules, RecordedEnds, RecordedNetwork, network_links_key, recorded_link_facets};
use super::touched::Touched;
use crate::inventory::history::Author;
use crate::inventory::history::log::audience::Audience;
use crate::inventory::history::log::position::Place;
use crate::inventory::history::log::record::ChangeEntry;
use crate::inventory::history::recording::content::{RecordState, compared};
use crate::inventory::history::recording::recorder::CommitEntries;
use crate::inventory::records::belongs_to;
use crate::inventory::schema::{decode, decode_text, exists, network_key, organization_key};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, unchanged};
use crate::model::{ChangeAction, ChangedEntity, FieldChange, NetworkId};
use crate::store::{Batch, Precondition, Record, Version};

/// The number of attempts to record, while other instances record.
const MAX_ATTEMPTS: usize = 16;

/// The number of links that one commit changes at most.
const RECORDED_TOGETHER: usize = 500;

/// The time after which the place is recorded even if no link differs, so that a store that is opened again has less to compare.
const WRITTEN_EVERY: Duration = Duration::from_secs(60);

/// The stored records of a network when its turn begins.
pub(super) struct NetworkTurn {
    key: FollowedKey,
    /// Whether the network exists.
    exists: bool,
    rules: LinkRules,
    record: Option<Record>,
    recorded: Option<RecordedNetwork>,
    /// The notes of changes of claims without an entry that the turn compares.
    notes: TurnNotes,
}

/// The changes that one turn records.
struct Recording<'t> {
    turn: &'t NetworkTurn,
    /// The place of the last entry whose consequences are then recorded.
    reached: Option<Place>,
    leads: Leads,
}

impl Inventory {
    /// Records how the links of a network differ from the recorded ones.
    pub(in crate::inventory::history) async fn follow_network(
        &self,
        key: FollowedKey,
        touched: Touched,
    ) -> Result<(), Error> {
        for _ in 0..MAX_ATTEMPTS {
            let mut touched = touched.clone();
            let Some(turn) = self.begin_turn(key, &mut touched).await? else {
                // The links in memory are no longer needed.
                drop(self.state.history.followers.memory.take(key));
                return Ok(());
            };
            if self.is_behind(&turn, &touched).await? && !self.take_turn(&turn, &touched).await? {
                continue;
            }
            return self.delete_notes(&turn.notes).await;
        }
        Err(ErrorKind::Conflict { entity: Entity::Network, id: key.1.uuid() }.into())
    }

    /// Reads the stored records of a network. `None`: its links are not recorded, or by other rules.
    ///
    /// Everything is touched if others have left notes, which name no hosts.
    async fn begin_turn(
        &self,
        key: FollowedKey,
        touched: &mut Touched,
    ) -> Result<Option<NetworkTurn>, Error> {
        let (organization, network) = key;
        let records = [network_key(network), network_links_key(network), common_note_key(network)];
        let keys = [&[organization_key(organization)], &records[..]].concat();
        let mut found = self.store.get(&keys).await?.into_iter();
        let [owner, stored, record, common_note] = std::array::from_fn(|_| found.next().flatten());
        if owner.is_none() {
            return Ok(None);
        }
        let exists = belongs_to(organization, stored.as_ref())?;
        let mut notes = TurnNotes { own: touched.notes.clone(), common: None };
        if touched.opening || touched.all || !exists {
            // Before the hosts are read, so that they have the changes of these notes.
            notes.own.extend(self.notes_of(key).await?);
            notes.common = common_note.map(|note| (note.key, note.version));
            touched.all |= !notes.is_empty();
        }
        if !exists && record.is_none() {
            self.delete_notes(&notes).await?;
            return Ok(None);
        }
        let recorded: Option<RecordedNetwork> = record.as_ref().map(decode).transpose()?;
        let is_of_other = |recorded: &RecordedNetwork| recorded.organization_id != organization;
        if recorded.as_ref().is_some_and(is_of_other) {
            return Ok(None);
        }
        let rules = self.link_rules();
        let is_own = recorded.as_ref().is_none_or(|recorded| {
            let former = &recorded.rules;
            // Instances with different rules for names of ports would otherwise take turns.
            former.version < rules.version
                || *former == rules
                || (touched.opening && former.version == rules.version)
        });
        if !is_own {
            self.merge_notes(key, &notes.own).await?;
            return Ok(None);
        }
        Ok(Some(NetworkTurn { key, exists, rules, record, recorded, notes }))
    }

    /// Returns whether a network may have links that are not recorded.
    async fn is_behind(&self, turn: &NetworkTurn, touched: &Touched) -> Result<bool, Error> {
        if !touched.is_empty() || !turn.exists || turn.has_other_rules() {
            return Ok(true);
        }
        Ok(self.newest_lead(turn.key, turn.reached()).await?.is_some())
    }

    /// Records the differences. Returns `false` if another instance has recorded something meanwhile.
    async fn take_turn(&self, turn: &NetworkTurn, touched: &Touched) -> Result<bool, Error> {
        let memory = &self.state.history.followers.memory;
        let version = turn.record.as_ref().map(|record| record.version);
        let mut known = memory.take(turn.key);
        if let Some(network) = &mut known
            && (network.recorded != version || turn.has_other_rules())
        {
            network.recorded = None;
        }
        // The entries are read first, because the next reads may or may not see commits made meanwhile. Other inventories in
        // this process may have made some of the changes.
        let mut touched = touched.clone();
        // The links in memory were compared before, even if nothing was recorded.
        let compared = known.as_ref().filter(|network| network.recorded.is_some());
        let since = compared.and_then(|network| network.reached).max(turn.reached());
        let reached = match &known {
            Some(network) => {
                let leads = self.leads(turn.key, network.reached).await?;
                touched.add(leads.touched());
                leads.newest.or(network.reached)
            }
            None => self.newest_lead(turn.key, turn.reached()).await?.or(turn.reached()),
        };
        let (mut network, decided) = if turn.exists {
            self.bring_up_to_date(turn.key, known, &touched).await?
        } else {
            (Box::new(FollowedNetwork::empty(self.monotonic())), Decided::All)
        };
        network.reached = reached;
        let differing = self.differing_links(turn.key, &network.links, &decided).await?;
        let is_due =
            reached > turn.reached() && self.monotonic().saturating_sub(network.written_at) >= WRITTEN_EVERY;
        if differing.is_empty() && turn.exists && turn.record.is_some() && !turn.has_other_rules() && !is_due
        {
            network.recorded = version;
            memory.put(turn.key, network);
            return Ok(true);
        }
        let leads = if differing.is_empty() { Leads::default() } else { self.leads(turn.key, since).await? };
        let recording = Recording { turn, reached, leads };
        let Some(version) = self.record_links(&recording, &differing).await? else { return Ok(false) };
        if turn.exists {
            network.recorded = version;
            network.written_at = self.monotonic();
            memory.put(turn.key, network);
        }
        Ok(true)
    }

    /// Records links, some in each commit. Returns the last version of the network's record; `None` if another instance has
    /// recorded something meanwhile.
    async fn record_links(
        &self,
        recording: &Recording<'_>,
        differing: &[DifferingLink],
    ) -> Result<Option<Option<Version>>, Error> {
        let mut version = recording.turn.record.as_ref().map(|record| record.version);
        let mut parts = differing.chunks(RECORDED_TOGETHER).peekable();
        loop {
            let part = parts.next().unwrap_or_default();
            let is_last = parts.peek().is_none();
            let precondition = version.map_or(Precondition::Absent, Precondition::Version);
            let Some(written) = self.record_part(recording, part, precondition, is_last).await? else {
                return Ok(None);
            };
            version = written;
            if is_last {
                return Ok(Some(version));
            }
            tokio::task::yield_now().await;
        }
    }

    /// Records some links. Returns the version that the network's record has then; `None` if another instance was first.
    async fn record_part(
        &self,
        recording: &Recording<'_>,
        part: &[DifferingLink],
        precondition: Precondition,
        is_last: bool,
    ) -> Result<Option<Option<Version>>, Error> {
        let NetworkTurn { key, exists: network_exists, .. } = *recording.turn;
        let mark = self.history_mark().await?;
        let (mut batch, mut entries) = (Batch::new(), CommitEntries::default());
        for link in part {
            let precondition = unchanged(link.before.as_ref());
            match &link.after {
                Some(body) => batch.put(link.key, precondition, recorded_link_facets(key), body.clone()),
                None => batch.delete(link.key, precondition),
            };
            if !recording.turn.has_other_rules() {
                entries.add_link(key.1, link, &recording.leads)?;
            }
        }
        if is_last && recording.turn.has_other_rules() && !part.is_empty() {
            entries.add_rules(recording.turn)?;
        }
        let mut turn = [0; 8];
        self.random.fill(&mut turn)?;
        let state = recording.state(u64::from_be_bytes(turn), is_last);
        if network_exists || !is_last {
            state.put(key.1, precondition, &mut batch)?;
        } else {
            batch.delete(network_links_key(key.1), precondition);
        }
        if network_exists {
            batch.guard(exists(network_key(key.1)));
        }
        batch.guard(mark.guard());
        let author = Author::system(key.0);
        let added = match entries.count {
            0 => None,
            _ => Some(self.put_entries(&mark, &author, entries, &mut batch)?),
        };
        if !self.commit_if_current(batch).await? {
            return Ok(None);
        }
        if let Some(added) = added {
            self.state.history.watchers.wake(key.0);
            self.pack_now_and_then(key.0, added);
        }
        let Some(record) = self.get(network_links_key(key.1)).await? else { return Ok(Some(None)) };
        let is_own = decode::<RecordedNetwork>(&record)?.turn == state.turn;
        Ok(is_own.then_some(Some(record.version)))
    }
}

impl NetworkTurn {
    /// Returns whether the links were recorded by other rules, or not at all.
    fn has_other_rules(&self) -> bool {
        self.recorded.as_ref().is_none_or(|recorded| recorded.rules != self.rules)
    }

    fn reached(&self) -> Option<Place> {
        self.recorded.as_ref().and_then(|recorded| recorded.reached)
    }
}

impl Recording<'_> {
    /// Returns the record of the network after a part of its links is recorded.
    fn state(&self, turn: u64, is_last: bool) -> RecordedNetwork {
        let former = self.turn.recorded.as_ref();
        let (rules, reached) = match is_last {
            true => (self.turn.rules.clone(), self.reached),
            // If the turn is interrupted, the next one continues from the recorded links.
            false => (
                former.map(|former| former.rules.clone()).unwrap_or_default(),
                former.and_then(|former| former.reached),
            ),
        };
        RecordedNetwork { organization_id: self.turn.key.0, rules, reached, turn }
    }
}

impl CommitEntries {
    /// Adds the entry of a link that is new, different or gone.
    fn add_link(&mut self, network: NetworkId, link: &DifferingLink, leads: &Leads) -> Result<(), Error> {
        let before = link.before.as_ref().map(|record| &record.body);
        let former = before.map(RecordState::read).transpose()?;
        let latter = link.after.as_ref().map(RecordState::read).transpose()?;
        let Some((action, content)) = compared(former.as_ref(), latter.as_ref())? else { return Ok(()) };
        let Some(body) = link.after.as_ref().or(before) else { return Ok(()) };
        let ends: RecordedEnds = decode_text(link.key, body)?;
        let entry = ChangeEntry {
            number: 0,
            action,
            entity: ChangedEntity::Link,
            id: ends.id.uuid(),
            name: ends.name(),
            content,
            cause: leads.of(ends.hosts()),
            is_erased: false,
        };
        self.push(Audience::Network(network), entry);
        Ok(())
    }

    /// Adds the entry that the links of a network follow from other rules than before.
    fn add_rules(&mut self, turn: &NetworkTurn) -> Result<(), Error> {
        let before = turn.recorded.as_ref().map(|recorded| &recorded.rules);
        let value = |rules| serde_json::to_value(rules).map_err(Error::internal);
        let field = FieldChange { before: before.map(value).transpose()?, after: Some(value(&turn.rules)?) };
        let fields = BTreeMap::from([("rules", field)]);
        let entry = ChangeEntry {
            number: 0,
            action: ChangeAction::RulesChanged,
            entity: ChangedEntity::Link,
            id: turn.key.1.uuid(),
            name: String::new(),
            content: serde_json::to_vec(&fields).map_err(Error::internal)?.into(),
            cause: None,
            is_erased: false,
        };
        self.push(Audience::Network(turn.key.1), entry);
        Ok(())
    }
}
