//! Networks: their rules, creation and deletion.

use crate::access::Caller;
use crate::inventory::application::MAX_DELETED;
use crate::inventory::collections::{
    CollectionRecord, Creatable, CustomFilters, Deletable, Reference, Requirement, Requirements, handle,
};
use crate::inventory::custom::{IndexedKind, check_custom};
use crate::inventory::records::{named, user_api_key_facets, user_facets};
use crate::inventory::schema::{
    ADDRESS_RESERVATION, DAEMON_API_KEY, DELETED_SUBNET, DISCOVERED_HOSTS, DISCOVERY, HOST, KEPT_LAYOUT,
    NETWORK, NETWORK_DELETION, NETWORK_LINK, NETWORK_NAME_UNIQUE_KEY, SHARE, SUBNET, TAG_LINK,
    TOPOLOGY_LAYOUT, TOPOLOGY_LINK, USER, USER_API_KEY, decode, encode, facets, linked, links,
    name_unique_key, network_deletion_key, network_key, on_network, organization_key, tag_key,
};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, Problem, require_system, unchanged, validate};
use crate::model::{Custom, Network, NetworkId, OrganizationId, Permission, Timestamp, User, UserApiKey};
use crate::store::{Batch, Facets, Guard, Link, Name, Precondition, Query};

impl Network {
    /// Creates a network for [`Collection::create`](crate::inventory::Collection::create), which sets everything but the name.
    ///
    /// ```
    /// # use toposcope::access::{Caller, Scope};
    /// # use toposcope::model::{Network, Permission, Subnet, UserId};
    /// # use toposcope::{Inventory, MemoryStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// # let caller = Caller::new(organization.id, UserId::nil(), Permission::Admin, Scope::all());
    /// # let caller = caller.through_session();
    /// let network = inventory.records().create(&caller, Network::new("Office")).await?;
    /// let subnet = Subnet::new(network.id, "Printers", "192.0.2.0/24".parse()?);
    /// let subnet = inventory.records().create(&caller, subnet).await?;
    /// assert_eq!(subnet.network_id, network.id);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        let now = Timestamp::now();
        Self {
            id: NetworkId::nil(),
            organization_id: OrganizationId::nil(),
            name: name.into(),
            description: None,
            tags: Vec::new(),
            custom: Custom::new(),
            created_at: now,
            updated_at: now,
        }
    }
}

impl CollectionRecord for Network {
    type Id = NetworkId;

    const ENTITY: Entity = Entity::Network;
    const KIND: Name = NETWORK;
    const NAME_KEY: Option<Name> = Some(NETWORK_NAME_UNIQUE_KEY);
    const CUSTOM_FILTERS: CustomFilters = CustomFilters::Indexed(IndexedKind::Networks);
    const REQUIREMENTS: Requirements = Requirements {
        read: Requirement::level(Permission::Viewer),
        create: Requirement::level(Permission::Admin),
        change: Requirement::session(Permission::Admin),
    };

    fn id(&self) -> NetworkId {
        self.id
    }

    fn label(&self) -> String {
        self.name.clone()
    }

    fn custom(&self) -> Option<&Custom> {
        Some(&self.custom)
    }

    /// A network is visible to the callers whose scope contains it.
    fn network(&self) -> Option<NetworkId> {
        Some(self.id)
    }

    fn begin(&mut self, id: NetworkId, organization: OrganizationId, now: Timestamp) {
        (self.id, self.organization_id) = (id, organization);
        (self.created_at, self.updated_at) = (now, now);
    }

    fn keep_fixed(&mut self, stored: &Self) {
        (self.id, self.organization_id) = (stored.id, stored.organization_id);
        (self.created_at, self.updated_at) = (stored.created_at, stored.updated_at);
    }

    fn touch(&mut self, now: Timestamp) {
        self.updated_at = now;
    }

    fn updated_at(&self) -> Timestamp {
        self.updated_at
    }

    fn validate(&mut self, _stored: Option<&Self>, _now: Timestamp) -> Result<(), Error> {
        self.name = validate::name("name", &self.name, 100)?;
        self.custom.retain(|_, value| !value.is_null());
        check_custom(&self.custom)?;
        validate::description("description", self.description.as_deref())
    }

    fn references(&self) -> Vec<Reference> {
        Reference::list(Entity::Tag, tag_key, "tags", &self.tags)
    }

    fn deduplicate(&mut self) {
        self.tags = validate::distinct(std::mem::take(&mut self.tags));
    }

    fn facets(&self, organization: OrganizationId) -> Facets {
        named(organization, &self.name, self.created_at, self.updated_at)
            .with_network(self.id.uuid())
            .with_links(links(TAG_LINK, &self.tags))
            .with_unique_keys([name_unique_key(NETWORK_NAME_UNIQUE_KEY, organization, &self.name)])
    }

    async fn prepare(
        inventory: &Inventory,
        caller: &Caller,
        stored: Option<&Self>,
        record: &Self,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let may_be_taken = stored.is_none() && caller.is_system();
        if may_be_taken {
            let keys = [network_key(record.id), network_deletion_key(record.id)];
            if inventory.store.get(&keys).await?.iter().any(Option::is_some) {
                return Err(taken(record.id));
            }
            batch.guard(not_being_deleted(record.id));
        }
        Ok(())
    }

