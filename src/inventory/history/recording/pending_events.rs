//! Security events that no commit makes. They are counted, and written about once a minute for each account or share.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::event::SecurityEvent;
use super::recorder::CommitEntries;
use crate::inventory::history::Author;
use crate::inventory::history::log::audience::Audience;
use crate::inventory::schema::{decode, share_key, user_key};
use crate::inventory::{Error, Inventory};
use crate::model::{ChangeAction, ChangedEntity, OrganizationId, Share, ShareId, User, UserId};
use crate::store::{Batch, Guard, Key, Precondition, StoreError};

/// The number of accounts and shares whose events are counted at the same time. Events of further ones are left out, with a warning.
const MAX_COUNTED: usize = 1_000;

/// The time between two entries of one account or share.
const INTERVAL: Duration = Duration::from_secs(60);

/// The time between two looks for events that are due. The first entry is written after it, and so after the answer.
const TICK: Duration = Duration::from_secs(1);

/// The number of attempts to write an entry while the history begins other eras.
const MAX_ATTEMPTS: usize = 16;

/// An action, and the account or share that it concerns.
type Event = (ChangeAction, Key);

/// Events that are to be written.
#[derive(Debug, Default)]
pub(in crate::inventory::history) struct PendingEvents {
    pending: Mutex<Pending>,
}

#[derive(Debug, Default)]
struct Pending {
    events: HashMap<Event, Counted>,
    /// The number of events that were left out since the last warning.
    left_out: u64,
}

/// The number of times that an event has happened since its last entry.
#[derive(Clone, Copy, Debug)]
struct Counted {
    count: u64,
    due: Instant,
}

/// Events whose time has come, and the number of events that were left out since the last look.
#[derive(Debug, Default)]
struct DueEvents {
    events: Vec<(Event, u64)>,
    left_out: u64,
}

impl PendingEvents {
    /// Counts an event. Returns whether it is the first one, which needs a writer.
    fn add(&self, event: Event) -> bool {
        let mut pending = self.pending();
        let is_first = pending.events.is_empty();
        let is_full = pending.events.len() >= MAX_COUNTED;
        match pending.events.entry(event) {
            Entry::Occupied(mut known) => known.get_mut().count += 1,
            Entry::Vacant(_) if is_full => pending.left_out += 1,
            Entry::Vacant(new) => drop(new.insert(Counted { count: 1, due: Instant::now() + TICK })),
        }
        is_first
    }

    /// Takes the events that are due. `None`: nothing is counted any more, and the next event needs a writer.
    fn take_due(&self) -> Option<DueEvents> {
        let mut pending = self.pending();
        let now = Instant::now();
        pending.events.retain(|_, counted| counted.count > 0 || counted.due > now);
        if pending.events.is_empty() && pending.left_out == 0 {
            return None;
        }
        let left_out = std::mem::take(&mut pending.left_out);
        let due = pending.events.iter_mut().filter(|(_, counted)| counted.count > 0 && counted.due <= now);
        let taken = due.map(|(event, counted)| {
            counted.due = now + INTERVAL;
            (*event, std::mem::take(&mut counted.count))
        });
        Some(DueEvents { events: taken.collect(), left_out })
    }

    /// Counts an event again that could not be written. It is due when the next entry of its account or share would be.
    fn put_back(&self, event: Event, count: u64) {
        let mut pending = self.pending();
        let due = Instant::now() + INTERVAL;
        pending.events.entry(event).or_insert(Counted { count: 0, due }).count += count;
    }

    /// Forgets all events, because nothing can write them. Returns their number.
    fn forget(&self) -> u64 {
        let Pending { events, left_out } = std::mem::take(&mut *self.pending());
        left_out + events.values().map(|counted| counted.count).sum::<u64>()
    }

    fn pending(&self) -> MutexGuard<'_, Pending> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn warn_of_left_out(count: u64) {
    if count > 0 {
        tracing::warn!(count, "security events were not recorded, because too many are pending");
    }
}

impl Inventory {
    /// Counts a wrong password for a user's address.
    pub(in crate::inventory) fn note_failed_login(&self, user: UserId) {
        self.note_event((ChangeAction::LoginFailed, user_key(user)));
    }

