//! Layouts in the history: at most one entry a minute for each view and user.
//!
//! A user who drags nodes stores a layout many times. A change within a minute of the user's last entry is therefore noted in a record
//! beside the layout, in the commit that stores the layout. It is recorded with the user's next change after that minute, or by a task
//! in the background. What cancels out in between is not recorded.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::sleep;

use super::content::{RecordState, compared};
use super::recorder::CommitEntries;
use crate::inventory::history::Author;
use crate::inventory::history::log::audience::Audience;
use crate::inventory::history::log::counts::counted_actor;
use crate::inventory::history::log::record::ChangeEntry;
use crate::inventory::schema::{LAYOUT_MOVES, TOPOLOGY_LAYOUT, decode, decode_text, encode, user_key};
use crate::inventory::{Error, Inventory, unchanged};
use crate::model::{
    ChangeActor, ChangedEntity, NodeId, NodePosition, OrganizationId, Timestamp, TopologyLayout, User,
};
use crate::store::{Batch, Facets, Guard, Key, Precondition, Query, Record, Start, Write};

/// The time between two entries of one view and user.
const INTERVAL: Duration = Duration::from_secs(60);

/// The time between two looks for changes that are due.
const TICK: Duration = Duration::from_secs(1);

/// The number of records that are read together when the history is opened.
const READ_TOGETHER: usize = 500;

/// The changes of a layout that are not recorded yet, and the times of the last entries.
#[derive(Debug, Serialize, Deserialize)]
struct UnrecordedLayout {
    organization_id: OrganizationId,
    /// Whether the layout has no entry.
    is_new: bool,
    /// The nodes whose positions differ from the recorded ones.
    moves: BTreeMap<NodeId, UnrecordedMove>,
    /// The users who have an entry of the last minute.
    last: Vec<(ChangeActor, Timestamp)>,
}

/// A node that has another position than the history knows.
#[derive(Debug, Serialize, Deserialize)]
struct UnrecordedMove {
    /// The recorded position; `None`: it had none.
    before: Option<NodePosition>,
    /// The user of the last move.
    actor: ChangeActor,
}

type Positions = BTreeMap<NodeId, NodePosition>;

fn positions_of(layout: &TopologyLayout) -> Positions {
    layout.positions.iter().map(|position| (position.id, *position)).collect()
}

/// Returns the key of the record of a layout's changes that are not recorded yet.
const fn unrecorded_key(layout: Key) -> Key {
    Key::new(LAYOUT_MOVES, layout.id)
}

impl UnrecordedLayout {
    fn of(organization_id: OrganizationId, stored: Option<&Record>, is_new: bool) -> Result<Self, Error> {
        match stored {
            Some(record) => decode(record),
            None => Ok(Self { organization_id, is_new, moves: BTreeMap::new(), last: Vec::new() }),
        }
    }

    /// Notes the nodes that a user has moved.
    fn note(&mut self, before: &Positions, after: &Positions, actor: &ChangeActor) {
        let all: BTreeSet<NodeId> = before.keys().chain(after.keys()).copied().collect();
        for id in all.into_iter().filter(|id| before.get(id) != after.get(id)) {
            let former =
                self.moves.remove(&id).map_or_else(|| before.get(&id).copied(), |known| known.before);
            if former.as_ref() != after.get(&id) {
                self.moves.insert(id, UnrecordedMove { before: former, actor: actor.clone() });
            }
        }
    }

    /// Returns the time for which a user's changes wait; `None`: they are due.
    fn waits(&self, actor: &ChangeActor, now: Timestamp) -> Option<Duration> {
        let (_, last) = self.last.iter().find(|(known, _)| known == actor)?;
        let passed = now.unix_micros().saturating_sub(last.unix_micros());
        let passed = u64::try_from(passed).map_or(Duration::ZERO, Duration::from_micros);
        INTERVAL.checked_sub(passed).filter(|left| !left.is_zero())
    }

    /// Returns the time until changes are due or, without changes, nothing is to be known any more.
    fn rests(&self, now: Timestamp) -> Option<Duration> {
        let next = self.moves.values().filter_map(|moved| self.waits(&moved.actor, now)).min();
        next.or_else(|| self.last.iter().filter_map(|(actor, _)| self.waits(actor, now)).max())
    }

