//! Users as records of a collection.

use crate::access::Caller;
use crate::inventory::collections::{CollectionRecord, Reference, Requirement, Requirements};
use crate::inventory::records::{is_enabled_owner, user_facets};
use crate::inventory::schema::{USER, network_key};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, validate};
use crate::model::{OrganizationId, Permission, Timestamp, User, UserId};
use crate::store::{Batch, Facets, Name, Query};

impl CollectionRecord for User {
    type Id = UserId;

    const ENTITY: Entity = Entity::User;
    const KIND: Name = USER;
    const REQUIREMENTS: Requirements = Requirements {
        read: Requirement::level(Permission::Viewer),
        create: Requirement::session(Permission::Admin),
        change: Requirement::session(Permission::Admin),
    };

    fn id(&self) -> UserId {
        self.id
    }

    fn label(&self) -> String {
        Self::label(self).to_owned()
    }

    fn restrict(query: Query, caller: &Caller) -> Query {
        if sees_others(caller) {
            return query;
        }
        let own = caller.user_id().uuid();
        let is_asked_for = query.ids.as_ref().is_none_or(|ids| ids.contains(&own));
        Query { ids: Some(is_asked_for.then_some(own).into_iter().collect()), ..query }
    }

    fn is_hidden_from(&self, caller: &Caller) -> bool {
        !sees_others(caller) && self.id != caller.user_id()
    }

    fn begin(&mut self, id: UserId, organization: OrganizationId, now: Timestamp) {
        (self.id, self.organization_id) = (id, organization);
        (self.created_at, self.updated_at) = (now, now);
    }

    fn keep_fixed(&mut self, stored: &Self) {
        let Self { permissions, is_enabled, .. } = *self;
        let network_ids = std::mem::take(&mut self.network_ids);
        *self = Self { permissions, network_ids, is_enabled, ..stored.clone() };
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

    fn references(&self) -> Vec<Reference> {
        Reference::list(Entity::Network, network_key, "network_ids", &self.network_ids)
    }

    fn deduplicate(&mut self) {
        self.network_ids = validate::distinct(std::mem::take(&mut self.network_ids));
    }

    fn facets(&self, _organization: OrganizationId) -> Facets {
        user_facets(self)
    }

    async fn prepare<'a>(
        inventory: &'a Inventory,
        caller: &'a Caller,
        stored: Option<&'a Self>,
        record: &'a Self,
        batch: &'a mut Batch,
    ) -> Result<(), Error> {
        check_level(caller, record)?;
        let Some(stored) = stored else { return Ok(()) };
        check_level(caller, stored)?;
        if !caller.is_system() && is_enabled_owner(stored) && !is_enabled_owner(record) {
            inventory.keep_an_owner(stored, batch).await?;
        }
        Ok(())
    }

    async fn precede_update<'a>(
        inventory: &'a Inventory,
        stored: &'a Self,
        record: &'a Self,
    ) -> Result<(), Error> {
        if !stored.is_enabled && record.is_enabled {
            // Sessions that were left when the user was disabled must not become valid again.
            inventory.end_sessions_of((stored.organization_id, stored.id)).await?;
        }
        Ok(())
    }

    async fn finish_update<'a>(inventory: &'a Inventory, record: &'a Self) {
        if !record.is_enabled {
            inventory.forget_sessions_of((record.organization_id, record.id)).await;
        }
    }

    async fn prepare_deletion<'a>(
        inventory: &'a Inventory,
        caller: &'a Caller,
        record: &'a Self,
        batch: &'a mut Batch,
    ) -> Result<(), Error> {
        check_level(caller, record)?;
        if !caller.is_system() && is_enabled_owner(record) {
            inventory.keep_an_owner(record, batch).await?;
        }
        inventory.delete_records_of(record, batch).await
    }

    async fn finish_deletion<'a>(
        inventory: &'a Inventory,
        caller: &'a Caller,
        id: UserId,
    ) -> Result<bool, Error> {
        inventory.forget_sessions_of((caller.organization_id(), id)).await;
        Ok(false)
    }
}

/// Returns whether the caller sees all users of the organization.
fn sees_others(caller: &Caller) -> bool {
    caller.permission() >= Permission::Admin
}

/// Requires that the user's level is at most the caller's.
fn check_level(caller: &Caller, user: &User) -> Result<(), Error> {
    if user.permissions > caller.permission() { Err(ErrorKind::PermissionDenied.into()) } else { Ok(()) }
}
