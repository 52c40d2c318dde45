//! API keys of discovery daemons. Each is valid for one network.

use super::IssuedKey;
use crate::access::{Caller, KeyKind, KeyText};
use crate::inventory::collections::{CollectionRecord, guard_references, handle};
use crate::inventory::policy::Actor;
use crate::inventory::records::{KeyHolder, daemon_api_key_facets, organization_of, put_secret};
use crate::inventory::schema::{
    DAEMON_API_KEY, daemon_api_key_record_key, encode, network_key, on_network, tag_key,
};
use crate::inventory::{Entity, Error, ErrorKind, Inventory, require_level, validate};
use crate::model::{DaemonApiKey, DaemonApiKeyId, OrganizationId, Permission};
use crate::store::{Batch, Key, Precondition};
use crate::wire::NewDaemonApiKey;

/// Requires the level that may create daemon keys: Member or above.
pub(crate) fn may_create_daemon_api_keys(caller: &Caller) -> Result<(), Error> {
    require_level(caller, Permission::Member)
}

handle! {
    /// The API keys of the daemons of networks.
    pub struct DaemonApiKeys(DaemonApiKey) = daemon_api_keys;
}

impl DaemonApiKeys<'_> {
    /// Creates an API key for the daemons of a network.
    ///
    /// The caller must be a Member or above and have access to the network.
    ///
    /// ```
    /// # use toposcope::access::Caller;
    /// # use toposcope::inventory::{Inventory, NewDaemonApiKey};
    /// # use toposcope::model::Network;
    /// # use toposcope::store::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// # let system = Caller::system(organization.id);
    /// # let network = inventory.networks().create(&system, Network::new("Office")).await?;
    /// let keys = inventory.daemon_api_keys();
    /// let issued = keys.create(&system, NewDaemonApiKey::new(network.id, "scanner")).await?;
    /// assert!(issued.plaintext().starts_with("topo_d_"));
    ///
    /// let id = issued.record().id;
    /// keys.disable(&system, id).await?;
    /// keys.delete(&system, id).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Invalid` for a blank or too long name, or an `expires_at` that is not in the future; `PermissionDenied`;
    /// `AccessDenied` for a network that the caller cannot access, whether or not it exists, and `NotFound` instead for
    /// the system; `ReferenceInvalid` for a tag of another organization; `QuotaExceeded`.
    pub async fn create(
        self,
        caller: &Caller,
        new: NewDaemonApiKey,
    ) -> Result<IssuedKey<DaemonApiKey>, Error> {
        may_create_daemon_api_keys(caller)?;
        self.inventory.issue_daemon_api_key(caller, new).await
    }

    /// Replaces the plaintext of a daemon API key. The old one is refused from its next use on.
    ///
    /// Everything else stays: id, name, network, tags, expiry, and whether the key is enabled.
    ///
    /// # Errors
    /// The errors of [`update`](crate::inventory::Collection::update).
    pub async fn rotate(self, caller: &Caller, id: DaemonApiKeyId) -> Result<IssuedKey<DaemonApiKey>, Error> {
        let text = KeyText::generate(KeyKind::Daemon, &*self.inventory.random)?;
        let replace = |key: &mut DaemonApiKey, batch: &mut Batch| {
            key.key = text.masked();
            put_daemon_secret(batch, caller.organization_id(), key, &text)
        };
        let record = self.inventory.update_with(caller, id, |_| Ok(()), replace).await?;
        Ok(IssuedKey::new(record, text))
    }
}

impl Inventory {
    /// Creates a key for a network that the caller can access.
    async fn issue_daemon_api_key(
        &self,
        caller: &Caller,
        new: NewDaemonApiKey,
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
            let organization = network.as_ref().map(organization_of).transpose()?;
            let is_own = |organization: &OrganizationId| *organization == caller.organization_id();
            let accessible = organization.filter(is_own).filter(|_| caller.scope().allows(record.network_id));
            let (entity, id) = (Entity::Network, record.network_id);
            let refusal = match caller.is_system() {
                true => ErrorKind::NotFound { entity, id: id.uuid() },
                false => ErrorKind::AccessDenied { entity, id: id.uuid() },
            };
            accessible.ok_or_else(|| Error::from(refusal))
        };
        let limit = self.quotas.daemon_api_keys_per_network;
        let mut transaction = self.reviewed_transaction(caller, Entity::DaemonApiKey, record.id);
        loop {
            let organization = organization().await?;
            self.check_references(organization, Entity::Tag, &tags, "tags").await?;
            transaction.review(Actor::Caller(caller), None, Some(&record)).await?;
            // After the checks, so that only callers with access to the network wait for each other.
            let _turn =
                transaction.quota_turn(limit, network_key(record.network_id), Entity::Network).await?;
            let keys = on_network(DAEMON_API_KEY, organization, record.network_id);
            self.check_quota(limit, Entity::DaemonApiKey, keys, 1).await?;
            let mut batch = Batch::new();
            let key = daemon_api_key_record_key(record.id);
            let facets = daemon_api_key_facets(organization, &record);
            batch.put(key, Precondition::Absent, facets, encode(&record)?);
            put_daemon_secret(&mut batch, organization, &record, &plaintext)?;
            guard_references(&record.references(), &mut batch);
            if transaction.commit(batch).await? {
                return Ok(IssuedKey::new(record, plaintext));
            }
        }
    }
}

/// Adds the secret of a key to a batch, in place of an earlier one.
fn put_daemon_secret(
    batch: &mut Batch,
    organization: OrganizationId,
    key: &DaemonApiKey,
    text: &KeyText,
) -> Result<(), Error> {
    let holder = (organization, KeyHolder::Daemon(key.network_id));
    put_secret(batch, key.id, Precondition::Any, text, holder, key.created_at)
}
