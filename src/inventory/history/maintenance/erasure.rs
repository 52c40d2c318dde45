//! Erases names and values from the history.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use uuid::Uuid;

use crate::access::Caller;
use crate::inventory::history::log::reader::{LogFilter, LogReader, Span, ordered};
use crate::inventory::history::log::record::{ChangeEntry, CommitChanges};
use crate::inventory::history::log::run::ChangeRun;
use crate::inventory::history::recording::recorder::entity_of;
use crate::inventory::schema::CHANGE_RUN;
use crate::inventory::{Collection, Deletable, Error, ErrorKind, Hosts, Inventory, Resource};
use crate::model::{ChangeActor, ChangedEntity, Host, HostId, OrganizationId, Permission, UserId};
use crate::store::{Batch, Direction, Precondition, Query, Record, Start};

/// The number of records that one commit changes at most.
const CHANGED_TOGETHER: usize = 16;

/// The content to erase.
#[derive(Clone, Copy, Debug)]
enum Erased<'e> {
    /// The content of the entries of this record.
    Record(ChangedEntity, Uuid),
    /// The content of the entries of these links.
    Links(&'e BTreeSet<Uuid>),
    /// The e-mail address of this user as the maker of changes.
    Address(UserId),
}

impl Inventory {
    /// Erases the name and all values of a record from the history, also of a deleted record.
    ///
    /// The entries stay, with their positions, times, actors and the id of the record. For a host, the entries of its links
    /// are erased as well. For a user, the e-mail address is also erased from all entries of the user's own changes. The
    /// past state of the record is then unknown. Returns the number of records of the store that were changed. It works in steps,
    /// and may be called again after a failure. Backups, and space that a backend has not yet reclaimed, keep the erased values.
    ///
    /// # Errors
    /// `PermissionDenied` unless the caller is an Owner of all networks; `SessionRequired` without a session.
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
            changed += self.erase_links(caller.organization_id(), (&all, &of_record), id).await?;
        }
        if entity == ChangedEntity::User {
            changed += self.erase(&all, Erased::Address(UserId::new(id))).await?;
        }
        Ok(changed)
    }

    /// Erases the names and values of the links of a host.
    async fn erase_links(
        &self,
        organization: OrganizationId,
        (all, of_host): (&LogFilter, &LogFilter),
        host: Uuid,
    ) -> Result<u64, Error> {
        let mut networks = BTreeSet::new();
        self.for_each_commit(of_host, |commit| networks.extend(commit.audience.network())).await?;
        for network in networks {
            // Entries that follow from the last changes of the host must exist before they are erased.
            self.follow_now(organization, network).await?;
        }
        // Entries of updated links have the fields that differ, and name the host only where an end differs.
        let text = host.to_string();
        let mut links = BTreeSet::new();
        let find = |commit: &CommitChanges| {
            let of_links = commit.entries.iter().filter(|entry| entry.entity == ChangedEntity::Link);
            links.extend(of_links.filter(|entry| entry.mentions(&text)).map(|entry| entry.id));
        };
        self.for_each_commit(all, find).await?;
        if links.is_empty() { Ok(0) } else { self.erase(all, Erased::Links(&links)).await }
    }

    /// Reads all commits of a filter, some at a time.
    async fn for_each_commit(
        &self,
        filter: &LogFilter,
        mut visit: impl FnMut(&CommitChanges),
    ) -> Result<(), Error> {
        let mut log = LogReader::new(self, filter.clone(), Span::default(), Direction::Ascending);
        loop {
            let commits = log.next().await?;
            if commits.is_empty() {
                return Ok(());
            }
            commits.iter().for_each(&mut visit);
            tokio::task::yield_now().await;
        }
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

    async fn erase(&self, filter: &LogFilter, what: Erased<'_>) -> Result<u64, Error> {
        let mut changed = 0;
        // The entries of new links, which name their hosts, are the last to be erased: after a failure, they are found again.
        // Commits come before runs: entries that are erased in a commit stay erased when they are joined.
        for query in [filter.commits(), filter.runs()] {
            let query = ordered(&query, Direction::Descending);
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
    async fn erase_in(&self, records: &[Record], what: Erased<'_>) -> Result<Option<u64>, Error> {
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
        let deletion = self.delete_if(caller, id, check);
        self.inventory.erase_deleted(caller, (ChangedEntity::Host, id.uuid()), deletion, check_missing).await
    }
}

/// Checks that a caller may erase content of the history: an Owner of all networks with a session.
fn check_may_erase(caller: &Caller) -> Result<(), Error> {
    let is_owner = caller.permission() == Permission::Owner && caller.scope().networks().is_none();
    match (is_owner, caller.credential().is_session()) {
        (true, true) => Ok(()),
        (true, false) => Err(ErrorKind::SessionRequired.into()),
        (false, _) => Err(ErrorKind::PermissionDenied.into()),
    }
}

impl Erased<'_> {
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
            Self::Links(links) => {
                let of_links = entries.iter_mut().filter(|entry| {
                    entry.entity == ChangedEntity::Link && !entry.is_erased && links.contains(&entry.id)
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
