//! API keys of discovery daemons. Each is valid for one network.

use uuid::Uuid;

use super::IssuedKey;
use crate::access::{Caller, KeyKind, KeyText};
use crate::inventory::collections::{CollectionRecord, guard_references};
use crate::inventory::records::{
    KeyHolder, daemon_api_key_facets, delete_key_records, organization_of, put_secret,
};
use crate::inventory::schema::{
    DAEMON_API_KEY, all_of, daemon_api_key_key, encode, network_key, on_network, tag_key,
};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, require_level, unchanged, validate};
use crate::model::{DaemonApiKey, Permission, Timestamp};
use crate::store::{Batch, Key, Precondition};

/// The input for [`Inventory::create_daemon_api_key`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewDaemonApiKey {
    /// The network the daemon reports on.
    pub network_id: Uuid,
    /// The name, of 1 to 100 characters.
    pub name: String,
    /// The ids of the key's tags, all of the network's organization.
    pub tags: Vec<Uuid>,
    /// When the key expires; must be in the future. `None`: never.
    pub expires_at: Option<Timestamp>,
    /// Whether the key is accepted.
    pub is_enabled: bool,
}

impl NewDaemonApiKey {
    /// Creates the input for an enabled key without expiry or tags.
    #[must_use]
    pub fn new(network_id: Uuid, name: impl Into<String>) -> Self {
        Self { network_id, name: name.into(), tags: Vec::new(), expires_at: None, is_enabled: true }
    }
}

/// Requires the level that may create daemon keys: Member or above.
pub(crate) fn may_create_daemon_api_keys(caller: &Caller) -> Result<(), Error> {
    require_level(caller, Permission::Member)
}

impl Inventory {
    /// Creates an API key for the daemons of a network.
    ///
    /// ```
    /// # use toposcope::inventory::{Inventory, NewDaemonApiKey};
    /// # use toposcope::store::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.create_organization("Example").await?;
    /// # let network = inventory.create_network(organization.id, "Office").await?;
    /// let issued = inventory.create_daemon_api_key(NewDaemonApiKey::new(network.id, "scanner")).await?;
    /// assert!(issued.plaintext().starts_with("topo_d_"));
    ///
    /// let keys = inventory.daemon_api_keys(organization.id).await?;
    /// inventory.disable_daemon_api_key(keys[0].id).await?;
    /// inventory.delete_daemon_api_key(keys[0].id).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Invalid` for a blank or too long name, or an `expires_at` that is not in the future; `NotFound` when there is
    /// no such network; `ReferenceInvalid` for a tag of another organization; `QuotaExceeded`.
    pub async fn create_daemon_api_key(
        &self,
        new: NewDaemonApiKey,
    ) -> Result<IssuedKey<DaemonApiKey>, Error> {
        let id = new.network_id;
        let not_found = ErrorKind::NotFound { entity: Entity::Network, id };
        self.issue(new, |organization| organization.ok_or_else(|| not_found.clone().into())).await
    }

    /// Creates a daemon API key on behalf of a caller.
    ///
    /// The caller must be a Member or above and have access to the network.
    ///
    /// # Errors
    /// Those of [`create_daemon_api_key`](Self::create_daemon_api_key), except that a network the caller cannot
    /// access gives `AccessDenied`, whether or not it exists; and `PermissionDenied`.
    pub async fn create_daemon_api_key_as(
        &self,
        caller: &Caller,
        new: NewDaemonApiKey,
    ) -> Result<IssuedKey<DaemonApiKey>, Error> {
        may_create_daemon_api_keys(caller)?;
        let id = new.network_id;
        let denied = ErrorKind::AccessDenied { entity: Entity::Network, id };
        self.issue(new, |organization| {
            let accessible = organization.filter(|organization| {
                *organization == caller.organization_id() && caller.scope().allows(id)
            });
            accessible.ok_or_else(|| denied.clone().into())
        })
        .await
    }

    /// Creates a key. `admit` maps the network's organization, if it exists, to the key's organization or an error.
    async fn issue(
        &self,
        new: NewDaemonApiKey,
        admit: impl Fn(Option<Uuid>) -> Result<Uuid, Error>,
    ) -> Result<IssuedKey<DaemonApiKey>, Error> {
        let now = self.now();
        let name = validate::name("name", &new.name, 100)?;
        validate::future("expires_at", new.expires_at, now)?;
        // In the order given, so that an error names the right element.
        let tags: Vec<Key> = new.tags.iter().map(|id| tag_key(*id)).collect();
        let plaintext = KeyText::generate(KeyKind::Daemon, &*self.random)?;
        let record = DaemonApiKey {
            id: self.new_id()?,
            name,
            network_id: new.network_id,
            tags: validate::distinct(new.tags),
            key: plaintext.masked(),
            last_used: None,
            created_at: now,
            updated_at: now,
            expires_at: new.expires_at,
            is_enabled: new.is_enabled,
        };
        let organization = async || {
            let network = self.get(network_key(record.network_id)).await?;
            admit(network.as_ref().map(organization_of).transpose()?)
        };
        let limit = self.quotas.daemon_api_keys_per_network;
        if limit.is_some() {
            // Refuse before waiting, so that only callers with access to the network wait for each other.
            organization().await?;
        }
        let _turn = self.quota_turn(limit, network_key(record.network_id), Entity::Network).await?;
        let mut transaction = self.transaction(Entity::DaemonApiKey, record.id);
        loop {
            let organization = organization().await?;
            self.check_references(organization, Entity::Tag, &tags, "tags").await?;
            let keys = on_network(DAEMON_API_KEY, organization, record.network_id);
            self.check_quota(limit, Entity::DaemonApiKey, keys, 1).await?;
            let mut batch = Batch::new();
            let key = daemon_api_key_key(record.id);
            let facets = daemon_api_key_facets(organization, &record);
            batch.put(key, Precondition::Absent, facets, encode(&record)?);
            put_daemon_secret(&mut batch, organization, &record, &plaintext)?;
            guard_references(&record.references(), &mut batch);
            if transaction.commit(batch).await? {
                return Ok(IssuedKey::new(record, plaintext));
            }
        }
    }