    async fn prepare_deletion(
        inventory: &Inventory,
        _caller: &Caller,
        record: &Self,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        inventory.prepare_network_deletion(record, batch).await
    }

    fn takes_more_commits(batch: &Batch) -> bool {
        batch.writes().iter().any(|write| write.key().kind == NETWORK_DELETION)
    }

    async fn finish_deletion(inventory: &Inventory, caller: &Caller, id: NetworkId) -> Result<bool, Error> {
        inventory.finish_network_deletion(caller, id).await
    }
}

handle! {
    /// The networks of an organization.
    ///
    /// A network can be deleted while it has no hosts, subnets, daemons, daemon API keys and shares; otherwise
    /// [`delete`](crate::inventory::Collection::delete) returns `InUse`. The deletion
    /// revokes all grants of the network to users and API keys, and deletes the
    /// [records of the host application](crate::inventory::ApplicationRecord) on it: where these are more than 1,000, in commits after
    /// that of the network. A deletion that is refused has deleted nothing. One that is interrupted afterwards continues when
    /// it is repeated, or within an hour; until then the id of the network is taken.
    pub struct Networks(Network) = networks;
}

impl Networks<'_> {
    /// Creates a network with a given id, such as one named by imported hosts.
    ///
    /// The caller must be [the system](crate::access::Caller::system).
    ///
    /// # Errors
    /// The errors of [`create`](crate::inventory::Collection::create), and `AlreadyExists` when the id is taken, also
    /// by a network whose deletion has not ended.
    pub async fn create_with_id(
        self,
        caller: &Caller,
        id: NetworkId,
        network: Network,
    ) -> Result<Network, Error> {
        require_system(caller)?;
        self.create_with(caller, id, network).await
    }

    /// Returns the network with this id, or creates it. The caller must be [the system](crate::access::Caller::system).
    ///
    /// A host application calls this for each network that it knows by an id of its own, such as a site. A network that exists is
    /// returned as it is: its name and everything else do not change. Several tasks and processes may call it at once.
    ///
    /// ```
    /// # use toposcope::access::Caller;
    /// # use toposcope::model::{Network, NetworkId};
    /// # use toposcope::{Inventory, MemoryStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// let (networks, system) = (inventory.networks(), Caller::system(organization.id));
    /// let site = NetworkId::from_u128(42);
    /// let office = networks.ensure(&system, site, Network::new("Office")).await?;
    /// assert_eq!(networks.ensure(&system, site, Network::new("Office")).await?, office);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`create`](crate::inventory::Collection::create); `AlreadyExists` when another organization has a
    /// network with the id, or another network has the name. `Invalid` for the nil id.
    pub async fn ensure(self, caller: &Caller, id: NetworkId, network: Network) -> Result<Network, Error> {
        require_system(caller)?;
        if id.is_nil() {
            return Err(Error::invalid("id", Problem::InvalidFormat));
        }
        let mut transaction = self.inventory.transaction(caller, Entity::Network, id);
        loop {
            match self.inventory.find::<Network>(network_key(id)).await? {
                Some((_, known)) if known.organization_id == caller.organization_id() => return Ok(known),
                Some(_) => return Err(taken(id)),
                None => {}
            }
            match self.create_with(caller, id, network.clone()).await {
                // Another call may have created it, with this name or another.
                Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists { .. }) => {
                    // An interrupted deletion keeps the id taken.
                    if self.inventory.get(network_key(id)).await?.is_none()
                        && !self.inventory.finish_network_deletion(caller, id).await?
                    {
                        return Err(error);
                    }
                    transaction.retry().await?;
                }
                outcome => return outcome,
            }
        }
    }
}

/// Guards that no deletion of a network with this id is in progress. It would delete records of the new network.
pub(super) fn not_being_deleted(id: NetworkId) -> Guard {
    Guard::record(network_deletion_key(id), Precondition::Absent)
}

/// The error for an id that another network has.
fn taken(id: NetworkId) -> Error {
    ErrorKind::AlreadyExists { entity: Entity::Network, name: id.to_string() }.into()
}

impl Creatable for Network {}

impl Deletable for Network {}

/// Maximum number of interrupted deletions that are completed at a time.
const MAX_COMPLETED: usize = 1_000;

/// The kinds of records that keep a network from being deleted.
const NETWORK_CONTENTS: &[(Entity, Name)] = &[
    (Entity::Host, HOST),
    (Entity::Subnet, SUBNET),
    (Entity::DaemonApiKey, DAEMON_API_KEY),
    (Entity::Share, SHARE),
    #[cfg(feature = "discovery")]
    (Entity::Daemon, crate::inventory::schema::DAEMON),
];