    /// Adds the entry of a user's changes, and forgets them. `layout` is the present one.
    fn record(
        &mut self,
        (key, layout): (Key, &TopologyLayout),
        actor: &ChangeActor,
        now: Timestamp,
        changes: &mut CommitEntries,
    ) -> Result<(), Error> {
        let before = self.recorded(layout);
        let count = self.moves.len();
        self.moves.retain(|_, moved| moved.actor != *actor);
        if self.moves.len() == count {
            return Ok(());
        }
        let after = self.recorded(layout);
        let before = (!std::mem::take(&mut self.is_new)).then_some(&before);
        add_entry(key, (before, Some(&after)), changes)?;
        self.last.retain(|(known, _)| known != actor);
        self.last.push((actor.clone(), now));
        Ok(())
    }

    /// Returns the layout as the history knows it, in the order of the nodes.
    fn recorded(&self, layout: &TopologyLayout) -> TopologyLayout {
        let mut positions = positions_of(layout);
        for (id, UnrecordedMove { before, .. }) in &self.moves {
            match before {
                Some(before) => drop(positions.insert(*id, *before)),
                None => drop(positions.remove(id)),
            }
        }
        TopologyLayout { positions: positions.into_values().collect(), ..*layout }
    }

    /// Adds the record in place of the stored one. It is deleted when there is nothing left to know.
    fn put(
        &mut self,
        layout: Key,
        stored: Option<&Record>,
        now: Timestamp,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let resting = self.last.iter().filter(|(actor, _)| self.waits(actor, now).is_some());
        self.last = resting.cloned().collect();
        let (key, precondition) = (unrecorded_key(layout), unchanged(stored));
        if !self.moves.is_empty() || !self.last.is_empty() {
            let facets = Facets::default().with_organization(self.organization_id.uuid());
            batch.put(key, precondition, facets, encode(self)?);
        } else if stored.is_some() {
            batch.delete(key, precondition);
        }
        Ok(())
    }
}

/// Adds the entry of a layout that is new, different or deleted.
fn add_entry(
    key: Key,
    (before, after): (Option<&TopologyLayout>, Option<&TopologyLayout>),
    changes: &mut CommitEntries,
) -> Result<(), Error> {
    let Some(layout) = after.or(before) else { return Ok(()) };
    let [before, after] = [before, after].map(|layout| layout.map(encode).transpose());
    let (before, after) = (before?, after?);
    let former = before.as_ref().map(RecordState::read).transpose()?;
    let latter = after.as_ref().map(RecordState::read).transpose()?;
    let Some((action, content)) = compared(former.as_ref(), latter.as_ref())? else { return Ok(()) };
    let entry = ChangeEntry {
        number: 0,
        action,
        entity: ChangedEntity::TopologyLayout,
        id: key.id,
        name: layout.view.as_str().to_owned(),
        content,
        cause: None,
        is_erased: false,
    };
    changes.push(Audience::Network(layout.network_id), entry);
    Ok(())
}

impl Inventory {
    /// Adds the entries of the layouts that a batch writes, as far as they are due. Returns whether it writes any.
    pub(super) async fn add_layouts(
        &self,
        author: &Author,
        before: &BTreeMap<Key, Record>,
        changes: &mut CommitEntries,
        batch: &mut Batch,
    ) -> Result<bool, Error> {
        let mut layouts: Vec<(Key, Option<TopologyLayout>)> = Vec::new();
        for write in batch.writes().iter().filter(|write| write.key().kind == TOPOLOGY_LAYOUT) {
            layouts.push(match write {
                Write::Put { key, body, .. } => (*key, Some(decode_text(*key, body)?)),
                Write::Delete { key, .. } => (*key, None),
            });
        }
        if layouts.is_empty() {
            return Ok(false);
        }
        let keys: Vec<Key> = layouts.iter().map(|(key, _)| unrecorded_key(*key)).collect();
        let (now, actor) = (self.now(), counted_actor(&author.actor));
        for ((key, layout), stored) in layouts.into_iter().zip(self.store.get(&keys).await?) {
            let former = before.get(&key).map(decode::<TopologyLayout>).transpose()?;
            let had = former.as_ref().map(positions_of).unwrap_or_default();
            let mut unrecorded = UnrecordedLayout::of(author.organization, stored.as_ref(), had.is_empty())?;
            let Some(layout) = layout else {
                let known = former.filter(|_| !unrecorded.is_new).map(|layout| unrecorded.recorded(&layout));
                add_entry(key, (known.as_ref(), None), changes)?;
                if stored.is_some() {
                    batch.delete(unrecorded_key(key), unchanged(stored.as_ref()));
                }
                continue;
            };
            unrecorded.note(&had, &positions_of(&layout), &actor);
            if unrecorded.waits(&actor, now).is_none() {
                unrecorded.record((key, &layout), &actor, now, changes)?;
            }
            unrecorded.put(key, stored.as_ref(), now, batch)?;
        }
        Ok(true)
    }

