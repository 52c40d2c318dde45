//! Adds the entries of a batch to it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value};

use super::content::{RecordState, compared};
use super::event::{SecurityEvent, is_credential};
use crate::inventory::history::links::touched::TouchedNetworks;
use crate::inventory::history::log::audience::Audience;
use crate::inventory::history::log::class::Class;
use crate::inventory::history::log::position::Place;
use crate::inventory::history::log::record::{ChangeEntry, CommitChanges};
use crate::inventory::history::maintenance::packing::EntriesAdded;
use crate::inventory::history::mark::CurrentMark;
use crate::inventory::history::{Author, Recording};
use crate::inventory::schema::{
    ADDRESS_RESERVATION, CHANGE, DAEMON, DAEMON_API_KEY, HOST, NETWORK, ORGANIZATION, SHARE, SUBNET, TAG,
    TOPOLOGY_LAYOUT, TOPOLOGY_LINK, USER, USER_API_KEY, decode, user_key,
};
use crate::inventory::{Error, ErrorKind, Inventory, unchanged};
use crate::model::{ChangeActor, ChangedEntity, NetworkId, User};
use crate::store::{Batch, Key, Name, Precondition, Record, StoreError, Write};

/// The kinds of records whose changes are recorded.
const RECORDED: [(Name, ChangedEntity); 13] = [
    (HOST, ChangedEntity::Host),
    (SUBNET, ChangedEntity::Subnet),
    (TAG, ChangedEntity::Tag),
    (NETWORK, ChangedEntity::Network),
    (USER, ChangedEntity::User),
    (USER_API_KEY, ChangedEntity::UserApiKey),
    (DAEMON_API_KEY, ChangedEntity::DaemonApiKey),
    (SHARE, ChangedEntity::Share),
    (DAEMON, ChangedEntity::Daemon),
    (TOPOLOGY_LINK, ChangedEntity::TopologyLink),
    (ADDRESS_RESERVATION, ChangedEntity::AddressReservation),
    (TOPOLOGY_LAYOUT, ChangedEntity::TopologyLayout),
    (ORGANIZATION, ChangedEntity::Organization),
];

/// Size, in bytes of documents, from which a commit begins another record of the same network.
const MAX_RECORD: usize = 64 * 1024;

/// Returns the entity of a kind of records; `None` if their changes are not recorded.
pub(in crate::inventory::history) fn entity_of(kind: Name) -> Option<ChangedEntity> {
    if kind.is_of_application() {
        return Some(ChangedEntity::ApplicationRecord);
    }
    RECORDED.iter().find(|(recorded, _)| *recorded == kind).map(|(_, entity)| *entity)
}

/// Returns the kind of the records of an entity; `None` for records of the host application, which have many kinds.
pub(in crate::inventory::history) fn kind_of(entity: ChangedEntity) -> Option<Name> {
    RECORDED.iter().find(|(_, recorded)| *recorded == entity).map(|(kind, _)| *kind)
}

/// Returns whether a record is a layout, whose changes are not all recorded with the commit that makes them.
pub(super) fn is_layout(key: &Key) -> bool {
    key.kind == TOPOLOGY_LAYOUT
}

impl Inventory {
    /// Commits a batch together with the entries of its changes. Adds the networks on which it changes something.
    pub(in crate::inventory::history) async fn commit_recorded(
        &self,
        author: &Author,
        mut batch: Batch,
        touched: &mut TouchedNetworks,
    ) -> Result<(), StoreError> {
        let is_recorded = |kind| self.is_recorded(kind) || is_credential(kind);
        let is_dry_run = self.recording == Recording::DryRun;
        if is_dry_run || !batch.writes().iter().any(|write| is_recorded(write.key().kind)) {
            let noted =
                touched.note_claims(author.organization, &BTreeSet::new(), || self.new_id(), &mut batch);
            noted.map_err(as_store_error)?;
            return self.commit_to_the_end(author.organization, batch, (&[], touched)).await;
        }
        let recorded = self.record(author, &mut batch, touched).await.map_err(as_store_error)?;
        let layouts: Vec<Key> = batch.writes().iter().map(Write::key).filter(is_layout).collect();
        let committed = self.commit_to_the_end(author.organization, batch, (&layouts, touched)).await;
        match &committed {
            Ok(()) => {
                self.record_layouts_later(&layouts);
                self.state.history.watchers.wake(author.organization);
                self.pack_now_and_then(author.organization, recorded);
            }
            Err(error) => self.state.history.note_failure(error),
        }
        committed
    }

    /// Returns whether entries are written about records of a kind. Those of wrappers of the store have none.
    fn is_recorded(&self, kind: Name) -> bool {
        entity_of(kind).is_some() && !self.wrapper_kinds.contains(&kind)
    }

