//! The requests for the decisions of a policy.

use std::any::Any;
use std::collections::BTreeSet;
use std::fmt;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;

use tokio::time::{Instant, timeout};
use uuid::Uuid;

use super::time::RequestTime;
use super::{Actor, Policy, ProposedChange};
use crate::inventory::collections::CollectionRecord;
use crate::inventory::hosts::{Before, EncodedHost};
use crate::inventory::queues::Turns;
use crate::inventory::schema::organization_key;
use crate::inventory::transaction::{Transaction, conflict};
use crate::inventory::{ApplicationError, Entity, Error, ErrorKind, Inventory};
use crate::model::{Host, HostId, NetworkId, OrganizationId};

/// The policy of an inventory.
#[derive(Clone)]
pub(in crate::inventory) struct Review {
    policy: Arc<dyn Policy>,
    is_dry_run: bool,
    /// The time of the request. `None` outside of requests: each change then has its own.
    time: Option<Arc<Mutex<RequestTime>>>,
}

/// A policy need not be printable.
impl fmt::Debug for Review {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Review").field("is_dry_run", &self.is_dry_run).finish_non_exhaustive()
    }
}

impl Review {
    /// Returns the review for changes that are not stored.
    pub(in crate::inventory) fn of_dry_run(self) -> Self {
        Self { is_dry_run: true, ..self }
    }

    /// Returns the review for one request, whose changes share the time of the policy.
    pub(in crate::inventory) fn of_request(self) -> Self {
        Self { time: Some(self.time.unwrap_or_default()), ..self }
    }

    /// # Errors
    /// `Refused`, `PolicyUnavailable`, `Internal`.
    async fn ask(&self, mut change: ProposedChange<'_>) -> Result<(), Error> {
        change.is_dry_run = self.is_dry_run;
        let limit = self.time().map(|mut time| time.begin((change.entity, change.id))).unwrap_or_default();
        debug_assert!(self.time.is_some(), "the policy is asked in a transaction, which has a time");
        if limit.is_zero() {
            return Err(ErrorKind::PolicyUnavailable.into());
        }
        let begun = Instant::now();
        let checked = timeout(limit, catch(async { self.policy.check(&change).await })).await;
        if let Some(mut time) = self.time() {
            time.end(begun.elapsed());
        }
        match checked {
            Ok(Ok(answer)) => answer.map_err(|refused| Error::from(refused).about(change.id)),
            Ok(Err(panic)) => Err(panic),
            Err(_) => Err(ErrorKind::PolicyUnavailable.into()),
        }
    }

    fn time(&self) -> Option<MutexGuard<'_, RequestTime>> {
        self.time.as_ref().map(|time| time.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Runs the check of a policy, and turns a panic into an internal error.
async fn catch(
    check: impl Future<Output = Result<(), ApplicationError>> + Send,
) -> Result<Result<(), ApplicationError>, Error> {
    let mut check = Box::pin(check);
    poll_fn(move |context| {
        let polled = catch_unwind(AssertUnwindSafe(|| check.as_mut().poll(context)));
        match polled {
            Ok(polled) => polled.map(Ok),
            Err(_) => Poll::Ready(Err(Error::internal("the policy panicked"))),
        }
    })
    .await
}

impl Inventory {
    /// Sets the rules of the host application for changes. Default: none.
    ///
    /// With a policy, changes must be made within a tokio runtime whose time is enabled. Changes of one record no longer
    /// wait for each other: each is decided again when another was committed first, up to 64 times. Those that are decided
    /// again wait for each other, up to 30 seconds.
    #[must_use]
    pub fn with_policy(self, policy: impl Policy) -> Self {
        let review = Review { policy: Arc::new(policy), is_dry_run: false, time: None };
        Self { policy: Some(review), ..self }
    }

    /// Returns the inventory for one request of several changes, which share the time of the policy. `None` without a policy.
    pub(in crate::inventory) fn for_request(&self) -> Option<Self> {
        let review = self.policy.clone()?.of_request();
        Some(Self { policy: Some(review), ..self.clone() })
    }

    /// Waits for the turn of the organization's creations of hosts, and checks the quota.
    ///
    /// With a policy, transactions take no turn before. `None` without a policy, and without a quota.
    pub(in crate::inventory) async fn turn_of_reviewed(
        &self,
        organization: OrganizationId,
        created: usize,
    ) -> Result<Option<Turns>, Error> {
        if self.policy.is_none() || created == 0 || self.quotas.hosts_per_organization.is_none() {
            return Ok(None);
        }
        let owner = BTreeSet::from([organization_key(organization)]);
        let turns = self.state.queues.enter(owner).await;
        let turns = turns.map_err(|_| conflict(Entity::Organization, organization))?;
        self.check_host_quota(organization, created).await?;
        Ok(Some(turns))
    }
}

impl Transaction<'_> {
    /// Asks the policy about a change of a record. Must be called without any turn that a first attempt waits for.
    pub(in crate::inventory) async fn review<T: CollectionRecord>(
        &self,
        actor: Actor<'_>,
        before: Option<&T>,
        after: Option<&T>,
    ) -> Result<(), Error> {
        let Some(review) = &self.review else { return Ok(()) };
        match ProposedChange::of(actor, before, after) {
            // On the heap, so that changes without a policy do not grow.
            Some(change) => Box::pin(review.ask(change)).await,
            None => Ok(()),
        }
    }

    /// Asks the policy about a change of a record of this kind, id and network.
    pub(in crate::inventory) async fn review_as<T: Any + Send + Sync>(
        &self,
        actor: Actor<'_>,
        record: (Entity, Uuid, Option<NetworkId>),
        before: Option<&T>,
        after: Option<&T>,
    ) -> Result<(), Error> {
        let Some(review) = &self.review else { return Ok(()) };
        Box::pin(review.ask(ProposedChange::new(actor, record, before, after))).await
    }

    /// Asks the policy about a change of a host, given with its stored record.
    pub(in crate::inventory) async fn review_host(
        &self,
        actor: Actor<'_>,
        id: HostId,
        before: &Before,
        after: Option<&Host>,
    ) -> Result<(), Error> {
        if self.review.is_none() {
            return Ok(());
        }
        let stored: Option<Host> = match before.get(&id) {
            Some((record, _)) => Some(self.inventory.decode_host(actor.organization_id(), record).await?),
            None => None,
        };
        let Some(network) = after.or(stored.as_ref()).map(|host| host.network_id) else { return Ok(()) };
        self.review_as(actor, (Entity::Host, id.uuid(), Some(network)), stored.as_ref(), after).await
    }

    /// Asks the policy about hosts that are put and deleted together, and then waits for the turn of creations.
    ///
    /// The turn must be held until the commit. It is `None` without a policy, since the caller has taken it before.
    ///
    /// # Errors
    /// `QuotaExceeded` if the hosts would exceed the quota of the organization.
    pub(in crate::inventory) async fn review_hosts(
        &self,
        actor: Actor<'_>,
        (puts, deletes): (&[EncodedHost], &[HostId]),
        before: &Before,
    ) -> Result<Option<Turns>, Error> {
        if self.review.is_none() {
            return Ok(None);
        }
        for encoded in puts {
            self.review_host(actor, encoded.host.id, before, Some(&encoded.host)).await?;
        }
        for id in deletes {
            self.review_host(actor, *id, before, None).await?;
        }
        let created = puts.iter().filter(|put| !before.contains_key(&put.host.id)).count();
        self.inventory.turn_of_reviewed(actor.organization_id(), created).await
    }
}
