use std::collections::BTreeSet;

use uuid::Uuid;

use super::references::{added_references, guard_references};
use super::{BulkDeletable, Collection, CollectionRecord, Creatable, Deletable, Resource, Switchable};
use crate::access::Caller;
use crate::inventory::policy::Actor;
use crate::inventory::schema::{decode, encode};
use crate::inventory::{Error, ErrorKind, Inventory, Problem, unchanged};
use crate::model::{RecordId, uuids};
use crate::store::{Batch, Key, Precondition, Query};

/// Maximum number of records in a bulk deletion.
pub(crate) const MAX_BULK: usize = 1_000;

impl<T: Resource + Creatable> Collection<'_, T> {
    /// Creates a record on behalf of a caller.
    ///
    /// The id, the organization and the times of the record are ignored: the inventory sets them.
    ///
    /// # Errors
    /// - `PermissionDenied`, `SessionRequired`: the caller may not create records of this kind.
    /// - `ReferenceInvalid`: a referenced record does not exist in the caller's organization.
    /// - `AccessDenied`: the network is outside of the caller's scope.
    /// - `Invalid`, `AlreadyExists`, `QuotaExceeded`: a rule of the kind is broken.
    pub async fn create(self, caller: &Caller, record: T) -> Result<T, Error> {
        self.create_with(caller, self.inventory.new_id()?, record).await.map_err(T::named)
    }

    /// Creates a record like [`create`](Self::create), with this id.
    pub(in crate::inventory) async fn create_with(
        self,
        caller: &Caller,
        id: T::Id,
        record: T,
    ) -> Result<T, Error> {
        T::REQUIREMENTS.create.check(caller)?;
        let (organization, now) = (caller.organization_id(), self.inventory.now());
        let mut record = record;
        record.begin(id, organization, now);
        record.validate(None, now)?;
        self.inventory.require_organization(caller).await?;
        let mut transaction = self.inventory.reviewed_transaction(caller, T::ENTITY, record.id());
        let (limit, owner) = T::quota(self.inventory, caller);
        loop {
            let references = record.references();
            self.inventory.check_own_references(caller, &references).await?;
            record.deduplicate();
            let mut batch = Batch::new();
            let facets = self.inventory.facets_of(organization, &record);
            batch.put(key(&record), Precondition::Absent, facets.clone(), encode(&record)?);
            guard_references(&references, &mut batch);
            T::prepare(self.inventory, caller, None, &record, &mut batch).await?;
            transaction.review(Actor::Caller(caller), None, Some(&record)).await?;
            let _turn = transaction.quota_turn(limit, owner, T::ENTITY).await?;
            let all = Query { organization: Some(organization.uuid()), ..Query::new(T::KIND) };
            self.inventory.check_quota(limit, T::ENTITY, all, 1).await?;
            self.inventory.note_answer(&record, record.network())?;
            if self.inventory.commit_unique(caller, &mut transaction, batch, (&record, &facets)).await? {
                // Give up the turns, because finishing the creation may take others.
                drop(transaction);
                T::finish_creation(self.inventory, &record).await;
                return Ok(record);
            }
        }
    }
}

impl<T: Resource> Collection<'_, T> {
    /// Updates a record on behalf of a caller.
    ///
    /// `change` receives the present record and changes it. It is called again if another change is committed first,
    /// and an error that it returns ends the update. Fields that only the server sets are restored afterwards. If nothing has
    /// changed, nothing is stored, and `updated_at` stays.
    ///
    /// ```
    /// # use toposcope::access::{Caller, Scope};
    /// # use toposcope::model::{Permission, Tag, UserId};
    /// # use toposcope::{Inventory, MemoryStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// # let caller = Caller::new(organization.id, UserId::nil(), Permission::Admin, Scope::all());
    /// let tag = inventory.records().create(&caller, Tag::new("critical")).await?;
    /// let rename = |tag: &mut Tag| {
    ///     tag.name = "important".to_owned();
    ///     Ok(())
    /// };
    /// let tag = inventory.records().update(&caller, tag.id, rename).await?;
    /// assert_eq!(tag.name, "important");
    /// inventory.tags().delete(&caller, tag.id).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Collection::get`](crate::inventory::Collection::get) and
    /// [`Collection::create`](crate::inventory::Collection::create); `NetworkMismatch` if the network would change; the
    /// errors of `change`.
    pub async fn update(
        self,
        caller: &Caller,
        id: T::Id,
        change: impl Fn(&mut T) -> Result<(), Error> + Send + Sync,
    ) -> Result<T, Error> {
        self.inventory.update_with(caller, id, change, |_, _| Ok(())).await.map_err(T::named)
    }
}