    async fn record(
        &self,
        author: &Author,
        batch: &mut Batch,
        touched: &mut TouchedNetworks,
    ) -> Result<EntriesAdded, Error> {
        let mark = self.history_mark().await?;
        if !self.recording.is_on() {
            // Instances that record changes would not notice this one.
            batch.guard(mark.guard());
            return Ok(EntriesAdded::default());
        }
        let (before, user) = self.state_before(author, batch).await?;
        // The state before in an entry must be the one that the commit replaces.
        batch.require(|key| self.is_recorded(key.kind).then(|| unchanged(before.get(&key))));
        let mut changes = CommitEntries::default();
        for write in batch.writes() {
            let before = before.get(&write.key());
            if self.is_recorded(write.key().kind) {
                changes.add(write, before)?;
            }
            if is_credential(write.key().kind)
                && let Some(event) = SecurityEvent::of(write, before, batch)?
            {
                let name = user.as_ref().filter(|user| event.is_of(user.id)).map(|user| user.email.clone());
                changes.add_event(event, name.unwrap_or_default(), None);
            }
        }
        let has_layouts = self.add_layouts(author, &before, &mut changes, batch).await?;
        touched.note_claims(author.organization, &changes.networks_with_leads(), || self.new_id(), batch)?;
        if changes.count == 0 && !has_layouts {
            return Ok(EntriesAdded::default());
        }
        batch.guard(mark.guard());
        if let Some(cause) = self.last_change_of(author).await? {
            changes.follow_from(cause);
        }
        touched.complete(changes.networks());
        self.put_followed_networks(author.organization, &before, batch)?;
        let mut actor = author.actor.clone();
        if let ChangeActor::User { email, .. } = &mut actor {
            *email = user.map(|user| user.email).filter(|email| !email.is_empty());
        }
        self.put_entries(&mark, &Author { actor, ..author.clone() }, changes, batch)
    }

    /// Reads the records that a batch writes and whose changes are recorded, and the user who makes them.
    async fn state_before(
        &self,
        author: &Author,
        batch: &Batch,
    ) -> Result<(BTreeMap<Key, Record>, Option<User>), Error> {
        let is_recorded = |key: &Key| self.is_recorded(key.kind) || is_credential(key.kind);
        let mut keys: Vec<Key> = batch.writes().iter().map(Write::key).filter(is_recorded).collect();
        let user = author.actor.user_id().map(user_key);
        keys.extend(user.filter(|user| !keys.contains(user)));
        let found = self.store.get(&keys).await?.into_iter().flatten();
        let before: BTreeMap<Key, Record> = found.map(|record| (record.key, record)).collect();
        let user = user.and_then(|user| before.get(&user)).map(decode::<User>).transpose()?;
        // A host application may use the id of another organization's user.
        Ok((before, user.filter(|user| user.organization_id == author.organization)))
    }

    /// Adds the records of a commit's entries to its batch.
    pub(in crate::inventory::history) fn put_entries(
        &self,
        mark: &CurrentMark,
        author: &Author,
        changes: CommitEntries,
        batch: &mut Batch,
    ) -> Result<EntriesAdded, Error> {
        let commit = self.new_commit_number()?;
        let mut recorded = EntriesAdded { random: commit, ..EntriesAdded::default() };
        let (count, actor) = (changes.count, Arc::new(author.actor.clone()));
        for ((audience, class), Entries { list, .. }) in changes.finished() {
            recorded.records += 1;
            let changes = CommitChanges {
                organization_id: author.organization,
                era: mark.mark.era,
                version: None,
                commit,
                count,
                at: self.now(),
                actor: Arc::clone(&actor),
                audience,
                class,
                request_id: author.request_id.clone(),
                entries: list,
            };
            changes.put(Key::new(CHANGE, self.new_id()?), Precondition::Absent, batch)?;
        }
        Ok(recorded)
    }

    /// Returns a random number for a commit.
    pub(in crate::inventory::history) fn new_commit_number(&self) -> Result<u64, Error> {
        let mut number = [0; 8];
        self.random.fill(&mut number)?;
        Ok(u64::from_be_bytes(number))
    }
}

/// Converts an error of the recorder to the store error of the commit.
fn as_store_error(error: Error) -> StoreError {
    match error.kind() {
        ErrorKind::StoreUnavailable => {
            StoreError::unavailable("the history cannot be read").with_source(error)
        }
        _ => StoreError::corrupt("the changes of a record cannot be recorded").with_source(error),
    }
}

/// The entries of a commit, by the users who may see them.
#[derive(Default)]
pub(in crate::inventory::history) struct CommitEntries {
    /// The number of entries so far.
    pub(in crate::inventory::history) count: u32,
    /// The entries whose record is not full.
    open: BTreeMap<(Audience, Class), Entries>,
    full: Vec<((Audience, Class), Entries)>,
}

#[derive(Default)]
struct Entries {
    list: Vec<ChangeEntry>,
    /// The size of their documents and fields.
    bytes: usize,
}

