use std::fmt;
use std::ops::Deref;

use super::{ApplicationRecord, RecordRevision, Stored};
use crate::access::Caller;
use crate::inventory::{Collection, Entity, Error, ErrorKind, Inventory};
use crate::model::ApplicationRecordId;

/// The records of one kind of the host application.
///
/// Beside its own methods, it has those of its [`Collection`], such as [`get`](Collection::get) and [`list`](Collection::list). A
/// page has at most 1,000 records; [`all`](Collection::all) reads all of them. [`ListQuery::custom`](crate::inventory::ListQuery::custom)
/// and [`order_by_custom`](crate::inventory::ListQuery::order_by_custom) name the fields of [`RecordFacets`](super::RecordFacets).
pub struct ApplicationRecords<'a, T>(Collection<'a, Stored<T>>);

impl Inventory {
    /// The records of one kind of the host application. See [`ApplicationRecord`].
    #[must_use]
    pub const fn application_records<T: ApplicationRecord>(&self) -> ApplicationRecords<'_, T> {
        ApplicationRecords(self.records())
    }
}

impl<T> Clone for ApplicationRecords<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for ApplicationRecords<'_, T> {}

impl<T> fmt::Debug for ApplicationRecords<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("ApplicationRecords").field(&self.0).finish()
    }
}

impl<'a, T> Deref for ApplicationRecords<'a, T> {
    type Target = Collection<'a, Stored<T>>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<T: ApplicationRecord> ApplicationRecords<'_, T> {
    /// Creates a record with this value on behalf of a caller.
    ///
    /// # Errors
    /// - `PermissionDenied`: the caller is below the level of [`ApplicationRecord::CHANGE`].
    /// - `ReferenceInvalid`: a record that it refers to does not exist, or the caller may not reach it.
    /// - `AccessDenied`: the network is outside of the caller's scope.
    /// - `Invalid`, `TooLarge`, `AlreadyExists`, `QuotaExceeded`, and the errors of [`ApplicationRecord::validate`].
    pub async fn create(self, caller: &Caller, value: T) -> Result<Stored<T>, Error> {
        self.0.create(caller, Stored::new(value)).await
    }

    /// Changes the value of a record on behalf of a caller. With a revision, it does so only if the record still has
    /// it.
    ///
    /// `change` is called again if another change is committed first, and an error that it returns ends the update.
    ///
    /// # Errors
    /// `PreconditionFailed` for another revision; the errors of [`Collection::update`].
    pub async fn update_value(
        self,
        caller: &Caller,
        id: ApplicationRecordId,
        expected: Option<RecordRevision>,
        change: impl Fn(&mut T) -> Result<(), Error> + Send + Sync,
    ) -> Result<Stored<T>, Error> {
        let change = |record: &mut Stored<T>| {
            check_revision(record, expected)?;
            change(&mut record.value)
        };
        self.0.update(caller, id, change).await
    }

    /// Deletes a record on behalf of a caller; with a revision, only if the record still has it.
    ///
    /// # Errors
    /// `PreconditionFailed` for another revision; the errors of [`Collection::delete`].
    pub async fn delete_at(
        self,
        caller: &Caller,
        id: ApplicationRecordId,
        expected: Option<RecordRevision>,
    ) -> Result<(), Error> {
        self.0.delete_if(caller, id, |record| check_revision(record, expected)).await
    }
}

fn check_revision<T: ApplicationRecord>(
    record: &Stored<T>,
    expected: Option<RecordRevision>,
) -> Result<(), Error> {
    if expected.is_none_or(|expected| expected == record.revision()) {
        return Ok(());
    }
    Err(ErrorKind::PreconditionFailed { entity: Entity::ApplicationRecord, id: record.id.uuid() }.into())
}
