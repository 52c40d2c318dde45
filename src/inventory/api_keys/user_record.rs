//! The API keys of users as records of a collection.

use crate::access::Caller;
use crate::inventory::collections::{CollectionRecord, Reference, Requirement, Requirements};
use crate::inventory::records::{delete_key_records, user_api_key_facets, user_caller};
use crate::inventory::schema::{
    NETWORK, USER, USER_API_KEY, USER_LINK, all_of, decode, network_key, tag_key, user_key,
};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, validate};
use crate::model::{
    NetworkId, OrganizationId, Permission, Timestamp, User, UserApiKey, UserApiKeyId, UserId,
};
use crate::store::{Batch, Facets, LinkFilter, Name, Query};

impl CollectionRecord for UserApiKey {
    type Id = UserApiKeyId;

    const ENTITY: Entity = Entity::UserApiKey;
    const KIND: Name = USER_API_KEY;
    const REQUIREMENTS: Requirements = Requirements {
        read: Requirement::level(Permission::Viewer),
        create: Requirement::session(Permission::Viewer),
        change: Requirement::session(Permission::Viewer),
    };
    const SHOWN_KINDS: &'static [Name] = &[NETWORK, USER];

    fn id(&self) -> UserApiKeyId {
        self.id
    }

    fn label(&self) -> String {
        self.name.clone()
    }

    fn restrict(mut query: Query, caller: &Caller) -> Query {
        if !caller.is_system() {
            query.links.push(LinkFilter::new(USER_LINK, [caller.user_id().uuid()]));
        }
        query
    }

    fn is_hidden_from(&self, caller: &Caller) -> bool {
        !caller.is_system() && self.user_id != caller.user_id()
    }

    fn begin(&mut self, id: UserApiKeyId, organization: OrganizationId, now: Timestamp) {
        (self.id, self.organization_id) = (id, organization);
        (self.created_at, self.updated_at) = (now, now);
    }

    /// Leaves organization and owner as they are: `validate` refuses their change.
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
        match stored {
            Some(stored) => self.check_owner(stored)?,
            None => validate::future("expires_at", self.expires_at, now)?,
        }
        self.name = validate::name("name", &self.name, 100)?;
        Ok(())
    }

    fn references(&self) -> Vec<Reference> {
        let networks = if self.all_networks { &[] } else { self.network_ids.as_slice() };
        let mut networks = Reference::list(Entity::Network, network_key, "network_ids", networks);
        networks.extend(Reference::list(Entity::Tag, tag_key, "tags", &self.tags));
        networks
    }

    fn deduplicate(&mut self) {
        self.network_ids = validate::distinct(std::mem::take(&mut self.network_ids));
        self.tags = validate::distinct(std::mem::take(&mut self.tags));
    }

    fn facets(&self, _organization: OrganizationId) -> Facets {
        user_api_key_facets(self)
    }

    /// A key may keep a level above that of its owner, which has no effect.
    async fn prepare<'a>(
        inventory: &'a Inventory,
        caller: &'a Caller,
        stored: Option<&'a Self>,
        record: &'a Self,
        _batch: &'a mut Batch,
    ) -> Result<(), Error> {
        let is_new = stored.is_none_or(|stored| stored.permissions != record.permissions);
        if is_new && record.permissions > caller.permission() {
            return Err(ErrorKind::PermissionDenied.into());
        }
        if record.all_networks && stored.is_none_or(|stored| !stored.all_networks) {
            inventory.require_all_networks(caller, record.user_id).await?;
        }
        Ok(())
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
        inventory.set_last_uses(records, |key| key.id.uuid(), |key| &mut key.last_used).await?;
        inventory.set_present_networks(records).await
    }

    fn stored(&self) -> Self {
        let mut stored = self.tagged();
        if stored.all_networks {
            stored.network_ids.clear();
        }
        stored
    }

    fn tagged(&self) -> Self {
        Self { last_used: None, ..self.clone() }
    }
}

impl Inventory {
    /// Fills in the present networks of keys that reach all networks. They are not stored with the
    /// key.
    pub(in crate::inventory) async fn set_present_networks(
        &self,
        keys: &mut [UserApiKey],
    ) -> Result<(), Error> {
        let mut known: Option<(UserId, Vec<NetworkId>)> = None;
        for key in keys.iter_mut().filter(|key| key.all_networks) {
            let networks = match known.take() {
                Some((user, networks)) if user == key.user_id => networks,
                _ => self.present_networks(key.organization_id, key.user_id).await?,
            };
            key.network_ids.clone_from(&networks);
            known = Some((key.user_id, networks));
        }
        Ok(())
    }

    /// Returns the networks that a user reaches at present.
    async fn present_networks(
        &self,
        organization: OrganizationId,
        user: UserId,
    ) -> Result<Vec<NetworkId>, Error> {
        let Some(record) = self.get(user_key(user)).await? else { return Ok(Vec::new()) };
        let user: User = decode(&record)?;
        if !user.permissions.sees_every_network() {
            return Ok(user.network_ids);
        }
        self.network_ids(organization).await
    }

    /// Returns the ids of the networks of an organization, the oldest first.
    pub(in crate::inventory) async fn network_ids(
        &self,
        organization: OrganizationId,
    ) -> Result<Vec<NetworkId>, Error> {
        let networks = self.store.list(&all_of(NETWORK, organization)).await?.records;
        Ok(networks.iter().map(|record| record.key.id.into()).collect())
    }

    /// Requires that the caller reaches every network that the user reaches.
    ///
    /// # Errors
    /// `PermissionDenied`.
    pub(in crate::inventory) async fn require_all_networks(
        &self,
        caller: &Caller,
        user: UserId,
    ) -> Result<(), Error> {
        let is_limited = match caller.scope().networks() {
            None => false,
            Some(_) => match self.get(user_key(user)).await? {
                Some(record) => user_caller(&decode(&record)?).scope() != caller.scope(),
                None => true,
            },
        };
        if is_limited { Err(ErrorKind::PermissionDenied.into()) } else { Ok(()) }
    }
}

impl UserApiKey {
    /// Requires that the owner and the owner's organization stay as they are stored.
    fn check_owner(&self, stored: &Self) -> Result<(), Error> {
        if (self.organization_id, self.user_id) == (stored.organization_id, stored.user_id) {
            return Ok(());
        }
        Err(ErrorKind::UpdateForbidden { entity: Entity::UserApiKey }.into())
    }
}
