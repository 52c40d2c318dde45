//! Discovery jobs: the work of daemons.

use std::collections::HashSet;

use super::credentials::Holding;
use crate::access::Caller;
use crate::invariant::Invariant;
use crate::inventory::collections::{CollectionRecord, Reference, Requirements, handle};
use crate::inventory::policy::Actor;
use crate::inventory::queues::Turns;
use crate::inventory::schema::{
    ASSIGNED_LINK, DAEMON, DISCOVERY, ENDED_LINK, OPEN_LINK, SUBNET, UPDATED_AT, daemon_record_key,
    discovery_key, encode, exists, facets, linked, network_key, on_network, subnet_key, time_sort_key,
};
use crate::inventory::transaction::Transaction;
use crate::inventory::{Entity, Error, ErrorKind, Inventory, Problem};
use crate::model::{
    DaemonId, Discovery, DiscoveryId, DiscoveryPhase, DiscoveryType, NetworkId, OrganizationId, Permission,
    SubnetId, Timestamp, uuids,
};
use crate::store::{Batch, Facets, Link, Name, Precondition, Query};
use crate::wire::NewDiscovery;

/// The maximum number of open discoveries of a network.
pub(in crate::inventory) const MAX_OPEN: u64 = 100;

/// The number of ended discoveries of a network that are kept.
const MAX_ENDED: u64 = 500;

/// The maximum number of subnets of a discovery, and in the capabilities of a daemon.
pub(crate) const MAX_SUBNETS: usize = 1_000;

impl Discovery {
    /// Creates a discovery that waits for a daemon.
    pub(in crate::inventory) const fn queued(
        id: DiscoveryId,
        network_id: NetworkId,
        daemon_id: Option<DaemonId>,
        discovery_type: DiscoveryType,
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            network_id,
            daemon_id,
            discovery_type,
            subnet_ids: None,
            phase: DiscoveryPhase::Pending,
            progress: 0,
            error: None,
            handed_out_at: None,
            attempts: 0,
            has_credentials: false,
            credentials_lost_at: None,
            started_at: None,
            finished_at: None,
            is_cancelling: false,
            cancellation_sent_at: None,
            created_at: now,
            updated_at: now,
        }
    }

    /// Resets the discovery to its state before it was handed out.
    pub(in crate::inventory) fn reset(&mut self, now: Timestamp) {
        (self.phase, self.progress, self.error) = (DiscoveryPhase::Pending, 0, None);
        (self.handed_out_at, self.started_at, self.updated_at) = (None, None, now);
        self.credentials_lost_at = None;
    }

    /// Takes the work from a daemon that no longer exists.
    pub(super) fn forget_daemon(&mut self, now: Timestamp) {
        self.end_cancellation(now);
        if self.is_open() && self.discovery_type.is_about_own_host() {
            self.cancel(now);
        } else if self.is_open() {
            self.reset(now);
        }
        self.daemon_id = None;
    }

    /// Ends the discovery with an error.
    pub(in crate::inventory) fn fail(&mut self, error: &str, now: Timestamp) {
        (self.phase, self.error) = (DiscoveryPhase::Failed, Some(error.to_owned()));
        (self.finished_at, self.updated_at, self.credentials_lost_at) = (Some(now), now, None);
    }

    /// Notes that the daemon does not have to be sent the cancellation any more.
    pub(super) const fn end_cancellation(&mut self, now: Timestamp) {
        (self.is_cancelling, self.cancellation_sent_at, self.updated_at) = (false, None, now);
    }

    fn cancel(&mut self, now: Timestamp) {
        if self.is_open() {
            self.is_cancelling = self.handed_out_at.is_some();
            (self.phase, self.finished_at) = (DiscoveryPhase::Cancelled, Some(now));
        }
    }
}

/// Users create and cancel discoveries; daemons make all other changes.
impl CollectionRecord for Discovery {
    type Id = DiscoveryId;

    const ENTITY: Entity = Entity::Discovery;
    const KIND: Name = DISCOVERY;
    const REQUIREMENTS: Requirements =
        Requirements::levels(Permission::Viewer, Permission::Member, Permission::Member);

    fn id(&self) -> DiscoveryId {
        self.id
    }

    fn label(&self) -> String {
        self.id.to_string()
    }

    fn network(&self) -> Option<NetworkId> {
        Some(self.network_id)
    }

    fn begin(&mut self, id: DiscoveryId, _organization: OrganizationId, now: Timestamp) {
        (self.id, self.created_at, self.updated_at) = (id, now, now);
    }

    fn keep_fixed(&mut self, stored: &Self) {
        self.clone_from(stored);
    }