    /// Returns a daemon API key, with `key` masked.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn daemon_api_key(&self, id: Uuid) -> Result<DaemonApiKey, Error> {
        let (_, key) = self.read(daemon_api_key_key(id), Entity::DaemonApiKey).await?;
        Ok(DaemonApiKey { last_used: self.last_use(id).await?, ..key })
    }

    /// Returns all daemon API keys of an organization, oldest first.
    pub async fn daemon_api_keys(&self, organization: Uuid) -> Result<Vec<DaemonApiKey>, Error> {
        let mut keys: Vec<DaemonApiKey> = self.read_all(&all_of(DAEMON_API_KEY, organization)).await?;
        self.set_last_uses(&mut keys, |key| key.id, |key| &mut key.last_used).await?;
        Ok(keys)
    }

    /// Enables a daemon API key. It is accepted from its next use on, unless it has expired.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn enable_daemon_api_key(&self, id: Uuid) -> Result<DaemonApiKey, Error> {
        self.set_daemon_api_key_enabled(id, true).await
    }

    /// Disables a daemon API key. It is refused from its next use on.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn disable_daemon_api_key(&self, id: Uuid) -> Result<DaemonApiKey, Error> {
        self.set_daemon_api_key_enabled(id, false).await
    }

    async fn set_daemon_api_key_enabled(&self, id: Uuid, is_enabled: bool) -> Result<DaemonApiKey, Error> {
        let mut transaction = self.transaction(Entity::DaemonApiKey, id);
        loop {
            let (record, key): (_, DaemonApiKey) =
                self.read(daemon_api_key_key(id), Entity::DaemonApiKey).await?;
            let network = self.get(network_key(key.network_id)).await?.ok_or_else(|| not_found(id))?;
            let last_used = self.last_use(id).await?;
            let key = DaemonApiKey { is_enabled, updated_at: self.now(), ..key };
            let facets = daemon_api_key_facets(organization_of(&network)?, &key);
            let mut batch = Batch::new();
            batch.put(record.key, unchanged(Some(&record)), facets, encode(&key)?);
            if transaction.commit(batch).await? {
                return Ok(DaemonApiKey { last_used, ..key });
            }
        }
    }

    /// Replaces the plaintext of a daemon API key on behalf of a caller. The old one is refused from its next use on.
    ///
    /// Everything else stays: id, name, network, tags, expiry, and whether the key is enabled.
    ///
    /// # Errors
    /// Those of [`get_as`](Self::get_as).
    pub async fn rotate_daemon_api_key_as(
        &self,
        caller: &Caller,
        id: Uuid,
    ) -> Result<IssuedKey<DaemonApiKey>, Error> {
        let text = KeyText::generate(KeyKind::Daemon, &*self.random)?;
        let replace = |key: &mut DaemonApiKey, batch: &mut Batch| {
            key.key = text.masked();
            put_daemon_secret(batch, caller.organization_id(), key, &text)
        };
        let record = self.update_with(caller, id, |_| Ok(()), replace).await?;
        Ok(IssuedKey::new(record, text))
    }

    /// Deletes a daemon API key. It is refused from its next use on.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn delete_daemon_api_key(&self, id: Uuid) -> Result<(), Error> {
        let delete = |_: &DaemonApiKey, batch: &mut Batch| {
            delete_key_records(batch, id);
            Ok(())
        };
        self.delete(daemon_api_key_key(id), Entity::DaemonApiKey, delete).await
    }
}

/// Adds the secret of a key to a batch, in place of an earlier one.
fn put_daemon_secret(
    batch: &mut Batch,
    organization: Uuid,
    key: &DaemonApiKey,
    text: &KeyText,
) -> Result<(), Error> {
    let holder = (organization, KeyHolder::Daemon(key.network_id));
    put_secret(batch, key.id, Precondition::Any, text, holder, key.created_at)
}

fn not_found(id: Uuid) -> Error {
    ErrorKind::NotFound { entity: Entity::DaemonApiKey, id }.into()
}
