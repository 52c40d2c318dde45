//! Hosts that reports no longer show.

use super::Discovery;
use crate::inventory::hosts::{
    Attempt, Before, FIRST_HOSTS, HostChange, MAX_HOSTS, Summary, becoming_stale, decode as decode_host,
    first_bytes,
};
use crate::inventory::schema::{HOST, on_network};
use crate::inventory::{Entity, Error, Inventory};
use crate::model::{Host, NetworkId, OrganizationId, Timestamp};
use crate::store::{Batch, Query, Record};

/// The time without a report of a host after which the host is stale: seven days, in microseconds.
const STALE_AFTER: i64 = 7 * 24 * 3_600_000_000;

/// Maximum number of hosts that one report marks as stale. Later reports mark the others.
const MAX_MARKED: usize = 1_024;

impl Discovery {
    /// Marks the hosts of the network as stale that no report has shown in the seven days before this one.
    pub(super) async fn mark_stale_hosts(&self) -> Result<(), Error> {
        let limit = self.observed_at.plus_micros(-STALE_AFTER).start_of_hour();
        self.inventory.mark_stale_hosts((self.organization, self.network), limit).await
    }
}

impl Inventory {
    async fn mark_stale_hosts(
        &self,
        (organization, network): (OrganizationId, NetworkId),
        limit: Timestamp,
    ) -> Result<(), Error> {
        let mut query = Query {
            terms: vec![becoming_stale(limit)],
            limit: Some(FIRST_HOSTS),
            ..on_network(HOST, organization, network)
        };
        let mut marked = 0;
        while marked < MAX_MARKED {
            let mut transaction = self.transaction(Entity::Network, network);
            let count = loop {
                let records = first_bytes(self.store.list(&query).await?.records);
                if records.is_empty() {
                    return Ok(());
                }
                let count = records.len();
                if transaction.enter(records.iter().map(|record| record.key).collect()).await? {
                    if self.try_mark_stale(organization, records).await? {
                        break count;
                    }
                    transaction.retry().await?;
                }
            };
            // Marked hosts are no longer found, so that the next page is the first again.
            marked += count;
            query.limit = Some((2 * count).min(MAX_HOSTS));
        }
        Ok(())
    }

    /// Returns `false` when a host has changed meanwhile.
    async fn try_mark_stale(
        &self,
        organization: OrganizationId,
        records: Vec<Record>,
    ) -> Result<bool, Error> {
        let encoder = self.host_encoder(organization);
        let bytes = records.iter().map(|record| record.body.len()).sum();
        let mark = move || {
            let (mut before, mut puts) = (Before::new(), Vec::with_capacity(records.len()));
            for record in records {
                let host: Host = decode_host(&record)?;
                let encoder = encoder.of_stored(record.body.len());
                before.insert(host.id, (record, Summary::from(&host)));
                puts.push(encoder.encode(Host { is_stale: true, ..host })?);
            }
            Ok::<_, Error>((before, puts))
        };
        let (before, puts) = self.state.offload.run(organization, bytes, mark).await??;
        let change = HostChange::putting(organization, &puts);
        Ok(matches!(self.commit_hosts(&change, &before, Batch::new()).await?, Attempt::Committed))
    }
}