impl CommitEntries {
    /// Adds the entry of a write, if it changes anything.
    fn add(&mut self, write: &Write, before: Option<&Record>) -> Result<(), Error> {
        let Some(entity) = entity_of(write.key().kind).filter(|_| !is_layout(&write.key())) else {
            return Ok(());
        };
        let after = match write {
            Write::Put { body, .. } => Some(shown(entity, body)?),
            Write::Delete { .. } => None,
        };
        let before = before.map(|record| shown(entity, &record.body)).transpose()?;
        // A record that a wrapper of the store has added may have a body of its own form. It counts as absent.
        let before = before.filter(|body| entity != ChangedEntity::ApplicationRecord || is_object(body));
        let before = before.as_ref().map(RecordState::read).transpose()?;
        let after = after.as_ref().map(RecordState::read).transpose()?;
        if let (Some(former), Some(latter)) = (&before, &after)
            && former.network_id() != latter.network_id()
            && entity != ChangedEntity::ApplicationRecord
        {
            // On either network, it is seen to go or to come.
            self.add_content(write.key(), entity, (Some(former), None))?;
            return self.add_content(write.key(), entity, (None, Some(latter)));
        }
        self.add_content(write.key(), entity, (before.as_ref(), after.as_ref()))
    }

    fn add_content(
        &mut self,
        key: Key,
        entity: ChangedEntity,
        (before, after): (Option<&RecordState<'_>>, Option<&RecordState<'_>>),
    ) -> Result<(), Error> {
        let Some((action, content)) = compared(before, after)? else { return Ok(()) };
        let Some(state) = after.or(before) else { return Ok(()) };
        let user = (entity == ChangedEntity::UserApiKey).then(|| state.member("user_id")).flatten();
        let audience = Audience::of(entity, key.id, state.network_id(), user);
        let name = match entity {
            ChangedEntity::ApplicationRecord => Some(key.kind.to_string()),
            _ => state.name(entity),
        };
        let (number, id, name) = (0, key.id, name.unwrap_or_default());
        self.push(
            audience,
            ChangeEntry { number, action, entity, id, name, content, cause: None, is_erased: false },
        );
        Ok(())
    }

    /// Adds a security event. `count`: how often it has happened.
    pub(in crate::inventory::history) fn add_event(
        &mut self,
        event: SecurityEvent,
        name: String,
        count: Option<u64>,
    ) {
        let SecurityEvent { action, entity, id, audience } = event;
        let content = match count {
            Some(count) => Bytes::from(format!(r#"{{"count":{{"after":{count}}}}}"#)),
            None => Bytes::new(),
        };
        self.push(
            audience,
            ChangeEntry { number: 0, action, entity, id, name, content, cause: None, is_erased: false },
        );
    }

    /// Adds an entry, which gets the next number.
    pub(in crate::inventory::history) fn push(&mut self, audience: Audience, entry: ChangeEntry) {
        let readers = (audience, Class::of(entry.action));
        let entries = self.open.entry(readers).or_default();
        entries.bytes += entry.content.len();
        entries.list.push(ChangeEntry { number: self.count, ..entry });
        self.count += 1;
        if entries.bytes >= MAX_RECORD {
            self.full.push((readers, std::mem::take(entries)));
        }
    }

    /// Names the entry that led to all of these.
    fn follow_from(&mut self, cause: Place) {
        let full = self.full.iter_mut().map(|(_, entries)| entries);
        let entries = self.open.values_mut().chain(full).flat_map(|entries| &mut entries.list);
        entries.for_each(|entry| entry.cause = Some(cause));
    }

    /// Returns the networks on which something has changed.
    fn networks(&self) -> impl Iterator<Item = NetworkId> {
        let full = self.full.iter().map(|(readers, _)| readers);
        self.open.keys().chain(full).filter_map(|(audience, _)| audience.network())
    }

    /// Returns the networks with changes that links may follow from.
    fn networks_with_leads(&self) -> BTreeSet<NetworkId> {
        let full = self.full.iter().map(|(readers, entries)| (readers, entries));
        let led = self.open.iter().chain(full).filter(|(_, entries)| entries.list.iter().any(is_lead));
        led.filter_map(|((audience, _), _)| audience.network()).collect()
    }

    fn finished(self) -> impl Iterator<Item = ((Audience, Class), Entries)> {
        self.full.into_iter().chain(self.open).filter(|(_, entries)| !entries.list.is_empty())
    }
}

/// Returns whether links may follow from a change.
pub(in crate::inventory::history) const fn is_lead(entry: &ChangeEntry) -> bool {
    matches!(entry.entity, ChangedEntity::Host | ChangedEntity::TopologyLink)
}

fn is_object(body: &Bytes) -> bool {
    serde_json::from_slice::<Map<String, Value>>(body).is_ok()
}

/// Returns the part of a body that entries show, as JSON. Bodies of hosts begin with a comma.
pub(in crate::inventory::history) fn shown(entity: ChangedEntity, body: &Bytes) -> Result<Bytes, Error> {
    if !matches!(entity, ChangedEntity::UserApiKey | ChangedEntity::DaemonApiKey) {
        return Ok(if body.starts_with(b",") { body.slice(1..) } else { body.clone() });
    }
    // Not even the ends of a key.
    let mut members: Map<String, Value> = serde_json::from_slice(body).map_err(Error::internal)?;
    members.remove("key");
    serde_json::to_vec(&members).map(Bytes::from).map_err(Error::internal)
}