    fn touch(&mut self, now: Timestamp) {
        self.updated_at = now;
    }

    fn updated_at(&self) -> Timestamp {
        self.updated_at
    }

    fn validate(&mut self, _stored: Option<&Self>, _now: Timestamp) -> Result<(), Error> {
        Ok(())
    }

    fn facets(&self, organization: OrganizationId) -> Facets {
        let is_open = self.is_open() || self.is_cancelling;
        let state = Link::new(if is_open { OPEN_LINK } else { ENDED_LINK }, self.network_id.uuid());
        let daemon = self.daemon_id.filter(|_| is_open).map(|daemon| Link::new(ASSIGNED_LINK, daemon.uuid()));
        facets(organization, self.created_at)
            .with_sort_keys([time_sort_key(UPDATED_AT, self.updated_at)])
            .with_network(self.network_id.uuid())
            .with_links([state])
            .with_links(daemon)
    }
}

handle! {
    /// The work of the discovery daemons of an organization.
    pub struct DiscoveryJobs(Discovery) = discovery_jobs;
}

impl DiscoveryJobs<'_> {
    /// Queues work for a discovery daemon on behalf of a caller, a Member or above.
    ///
    /// ```
    /// # use toposcope::model::Network;
    /// # use toposcope::access::{Caller, Scope};
    /// # use toposcope::inventory::NewDiscovery;
    /// # use toposcope::model::{DiscoveryPhase, Permission, UserId};
    /// # use toposcope::{Inventory, MemoryStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// # let network = inventory.networks().create(&Caller::system(organization.id), Network::new("Office")).await?;
    /// # let caller = Caller::new(organization.id, UserId::nil(), Permission::Member, Scope::all());
    /// let queued = inventory.discovery_jobs().create(&caller, NewDiscovery::new(network.id)).await?;
    /// assert_eq!(queued.phase, DiscoveryPhase::Pending);
    /// let cancelled = inventory.discovery_jobs().cancel(&caller, queued.id).await?;
    /// assert_eq!(cancelled.phase, DiscoveryPhase::Cancelled);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// - `PermissionDenied`: the caller is below Member.
    /// - `ReferenceInvalid`: the network is unknown, or the daemon or a subnet is not on it.
    /// - `AccessDenied`: the caller cannot access the network.
    /// - `Invalid`: there are no subnets or too many, or subnets or credentials and the type of work is not a scan.
    /// - `QuotaExceeded`: 100 discoveries of the network are open, or the credentials of too many are held.
    pub async fn create(self, caller: &Caller, new: NewDiscovery) -> Result<Discovery, Error> {
        Discovery::REQUIREMENTS.create.check(caller)?;
        check_subnets(&new)?;
        let credentials = new.snmp_credentials.filter(|credentials| !credentials.is_empty());
        if credentials.is_some() && new.discovery_type.is_about_own_host() {
            return Err(Error::invalid("snmp_credentials", Problem::InvalidFormat));
        }
        let (organization, network) = (caller.organization_id(), new.network_id);
        let mut discovery = Discovery::queued(
            self.inventory.new_id()?,
            network,
            new.daemon_id,
            new.discovery_type,
            self.inventory.now(),
        );
        discovery.subnet_ids = new.subnet_ids;
        discovery.has_credentials = credentials.is_some();
        let reference =
            Reference { entity: Entity::Network, key: network_key(network), field: "network_id".to_owned() };
        // Refuse before holding credentials and asking the policy.
        self.inventory.check_own_references(caller, std::slice::from_ref(&reference)).await?;
        // Held before the discovery is stored: from then on, a daemon may ask for it.
        let holding = match credentials {
            Some(credentials) => {
                Some(self.inventory.hold_credentials(organization, discovery.id, credentials).await?)
            }
            None => None,
        };
        let mut transaction = self.inventory.reviewed_transaction(caller, Entity::Discovery, discovery.id);
        loop {
            self.inventory.check_own_references(caller, std::slice::from_ref(&reference)).await?;
            let mut batch = Batch::new();
            batch.guard(exists(reference.key));
            self.inventory.check_targets(organization, &discovery, &mut batch).await?;
            transaction.review(Actor::Caller(caller), None, Some(&discovery)).await?;
            let _turn = self.inventory.discovery_turn(&mut transaction, network).await?;
            self.inventory
                .queue_discoveries(organization, std::slice::from_ref(&discovery), &mut batch)
                .await?;
            self.inventory.note_answer(&discovery, Some(network))?;
            // The commit goes on if the caller stops waiting.
            holding.iter().for_each(Holding::keep);
            if transaction.commit(batch).await? {
                return Ok(discovery);
            }
            holding.iter().for_each(Holding::release);
        }
    }

    /// Cancels work on behalf of a caller, a Member or above. Work that has ended stays as it is.
    ///
    /// A daemon that already has the work gets the cancellation whenever it asks for work, until it states that the work
    /// has ended or that it is ready for other work, or for 5 minutes after the first time. It gets no other work meanwhile.
    ///
    /// # Errors
    /// The errors of [`Collection::get`](crate::inventory::Collection::get).
    pub async fn cancel(self, caller: &Caller, id: DiscoveryId) -> Result<Discovery, Error> {
        let cancel = |discovery: &mut Discovery, _: &mut Batch| {
            discovery.cancel(self.inventory.now());
            Ok(())
        };
        let discovery = self.inventory.update_with(caller, id, |_| Ok(()), cancel).await?;
        self.inventory.forget_credentials(&[id]);
        Ok(discovery)
    }
}

