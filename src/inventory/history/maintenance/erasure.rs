//! Erases names and values from the history.

use std::sync::Arc;

use bytes::Bytes;
use serde::Deserialize;
use uuid::Uuid;

use crate::access::Caller;
use crate::inventory::history::log::reader::{LogFilter, ordered};
use crate::inventory::history::log::record::{ChangeEntry, CommitChanges};
use crate::inventory::history::log::run::ChangeRun;
use crate::inventory::history::recording::recorder::{entity_of, shown};
use crate::inventory::schema::{CHANGE_RUN, decode_text, host_key};
use crate::inventory::{Collection, Deletable, Error, ErrorKind, Hosts, Inventory, Resource};
use crate::model::{ChangeActor, ChangedEntity, Host, HostId, NetworkId, Permission, UserId};
use crate::store::{Batch, Direction, Precondition, Query, Record, Start};

/// The number of records that one commit changes at most.
const CHANGED_TOGETHER: usize = 16;

/// The content to erase.
#[derive(Clone, Copy, Debug)]
enum Erased {
    /// The content of the entries of this record.
    Record(ChangedEntity, Uuid),
    /// The content of the entries of this host's links.
    Links(HostId),
    /// The e-mail address of this user as the maker of changes.
    Address(UserId),
}

impl Inventory {
    /// Erases the name and all values of a record from the history, also of a deleted record.
    ///
    /// The entries stay, with their positions, times, actors and the id of the record. For a host, the entries of its links that
    /// name it are erased as well. For a user, the e-mail address is also erased from all entries of the user's own changes. The
    /// past state of the record is then unknown. Returns the number of records of the store that were changed. It works in steps,
    /// and may be called again after a failure. Backups, and space that a backend has not yet reclaimed, keep the erased values.
    ///
    /// # Errors
    /// `PermissionDenied` unless the caller is an Owner of all networks with a session.
    pub async fn erase_history(
        &self,
        caller: &Caller,
        entity: ChangedEntity,
        id: Uuid,
    ) -> Result<u64, Error> {
        check_may_erase(caller)?;
        let all = LogFilter::all(caller.organization_id());
        let of_record = LogFilter { id: Some(id), ..all.clone() };
        let mut changed = self.erase(&of_record, Erased::Record(entity, id)).await?;
        if entity == ChangedEntity::Host {
            changed += self.erase(&all, Erased::Links(HostId::new(id))).await?;
        }
        if entity == ChangedEntity::User {
            changed += self.erase(&all, Erased::Address(UserId::new(id))).await?;
        }
        Ok(changed)
    }

    /// Erases the names and values of a record that `deletion` deletes, or that is gone, from the history. Before anything is
    /// deleted, it checks that the caller may erase.
    async fn erase_deleted(
        &self,
        caller: &Caller,
        (entity, id): (ChangedEntity, Uuid),
        deletion: impl Future<Output = Result<(), Error>>,
        check_missing: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        check_may_erase(caller)?;
        if let Err(missing) = deletion.await {
            let is_missing = matches!(missing.kind(), ErrorKind::NotFound { id: gone, .. } if *gone == id);
            if !is_missing || !self.is_in_history(caller, Some(entity), id).await? {
                return Err(missing);
            }
            check_missing()?;
        }
        self.erase_history(caller, entity, id).await.map(|_| ())
    }

    async fn erase(&self, filter: &LogFilter, what: Erased) -> Result<u64, Error> {
        let mut changed = 0;
        // Commits come before runs: entries that are erased in a commit stay erased when they are joined.
        for query in [filter.commits(), filter.runs()] {
            let query = ordered(&query, Direction::Ascending);
            let mut query = Query { limit: Some(CHANGED_TOGETHER), max_bytes: None, ..query };
            loop {
                let page = self.store.list(&query).await?;
                tokio::task::yield_now().await;
                let Some(count) = self.erase_in(&page.records, what).await? else {
                    // A record was changed meanwhile: it is read again.
                    continue;
                };
                changed += count;
                let Some(next) = page.next else { break };
                query.start = Start::After(next);
            }
        }
        Ok(changed)
    }

    /// Erases the content of some records. `None`: one of them has changed meanwhile.
    async fn erase_in(&self, records: &[Record], what: Erased) -> Result<Option<u64>, Error> {
        let mut batch = Batch::new();
        for record in records {
            let precondition = Precondition::Version(record.version);
            if record.key.kind == CHANGE_RUN {
                let mut run = ChangeRun::read(record)?;
                let mut is_changed = false;
                for commit in &mut run.commits {
                    is_changed |= what.erase(&mut commit.actor, &mut commit.entries);
                }
                if is_changed {
                    run.put(record.key, precondition, &mut batch)?;
                }
            } else {
                let mut changes = CommitChanges::read(record)?;
                if what.erase(&mut changes.actor, &mut changes.entries) {
                    changes.put(record.key, precondition, &mut batch)?;
                }
            }
        }
        let count = batch.writes().len() as u64;
        if count == 0 || self.commit_if_current(batch).await? { Ok(Some(count)) } else { Ok(None) }
    }
}

