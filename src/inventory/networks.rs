use uuid::Uuid;

use super::organizations::organization_key;
use super::records::{NAME, NETWORK, decode, encode, facets};
use super::{Entity, Error, ErrorKind, Inventory, text};
use crate::model::Network;
use crate::store::{Batch, Check, Direction, Expect, Key, Order, Query, SortKey, StoreErrorKind};

impl Inventory {
    /// Creates a network.
    ///
    /// # Errors
    /// `Invalid` when the name is blank or longer than 100 characters, `NotFound` when there is no such organization.
    pub async fn create_network(&self, organization: Uuid, name: &str) -> Result<Network, Error> {
        self.create_network_with_id(organization, self.new_id()?, name).await
    }

    /// Creates a network that has its id from elsewhere: from the hosts of an import, say.
    ///
    /// # Errors
    /// As [`create_network`](Self::create_network), and `AlreadyExists` when the id is taken.
    pub async fn create_network_with_id(
        &self,
        organization: Uuid,
        id: Uuid,
        name: &str,
    ) -> Result<Network, Error> {
        let now = self.now();
        let name = text::name("name", name, 100)?;
        let network = Network { id, organization_id: organization, name, created_at: now, updated_at: now };
        let mut facets = facets(organization, now);
        facets.sort_keys.push(SortKey::new(NAME, network.name.as_bytes()));
        let mut batch = Batch::new();
        batch.put(network_key(id), Expect::Absent, facets, encode(&network)?);
        batch.check(Check::Record { key: organization_key(organization), expect: Expect::Present });
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

    /// A network.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn network(&self, id: Uuid) -> Result<Network, Error> {
        match self.get(network_key(id)).await? {
            Some(record) => decode(&record),
            None => Err(ErrorKind::NotFound { entity: Entity::Network, id }.into()),
        }
    }

    /// All networks of an organization, by name.
    ///
    /// # Errors
    /// None of its own.
    pub async fn networks(&self, organization: Uuid) -> Result<Vec<Network>, Error> {
        let query = Query {
            organization: Some(organization),
            order: vec![Order::new(NAME, Direction::Ascending)],
            ..Query::new(NETWORK)
        };
        self.store.list(&query).await?.records.iter().map(decode).collect()
    }
}

pub(super) const fn network_key(id: Uuid) -> Key {
    Key::new(NETWORK, id)
}
