//! Shares as records of a collection.

use std::collections::HashSet;

use crate::access::Caller;
use crate::inventory::collections::{CollectionRecord, Reference, Requirements};
use crate::inventory::records::share_facets;
use crate::inventory::schema::{SHARE, network_key};
use crate::inventory::shares::delete_share_secrets;
use crate::inventory::{Entity, Error, Inventory, validate};
use crate::model::{NetworkId, OrganizationId, Permission, Share, ShareId, Timestamp};
use crate::store::{Batch, Facets, Name};

impl CollectionRecord for Share {
    type Id = ShareId;

    const ENTITY: Entity = Entity::Share;
    const KIND: Name = SHARE;
    const REQUIREMENTS: Requirements =
        Requirements::levels(Permission::Member, Permission::Member, Permission::Member);

    fn id(&self) -> ShareId {
        self.id
    }

    fn label(&self) -> String {
        self.name.clone()
    }

    fn network(&self) -> Option<NetworkId> {
        self.network_id
    }

    /// A share without a network shows every network.
    fn is_hidden_from(&self, caller: &Caller) -> bool {
        self.network_id.is_none() && caller.scope().networks().is_some()
    }

    fn begin(&mut self, id: ShareId, organization: OrganizationId, now: Timestamp) {
        (self.id, self.organization_id) = (id, organization);
        (self.created_at, self.updated_at) = (now, now);
    }

    fn keep_fixed(&mut self, stored: &Self) {
        (self.id, self.organization_id) = (stored.id, stored.organization_id);
        self.requires_password = stored.requires_password;
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
        let mut seen = HashSet::new();
        self.redact.retain(|redaction| seen.insert(*redaction));
        let is_new = stored.is_none_or(|stored| stored.expires_at != self.expires_at);
        if is_new { validate::future("expires_at", self.expires_at, now) } else { Ok(()) }
    }

    fn references(&self) -> Vec<Reference> {
        let network =
            |id| Reference { entity: Entity::Network, key: network_key(id), field: "network_id".to_owned() };
        self.network_id.map(network).into_iter().collect()
    }

    fn facets(&self, _organization: OrganizationId) -> Facets {
        share_facets(self)
    }

    async fn prepare_deletion<'a>(
        _inventory: &'a Inventory,
        _caller: &'a Caller,
        record: &'a Self,
        batch: &'a mut Batch,
    ) -> Result<(), Error> {
        delete_share_secrets(record.id, batch);
        Ok(())
    }
}
