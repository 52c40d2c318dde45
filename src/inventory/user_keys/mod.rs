//! API keys of users, with which programs act for a user.

mod create;
mod manage;
mod rotate;
mod update;

use uuid::Uuid;

pub use create::NewUserApiKey;
pub(super) use manage::delete_beside;
pub use update::UserApiKeyUpdate;
pub(crate) use update::may_manage_user_api_keys;

use super::records::{NETWORK_LINK, TAG_LINK, USER_LINK, facets, links, network_key, tag_key};
use super::{Entity, Error, ErrorKind, Inventory};
use crate::access::Caller;
use crate::model::{Permission, UserApiKey};
use crate::store::{Batch, Facets, Guard, Key, Link, Precondition};

/// The rights to be given to a key, which its user must have. `None`: unchanged.
#[derive(Debug)]
struct Grant<'a> {
    permissions: Option<Permission>,
    network_ids: Option<&'a [Uuid]>,
    tags: &'a [Uuid],
}

impl Inventory {
    /// Checks that a user may give a key this level, these networks and these tags.
    async fn check_grant(&self, user: &Caller, grant: &Grant<'_>) -> Result<(), Error> {
        if grant.permissions.is_some_and(|level| level > user.permission()) {
            return Err(ErrorKind::PermissionDenied.into());
        }
        let organization = user.organization_id();
        let ids = grant.network_ids.unwrap_or_default();
        let networks: Vec<Key> = ids.iter().map(|id| network_key(*id)).collect();
        self.check_references(organization, Entity::Network, &networks, "network_ids").await?;
        if let Some(id) = ids.iter().copied().find(|network| !user.scope().allows(*network)) {
            return Err(ErrorKind::AccessDenied { entity: Entity::Network, id }.into());
        }
        let tags: Vec<Key> = grant.tags.iter().map(|id| tag_key(*id)).collect();
        self.check_references(organization, Entity::Tag, &tags, "tags").await
    }
}

pub(super) fn user_api_key_facets(record: &UserApiKey) -> Facets {
    let mut facets = facets(record.organization_id, record.created_at);
    facets.links.push(Link::new(USER_LINK, record.user_id));
    facets.links.extend(links(NETWORK_LINK, &record.network_ids));
    facets.links.extend(links(TAG_LINK, &record.tags));
    facets
}

/// Adds guards that the records a key refers to still exist.
fn check_references_of(record: &UserApiKey, batch: &mut Batch) {
    let networks = record.network_ids.iter().map(|id| network_key(*id));
    for key in networks.chain(record.tags.iter().map(|id| tag_key(*id))) {
        batch.guard(Guard::Record { key, precondition: Precondition::Present });
    }
}