    /// Counts a check of a share's password.
    pub(in crate::inventory) fn note_password_of_share(&self, share: ShareId) {
        self.note_event((ChangeAction::PasswordChecked, share_key(share)));
    }

    fn note_event(&self, event: Event) {
        if !self.recording.is_on() || !self.state.history.pending_events.add(event) {
            return;
        }
        let inventory = self.with_own_state();
        let mut is_begun = false;
        let begins = || {
            is_begun = true;
            true
        };
        if let Some(tasks) = self.state.history.tasks() {
            tasks.spawn(begins, async move { inventory.write_pending_events().await });
        }
        if !is_begun {
            // There is no runtime, or too much to do.
            warn_of_left_out(self.state.history.pending_events.forget());
        }
    }

    /// Writes events as they are due, until there are none.
    async fn write_pending_events(&self) {
        loop {
            sleep(TICK).await;
            let Some(due) = self.state.history.pending_events.take_due() else { return };
            warn_of_left_out(due.left_out);
            for (event, count) in due.events {
                if let Err(error) = self.write_event(event, count).await {
                    tracing::warn!(error = error.with_causes(), "a security event is recorded later");
                    self.state.history.pending_events.put_back(event, count);
                }
            }
        }
    }

    async fn write_event(&self, event: Event, count: u64) -> Result<(), Error> {
        for _ in 0..MAX_ATTEMPTS {
            if self.try_write_event(event, count).await? {
                return Ok(());
            }
        }
        Err(StoreError::unavailable("other changes of the history come first again and again").into())
    }

    /// Writes an event, unless its record no longer exists. Returns `false` if the history has begun another era meanwhile.
    async fn try_write_event(&self, (action, key): Event, count: u64) -> Result<bool, Error> {
        let Some(record) = self.get(key).await? else { return Ok(true) };
        let (organization, event, name): (OrganizationId, SecurityEvent, String) = match action {
            ChangeAction::LoginFailed => {
                let user: User = decode(&record)?;
                (user.organization_id, SecurityEvent::of_session(user.id, action), user.email)
            }
            _ => {
                debug_assert_eq!(action, ChangeAction::PasswordChecked, "no other action is counted");
                let share: Share = decode(&record)?;
                let (entity, audience) = (ChangedEntity::Share, Audience::Admins);
                let event = SecurityEvent { action, entity, id: share.id.uuid(), audience };
                (share.organization_id, event, share.name)
            }
        };
        let mark = self.history_mark().await?;
        let mut changes = CommitEntries::default();
        changes.add_event(event, name, Some(count));
        let mut batch = Batch::new();
        batch.guard(mark.guard());
        batch.guard(Guard::record(key, Precondition::Present));
        let author = Author::system(organization);
        self.put_entries(&mark, &author, changes, &mut batch)?;
        let is_written = self.commit_if_current(batch).await?;
        if is_written {
            self.state.history.watchers.wake(organization);
        }
        Ok(is_written)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn failed_login(number: u128) -> Event {
        (ChangeAction::LoginFailed, user_key(UserId::from(Uuid::from_u128(number))))
    }

    #[tokio::test(start_paused = true)]
    async fn event_that_could_not_be_written_is_due_again_with_its_count() {
        let pending = PendingEvents::default();
        assert!(pending.add(failed_login(1)));
        assert!(!pending.add(failed_login(1)));
        sleep(TICK).await;
        let due = pending.take_due().unwrap();
        assert_eq!(due.events, [(failed_login(1), 2)]);
        pending.put_back(failed_login(1), 2);
        assert!(!pending.add(failed_login(1)), "its writer still runs");
        sleep(INTERVAL).await;
        assert_eq!(pending.take_due().unwrap().events, [(failed_login(1), 3)]);
        sleep(INTERVAL).await;
        assert!(pending.take_due().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn events_beyond_the_limit_are_counted_as_left_out() {
        let pending = PendingEvents::default();
        for number in 0..MAX_COUNTED as u128 + 7 {
            pending.add(failed_login(number));
        }
        sleep(TICK).await;
        let due = pending.take_due().unwrap();
        assert_eq!((due.events.len(), due.left_out), (MAX_COUNTED, 7));
        assert_eq!(pending.take_due().unwrap().left_out, 0);
    }
}
