//! The API keys of daemons as records of a collection.

use crate::access::Caller;
use crate::inventory::collections::{CollectionRecord, Reference, Requirements};
use crate::inventory::records::{daemon_api_key_facets, delete_key_records};
use crate::inventory::schema::{DAEMON_API_KEY, network_key, tag_key};
use crate::inventory::{Entity, Error, Inventory, validate};
use crate::model::{DaemonApiKey, DaemonApiKeyId, NetworkId, OrganizationId, Permission, Timestamp};
use crate::store::{Batch, Facets, Name};

impl CollectionRecord for DaemonApiKey {
    type Id = DaemonApiKeyId;

    const ENTITY: Entity = Entity::DaemonApiKey;
    const KIND: Name = DAEMON_API_KEY;
    const REQUIREMENTS: Requirements =
        Requirements::levels(Permission::Member, Permission::Member, Permission::Member);

    fn id(&self) -> DaemonApiKeyId {
        self.id
    }

    fn label(&self) -> String {
        self.name.clone()
    }

    fn network(&self) -> Option<NetworkId> {
        Some(self.network_id)
    }

    fn begin(&mut self, id: DaemonApiKeyId, _organization: OrganizationId, now: Timestamp) {
        (self.id, self.created_at, self.updated_at) = (id, now, now);
    }

    fn keep_fixed(&mut self, stored: &Self) {
        (self.id, self.last_used) = (stored.id, stored.last_used);
        self.key.clone_from(&stored.key);
        (self.created_at, self.updated_at) = (stored.created_at, stored.updated_at);
    }

    fn touch(&mut self, now: Timestamp) {
        self.updated_at = now;
    }

    fn updated_at(&self) -> Timestamp {
        self.updated_at
    }

    fn validate(&mut self, stored: Option<&Self>, now: Timestamp) -> Result<(), Error> {
        self.name = validate::name("name", &self.name, 100)?;
        if stored.is_none() { validate::future("expires_at", self.expires_at, now) } else { Ok(()) }
    }

    fn references(&self) -> Vec<Reference> {
        let network = Reference {
            entity: Entity::Network,
            key: network_key(self.network_id),
            field: "network_id".to_owned(),
        };
        let mut references = Reference::list(Entity::Tag, tag_key, "tags", &self.tags);
        references.push(network);
        references
    }

    fn deduplicate(&mut self) {
        self.tags = validate::distinct(std::mem::take(&mut self.tags));
    }

    fn facets(&self, organization: OrganizationId) -> Facets {
        daemon_api_key_facets(organization, self)
    }

    async fn prepare_deletion<'a>(
        _inventory: &'a Inventory,
        _caller: &'a Caller,
        record: &'a Self,
        batch: &'a mut Batch,
    ) -> Result<(), Error> {
        delete_key_records(batch, record.id);
        Ok(())
    }

    async fn complete<'a>(inventory: &'a Inventory, records: &'a mut [Self]) -> Result<(), Error> {
        inventory.set_last_uses(records, |key| key.id.uuid(), |key| &mut key.last_used).await
    }

    fn stored(&self) -> Self {
        Self { last_used: None, ..self.clone() }
    }
}