impl<T: Resource + Deletable> Collection<'_, T> {
    /// Deletes a record on behalf of a caller.
    ///
    /// # Errors
    /// The errors of [`get`](crate::inventory::Collection::get); `InUse` while another record depends on it.
    pub async fn delete(self, caller: &Caller, id: T::Id) -> Result<(), Error> {
        self.delete_if(caller, id, |_| Ok(())).await
    }

    /// Deletes a record like [`delete`](Self::delete), if `check` allows it.
    ///
    /// `check` receives the record that would be deleted; an error that it returns ends the deletion.
    ///
    /// # Errors
    /// The errors of [`Collection::get`](crate::inventory::Collection::get); `InUse` while another record depends on it; the errors of `check`.
    pub async fn delete_if(
        self,
        caller: &Caller,
        id: T::Id,
        check: impl Fn(&T) -> Result<(), Error> + Send + Sync,
    ) -> Result<(), Error> {
        self.delete_checked(caller, id, check).await.map_err(T::named)
    }

    async fn delete_checked(
        self,
        caller: &Caller,
        id: T::Id,
        check: impl Fn(&T) -> Result<(), Error> + Send + Sync,
    ) -> Result<(), Error> {
        T::REQUIREMENTS.change.check(caller)?;
        let mut transaction = self.inventory.reviewed_transaction(caller, T::ENTITY, id);
        loop {
            let (stored, record) = match self.inventory.own_record::<T>(caller, id).await {
                Ok(found) => found,
                Err(missing) if matches!(missing.kind(), ErrorKind::NotFound { .. }) => {
                    drop(transaction);
                    let resumed = T::finish_deletion(self.inventory, caller, id).await?;
                    return if resumed { Ok(()) } else { Err(missing) };
                }
                Err(error) => return Err(error),
            };
            check(&record)?;
            let mut batch = Batch::new();
            T::prepare_deletion(self.inventory, caller, &record, &mut batch).await?;
            transaction.review(Actor::Caller(caller), Some(&record), None).await?;
            batch.delete(stored.key, unchanged(Some(&stored)));
            let takes_more = T::takes_more_commits(&batch);
            if transaction.commit(batch).await? {
                // Give up the turns, because finishing the deletion takes others.
                drop(transaction);
                if takes_more {
                    T::finish_deletion(self.inventory, caller, id).await?;
                }
                return Ok(());
            }
        }
    }
}

impl<T: Resource + Switchable> Collection<'_, T> {
    /// Enables a record, with effect from the next request on.
    ///
    /// An enabled user can log in, and enabled API keys of the user are accepted again. An enabled key is accepted and an
    /// enabled share can be opened, unless it has expired.
    ///
    /// # Errors
    /// The errors of [`update`](crate::inventory::Collection::update).
    pub async fn enable(self, caller: &Caller, id: T::Id) -> Result<T, Error> {
        self.switch(caller, id, true).await
    }

    /// Disables a record, with effect from the next request on.
    ///
    /// Disabled users cannot log in, and their sessions and API keys are refused. The sessions are then deleted, in
    /// commits of at most 1,000. A disabled key is refused, and a disabled share cannot be opened.
    ///
    /// # Errors
    /// The errors of [`update`](crate::inventory::Collection::update).
    pub async fn disable(self, caller: &Caller, id: T::Id) -> Result<T, Error> {
        self.switch(caller, id, false).await
    }

    async fn switch(self, caller: &Caller, id: T::Id, is_enabled: bool) -> Result<T, Error> {
        let set = |record: &mut T| {
            *record.is_enabled_mut() = is_enabled;
            Ok(())
        };
        self.update(caller, id, set).await
    }
}

