//! Adds the entries of a batch to it.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};

use super::Author;
use super::audience::Audience;
use super::difference::{Difference, FieldText, differences};
use super::record::{CommitChanges, Entry, StoredField};
use crate::inventory::schema::{
    CHANGE, DAEMON, DAEMON_API_KEY, HOST, NETWORK, ORGANIZATION, SHARE, SUBNET, TAG, TOPOLOGY_LINK, USER,
    USER_API_KEY,
};
use crate::inventory::{Error, ErrorKind, Inventory, unchanged};
use crate::model::{ChangeAction, ChangedEntity, NetworkId, UserId};
use crate::store::{Batch, Key, Name, Precondition, Record, StoreError, Write};

/// The kinds of records whose changes are recorded.
const RECORDED: [(Name, ChangedEntity); 11] = [
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
    (ORGANIZATION, ChangedEntity::Organization),
];

/// Size, in bytes of documents, from which a commit begins another record of the same network.
const MAX_RECORD: usize = 64 * 1024;

/// Returns what the history calls a kind of records; `None` if their changes are not recorded.
pub(super) fn entity_of(kind: Name) -> Option<ChangedEntity> {
    if kind.is_of_application() {
        return Some(ChangedEntity::ApplicationRecord);
    }
    RECORDED.iter().find(|(recorded, _)| *recorded == kind).map(|(_, entity)| *entity)
}

/// Returns the kind of the records of an entity; `None`: those of the host application have many.
pub(super) fn kind_of(entity: ChangedEntity) -> Option<Name> {
    RECORDED.iter().find(|(_, recorded)| *recorded == entity).map(|(kind, _)| *kind)
}

/// What every document may say of itself.
#[derive(Deserialize)]
struct Described {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    email: Option<String>,
    #[serde(default)]
    network_id: Option<NetworkId>,
    #[serde(default)]
    user_id: Option<UserId>,
}

impl Inventory {
    /// Commits a batch together with the entries of its changes.
    pub(in crate::inventory) async fn commit(
        &self,
        author: &Author,
        mut batch: Batch,
    ) -> Result<(), StoreError> {
        if !self.has_history || batch.writes().iter().all(|write| entity_of(write.key().kind).is_none()) {
            return self.store.commit(batch).await;
        }
        self.record(author, &mut batch).await.map_err(as_store_error)?;
        let committed = self.store.commit(batch).await;
        match &committed {
            Ok(()) => self.state.history.watchers.wake(author.organization),
            Err(error) => self.state.history.note_failure(error),
        }
        committed
    }

    async fn record(&self, author: &Author, batch: &mut Batch) -> Result<(), Error> {
        let mark = self.history_mark().await?;
        let keys: Vec<Key> =
            batch.writes().iter().map(Write::key).filter(|key| entity_of(key.kind).is_some()).collect();
        let before = self.store.get(&keys).await?;
        let before: BTreeMap<Key, Record> =
            before.into_iter().flatten().map(|record| (record.key, record)).collect();
        // What an entry says of the state before must be what the commit replaces.
        batch.require(|key| keys.contains(&key).then(|| unchanged(before.get(&key))));
        let mut changes = Changes::default();
        for write in batch.writes() {
            changes.add(write, before.get(&write.key()))?;
        }
        if changes.count == 0 {
            return Ok(());
        }
        batch.guard(mark.guard());
        let mut commit = [0; 8];
        self.random.fill(&mut commit)?;
        for (audience, Entries { list, .. }) in changes.finished() {
            let changes = CommitChanges {
                organization_id: author.organization,
                era: mark.mark.era,
                commit: u64::from_be_bytes(commit),
                at: self.now(),
                actor: author.actor.clone(),
                audience,
                request_id: None,
                entries: list,
            };
            changes.put(Key::new(CHANGE, self.new_id()?), Precondition::Absent, batch)?;
        }
        Ok(())
    }
}

/// Returns an error of the recorder as one of the commit.
fn as_store_error(error: Error) -> StoreError {
    match error.kind() {
        ErrorKind::StoreUnavailable => {
            StoreError::unavailable("the history cannot be read").with_source(error)
        }
        _ => StoreError::corrupt("the changes of a record cannot be recorded").with_source(error),
    }
}