impl<T: Resource + Deletable> Collection<'_, T> {
    /// Deletes a record like [`delete_if`](Self::delete_if), and erases its names and values from the history.
    ///
    /// If the record is gone already, and only its history is left, `check_missing` may prevent the erasure.
    ///
    /// # Errors
    /// The errors of [`Inventory::erase_history`] and of [`delete_if`](Self::delete_if), but `NotFound` only if the history has no entry
    /// of the record; the errors of `check_missing`.
    pub(crate) async fn delete_and_erase(
        self,
        caller: &Caller,
        id: T::Id,
        check: impl Fn(&T) -> Result<(), Error> + Send + Sync,
        check_missing: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let entity = entity_of(T::KIND).ok_or_else(|| Error::internal("a kind of record has no history"))?;
        let deletion = self.delete_if(caller, id, check);
        self.inventory.erase_deleted(caller, (entity, id.into()), deletion, check_missing).await
    }
}

impl Hosts<'_> {
    /// Deletes a host like [`delete_if`](Self::delete_if), and erases its names and values from the history.
    ///
    /// If the record is gone already, and only its history is left, `check_missing` may prevent the erasure.
    ///
    /// # Errors
    /// The errors of [`Inventory::erase_history`] and of [`delete_if`](Self::delete_if), but `NotFound` only if the history has no entry
    /// of the host; the errors of `check_missing`.
    pub(crate) async fn delete_and_erase(
        self,
        caller: &Caller,
        id: HostId,
        check: impl Fn(&Host) -> Result<(), Error> + Send + Sync,
        check_missing: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let record = (ChangedEntity::Host, id.uuid());
        let stored = self.inventory.get(host_key(id)).await?;
        let network = stored.map(|stored| network_of(&stored)).transpose()?;
        let deletion = async {
            self.delete_if(caller, id, check).await?;
            // Its links are deleted with it. Their `deleted` entries must exist before the erasure.
            match network {
                Some(network) => self.inventory.follow_now(caller.organization_id(), network).await,
                None => Ok(()),
            }
        };
        self.inventory.erase_deleted(caller, record, deletion, check_missing).await
    }
}

/// Returns the network of a stored host.
fn network_of(host: &Record) -> Result<NetworkId, Error> {
    #[derive(Deserialize)]
    struct Placed {
        network_id: NetworkId,
    }
    let Placed { network_id } = decode_text(host.key, &shown(ChangedEntity::Host, &host.body)?)?;
    Ok(network_id)
}

/// Checks that a caller may erase content of the history: an Owner of all networks with a session.
fn check_may_erase(caller: &Caller) -> Result<(), Error> {
    let is_owner = caller.permission() == Permission::Owner && caller.scope().networks().is_none();
    if is_owner && caller.credential().is_session() {
        return Ok(());
    }
    Err(ErrorKind::PermissionDenied.into())
}

impl Erased {
    /// Erases in the entries of a commit. Returns whether there was anything to erase.
    fn erase(self, actor: &mut Arc<ChangeActor>, entries: &mut [ChangeEntry]) -> bool {
        match self {
            Self::Address(user) => match **actor {
                ChangeActor::User { id, email: Some(_), key_id } if id == user => {
                    *actor = Arc::new(ChangeActor::User { id, email: None, key_id });
                    true
                }
                _ => false,
            },
            Self::Links(host) => {
                let id = host.to_string();
                let of_links = entries.iter_mut().filter(|entry| {
                    entry.entity == ChangedEntity::Link && !entry.is_erased && entry.mentions(&id)
                });
                of_links.map(ChangeEntry::erase).count() > 0
            }
            Self::Record(entity, id) => {
                let is_of_user =
                    |known: ChangedEntity| entity == ChangedEntity::User && known == ChangedEntity::Session;
                let of_record = entries.iter_mut().filter(|entry| {
                    entry.id == id && !entry.is_erased && (entry.entity == entity || is_of_user(entry.entity))
                });
                of_record.map(ChangeEntry::erase).count() > 0
            }
        }
    }
}

impl ChangeEntry {
    /// Returns whether an id is in a value.
    fn mentions(&self, id: &str) -> bool {
        memchr::memmem::find(&self.content, id.as_bytes()).is_some()
    }

    fn erase(&mut self) {
        self.is_erased = true;
        self.name.clear();
        self.content = Bytes::new();
    }
}
