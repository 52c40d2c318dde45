use super::records::KeyHolder;
use super::schema::{daemon_api_key_record_key, organization_key, user_api_key_record_key, user_key};
use super::{Entity, Error, ErrorKind, Inventory};
use crate::access::{Caller, DaemonCaller, KeyKind, KeyText, SessionId};

impl Inventory {
    /// Requires that the organization of a host application's caller exists.
    ///
    /// # Errors
    /// `NotFound`.
    pub(crate) async fn require_organization_of(&self, caller: &Caller) -> Result<(), Error> {
        let id = caller.organization_id();
        match self.get(organization_key(id)).await? {
            Some(_) => Ok(()),
            None => Err(ErrorKind::NotFound { entity: Entity::Organization, id: id.uuid() }.into()),
        }
    }

    /// Authenticates a user API key.
    ///
    /// The caller is the key's owner, with the lower of both levels and those networks of the key that the owner can
    /// access now. `last_used` is updated in the background.
    ///
    /// # Errors
    /// - `NotAuthenticated`: the text is not an existing key.
    /// - `Disabled` and `Expired`: of the key; `Disabled` also of the user.
    /// - `ApiAccessRequired`: the organization does not have API access.
    /// - `UserContextRequired`: the text is a valid daemon key.
    pub async fn authenticate_user_key(&self, text: &str) -> Result<Caller, Error> {
        // The checksum rejects most mistyped keys before any lookup.
        let text = KeyText::parse(text).ok_or(ErrorKind::NotAuthenticated)?;
        if text.kind() == KeyKind::Daemon {
            self.daemon_by_key(&text).await?;
            return Err(ErrorKind::UserContextRequired.into());
        }
        let (id, secret) = self.find_secret(&text).await?;
        let KeyHolder::User(user) = secret.holder else { return Err(ErrorKind::NotAuthenticated.into()) };
        let key = user_api_key_record_key(id.into());
        let keys = [key, user_key(user), organization_key(secret.organization_id)];
        let records = self.store.get(&keys).await?;
        let [Some(record), Some(owner), Some(organization)] = records.as_slice() else {
            return Err(ErrorKind::NotAuthenticated.into());
        };
        let rights = self.state.authentication.user_keys.get(record)?;
        let user = self.state.authentication.users.get(owner)?;
        let organization = self.state.authentication.organizations.get(organization)?;
        let now = self.now();
        rights.key.check(Entity::UserApiKey, now)?;
        user.check()?;
        if !organization.api_access {
            return Err(ErrorKind::ApiAccessRequired.into());
        }
        self.record_use(key, secret.organization_id, &rights.key.recorded_at, now);
        Ok(rights.caller(id.into(), owner, &user))
    }

    /// Authenticates a daemon API key.
    ///
    /// Host applications use it in endpoints of their own for daemons. `last_used` is updated in the background.
    ///
    /// ```
    /// # use toposcope::model::Network;
    /// # use toposcope::access::Caller;
    /// # use toposcope::inventory::{Inventory, NewDaemonApiKey};
    /// # use toposcope::store::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// # let network = inventory.networks().create(&Caller::system(organization.id), Network::new("Office")).await?;
    /// let issued = inventory.daemon_api_keys().create(&Caller::system(network.organization_id), NewDaemonApiKey::new(network.id, "scanner")).await?;
    /// let daemon = inventory.authenticate_daemon_key(issued.plaintext()).await?;
    /// assert_eq!(daemon.network_id, network.id);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `NotAuthenticated` when the text is not an existing daemon key; `Disabled` and `Expired`, both of the
    /// `DaemonApiKey`.
    pub async fn authenticate_daemon_key(&self, text: &str) -> Result<DaemonCaller, Error> {
        let text = KeyText::parse(text).filter(|text| text.kind() == KeyKind::Daemon);
        self.daemon_by_key(&text.ok_or(ErrorKind::NotAuthenticated)?).await
    }

    async fn daemon_by_key(&self, text: &KeyText) -> Result<DaemonCaller, Error> {
        let (id, secret) = self.find_secret(text).await?;
        let KeyHolder::Daemon(network) = secret.holder else {
            return Err(ErrorKind::NotAuthenticated.into());
        };
        let key = daemon_api_key_record_key(id.into());
        let records = self.store.get(&[key, organization_key(secret.organization_id)]).await?;
        let [Some(record), Some(_)] = records.as_slice() else {
            return Err(ErrorKind::NotAuthenticated.into());
        };
        let rights = self.state.authentication.daemon_keys.get(record)?;
        let now = self.now();
        rights.check(Entity::DaemonApiKey, now)?;
        self.record_use(key, secret.organization_id, &rights.recorded_at, now);
        Ok(DaemonCaller::new(id.into(), secret.organization_id, network))
    }

    /// Authenticates a session by the id in the browser's cookie.
    ///
    /// The caller is the session's user with the user's current rights.
    ///
    /// # Errors
    /// `NotAuthenticated` when there is no such session; `SessionExpired`; `Disabled` while the user is being
    /// disabled, which ends all sessions.
    pub async fn authenticate_session(&self, text: &str) -> Result<Caller, Error> {
        let id = SessionId::parse(text).ok_or(ErrorKind::NotAuthenticated)?;
        let (_, session) = self.find_session(&id).await?.ok_or(ErrorKind::NotAuthenticated)?;
        if session.expires_at <= self.now() {
            return Err(ErrorKind::SessionExpired.into());
        }
        let keys = [user_key(session.user_id), organization_key(session.organization_id)];
        let records = self.store.get(&keys).await?;
        // While an organization is being deleted, its users are still there.
        let [Some(user), Some(_)] = records.as_slice() else {
            return Err(ErrorKind::NotAuthenticated.into());
        };
        let user = self.state.authentication.users.get(user)?;
        user.check()?;
        Ok(user.caller().through_session())
    }
}