impl Inventory {
    /// Waits until no other work is being queued for daemons of a network, releasing the turns of the transaction.
    pub(in crate::inventory) async fn discovery_turn(
        &self,
        transaction: &mut Transaction<'_>,
        network: NetworkId,
    ) -> Result<Option<Turns>, Error> {
        transaction.quota_turn(Some(MAX_OPEN), network_key(network), Entity::Network).await
    }

    /// Adds work for daemons of one network to a batch. Requires the [`discovery_turn`](Self::discovery_turn).
    ///
    /// Also deletes the oldest ended discoveries, of which a bounded number is kept.
    ///
    /// # Errors
    /// `QuotaExceeded`.
    pub(in crate::inventory) async fn queue_discoveries(
        &self,
        organization: OrganizationId,
        discoveries: &[Discovery],
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let Some(network) = discoveries.first().map(|discovery| discovery.network_id) else { return Ok(()) };
        let open = linked(DISCOVERY, organization, Link::new(OPEN_LINK, network.uuid()));
        self.check_quota(Some(MAX_OPEN), Entity::Discovery, open, discoveries.len() as u64).await?;
        for discovery in discoveries {
            let key = discovery_key(discovery.id);
            batch.put(key, Precondition::Absent, discovery.facets(organization), encode(discovery)?);
        }
        let ended = linked(DISCOVERY, organization, Link::new(ENDED_LINK, network.uuid()));
        let excess = self.count(ended.clone()).await?.saturating_sub(MAX_ENDED);
        let oldest =
            Query { limit: Some(usize::try_from(excess.min(MAX_ENDED)).ok().asserted_or_default()), ..ended };
        for record in self.store.list(&oldest).await?.records {
            batch.delete(record.key, Precondition::Any);
        }
        Ok(())
    }

    /// Checks that the daemon and the subnets of a discovery are on its network. Adds guards that they stay.
    async fn check_targets(
        &self,
        organization: OrganizationId,
        discovery: &Discovery,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let network = discovery.network_id;
        if let Some(id) = discovery.daemon_id {
            let daemon = Query { ids: Some(vec![id.uuid()]), ..on_network(DAEMON, organization, network) };
            if self.count(daemon).await? == 0 {
                return Err(reference_invalid(Entity::Daemon, "daemon_id".to_owned()));
            }
            batch.guard(exists(daemon_record_key(id)));
        }
        let Some(ids) = &discovery.subnet_ids else { return Ok(()) };
        let subnets = Query { ids: Some(uuids(ids)), ..on_network(SUBNET, organization, network) };
        let known: HashSet<SubnetId> =
            self.store.list(&subnets).await?.records.iter().map(|record| record.key.id.into()).collect();
        if let Some(index) = ids.iter().position(|id| !known.contains(id)) {
            return Err(reference_invalid(Entity::Subnet, format!("subnet_ids.{index}")));
        }
        for id in known {
            batch.guard(exists(subnet_key(id)));
        }
        Ok(())
    }
}

fn check_subnets(new: &NewDiscovery) -> Result<(), Error> {
    let invalid = |problem| Err(Error::invalid("subnet_ids", problem));
    match &new.subnet_ids {
        None => Ok(()),
        Some(_) if new.discovery_type.is_about_own_host() => invalid(Problem::InvalidFormat),
        Some(ids) if ids.is_empty() => invalid(Problem::Empty),
        Some(ids) if ids.len() > MAX_SUBNETS => invalid(Problem::MaxLength { max: MAX_SUBNETS }),
        Some(_) => Ok(()),
    }
}

fn reference_invalid(entity: Entity, field: String) -> Error {
    ErrorKind::ReferenceInvalid { entity, field }.into()
}
