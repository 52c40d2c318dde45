//! Indexing of stored networks by custom fields.

use crate::inventory::history::Author;
use crate::inventory::schema::{NETWORK, decode};
use crate::inventory::{Entity, Error, Inventory, unchanged};
use crate::model::{Network, OrganizationId};
use crate::store::{Batch, Query, Record, Start};

/// Number of networks that are read and stored at a time.
const NETWORKS: usize = 128;

impl Inventory {
    /// Stores an organization's networks with custom fields again, unchanged but with their present facets.
    ///
    /// Returns their number.
    pub(in crate::inventory) async fn upgrade_networks(
        &self,
        organization: OrganizationId,
    ) -> Result<u64, Error> {
        let all = Query { organization: Some(organization.uuid()), ..Query::new(NETWORK) };
        let mut query = Query { limit: Some(NETWORKS), ..all };
        let mut total = 0;
        loop {
            let mut transaction =
                self.transaction(Author::system(organization), Entity::Organization, organization);
            let (next, count) = loop {
                let page = self.store.list(&query).await?;
                let batch = self.with_indexed_fields(organization, &page.records);
                let count = batch.writes().len();
                if count == 0 || transaction.commit(batch).await? {
                    break (page.next, count);
                }
            };
            total += count as u64;
            let Some(cursor) = next else { return Ok(total) };
            query.start = Start::After(cursor);
        }
    }

    /// Returns the batch that stores those of the networks again that have custom fields.
    fn with_indexed_fields(&self, organization: OrganizationId, records: &[Record]) -> Batch {
        let mut batch = Batch::new();
        for record in records {
            match decode::<Network>(record) {
                // The facets of the others are independent of the index.
                Ok(network) if network.custom.is_empty() => {}
                Ok(network) => {
                    let facets = self.facets_of(organization, &network);
                    batch.put(record.key, unchanged(Some(record)), facets, record.body.clone());
                }
                Err(error) => {
                    tracing::warn!("a stored network was left out of an upgrade: {}", error.with_causes());
                }
            }
        }
        batch
    }
}
