//! Stores the decided hosts of a bulk request.

use uuid::Uuid;

use super::decide::{Decision, PartIds};
use super::{Atomicity, BulkChange, Results};
use crate::access::Caller;
use crate::inventory::hosts::change::{Attempt, HostChange};
use crate::inventory::{Entity, Error, ErrorKind, Inventory};

/// The maximum number of hosts in a commit that need not be atomic.
///
/// A larger commit takes less time for each host, but keeps others that use the store waiting for longer.
const GROUP: usize = 512;

impl Inventory {
    /// Stores a decision, in groups unless the request is all or nothing.
    pub(super) async fn store_decision(
        &self,
        caller: &Caller,
        mut decision: Decision,
        results: &mut Results,
    ) -> Result<(), Error> {
        if results.atomicity == Atomicity::AllOrNothing {
            return self.commit_decision(caller, &mut decision, results).await;
        }
        for mut group in decision.into_groups(GROUP) {
            let stored = match self.commit_decision(caller, &mut group, results).await {
                Err(error) if !is_fatal(&error) => self.store_one_by_one(caller, group, results).await,
                stored => stored,
            };
            if let Err(error) = stored {
                return results.fail_remaining(error);
            }
        }
        Ok(())
    }

    /// Stores the hosts of a group one by one, so that only faulty ones fail.
    ///
    /// The group could not be stored together.
    async fn store_one_by_one(
        &self,
        caller: &Caller,
        mut group: Decision,
        results: &mut Results,
    ) -> Result<(), Error> {
        for item in group.take_items() {
            let index = item.index;
            let mut alone = self.decide(caller, vec![item], PartIds::Checked, results).await?;
            match self.commit_decision(caller, &mut alone, results).await {
                Err(error) if !is_fatal(&error) => results.fail(index, error)?,
                stored => stored?,
            }
        }
        Ok(())
    }

    /// Commits a decision, and decides again while other writers interfere.
    async fn commit_decision(
        &self,
        caller: &Caller,
        decision: &mut Decision,
        results: &mut Results,
    ) -> Result<(), Error> {
        let id = decision.puts.first().map_or(Uuid::nil(), |put| put.host.id);
        let mut transaction = self.transaction(Entity::Host, id);
        while !decision.puts.is_empty() {
            let change = HostChange::putting(caller.organization_id(), &decision.puts);
            let created = change.created(&decision.before);
            if transaction.enter(self.records_to_enter(&change, created)).await? {
                self.check_host_quota(change.organization, created).await?;
                match self.try_change_hosts(&change, &decision.before).await {
                    Ok(Attempt::Committed) => {
                        record_changes(decision, results);
                        return Ok(());
                    }
                    Ok(Attempt::Stale | Attempt::Taken(_)) => {}
                    // A network or tag was deleted in the meantime; the next decision names it.
                    Err(error) if matches!(error.kind(), ErrorKind::ReferenceInvalid { .. }) => {}
                    Err(error) => return Err(error),
                }
                transaction.retry().await?;
            }
            *decision = self.decide(caller, decision.take_items(), PartIds::Checked, results).await?;
        }
        Ok(())
    }
}

fn record_changes(decision: &Decision, results: &mut Results) {
    for (put, index) in decision.puts.iter().zip(&decision.indices) {
        let is_replaced = decision.before.contains_key(&put.host.id);
        let change = if is_replaced { BulkChange::Updated } else { BulkChange::Created };
        results.set(*index, Ok(change));
    }
}

/// Returns whether an error is not due to a host. Other hosts would fail as well.
fn is_fatal(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::StoreUnavailable | ErrorKind::Internal | ErrorKind::Busy)
}
