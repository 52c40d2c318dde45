//! API keys of users and of discovery daemons.

mod all_networks;
mod callers;
mod common;
mod daemons;
mod rotation;
mod updates;
mod users;
mod uses;

use serde::Serialize;
use serde_json::Value;
use toposcope::access::Caller;
use toposcope::inventory::{Entity, Error, Inventory, IssuedKey, NewDaemonApiKey, NewUserApiKey};
use toposcope::model::{OrganizationId, Permission, TagId, Timestamp, User, UserApiKey};
use uuid::Uuid;

use crate::support::{Fixture, time};

/// The two kinds of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    User,
    Daemon,
}

/// The fields of a new key of either kind.
#[derive(Clone)]
struct NewKey {
    name: String,
    tags: Vec<TagId>,
    expires_at: Option<Timestamp>,
    is_enabled: bool,
}

/// An issued key of either kind, with its record as JSON.
struct Issued {
    id: Uuid,
    organization: OrganizationId,
    text: String,
    record: Value,
}

fn json<T: Serialize>(record: &T) -> Value {
    serde_json::to_value(record).unwrap()
}

impl Kind {
    const BOTH: [Self; 2] = [Self::User, Self::Daemon];

    const fn entity(self) -> Entity {
        match self {
            Self::User => Entity::UserApiKey,
            Self::Daemon => Entity::DaemonApiKey,
        }
    }

    const fn prefix(self) -> &'static str {
        match self {
            Self::User => "topo_u_",
            Self::Daemon => "topo_d_",
        }
    }

    /// Creates a key, adapted by the test: of this user, or of the fixture's network.
    async fn create(
        self,
        fixture: &Fixture,
        user: &User,
        adapt: impl FnOnce(&mut NewKey),
    ) -> Result<Issued, Error> {
        let mut new = NewKey { name: "key".to_owned(), tags: vec![], expires_at: None, is_enabled: true };
        adapt(&mut new);
        let NewKey { name, tags, expires_at, is_enabled } = new;
        if self == Self::User {
            let mut new = NewUserApiKey::new(user.id, name, user.permissions);
            (new.tags, new.expires_at, new.is_enabled) = (tags, expires_at, is_enabled);
            let issued =
                fixture.inventory.user_api_keys().create(&Caller::system(user.organization_id), new).await?;
            let (text, record) = (issued.plaintext().to_owned(), json(issued.record()));
            Ok(Issued { id: issued.record().id.uuid(), organization: user.organization_id, text, record })
        } else {
            let mut new = NewDaemonApiKey::new(fixture.network, name);
            (new.tags, new.expires_at, new.is_enabled) = (tags, expires_at, is_enabled);
            let issued = fixture.inventory.daemon_api_keys().create(&fixture.system(), new).await?;
            let (text, record) = (issued.plaintext().to_owned(), json(issued.record()));
            Ok(Issued { id: issued.record().id.uuid(), organization: user.organization_id, text, record })
        }
    }

    /// Issues a key with tags and an end.
    async fn issue(self, fixture: &Fixture, user: &User) -> Issued {
        let full = |new: &mut NewKey| {
            new.tags = fixture.tags.to_vec();
            new.expires_at = Some(time("2027-01-01T00:00:00Z"));
        };
        self.create(fixture, user, full).await.unwrap()
    }

    async fn get(
        self,
        inventory: &Inventory,
        organization: OrganizationId,
        key: Uuid,
    ) -> Result<Value, Error> {
        match self {
            Self::User => inventory
                .user_api_keys()
                .get(&Caller::system(organization), key.into())
                .await
                .map(|key| json(&key)),
            Self::Daemon => inventory
                .daemon_api_keys()
                .get(&Caller::system(organization), key.into())
                .await
                .map(|key| json(&key)),
        }
    }

    /// Returns the keys of a user, or those of the daemons of the user's organization.
    async fn list(self, inventory: &Inventory, user: &User) -> Result<Vec<Value>, Error> {
        match self {
            Self::User => Ok(inventory
                .user_api_keys()
                .of_user(&Caller::system(user.organization_id), user.id)
                .await?
                .iter()
                .map(json)
                .collect()),
            Self::Daemon => Ok(inventory
                .daemon_api_keys()
                .all(&Caller::system(user.organization_id))
                .await?
                .iter()
                .map(json)
                .collect()),
        }
    }

    async fn set_enabled(
        self,
        inventory: &Inventory,
        organization: OrganizationId,
        key: Uuid,
        is_enabled: bool,
    ) -> Result<Value, Error> {
        match (self, is_enabled) {
            (Self::User, true) => inventory
                .user_api_keys()
                .enable(&Caller::system(organization), key.into())
                .await
                .map(|key| json(&key)),
            (Self::User, false) => inventory
                .user_api_keys()
                .disable(&Caller::system(organization), key.into())
                .await
                .map(|key| json(&key)),
            (Self::Daemon, true) => inventory
                .daemon_api_keys()
                .enable(&Caller::system(organization), key.into())
                .await
                .map(|key| json(&key)),
            (Self::Daemon, false) => inventory
                .daemon_api_keys()
                .disable(&Caller::system(organization), key.into())
                .await
                .map(|key| json(&key)),
        }
    }

    async fn delete(
        self,
        inventory: &Inventory,
        organization: OrganizationId,
        key: Uuid,
    ) -> Result<(), Error> {
        match self {
            Self::User => inventory.user_api_keys().delete(&Caller::system(organization), key.into()).await,
            Self::Daemon => {
                inventory.daemon_api_keys().delete(&Caller::system(organization), key.into()).await
            }
        }
    }

    async fn authenticate(self, inventory: &Inventory, text: &str) -> Result<(), Error> {
        match self {
            Self::User => inventory.authenticate_user_key(text).await.map(drop),
            Self::Daemon => inventory.authenticate_daemon_key(text).await.map(drop),
        }
    }
}

/// A Member's key of an Admin, with a value in every field, and its owner.
async fn full_key(fixture: &Fixture) -> (User, IssuedKey<UserApiKey>) {
    let owner = fixture.user("a@example.net", Permission::Admin, &[]).await;
    let issued = fixture.user_key(&owner, |new| {
        new.network_ids = vec![fixture.other_network, fixture.network];
        new.tags = fixture.tags.to_vec();
        new.expires_at = Some(time("2027-01-01T00:00:00Z"));
        new.permissions = Permission::Member;
    });
    let issued = issued.await;
    (owner, issued)
}