    /// Records the changes of layouts that are due. Returns the time until further ones are; `None`: there are none.
    async fn record_layout(&self, key: Key) -> Result<Option<Duration>, Error> {
        loop {
            let mut read = self.store.get(&[key, unrecorded_key(key)]).await?.into_iter();
            let (Some(Some(record)), Some(Some(stored))) = (read.next(), read.next()) else {
                return Ok(None);
            };
            let (layout, mut unrecorded): (TopologyLayout, UnrecordedLayout) =
                (decode(&record)?, decode(&stored)?);
            let (now, organization) = (self.now(), unrecorded.organization_id);
            let mut due =
                unrecorded.moves.values().filter(|moved| unrecorded.waits(&moved.actor, now).is_none());
            let due = due.next().map(|moved| moved.actor.clone());
            let (mut batch, mut changes) = (Batch::new(), CommitEntries::default());
            if let Some(actor) = &due {
                unrecorded.record((key, &layout), actor, now, &mut changes)?;
            } else if let Some(left) = unrecorded.rests(now) {
                return Ok(Some(left));
            }
            unrecorded.put(key, Some(&stored), now, &mut batch)?;
            batch.guard(Guard::record(key, Precondition::Version(record.version)));
            let mark = self.history_mark().await?;
            batch.guard(mark.guard());
            if let Some(actor) = due {
                let author = self.author_of(organization, actor).await?;
                self.put_entries(&mark, &author, changes, &mut batch)?;
            }
            if self.commit_if_current(batch).await? {
                self.state.history.watchers.wake(organization);
            }
            tokio::task::yield_now().await;
        }
    }

    /// Returns the author of a user's earlier change.
    async fn author_of(&self, organization: OrganizationId, mut actor: ChangeActor) -> Result<Author, Error> {
        if let ChangeActor::User { id, email, .. } = &mut actor
            && let Some(record) = self.get(user_key(*id)).await?
        {
            let user: User = decode(&record)?;
            let is_own = user.organization_id == organization && !user.email.is_empty();
            *email = is_own.then_some(user.email);
        }
        Ok(Author { actor, ..Author::system(organization) })
    }

    /// Records the changes of layouts later, as far as they are not recorded yet.
    pub(super) fn record_layouts_later(&self, layouts: &[Key]) {
        if layouts.is_empty() || !self.recording.is_on() || !self.state.history.layouts.add(layouts, INTERVAL)
        {
            return;
        }
        let inventory = self.with_own_state();
        let mut is_begun = false;
        let begins = || {
            is_begun = true;
            true
        };
        if let Some(tasks) = self.state.history.tasks() {
            tasks.spawn(begins, async move { inventory.record_waiting_layouts().await });
        }
        if !is_begun {
            // There is no runtime, or too much to do: the next change of each layout records the ones before.
            self.state.history.layouts.clear();
        }
    }

    async fn record_waiting_layouts(&self) {
        loop {
            sleep(TICK).await;
            let Some(due) = self.state.history.layouts.take_due() else { return };
            for due in due {
                let left = match self.record_layout(due.layout).await {
                    Ok(left) => left,
                    Err(error) => {
                        tracing::warn!(error = error.with_causes(), "changes of a layout are recorded later");
                        Some(INTERVAL)
                    }
                };
                self.state.history.layouts.put_back(due, left, INTERVAL);
            }
        }
    }

    /// Looks for changes of layouts that were not recorded when the store was closed.
    pub(in crate::inventory::history) async fn find_unrecorded_layouts(&self) -> Result<(), Error> {
        let mut query = Query { limit: Some(READ_TOGETHER), ..Query::new(LAYOUT_MOVES) };
        loop {
            let page = self.store.list(&query).await?;
            let layout = |record: &Record| Key::new(TOPOLOGY_LAYOUT, record.key.id);
            self.record_layouts_later(&page.records.iter().map(layout).collect::<Vec<_>>());
            let Some(next) = page.next else { return Ok(()) };
            query.start = Start::After(next);
        }
    }
}
