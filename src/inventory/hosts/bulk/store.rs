//! Stores the checked hosts of a bulk request.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use super::check::{BulkItem, Checked, PartIds};
use super::encode::Decision;
use super::{BulkChange, Results};
use crate::access::Caller;
use crate::inventory::hosts::change::HostChange;
use crate::inventory::hosts::removals::HostsInRequest;
use crate::inventory::policy::Actor;
use crate::inventory::transaction::{Attempt, Transaction};
use crate::inventory::{Entity, Error, ErrorKind, Inventory};
use crate::model::HostId;
use crate::wire::Atomicity;

/// The maximum number of hosts in a commit that need not be atomic.
///
/// A larger commit takes less time for each host, but keeps others that use the store waiting for longer.
const GROUP: usize = 512;

impl Inventory {
    /// Encodes and stores hosts, in groups unless the request is all or nothing.
    pub(super) async fn store_hosts(
        &self,
        caller: &Caller,
        hosts: Vec<Checked>,
        results: &mut Results,
    ) -> Result<(), Error> {
        if results.atomicity == Atomicity::AllOrNothing {
            let encoded = self.encode_hosts(caller.organization_id(), hosts).await?;
            let mut decision = Decision::new(encoded, results)?;
            return self.commit_decision(caller, &mut decision, results).await;
        }
        let stored = self.store_groups(caller, hosts, results).await;
        stored.or_else(|error| results.fail_remaining(error))
    }

    /// Stores hosts in groups. Each is encoded while the one before it is committed.
    async fn store_groups(
        &self,
        caller: &Caller,
        hosts: Vec<Checked>,
        results: &mut Results,
    ) -> Result<(), Error> {
        let organization = caller.organization_id();
        let mut groups = into_groups(hosts).into_iter();
        let encoded = self.encode_hosts(organization, groups.next().unwrap_or_default()).await?;
        let mut decision = Decision::new(encoded, results)?;
        for group in groups {
            let encode = self.encode_hosts(organization, group);
            let (encoded, stored) = join(encode, self.store_group(caller, decision, results)).await;
            // Faulty hosts of the next group get their own errors even if the store has failed.
            let next = encoded.and_then(|encoded| Decision::new(encoded, results));
            stored?;
            decision = next?;
        }
        self.store_group(caller, decision, results).await
    }

    /// Stores a group together. If that is not possible, stores its hosts one by one, so that only faulty ones fail.
    async fn store_group(
        &self,
        caller: &Caller,
        mut group: Decision,
        results: &mut Results,
    ) -> Result<(), Error> {
        match self.commit_decision(caller, &mut group, results).await {
            Err(error) if !is_fatal(&error) => {}
            stored => return stored,
        }
        for item in group.take_items() {
            let index = item.index;
            let mut alone = self.decide(caller, vec![item], results).await?;
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
        let id = decision.puts.first().map_or(HostId::nil(), |put| put.host.id);
        let mut transaction = self.reviewed_transaction(caller, Entity::Host, id);
        while !decision.puts.is_empty() {
            self.refuse_by_policy(&transaction, caller, decision, results).await?;
            if decision.puts.is_empty() {
                break;
            }
            let request = match results.atomicity {
                Atomicity::AllOrNothing => HostsInRequest::Listed(&decision.indices),
                // The result of the host adds its position.
                Atomicity::PerHost => HostsInRequest::Whole,
            };
            let change = HostChange { request, ..HostChange::putting(caller, &decision.puts) };
            let created = change.created(&decision.before);
            if transaction.enter(self.records_to_enter(&change, created)).await? {
                self.check_host_quota(change.organization, created).await?;
                let turn = self.turn_of_reviewed(change.organization, created).await?;
                self.note_results(decision, results)?;
                let attempt = self.try_change_hosts(&change, &decision.before).await;
                // Given up before the wait for another attempt.
                drop(turn);
                match attempt {
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
            *decision = self.decide(caller, decision.take_items(), results).await?;
        }
        Ok(())
    }

    /// Asks the policy about each host. Those that it refuses get their results, and are not written.
    async fn refuse_by_policy(
        &self,
        transaction: &Transaction<'_>,
        caller: &Caller,
        decision: &mut Decision,
        results: &mut Results,
    ) -> Result<(), Error> {
        if self.policy.is_none() {
            return Ok(());
        }
        let (puts, indices) = (std::mem::take(&mut decision.puts), std::mem::take(&mut decision.indices));
        for (put, index) in puts.into_iter().zip(indices) {
            let actor = Actor::Caller(caller);
            match transaction.review_host(actor, put.host.id, &decision.before, Some(&put.host)).await {
                Ok(()) => {
                    decision.puts.push(put);
                    decision.indices.push(index);
                }
                Err(error) if is_fatal(&error) => return Err(error),
                Err(refusal) => results.fail(index, refusal)?,
            }
        }
        Ok(())
    }

    /// Notes the results of a request with an idempotency key, as they are after the next commit.
    fn note_results(&self, decision: &Decision, results: &Results) -> Result<(), Error> {
        let Some(pending) = &self.pending_answer else { return Ok(()) };
        let mut hosts: Vec<(usize, HostId, BulkChange)> = results.done().collect();
        hosts.extend(decision.changes());
        hosts.sort_unstable_by_key(|(index, ..)| *index);
        let networks = decision.puts.iter().map(|put| put.host.network_id);
        pending.note_hosts(&hosts, networks, hosts.len() == results.len())
    }

    /// Decides again what to write for hosts that could not be stored.
    async fn decide(
        &self,
        caller: &Caller,
        items: Vec<BulkItem>,
        results: &mut Results,
    ) -> Result<Decision, Error> {
        let hosts = self.check_hosts(caller, items, PartIds::Checked, results).await?;
        Decision::new(self.encode_hosts(caller.organization_id(), hosts).await?, results)
    }
}

/// Divides hosts into groups that are committed together.
fn into_groups(hosts: Vec<Checked>) -> Vec<Vec<Checked>> {
    let mut groups = Vec::with_capacity(hosts.len().div_ceil(GROUP));
    let mut hosts = hosts.into_iter();
    while hosts.len() > 0 {
        groups.push(hosts.by_ref().take(GROUP).collect());
    }
    groups
}

/// Runs two futures side by side, until both have ended.
async fn join<T, U>(left: impl Future<Output = T>, right: impl Future<Output = U>) -> (T, U) {
    let (mut left, mut right) = (pin!(left), pin!(right));
    let (mut left_output, mut right_output) = (None, None);
    let both = poll_fn(|context| {
        if left_output.is_none()
            && let Poll::Ready(output) = left.as_mut().poll(context)
        {
            left_output = Some(output);
        }
        if right_output.is_none()
            && let Poll::Ready(output) = right.as_mut().poll(context)
        {
            right_output = Some(output);
        }
        match (left_output.take(), right_output.take()) {
            (Some(left), Some(right)) => Poll::Ready((left, right)),
            outputs => {
                (left_output, right_output) = outputs;
                Poll::Pending
            }
        }
    });
    both.await
}

fn record_changes(decision: &Decision, results: &mut Results) {
    for (index, _, change) in decision.changes() {
        results.set(index, Ok(change));
    }
}

/// Returns whether an error is not due to a host. Other hosts would fail as well.
fn is_fatal(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StoreUnavailable | ErrorKind::PolicyUnavailable | ErrorKind::Internal | ErrorKind::Busy
    )
}
