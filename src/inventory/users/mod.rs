//! Users: who may sign in, and what they may do.

mod create;
mod email;
mod manage;

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use create::NewUser;
pub(super) use email::{EmailAddress, email_unique_key};

use super::records::{NETWORK_LINK, facets, links, network_key};
use super::{Entity, Error, ErrorKind};
use crate::access::{Caller, Scope};
use crate::model::{Permission, User};
use crate::store::{Batch, Facets, Guard, Precondition};

/// The body of a [`USER`](super::records::USER) record.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredUser {
    #[serde(flatten)]
    pub(super) user: User,
    #[serde(default)]
    pub(super) is_disabled: bool,
}

/// As much of a user as decides what they may do.
#[derive(Debug, Deserialize)]
pub(super) struct UserRights {
    id: Uuid,
    organization_id: Uuid,
    permissions: Permission,
    network_ids: Vec<Uuid>,
    #[serde(default)]
    is_disabled: bool,
    /// What they make the user. Not read from anywhere.
    #[serde(skip)]
    caller: OnceLock<Caller>,
}

impl UserRights {
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.is_disabled { Err(ErrorKind::Disabled { entity: Entity::User }.into()) } else { Ok(()) }
    }

    /// The user as a caller, with all rights that are theirs at present.
    pub(super) fn caller(&self) -> Caller {
        let caller = || caller(self.organization_id, self.id, self.permissions, &self.network_ids);
        self.caller.get_or_init(caller).clone()
    }
}

/// A user as a caller, with all rights that are theirs.
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

/// Makes it a condition of the batch that the networks granted are still there.
fn check_networks_of(user: &User, batch: &mut Batch) {
    for network in &user.network_ids {
        batch.guard(Guard::Record { key: network_key(*network), precondition: Precondition::Present });
    }
}
