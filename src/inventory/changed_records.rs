//! The records that the commits of a request change, for the audit log.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::task_local;
use uuid::Uuid;

use super::schema::{
    ADDRESS_RESERVATION, DAEMON, DAEMON_API_KEY, DISCOVERY, HOST, NETWORK, ORGANIZATION, PASSWORD, REFERRAL,
    SESSION, SESSION_LINK, SHARE, SHARE_PASSWORD, SUBNET, TAG, TOPOLOGY_LAYOUT, TOPOLOGY_LINK, USER,
    USER_API_KEY,
};
use crate::store::{Batch, Name, Precondition, Write};

/// Maximum number of records that the notes name.
const NAMED: usize = 100;

/// The kinds of records that count. Other kinds are internal to the inventory.
const KINDS: [Name; 18] = [
    ADDRESS_RESERVATION,
    DAEMON,
    DAEMON_API_KEY,
    DISCOVERY,
    HOST,
    NETWORK,
    ORGANIZATION,
    PASSWORD,
    REFERRAL,
    SESSION,
    SHARE,
    SHARE_PASSWORD,
    SUBNET,
    TAG,
    TOPOLOGY_LAYOUT,
    TOPOLOGY_LINK,
    USER,
    USER_API_KEY,
];

task_local! {
    /// The notes about the request that this task serves. Spawned tasks do not inherit them.
    static CHANGED: Arc<ChangedRecords>;
}

/// Notes about the records that the commits of one request change: their number, and the first of them.
#[derive(Debug, Default)]
pub(crate) struct ChangedRecords(Mutex<Notes>);

#[derive(Debug, Default)]
struct Notes {
    /// The number of batches so far, which numbers the next one.
    batches: u64,
    changes: u64,
    /// The number of a batch, and what it changes, such as `create host 0199…`.
    named: Vec<(u64, String)>,
    /// The batches of which it is not known whether they were committed.
    uncertain: BTreeSet<u64>,
}

/// The changes of one batch that is being committed. They count as possible until its end is known.
#[derive(Debug)]
pub(super) struct BatchChanges {
    changed: Arc<ChangedRecords>,
    batch: u64,
    changes: u64,
}

impl ChangedRecords {
    /// Runs a future, and notes the records that its commits change.
    pub(crate) async fn of<T>(self: &Arc<Self>, future: impl Future<Output = T>) -> T {
        CHANGED.scope(Arc::clone(self), future).await
    }

    /// Returns the number of changes, and the first of them as text.
    pub(crate) fn take(&self) -> (u64, String) {
        let Notes { changes, named, uncertain, .. } = std::mem::take(&mut *self.lock());
        let described = |(batch, named): &(u64, String)| {
            if uncertain.contains(batch) { format!("perhaps {named}") } else { named.clone() }
        };
        (changes, named.iter().map(described).collect::<Vec<_>>().join(", "))
    }

    fn lock(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BatchChanges {
    /// Notes the changes of a batch, if this task does that.
    pub(super) fn of(batch: &Batch) -> Option<Self> {
        let changed = CHANGED.try_with(Arc::clone).ok()?;
        let mut notes = changed.lock();
        let (batch_number, mut changes) = (notes.batches, 0);
        notes.batches += 1;
        notes.uncertain.insert(batch_number);
        for write in batch.writes().iter().filter(|write| is_noted(write.key().kind)) {
            changes += 1;
            if notes.named.len() < NAMED {
                notes.named.push((batch_number, described(write)));
            }
        }
        notes.changes += changes;
        drop(notes);
        Some(Self { changed, batch: batch_number, changes })
    }

    /// Notes that the batch was committed.
    pub(super) fn committed(self) {
        self.changed.lock().uncertain.remove(&self.batch);
    }

    /// Notes that the batch was refused, and has changed nothing.
    pub(super) fn refused(self) {
        let mut notes = self.changed.lock();
        // `take` may have reset the number meanwhile.
        notes.changes = notes.changes.saturating_sub(self.changes);
        notes.named.retain(|(batch, _)| *batch != self.batch);
        notes.uncertain.remove(&self.batch);
    }
}

fn is_noted(kind: Name) -> bool {
    KINDS.contains(&kind) || kind.is_of_application()
}

fn described(write: &Write) -> String {
    let key = write.key();
    let (change, user) = match write {
        Write::Put { facets, .. } => {
            let change = if write.precondition() == Precondition::Absent { "create" } else { "update" };
            let user = facets.links.iter().find(|link| link.relation == SESSION_LINK);
            (change, user.filter(|_| key.kind == SESSION).map(|link| link.target))
        }
        Write::Delete { .. } => ("delete", None),
    };
    let user = user.map(|user| format!(" of user {user}")).unwrap_or_default();
    let id = if [SHARE, SHARE_PASSWORD].contains(&key.kind) { begin_of(key.id) } else { key.id.to_string() };
    format!("{change} {} {id}{user}", key.kind.as_str())
}

/// Returns the beginning of the id of a share for the log. The whole id opens the share.
pub(crate) fn begin_of(share: Uuid) -> String {
    let mut text = share.to_string();
    text.truncate(8);
    text.push('…');
    text
}
