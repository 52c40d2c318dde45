//! Rules of the host application for the changes that callers make.
//!
//! A [`Policy`] is asked after the rules of the inventory, and before anything is written. Meanwhile, the inventory
//! holds no turn that the first attempt of another change needs. A slow policy therefore delays only the change that it
//! is asked about, and changes of the same record that must be decided again.

mod review;
mod time;

use std::any::Any;
use std::sync::Arc;

use async_trait::async_trait;
use uuid::Uuid;

pub(super) use self::review::Review;
use super::collections::CollectionRecord;
use super::{ApplicationError, Entity};
use crate::access::{Caller, DaemonCaller};
use crate::model::{NetworkId, OrganizationId};

/// A rule of the host application, asked before callers and daemons change records.
///
/// Set it with [`Inventory::with_policy`](crate::Inventory::with_policy). It sees every record that a request would
/// create, update or delete, one after the other, as stored and as it would be stored. The inventory commits exactly what
/// the policy saw last: if a record changes meanwhile, the change is decided again and the policy is asked again. One
/// refusal refuses the whole change, except where the API reports on each item: in a bulk request with `atomic: false`, in
/// an import, and in a discovery report.
///
/// These changes are asked about:
///
/// | Change | Records |
/// |---|---|
/// | creation, update, patch, deletion, bulk deletion | hosts, networks, subnets, tags, users, API keys, shares, daemons, discovery jobs, manual links, the organization; layouts; [records of the host application](crate::inventory::ApplicationRecord) |
/// | change of a part of a host | the host, or both hosts between which a port moves |
/// | bulk request, import | each host, and each network that an import creates |
/// | consolidation, split, deletion of stale parts | the hosts that remain, are new, or are deleted |
/// | discovery report, of a user or a daemon | each host that it creates, updates or merges; a subnet that a daemon reports |
/// | registration of a daemon | the daemon and its host |
/// | password, rotation of a key | the user, share or key; the secret itself is not shown |
///
/// A write that follows from a change is not asked about: removed references, keys of a deleted user, neighbors, subnets
/// that follow from addresses, work that is handed out. Neither are sessions, referral sources, contacts, capabilities and the
/// progress of daemons, restores, upgrades, and what host applications do without a caller, such as
/// [`Organizations::create`](crate::inventory::Organizations::create).
///
/// # Time
/// An answer must come within 5 seconds, and all answers for a request within 5 seconds for the first record and 50 ms for
/// each further one, over all attempts: asking again about a record adds no time. A call of this crate is a request, and so
/// are each 256 lines of an import. Otherwise, the change fails with
/// [`PolicyUnavailable`](crate::inventory::ErrorKind::PolicyUnavailable), which the API answers with 503 and
/// `Retry-After`. A policy that panics makes the change fail with `Internal`. In both cases, nothing of the change is stored;
/// what a request in several commits has stored before stays. A policy must not block its thread.
///
/// # Contention
/// The first attempt of a change waits for no policy. If another change of the record is committed meanwhile, the change is
/// decided again and the policy is asked again; changes that are decided again wait for each other, for at most 30 seconds.
/// N changes of a record at once thus ask about 2 N times.
///
/// ```
/// use async_trait::async_trait;
/// use toposcope::access::Caller;
/// use toposcope::inventory::{ApplicationCode, ApplicationError, Policy, ProposedChange};
/// use toposcope::model::{Host, Network};
/// use toposcope::{Inventory, MemoryStore};
///
/// const LOWER_CASE: ApplicationCode = ApplicationCode::new("policy.lower_case", 422);
///
/// /// Names of hosts are written in lower case.
/// struct LowerCase;
///
/// #[async_trait]
/// impl Policy for LowerCase {
///     async fn check(&self, change: &ProposedChange<'_>) -> Result<(), ApplicationError> {
///         match change.after::<Host>() {
///             Some(host) if host.name != host.name.to_lowercase() => {
///                 Err(ApplicationError::new(LOWER_CASE, "Names are written in lower case.").at("name"))
///             }
///             _ => Ok(()),
///         }
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), toposcope::inventory::Error> {
/// let inventory = Inventory::new(MemoryStore::new()).with_policy(LowerCase);
/// let organization = inventory.organizations().create("Example").await?;
/// let caller = Caller::system(organization.id);
/// let network = inventory.networks().create(&caller, Network::new("Office")).await?;
/// let refused = inventory.hosts().create(&caller, Host::new(network.id, "Printer")).await.unwrap_err();
/// assert_eq!((refused.code_text(), refused.status().as_u16()), ("policy.lower_case", 422));
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait Policy: Send + Sync + 'static {
    /// Allows or refuses a change.
    ///
    /// Must not change the inventory, and must give the same answer for the same change: it may be asked several times.
    ///
    /// # Errors
    /// The refusal, which the API answers with its code and status. By convention, its code begins with `policy.`, and its
    /// status is 422, which the OpenAPI document names for refusals; the code of a rule that endpoints of the host application
    /// have too may be any other.
    async fn check(&self, change: &ProposedChange<'_>) -> Result<(), ApplicationError>;
}

#[async_trait]
impl<P: Policy + ?Sized> Policy for Arc<P> {
    async fn check(&self, change: &ProposedChange<'_>) -> Result<(), ApplicationError> {
        (**self).check(change).await
    }
}

/// The sender of a change.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Actor<'a> {
    /// A user, a user's API key, or the host application itself.
    Caller(&'a Caller),
    /// A discovery daemon.
    Daemon(&'a DaemonCaller),
}

impl<'a> Actor<'a> {
    /// Returns the organization that the change concerns.
    #[must_use]
    pub const fn organization_id(self) -> OrganizationId {
        match self {
            Self::Caller(caller) => caller.organization_id(),
            Self::Daemon(daemon) => daemon.organization_id,
        }
    }

    /// Returns the caller; `None` for a daemon.
    #[must_use]
    pub const fn caller(self) -> Option<&'a Caller> {
        match self {
            Self::Caller(caller) => Some(caller),
            Self::Daemon(_) => None,
        }
    }
}

/// The effect of a change on a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChangeKind {
    /// The record is new.
    Creation,
    /// The record is replaced.
    Update,
    /// The record is deleted.
    Deletion,
}