/// The entries of a commit, by those who may see them.
#[derive(Default)]
struct Changes {
    /// The number of entries so far.
    count: u32,
    /// Those of which the record is not full.
    open: BTreeMap<Audience, Entries>,
    full: Vec<(Audience, Entries)>,
}

#[derive(Default)]
struct Entries {
    list: Vec<Entry>,
    /// The size of their documents and fields.
    bytes: usize,
}

impl Changes {
    /// Adds the entry of a write, if it changes anything.
    fn add(&mut self, write: &Write, before: Option<&Record>) -> Result<(), Error> {
        let Some(entity) = entity_of(write.key().kind) else { return Ok(()) };
        let after = match write {
            Write::Put { body, .. } => Some(body),
            Write::Delete { .. } => None,
        };
        let before = before.map(|record| &record.body);
        let Some((action, content)) = Content::of(before, after)? else { return Ok(()) };
        let Some(document) = after.or(before) else { return Ok(()) };
        let described: Described = serde_json::from_slice(json(document)).map_err(Error::internal)?;
        let name = match entity {
            ChangedEntity::ApplicationRecord => Some(write.key().kind.to_string()),
            _ => described.name.filter(|name| !name.is_empty()).or(described.email),
        };
        let Content { document, fields, bytes } = content;
        let (number, id, name) = (self.count, write.key().id, name.unwrap_or_default());
        self.count += 1;
        let audience = Audience::of(entity, id, described.network_id, described.user_id);
        let entries = self.open.entry(audience).or_default();
        entries.bytes += bytes;
        entries.list.push(Entry { number, action, entity, id, name, document, fields });
        if entries.bytes >= MAX_RECORD {
            self.full.push((audience, std::mem::take(entries)));
        }
        Ok(())
    }

    fn finished(self) -> impl Iterator<Item = (Audience, Entries)> {
        self.full.into_iter().chain(self.open).filter(|(_, entries)| !entries.list.is_empty())
    }
}

/// What an entry says of a record.
#[derive(Default)]
struct Content {
    document: Option<Box<RawValue>>,
    fields: BTreeMap<String, StoredField>,
    bytes: usize,
}

impl Content {
    /// Compares two states of a record. `None`: nothing has changed.
    fn of(before: Option<&Bytes>, after: Option<&Bytes>) -> Result<Option<(ChangeAction, Self)>, Error> {
        let (action, document) = match (before, after) {
            (Some(before), Some(after)) => {
                let differences = differences(text(before)?, text(after)?).map_err(Error::internal)?;
                let updated = (ChangeAction::Updated, Self::of_fields(differences)?);
                return Ok(Some(updated).filter(|(_, content)| !content.fields.is_empty()));
            }
            (None, Some(after)) => (ChangeAction::Created, after),
            (Some(before), None) => (ChangeAction::Deleted, before),
            (None, None) => return Ok(None),
        };
        let text = RawValue::from_string(text(document)?.to_owned()).map_err(Error::internal)?;
        Ok(Some((action, Self { bytes: document.len(), document: Some(text), fields: BTreeMap::new() })))
    }

    fn of_fields(differences: Vec<Difference<'_>>) -> Result<Self, Error> {
        let owned = |value: Option<FieldText<'_>>| match value {
            None => Ok(None),
            Some(FieldText::Stored(text)) => Ok(Some(text.to_owned())),
            Some(FieldText::Order(ids)) => to_raw_value(&ids).map(Some).map_err(Error::internal),
        };
        let length = |value: &Option<Box<RawValue>>| value.as_ref().map_or(0, |text| text.get().len());
        let mut content = Self::default();
        for Difference { path, before, after } in differences {
            let field = StoredField { before: owned(before)?, after: owned(after)? };
            content.bytes += path.len() + length(&field.before) + length(&field.after);
            content.fields.insert(path, field);
        }
        Ok(content)
    }
}

/// Returns the JSON of a body. Those of hosts begin with a comma.
pub(super) fn json(body: &Bytes) -> &[u8] {
    body.strip_prefix(b",").unwrap_or(body)
}

fn text(body: &Bytes) -> Result<&str, Error> {
    std::str::from_utf8(json(body)).map_err(Error::internal)
}
