//! Security events that no commit makes. They are counted, and written about once a minute for each account or share.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::Author;
use super::audience::Audience;
use super::event::SecurityEvent;
use super::recorder::CommitEntries;
use crate::inventory::schema::{decode, share_key, user_key};
use crate::inventory::{Error, Inventory};
use crate::model::{ChangeAction, ChangedEntity, OrganizationId, Share, ShareId, User, UserId};
use crate::store::{Batch, Guard, Key, Precondition};

/// The number of accounts and shares whose events are counted at the same time. Those of further ones are left out.
const MAX_NOTED: usize = 1_000;

/// The time between two entries of one account or share.
const INTERVAL: Duration = Duration::from_secs(60);

/// The interval at which is looked for what is to be written. The first entry is written after it, and so after the answer.
const TICK: Duration = Duration::from_secs(1);

/// Events that are to be written.
#[derive(Debug, Default)]
pub(super) struct Notes {
    events: Mutex<HashMap<(ChangeAction, Key), Noted>>,
}

/// How often something has happened since the last entry.
#[derive(Clone, Copy, Debug)]
struct Noted {
    count: u64,
    due: Instant,
}

impl Notes {
    /// Counts an event. Returns whether it is the first one, which needs a writer.
    fn add(&self, event: (ChangeAction, Key)) -> bool {
        let mut events = self.events();
        let is_first = events.is_empty();
        let is_full = events.len() >= MAX_NOTED;
        match events.entry(event) {
            Entry::Occupied(mut known) => known.get_mut().count += 1,
            Entry::Vacant(_) if is_full => return false,
            Entry::Vacant(new) => drop(new.insert(Noted { count: 1, due: Instant::now() + TICK })),
        }
        is_first
    }

    /// Takes what is due. `None`: nothing is counted any more, and the next event needs a writer.
    fn take_due(&self) -> Option<Vec<((ChangeAction, Key), u64)>> {
        let mut events = self.events();
        let now = Instant::now();
        events.retain(|_, noted| noted.count > 0 || noted.due > now);
        if events.is_empty() {
            return None;
        }
        let due = events.iter_mut().filter(|(_, noted)| noted.count > 0 && noted.due <= now);
        let taken = due.map(|(event, noted)| {
            noted.due = now + INTERVAL;
            (*event, std::mem::take(&mut noted.count))
        });
        Some(taken.collect())
    }

    fn forget(&self) {
        self.events().clear();
    }

    fn events(&self) -> MutexGuard<'_, HashMap<(ChangeAction, Key), Noted>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inventory {
    /// Notes that a password for a user's address was wrong.
    pub(in crate::inventory) fn note_failed_login(&self, user: UserId) {
        self.note((ChangeAction::LoginFailed, user_key(user)));
    }

    /// Notes that the password of a share was given.
    pub(in crate::inventory) fn note_password_of_share(&self, share: ShareId) {
        self.note((ChangeAction::PasswordChecked, share_key(share)));
    }

    fn note(&self, event: (ChangeAction, Key)) {
        if !self.recording.is_on() || !self.state.history.notes.add(event) {
            return;
        }
        let inventory = self.with_own_state();
        let mut is_begun = false;
        let begins = || {
            is_begun = true;
            true
        };
        self.state.tasks.spawn(begins, async move { inventory.write_notes().await });
        if !is_begun {
            // There is no runtime, or too much to do.
            self.state.history.notes.forget();
        }
    }

    /// Writes events as they are due, until there are none.
    async fn write_notes(&self) {
        loop {
            sleep(TICK).await;
            let Some(due) = self.state.history.notes.take_due() else { return };
            for (event, count) in due {
                if let Err(error) = self.write_note(event, count).await {
                    tracing::warn!(error = error.with_causes(), "a security event was not recorded");
                }
            }
        }
    }

    async fn write_note(&self, (action, key): (ChangeAction, Key), count: u64) -> Result<(), Error> {
        let Some(record) = self.get(key).await? else { return Ok(()) };
        let (organization, event, name): (OrganizationId, SecurityEvent, String) = match action {
            ChangeAction::LoginFailed => {
                let user: User = decode(&record)?;
                (user.organization_id, SecurityEvent::of_session(user.id, action), user.email)
            }
            _ => {
                let share: Share = decode(&record)?;
                let (entity, audience) = (ChangedEntity::Share, Audience::Admins);
                let event = SecurityEvent { action, entity, id: share.id.uuid(), audience };
                (share.organization_id, event, share.name)
            }
        };
        let mark = self.history_mark().await?;
        let mut changes = CommitEntries::default();
        changes.add_event(event, name, Some(count))?;
        let mut batch = Batch::new();
        batch.guard(mark.guard());
        batch.guard(Guard::record(key, Precondition::Present));
        let author = Author::system(organization);
        self.put_entries(&mark, &author, changes, &mut batch)?;
        self.commit_if_current(batch).await?;
        self.state.history.watchers.wake(organization);
        Ok(())
    }
}