/// A change of one record that is about to be committed.
///
/// The record is a value of [`model`](crate::model), of the type that the API returns: a [`Host`](crate::model::Host) with all
/// its parts, a [`Network`](crate::model::Network), a [`User`](crate::model::User) and so on.
pub struct ProposedChange<'a> {
    actor: Actor<'a>,
    entity: Entity,
    id: Uuid,
    network_id: Option<NetworkId>,
    before: Option<&'a (dyn Any + Send + Sync)>,
    after: Option<&'a (dyn Any + Send + Sync)>,
    is_dry_run: bool,
}

impl<'a> ProposedChange<'a> {
    /// Creates the change of a record; `None` without a record.
    fn of<T: CollectionRecord>(
        actor: Actor<'a>,
        before: Option<&'a T>,
        after: Option<&'a T>,
    ) -> Option<Self> {
        let record = after.or(before)?;
        Some(Self::new(actor, (T::ENTITY, record.id().into(), record.network()), before, after))
    }

    /// Creates the change of a record of this kind, id and network.
    fn new<T: Any + Send + Sync>(
        actor: Actor<'a>,
        (entity, id, network_id): (Entity, Uuid, Option<NetworkId>),
        before: Option<&'a T>,
        after: Option<&'a T>,
    ) -> Self {
        let erased = |record: &'a T| record as &(dyn Any + Send + Sync);
        let (before, after) = (before.map(erased), after.map(erased));
        Self { actor, entity, id, network_id, before, after, is_dry_run: false }
    }

    /// Returns the sender of the change.
    #[must_use]
    pub const fn actor(&self) -> Actor<'a> {
        self.actor
    }

    /// Returns the organization of the record.
    #[must_use]
    pub const fn organization_id(&self) -> OrganizationId {
        self.actor.organization_id()
    }

    /// Returns the kind of record.
    #[must_use]
    pub const fn entity(&self) -> Entity {
        self.entity
    }

    /// Returns the id of the record, whatever its kind. That of a layout is the id of its network.
    #[must_use]
    pub const fn id(&self) -> Uuid {
        self.id
    }

    /// Returns the network of the record; `None` if records of this kind belong to no network.
    #[must_use]
    pub const fn network_id(&self) -> Option<NetworkId> {
        self.network_id
    }

    /// Returns whether the record is created, updated or deleted.
    #[must_use]
    pub const fn kind(&self) -> ChangeKind {
        match (self.before, self.after) {
            (None, _) => ChangeKind::Creation,
            (Some(_), Some(_)) => ChangeKind::Update,
            (Some(_), None) => ChangeKind::Deletion,
        }
    }

    /// Returns the record as stored. `None` for a creation, and if the record is of another type.
    #[must_use]
    pub fn before<T: Any>(&self) -> Option<&'a T> {
        self.before?.downcast_ref()
    }

    /// Returns the record as it would be stored. `None` for a deletion, and if the record is of another type.
    #[must_use]
    pub fn after<T: Any>(&self) -> Option<&'a T> {
        self.after?.downcast_ref()
    }

    /// Returns whether nothing will be stored, because the request only asks what it would do.
    #[must_use]
    pub const fn is_dry_run(&self) -> bool {
        self.is_dry_run
    }
}

/// Shows what changes, but not the values.
impl std::fmt::Debug for ProposedChange<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut debug = formatter.debug_struct("ProposedChange");
        debug.field("kind", &self.kind()).field("entity", &self.entity).field("id", &self.id);
        debug.finish_non_exhaustive()
    }
}
