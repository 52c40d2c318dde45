use toposcope::access::{Caller, Scope};
use toposcope::inventory::{IssuedKey, IssuedSession, NewDaemonApiKey, NewUser, NewUserApiKey};
use toposcope::model::{DaemonApiKey, Permission, User, UserApiKey};
use uuid::Uuid;

use super::World;

pub(crate) const LEVELS: [Permission; 4] =
    [Permission::Viewer, Permission::Member, Permission::Admin, Permission::Owner];

/// The password of all users who can log in.
pub(crate) const PASSWORD: &str = "correct horse";

impl World {
    /// Creates a user with a password and these networks.
    pub(crate) async fn user(&self, email: &str, permission: Permission, networks: &[Uuid]) -> User {
        let mut new = NewUser::new(self.organization, email, permission);
        new.password = Some(PASSWORD.to_owned());
        new.network_ids = networks.to_vec();
        self.inventory.create_user(new).await.unwrap()
    }

    pub(crate) async fn owner(&self) -> User {
        self.user("owner@example.net", Permission::Owner, &[]).await
    }

    /// Issues a key with the level of its user, adapted by the test.
    pub(crate) async fn user_key(
        &self,
        user: &User,
        adapt: impl FnOnce(&mut NewUserApiKey),
    ) -> IssuedKey<UserApiKey> {
        let mut new = NewUserApiKey::new(user.id, "laptop", user.permissions);
        adapt(&mut new);
        self.inventory.create_user_api_key(new).await.unwrap()
    }

    /// Issues a key for the first network's daemon, adapted by the test.
    pub(crate) async fn daemon_key(
        &self,
        adapt: impl FnOnce(&mut NewDaemonApiKey),
    ) -> IssuedKey<DaemonApiKey> {
        let mut new = NewDaemonApiKey::new(self.network, "scanner");
        adapt(&mut new);
        self.inventory.create_daemon_api_key(new).await.unwrap()
    }

    /// Returns the number of sessions of a user in the store, expired ones included.
    pub(crate) async fn sessions_of(&self, user: Uuid) -> usize {
        let mentioning = self.store.mentioning(user).await;
        mentioning.iter().filter(|key| key.kind.as_str() == "session").count()
    }

    pub(crate) async fn log_in(&self, user: &User) -> IssuedSession {
        self.inventory.log_in(&user.email, PASSWORD.to_owned()).await.unwrap()
    }
}

/// Returns the user as a caller with a session and all rights of the user.
pub(crate) fn in_person(user: &User) -> Caller {
    let scope = Scope::granted(user.permissions, user.network_ids.iter().copied());
    Caller::new(user.organization_id, user.id, user.permissions, scope).through_session()
}

/// Returns the user as a caller with an API key that does not restrict these rights.
pub(crate) fn through_a_key(user: &User) -> Caller {
    let networks = user.network_ids.iter().copied();
    in_person(user).through_key(Uuid::from_u128(0x6e1), user.permissions, networks)
}
