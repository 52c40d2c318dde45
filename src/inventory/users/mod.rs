//! Users: accounts that can log in, and their rights.

mod create;
mod email;
mod manage;
mod referrals;

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use create::NewUser;
pub(super) use email::{EmailAddress, email_unique_key};
pub(crate) use referrals::may_submit_referrals;

use super::schema::{NETWORK_LINK, facets, links, network_key};
use super::{Entity, Error, ErrorKind};
use crate::access::{Caller, Scope};
use crate::model::{Permission, User};
use crate::store::{Batch, Facets, Guard, Precondition};

/// The body of a [`USER`](super::schema::USER) record.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredUser {
    #[serde(flatten)]
    pub(super) user: User,
    #[serde(default)]
    pub(super) is_disabled: bool,
}

/// The part of a user record that determines the user's rights.
#[derive(Debug, Deserialize)]
pub(super) struct UserRights {
    id: Uuid,
    organization_id: Uuid,
    permissions: Permission,
    network_ids: Vec<Uuid>,
    #[serde(default)]
    is_disabled: bool,
    /// The caller derived from this record. Not stored.
    #[serde(skip)]
    caller: OnceLock<Caller>,
}

impl UserRights {
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.is_disabled { Err(ErrorKind::Disabled { entity: Entity::User }.into()) } else { Ok(()) }
    }

    /// Returns the user as a caller with the user's current rights.
    pub(super) fn caller(&self) -> Caller {
        let caller = || caller(self.organization_id, self.id, self.permissions, &self.network_ids);
        self.caller.get_or_init(caller).clone()
    }
}

/// Creates a caller with all rights of a user.
pub(super) fn user_caller(user: &User) -> Caller {
    caller(user.organization_id, user.id, user.permissions, &user.network_ids)
}

fn caller(organization: Uuid, user: Uuid, permission: Permission, networks: &[Uuid]) -> Caller {
    Caller::new(organization, user, permission, Scope::granted(permission, networks.iter().copied()))
}

pub(super) fn user_facets(user: &User) -> Facets {
    let mut facets = facets(user.organization_id, user.created_at);
    facets.unique_keys.push(email_unique_key(&user.email));
    facets.links.extend(links(NETWORK_LINK, &user.network_ids));
    facets
}

/// Adds guards that the granted networks still exist.
fn guard_networks(user: &User, batch: &mut Batch) {
    for network in &user.network_ids {
        batch.guard(Guard::Record { key: network_key(*network), precondition: Precondition::Present });
    }
}
