//! Daemons as records of a collection.

use crate::access::Caller;
use crate::inventory::collections::{CollectionRecord, Deletable, Requirements};
use crate::inventory::records::named;
use crate::inventory::schema::{ASSIGNED_LINK, DAEMON, DAEMON_KEY_LINK, DISCOVERY, decode, encode, linked};
use crate::inventory::{Entity, Error, Inventory, unchanged};
use crate::model::{DaemonId, Discovery, DiscoveryDaemon, NetworkId, OrganizationId, Permission, Timestamp};
use crate::store::{Batch, Facets, Guard, Link, Name};

/// Daemons register themselves, and users can only delete them.
impl CollectionRecord for DiscoveryDaemon {
    type Id = DaemonId;

    const ENTITY: Entity = Entity::Daemon;
    const KIND: Name = DAEMON;
    const REQUIREMENTS: Requirements =
        Requirements::levels(Permission::Viewer, Permission::Member, Permission::Member);

    fn id(&self) -> DaemonId {
        self.id
    }

    fn label(&self) -> String {
        self.name.clone()
    }

    fn network(&self) -> Option<NetworkId> {
        Some(self.network_id)
    }

    fn begin(&mut self, id: DaemonId, _organization: OrganizationId, now: Timestamp) {
        (self.id, self.created_at, self.updated_at, self.last_seen) = (id, now, now, now);
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
        named(organization, &self.name, self.created_at, self.updated_at)
            .with_network(self.network_id.uuid())
            .with_links(self.api_key_id.map(|key| Link::new(DAEMON_KEY_LINK, key.uuid())))
    }

    /// Returns the daemon's work to the queue. Work that no other daemon can do is cancelled.
    async fn prepare_deletion(
        inventory: &Inventory,
        caller: &Caller,
        record: &Self,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let (organization, link) = (caller.organization_id(), Link::new(ASSIGNED_LINK, record.id.uuid()));
        for stored in inventory.store.list(&linked(DISCOVERY, organization, link)).await?.records {
            let mut discovery: Discovery = decode(&stored)?;
            discovery.forget_daemon(inventory.now());
            let facets = discovery.facets(organization);
            batch.put(stored.key, unchanged(Some(&stored)), facets, encode(&discovery)?);
        }
        batch.guard(Guard::LinkedWithin { organization: Some(organization.uuid()), link });
        Ok(())
    }
}

impl Deletable for DiscoveryDaemon {}
