//! The history of one record.

use uuid::Uuid;

use crate::access::Caller;
use crate::inventory::history::recording::recorder::entity_of;
use crate::inventory::{ChangePage, ChangeQuery, Collection, Error, Hosts, Inventory, Resource};
use crate::model::{ChangedEntity, HostId, OrderDirection};

impl<T: Resource> Collection<'_, T> {
    /// Returns a page of the history of one record. The query's filters on the record itself are ignored.
    ///
    /// The history of a deleted record remains, for callers that may see its entries.
    ///
    /// # Errors
    /// The errors of [`get`](Self::get), if the caller may see no entry of the record; the errors of [`Inventory::changes`].
    pub async fn history(self, caller: &Caller, id: T::Id, query: &ChangeQuery) -> Result<ChangePage, Error> {
        T::REQUIREMENTS.read.check(caller)?;
        let (page, is_known) =
            self.inventory.history_of(caller, entity_of(T::KIND), id.into(), query).await?;
        if !is_known {
            self.get(caller, id).await?;
        }
        Ok(page)
    }
}

impl Hosts<'_> {
    /// Returns a page of the history of one host, with its parts. The query's filters on the host itself are ignored.
    ///
    /// The history of a deleted host remains, for callers that may see its entries.
    ///
    /// ```
    /// # use toposcope::access::{Caller, Scope};
    /// # use toposcope::inventory::ChangeQuery;
    /// # use toposcope::model::{ChangeAction, Host, Network, Permission, UserId};
    /// # use toposcope::{Inventory, MemoryStore};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), toposcope::inventory::Error> {
    /// # let inventory = Inventory::new(MemoryStore::new());
    /// # let organization = inventory.organizations().create("Example").await?;
    /// # let caller = Caller::new(organization.id, UserId::nil(), Permission::Admin, Scope::all());
    /// # let network = inventory.networks().create(&caller, Network::new("Office")).await?;
    /// let host = inventory.hosts().create(&caller, Host::new(network.id, "printer")).await?;
    /// inventory.hosts().delete(&caller, host.id).await?;
    /// let page = inventory.hosts().history(&caller, host.id, &ChangeQuery::default()).await?;
    /// let actions: Vec<ChangeAction> = page.changes.iter().map(|change| change.action).collect();
    /// assert_eq!(actions, [ChangeAction::Created, ChangeAction::Deleted]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`get`](Self::get), if the caller may see no entry of the host; the errors of [`Inventory::changes`].
    pub async fn history(
        self,
        caller: &Caller,
        id: HostId,
        query: &ChangeQuery,
    ) -> Result<ChangePage, Error> {
        let (page, is_known) =
            self.inventory.history_of(caller, Some(ChangedEntity::Host), id.uuid(), query).await?;
        if !is_known {
            self.get(caller, id).await?;
        }
        Ok(page)
    }
}

impl Inventory {
    /// Returns a page of the history of one record, and whether the caller may see any entry of it.
    async fn history_of(
        &self,
        caller: &Caller,
        entity: Option<ChangedEntity>,
        id: Uuid,
        query: &ChangeQuery,
    ) -> Result<(ChangePage, bool), Error> {
        let query = ChangeQuery { entity, id: Some(id), network_id: None, ..query.clone() };
        let page = self.changes(caller, &query).await?;
        if !page.changes.is_empty() {
            return Ok((page, true));
        }
        let is_known = self.is_in_history(caller, entity, id).await?;
        Ok((page, is_known))
    }

    /// Returns whether the caller may see any entry of a record.
    pub(in crate::inventory::history) async fn is_in_history(
        &self,
        caller: &Caller,
        entity: Option<ChangedEntity>,
        id: Uuid,
    ) -> Result<bool, Error> {
        let newest = ChangeQuery {
            entity,
            id: Some(id),
            order_direction: OrderDirection::Descending,
            limit: Some(1),
            ..ChangeQuery::default()
        };
        Ok(!self.changes(caller, &newest).await?.changes.is_empty())
    }
}
