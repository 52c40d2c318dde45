//! Resolution of stored neighbors after a change of the rules that match names of ports.

use crate::inventory::discovery::known_host::DecodedHosts;
use crate::inventory::hosts::{FIRST_HOSTS, MAX_HOSTS, first_bytes};
use crate::inventory::schema::{HOST, NETWORK, on_network};
use crate::inventory::{Error, ErrorKind, Inventory};
use crate::model::{HostId, NetworkId, OrganizationId};
use crate::store::{Cursor, Query, Start};

/// Number of networks that are read at a time.
const NETWORKS: usize = 128;

impl Inventory {
    /// Resolves the neighbors of all hosts of an organization again. Returns the number of hosts in networks
    /// with claims.
    pub(in crate::inventory) async fn upgrade_neighbors(
        &self,
        organization: OrganizationId,
    ) -> Result<u64, Error> {
        let mut networks =
            Query { organization: Some(organization.uuid()), limit: Some(NETWORKS), ..Query::new(NETWORK) };
        let mut total = 0;
        loop {
            let page = self.store.list(&networks).await?;
            for record in &page.records {
                let network = NetworkId::from(record.key.id);
                if self.has_claims(organization, vec![network]).await? {
                    total += self.upgrade_neighbors_on((organization, network)).await?;
                }
            }
            let Some(cursor) = page.next else { return Ok(total) };
            networks.start = Start::After(cursor);
        }
    }

    async fn upgrade_neighbors_on(&self, place: (OrganizationId, NetworkId)) -> Result<u64, Error> {
        let (organization, network) = place;
        let mut query = Query { limit: Some(FIRST_HOSTS), ..on_network(HOST, organization, network) };
        let (mut decoded, mut total) = (DecodedHosts::default(), 0);
        loop {
            let hosts: Vec<HostId> = first_bytes(self.store.list(&query).await?.records)
                .iter()
                .map(|record| HostId::from(record.key.id))
                .collect();
            let Some(last) = hosts.last().map(|host| host.uuid()) else { return Ok(total) };
            for host in &hosts {
                match self.resolve_neighbors(place, *host, &mut decoded).await {
                    Err(error) if matches!(error.kind(), ErrorKind::Internal) => {
                        tracing::warn!(
                            "neighbors of a stored host were not found again: {}",
                            error.with_causes()
                        );
                    }
                    outcome => outcome?,
                }
            }
            total += hosts.len() as u64;
            query.start = Start::After(Cursor::new(Vec::new(), last));
            query.limit = Some((2 * hosts.len()).min(MAX_HOSTS));
        }
    }
}
