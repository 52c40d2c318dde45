//! Unique keys of records, such as those of names, and the errors that name the record with such a key.

use uuid::Uuid;

use super::CollectionRecord;
use crate::access::Caller;
use crate::inventory::transaction::{Attempt, Transaction};
use crate::inventory::{Error, ErrorKind, Inventory};
use crate::store::{Batch, Facets, UniqueKey};

impl Inventory {
    /// Commits the batch that creates or updates a record. Returns `false` when it must be decided again.
    ///
    /// # Errors
    /// `AlreadyExists` if another record has one of its unique keys.
    pub(super) async fn commit_unique<T: CollectionRecord>(
        &self,
        caller: &Caller,
        transaction: &mut Transaction<'_>,
        batch: Batch,
        (record, facets): (&T, &Facets),
    ) -> Result<bool, Error> {
        match transaction.attempt(batch).await? {
            Attempt::Committed => Ok(true),
            Attempt::Stale => Ok(false),
            // The key is that of another record of the batch: decide again, because the error would name the
            // wrong record.
            Attempt::Taken(key) if !T::LABEL_IS_UNIQUE_KEY || !facets.unique_keys.contains(&key) => Ok(false),
            Attempt::Taken(key) => {
                let error = Error::from(ErrorKind::AlreadyExists { entity: T::ENTITY, name: record.label() });
                Err(error.of_existing(self.visible_holder::<T>(caller, &key).await?))
            }
        }
    }

    /// Returns the id of the record that has a unique key, if the caller may see it.
    async fn visible_holder<T: CollectionRecord>(
        &self,
        caller: &Caller,
        key: &UniqueKey,
    ) -> Result<Option<Uuid>, Error> {
        let Some(holder) = self.store.get_by_unique_key(key).await? else { return Ok(None) };
        // The key may be held in place of the record, such as by one that is being deleted.
        if holder.key.kind != T::KIND || T::REQUIREMENTS.read.check(caller).is_err() {
            return Ok(None);
        }
        match self.own_record::<T>(caller, holder.key.id.into()).await {
            Ok((_, record)) => Ok(Some(record.id().into())),
            Err(error) => match error.kind() {
                ErrorKind::NotFound { .. } | ErrorKind::AccessDenied { .. } => Ok(None),
                _ => Err(error),
            },
        }
    }
}
