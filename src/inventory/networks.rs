use uuid::Uuid;

use super::api_keys::user_api_key_facets;
use super::schema::{
    DAEMON_API_KEY, HOST, NAME, NETWORK, NETWORK_LINK, SHARE, USER, USER_API_KEY, all_of, decode, encode,
    facets, linked, network_key, on_network, organization_key,
};
use super::users::{StoredUser, user_facets};
use super::{Entity, Error, ErrorKind, Inventory, unchanged, validate};
use crate::model::{Network, UserApiKey};
use crate::store::{
    Batch, Direction, Facets, Guard, Link, Name, Order, Precondition, Query, SortKey, StoreErrorKind,
};

/// The kinds of records that keep a network from being deleted.
const NETWORK_CONTENTS: [(Entity, Name); 3] =
    [(Entity::Host, HOST), (Entity::DaemonApiKey, DAEMON_API_KEY), (Entity::Share, SHARE)];

impl Inventory {
    /// Creates a network.
    ///
    /// # Errors
    /// `Invalid` when the name is blank or longer than 100 characters; `NotFound` when there is no such organization.
    pub async fn create_network(&self, organization: Uuid, name: &str) -> Result<Network, Error> {
        self.create_network_with_id(organization, self.new_id()?, name).await
    }

    /// Creates a network with a given id, such as one named by imported hosts.
    ///
    /// # Errors
    /// Those of [`create_network`](Self::create_network), and `AlreadyExists` when the id is taken.
    pub async fn create_network_with_id(
        &self,
        organization: Uuid,
        id: Uuid,
        name: &str,
    ) -> Result<Network, Error> {
        let now = self.now();
        let name = validate::name("name", name, 100)?;
        let network = Network { id, organization_id: organization, name, created_at: now, updated_at: now };
        let mut batch = Batch::new();
        batch.put(network_key(id), Precondition::Absent, network_facets(&network), encode(&network)?);
        batch.guard(Guard::Record {
            key: organization_key(organization),
            precondition: Precondition::Present,
        });
        match self.store.commit(batch).await {
            Ok(()) => Ok(network),
            Err(error) => Err(match error.kind() {
                StoreErrorKind::Conflict(key) if *key == network_key(id) => {
                    ErrorKind::AlreadyExists { entity: Entity::Network, name: id.to_string() }.into()
                }
                StoreErrorKind::Conflict(_) => {
                    ErrorKind::NotFound { entity: Entity::Organization, id: organization }.into()
                }
                _ => error.into(),
            }),
        }
    }

    /// Returns a network.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn network(&self, id: Uuid) -> Result<Network, Error> {
        Ok(self.read(network_key(id), Entity::Network).await?.1)
    }

    /// Returns all networks of an organization, sorted by name.
    ///
    /// # Errors
    /// None specific to this method.
    pub async fn networks(&self, organization: Uuid) -> Result<Vec<Network>, Error> {
        let order = vec![Order::new(NAME, Direction::Ascending)];
        self.read_all(&Query { order, ..all_of(NETWORK, organization) }).await
    }

    /// Deletes an empty network and revokes all grants of it to users and API keys.
    ///
    /// ```
    /// # use toposcope::inventory::{Inventory, NewShare};
    /// # use toposcope::store::MemoryStore;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.create_organization("Example").await?;
    /// let network = inventory.create_network(organization.id, "Office").await?;
    /// let mut share = NewShare::new(organization.id, "The office");
    /// share.network_id = Some(network.id);
    /// let share = inventory.create_share(share).await?;
    ///
    /// assert!(inventory.delete_network(network.id).await.is_err());
    /// inventory.delete_share(share.id).await?;
    /// inventory.delete_network(network.id).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `NotFound`; `InUse` while the network has hosts, daemon API keys or shares.
    pub async fn delete_network(&self, id: Uuid) -> Result<(), Error> {
        let mut transaction = self.transaction(Entity::Network, id);
        loop {
            let (record, network): (_, Network) = self.read(network_key(id), Entity::Network).await?;
            let organization = network.organization_id;
            for (used_by, kind) in NETWORK_CONTENTS {
                if self.count(on_network(kind, organization, id)).await? > 0 {
                    let name = network.name;
                    return Err(ErrorKind::InUse { entity: Entity::Network, name, used_by }.into());
                }
            }
            let mut batch = Batch::new();
            batch.delete(record.key, unchanged(Some(&record)));
            batch.guard(Guard::NetworkEmpty { organization: Some(organization), network: id });
            self.revoke_network(&network, &mut batch).await?;
            if transaction.commit(batch).await? {
                return Ok(());
            }
        }
    }

    /// Adds the revocation of all grants of a network to a batch.
    async fn revoke_network(&self, network: &Network, batch: &mut Batch) -> Result<(), Error> {
        let (organization, link) = (network.organization_id, Link::new(NETWORK_LINK, network.id));
        let now = self.now();
        for record in self.store.list(&linked(USER, organization, link)).await?.records {
            let mut stored: StoredUser = decode(&record)?;
            stored.user.network_ids.retain(|id| *id != network.id);
            stored.user.updated_at = now;
            batch.put(record.key, unchanged(Some(&record)), user_facets(&stored.user), encode(&stored)?);
        }
        for record in self.store.list(&linked(USER_API_KEY, organization, link)).await?.records {
            let mut key: UserApiKey = decode(&record)?;
            key.network_ids.retain(|id| *id != network.id);
            key.updated_at = now;
            batch.put(record.key, unchanged(Some(&record)), user_api_key_facets(&key), encode(&key)?);
        }
        batch.guard(Guard::LinkedWithin { organization: Some(organization), link });
        Ok(())
    }
}

pub(super) fn network_facets(network: &Network) -> Facets {
    let mut facets = facets(network.organization_id, network.created_at);
    facets.sort_keys.push(SortKey::new(NAME, network.name.as_bytes()));
    facets
}
