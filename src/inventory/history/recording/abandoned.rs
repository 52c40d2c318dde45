//! Commits whose callers stop waiting for them.

use crate::inventory::Inventory;
use crate::inventory::history::links::touched::TouchedNetworks;
use crate::inventory::schema::exists;
use crate::model::OrganizationId;
use crate::store::{Batch, Key, StoreError, Write};

/// A commit, and the records that tell what follows from it.
///
/// A store goes on with a commit that it has begun, even if the caller no longer waits. If this is dropped before the
/// commit has ended, a background task waits for its end: watchers get its entries, and its links and layouts are recorded.
struct OngoingCommit<'c> {
    inventory: &'c Inventory,
    organization: OrganizationId,
    /// One of the records that it writes; `None` if it writes none.
    written: Option<Key>,
    layouts: &'c [Key],
    touched: &'c TouchedNetworks,
    has_ended: bool,
}

impl Drop for OngoingCommit<'_> {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        let inventory = self.inventory.with_own_state();
        let Some(tasks) = inventory.state.history.tasks() else { return };
        let (organization, written, layouts) = (self.organization, self.written, self.layouts.to_vec());
        let touched = self.touched.clone();
        // If there are too many, the next change of the network does what follows from this one, too.
        tasks.spawn(|| true, async move {
            if let Some(written) = written {
                inventory.wait_for_commit(written).await;
            }
            inventory.end_abandoned(organization, &layouts, touched);
        });
    }
}

impl Inventory {
    /// Commits a batch with these layouts, from which links on these networks may follow.
    pub(super) async fn commit_to_the_end(
        &self,
        organization: OrganizationId,
        batch: Batch,
        (layouts, touched): (&[Key], &TouchedNetworks),
    ) -> Result<(), StoreError> {
        let written = batch.writes().first().map(Write::key);
        let mut ongoing =
            OngoingCommit { inventory: self, organization, written, layouts, touched, has_ended: false };
        let committed = self.store.commit(batch).await;
        ongoing.has_ended = true;
        committed
    }

    /// Waits for the end of a commit, whatever that is, that writes this record.
    async fn wait_for_commit(&self, written: Key) {
        let mut batch = Batch::new();
        // About that record: the store may decide conditions on others while it still writes.
        batch.guard(exists(written));
        if let Err(error) = self.store.commit(batch).await {
            tracing::debug!(%error, "the end of an abandoned commit is not known");
        }
    }

    /// Does what follows from a commit after its end.
    fn end_abandoned(&self, organization: OrganizationId, layouts: &[Key], touched: TouchedNetworks) {
        self.record_layouts_later(layouts);
        self.state.history.watchers.wake(organization);
        #[cfg(feature = "topology")]
        self.follow_touched(organization, touched);
        #[cfg(not(feature = "topology"))]
        drop(touched);
    }
}
