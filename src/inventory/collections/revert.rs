//! Reversion of records to former states.

use super::{Collection, Creatable, Resource, not_found};
use crate::access::Caller;
use crate::inventory::Error;
use crate::model::{ChangePosition, ChangedEntity};

/// A kind of record of which [`Collection::revert`](crate::inventory::Collection::revert) restores former states.
pub trait Revertable: Creatable {
    /// The kind of record, as the history names it.
    const CHANGED: ChangedEntity;
}

impl<T: Resource + Revertable> Collection<'_, T> {
    /// Restores the state of a record at a position of the history, by a new change.
    ///
    /// The change is subject to all rules of an [`update`](crate::inventory::Collection::update), or of a
    /// [`create`](crate::inventory::Collection::create) if the record no longer exists: the record then gets its former
    /// id again.
    ///
    /// ```
    /// # use toposcope::access::Caller;
    /// # use toposcope::inventory::ChangeQuery;
    /// # use toposcope::model::Tag;
    /// # use toposcope::{Inventory, MemoryStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// # let caller = Caller::system(organization.id);
    /// let tags = inventory.tags();
    /// let tag = tags.create(&caller, Tag::new("critical")).await?;
    /// let before = inventory.changes(&caller, &ChangeQuery::default()).await?.next;
    /// tags.delete(&caller, tag.id).await?;
    /// let reverted = tags.revert(&caller, tag.id, &before).await?;
    /// assert_eq!((reverted.id, reverted.name), (tag.id, tag.name));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `NotFound` if the record did not exist at the position, and those of an update or a creation. `Invalid` for a position
    /// that is not one of this organization.
    pub async fn revert(self, caller: &Caller, id: T::Id, position: &ChangePosition) -> Result<T, Error> {
        self.revert_if(caller, id, position, |_, _| Ok(())).await
    }

    /// Reverts a record like [`revert`](Self::revert), if `check` allows it.
    ///
    /// `check` receives the present record, or `None` if it no longer exists, and the former one; an error that it
    /// returns ends the reversion.
    ///
    /// # Errors
    /// The errors of [`revert`](crate::inventory::Collection::revert), and the errors of `check`.
    pub async fn revert_if(
        self,
        caller: &Caller,
        id: T::Id,
        position: &ChangePosition,
        check: impl Fn(Option<&T>, &T) -> Result<(), Error> + Send + Sync,
    ) -> Result<T, Error> {
        T::REQUIREMENTS.create.check(caller)?;
        let record = (T::CHANGED, id.into());
        let past = self.inventory.record_at::<T>(caller, record, position).await?;
        let Some(past) = past else {
            // The present record decides whether the caller may know of it, as in an update.
            self.inventory.own_record::<T>(caller, id).await?;
            return Err(not_found::<T>(id));
        };
        let change = |present: &mut T| {
            check(Some(present), &past)?;
            present.clone_from(&past);
            Ok(())
        };
        match self.update(caller, id, change).await {
            Err(error) if error.kind() == not_found::<T>(id).kind() => {}
            outcome => return outcome,
        }
        check(None, &past)?;
        // An unfinished deletion would remove the references to the restored record.
        T::finish_deletion(self.inventory, caller, id).await?;
        self.create_with(caller, id, past).await
    }
}