impl<T: Resource + BulkDeletable> Collection<'_, T> {
    /// Deletes several records on behalf of a caller.
    ///
    /// Either all records that are visible to the caller are deleted, or none.
    ///
    /// Returns the number of deleted records. Ids that are unknown or not visible to the caller are skipped.
    ///
    /// # Errors
    /// `PermissionDenied`, `SessionRequired`; `Invalid` for no ids or more than 1,000; `InUse` while another record
    /// depends on one of them.
    pub async fn delete_many(self, caller: &Caller, ids: &[T::Id]) -> Result<u64, Error> {
        self.delete_visible(caller, ids).await.map_err(|error| T::named(error).among(ids))
    }

    async fn delete_visible(self, caller: &Caller, ids: &[T::Id]) -> Result<u64, Error> {
        T::REQUIREMENTS.change.check(caller)?;
        let first = check_bulk(ids)?;
        let own = Query {
            organization: Some(caller.organization_id().uuid()),
            ids: Some(uuids(ids)),
            ..Query::new(T::KIND)
        };
        let visible = T::restrict(own, caller);
        let mut transaction = self.inventory.reviewed_transaction(caller, T::ENTITY, first);
        let mut deleted: BTreeSet<Uuid> = loop {
            let found = self.inventory.store.list(&visible).await?.records;
            let mut batch = Batch::new();
            for stored in &found {
                let record: T = decode(stored)?;
                T::prepare_deletion(self.inventory, caller, &record, &mut batch).await?;
                transaction.review(Actor::Caller(caller), Some(&record), None).await?;
                batch.delete(stored.key, unchanged(Some(stored)));
            }
            if transaction.commit(batch).await? {
                break found.iter().map(|stored| stored.key.id).collect();
            }
        };
        drop(transaction);
        // Cover all ids, so that a repeated request resumes deletions that were interrupted.
        for id in ids {
            if T::finish_deletion(self.inventory, caller, *id).await? {
                deleted.insert((*id).into());
            }
        }
        Ok(deleted.len() as u64)
    }
}

impl Inventory {
    /// Updates a record like [`Collection::update`](crate::inventory::Collection::update), together with records that belong to it.
    ///
    /// `amend` receives the changed record, in which it may set fields that only the server sets, and the batch.
    pub(in crate::inventory) async fn update_with<T: CollectionRecord>(
        &self,
        caller: &Caller,
        id: T::Id,
        change: impl Fn(&mut T) -> Result<(), Error> + Send + Sync,
        amend: impl Fn(&mut T, &mut Batch) -> Result<(), Error> + Send + Sync,
    ) -> Result<T, Error> {
        T::REQUIREMENTS.change.check(caller)?;
        let mut transaction = self.reviewed_transaction(caller, T::ENTITY, id);
        loop {
            let (stored, before) = self.own_record::<T>(caller, id).await?;
            let mut record = before.clone();
            change(&mut record)?;
            let now = self.now();
            if record.network() != before.network() {
                return Err(ErrorKind::NetworkMismatch { entity: T::ENTITY }.into());
            }
            record.keep_fixed(&before);
            record.validate(Some(&before), now)?;
            let added = added_references(&record, &before);
            self.check_own_references(caller, &added).await?;
            record.deduplicate();
            let mut batch = Batch::new();
            amend(&mut record, &mut batch)?;
            T::complete(self, std::slice::from_mut(&mut record)).await?;
            T::prepare(self, caller, Some(&before), &record, &mut batch).await?;
            if record.stored() == before.stored() && batch.writes().is_empty() {
                T::finish_update(self, &before).await;
                return Ok(before);
            }
            record.touch(now);
            transaction.review(Actor::Caller(caller), Some(&before), Some(&record)).await?;
            T::precede_update(self, &before, &record).await?;
            let facets = self.facets_of(caller.organization_id(), &record);
            batch.put(stored.key, unchanged(Some(&stored)), facets.clone(), encode(&record.stored())?);
            guard_references(&added, &mut batch);
            if self.commit_unique(caller, &mut transaction, batch, (&record, &facets)).await? {
                // Give up the turns, because finishing the update may take others.
                drop(transaction);
                T::finish_update(self, &record).await;
                return Ok(record);
            }
        }
    }
}

/// Returns the first of the ids of a bulk operation.
///
/// # Errors
/// `Invalid` for no ids or more than 1,000.
pub(in crate::inventory) fn check_bulk<I: RecordId>(ids: &[I]) -> Result<I, Error> {
    let first = ids.first().ok_or_else(|| Error::invalid("ids", Problem::Empty))?;
    if ids.len() > MAX_BULK {
        return Err(Error::invalid("ids", Problem::MaxLength { max: MAX_BULK }));
    }
    Ok(*first)
}

fn key<T: CollectionRecord>(record: &T) -> Key {
    Key::new(T::KIND, record.id().into())
}