/// The kinds of records that are deleted with their network, also those of features that are disabled.
const NETWORK_APPENDAGES: &[Name] = &[
    ADDRESS_RESERVATION,
    DISCOVERED_HOSTS,
    DISCOVERY,
    DELETED_SUBNET,
    TOPOLOGY_LINK,
    TOPOLOGY_LAYOUT,
    KEPT_LAYOUT,
];

impl Inventory {
    /// Checks that a network is empty, and adds the writes of its deletion to the batch.
    async fn prepare_network_deletion(&self, network: &Network, batch: &mut Batch) -> Result<(), Error> {
        let (organization, id) = (network.organization_id, network.id);
        for (used_by, kind) in NETWORK_CONTENTS.iter().copied() {
            if self.count(on_network(kind, organization, id)).await? > 0 {
                let name = network.name.clone();
                return Err(ErrorKind::InUse { entity: Entity::Network, name, used_by }.into());
            }
        }
        for kind in NETWORK_APPENDAGES.iter().copied() {
            for record in self.store.list(&on_network(kind, organization, id)).await?.records {
                batch.delete(record.key, unchanged(Some(&record)));
            }
        }
        let mut except = Vec::new();
        let kinds = self.application_kinds(organization).await?;
        let records = self.application_records_on(network, &kinds).await?;
        if records.len() <= MAX_DELETED {
            for key in records {
                batch.delete(key, Precondition::Any);
            }
        } else {
            // Too many for one commit: they are deleted afterwards, and no others are added once the network does not
            // exist.
            let facets = facets(organization, self.now());
            batch.put(network_deletion_key(id), Precondition::Absent, facets, encode(network)?);
            except = kinds;
        }
        batch.guard(Guard::network_empty_except(Some(organization.uuid()), id.uuid(), except));
        self.revoke_network(network, batch).await
    }

    /// Deletes the application records on a network that no longer exists, and then its tombstone.
    ///
    /// The tombstone has the id of the network alone, so that it also keeps other organizations from taking the id. Returns
    /// whether there was one that the caller may see.
    pub(super) async fn finish_network_deletion(
        &self,
        caller: &Caller,
        id: NetworkId,
    ) -> Result<bool, Error> {
        let mut transaction = self.transaction(caller, Entity::Network, id);
        let mut is_under_way = false;
        loop {
            // Another call may complete the same deletion.
            let Some((tombstone, network)) = self.find::<Network>(network_deletion_key(id)).await? else {
                return Ok(is_under_way);
            };
            if network.organization_id != caller.organization_id() || !caller.scope().allows(id) {
                return Ok(false);
            }
            is_under_way = true;
            let kinds = self.application_kinds(network.organization_id).await?;
            let records = self.application_records_on(&network, &kinds).await?;
            let is_last = records.len() <= MAX_DELETED;
            let mut batch = Batch::new();
            for key in records.into_iter().take(MAX_DELETED) {
                batch.delete(key, Precondition::Any);
            }
            if is_last {
                batch.delete(tombstone.key, unchanged(Some(&tombstone)));
                let organization = Some(network.organization_id.uuid());
                batch.guard(Guard::network_empty(organization, id.uuid()));
            } else {
                batch.guard(Guard::record(tombstone.key, unchanged(Some(&tombstone))));
            }
            if transaction.commit(batch).await? && is_last {
                return Ok(true);
            }
            tokio::task::yield_now().await;
        }
    }

    /// Completes deletions of networks that were interrupted. Failures are logged.
    pub(super) async fn complete_network_deletions(&self) {
        if let Err(error) = self.try_complete_network_deletions().await {
            tracing::warn!(error = error.with_causes(), "deletions of networks were not completed");
        }
    }

    async fn try_complete_network_deletions(&self) -> Result<(), Error> {
        let interrupted = Query { limit: Some(MAX_COMPLETED), ..Query::new(NETWORK_DELETION) };
        for network in self.read_all::<Network>(&interrupted).await? {
            // The records of an organization that is being restored or deleted are incomplete.
            if self.get(organization_key(network.organization_id)).await?.is_some() {
                self.finish_network_deletion(&Caller::system(network.organization_id), network.id).await?;
            }
        }
        Ok(())
    }

    /// Adds the revocation of all grants of a network to a batch.
    async fn revoke_network(&self, network: &Network, batch: &mut Batch) -> Result<(), Error> {
        let (organization, link) = (network.organization_id, Link::new(NETWORK_LINK, network.id.uuid()));
        let now = self.now();
        for record in self.store.list(&linked(USER, organization, link)).await?.records {
            let mut user: User = decode(&record)?;
            user.network_ids.retain(|id| *id != network.id);
            user.updated_at = now;
            batch.put(record.key, unchanged(Some(&record)), user_facets(&user), encode(&user)?);
        }
        for record in self.store.list(&linked(USER_API_KEY, organization, link)).await?.records {
            let mut key: UserApiKey = decode(&record)?;
            key.network_ids.retain(|id| *id != network.id);
            key.updated_at = now;
            batch.put(record.key, unchanged(Some(&record)), user_api_key_facets(&key), encode(&key)?);
        }
        batch.guard(Guard::LinkedWithin { organization: Some(organization.uuid()), link });
        Ok(())
    }
}
