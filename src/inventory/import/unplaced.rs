//! Rows of a CSV without a network, which are on that of the stored host.

use std::collections::HashMap;

use serde::Deserialize;

use super::described::without_stored_host;
use super::parse::{LineHost, ParsedLine};
use super::storing::Storing;
use crate::inventory::hosts::decode;
use crate::inventory::schema::HOST;
use crate::inventory::{Entity, Error, ErrorKind};
use crate::model::{HostId, NetworkId, uuids};
use crate::store::Query;
use crate::wire::Refusal;

/// The field that such rows lack.
const NETWORK: &str = "network_id";

/// The size of the hosts that are read at a time, in bytes. A single one may be larger, and a short row may name it.
const MAX_BYTES_AT_ONCE: usize = 1024 * 1024;

impl Storing<'_> {
    /// Gives rows without a network that of the host with their id. Refuses rows of other hosts, and of hosts on networks that the
    /// caller cannot access.
    pub(super) async fn place_rows(&mut self) -> Result<(), Error> {
        let lines = std::mem::take(&mut self.chunk.accepted);
        let (unplaced, mut placed): (Vec<_>, Vec<_>) = lines.into_iter().partition(is_unplaced);
        let unplaced = self.checked_hosts.refuse(unplaced, &mut self.chunk.refusals);
        let networks = self.networks_of(&unplaced).await?;
        for mut line in unplaced {
            let (id, number) = (line.host().id, line.facts.line);
            let Some(network) = networks.get(&id).copied() else {
                self.refuse(id, without_stored_host(number, NETWORK));
                continue;
            };
            let is_denied = self.target.caller.as_ref().is_some_and(|caller| !caller.scope().allows(network));
            if is_denied {
                let error = ErrorKind::AccessDenied { entity: Entity::Network, id: network.uuid() };
                let (field, reason) = (Some(NETWORK.to_owned()), error.to_string());
                self.refuse(id, Refusal { line: number, field, reason, code: None });
            } else if let LineHost::Incomplete(host, _) = &mut line.host {
                host.network_id = network;
                placed.push(line);
            }
        }
        placed.sort_by_key(|line| line.facts.line);
        self.chunk.accepted = placed;
        Ok(())
    }

    /// Returns the networks of the stored hosts of the organization with the ids of these lines.
    async fn networks_of(&self, lines: &[ParsedLine]) -> Result<HashMap<HostId, NetworkId>, Error> {
        #[derive(Deserialize)]
        struct Located {
            network_id: NetworkId,
        }
        let (inventory, organization) = (self.inventory, self.target.organization);
        let mut ids: Vec<HostId> = lines.iter().map(|line| line.host().id).collect();
        ids.sort_unstable();
        ids.dedup();
        let mut unread = uuids(&ids);
        let mut networks = HashMap::new();
        while !unread.is_empty() {
            // The index filters by organization: the hosts of others are never read.
            let own = Query {
                organization: Some(organization.uuid()),
                ids: Some(unread),
                max_bytes: Some(MAX_BYTES_AT_ONCE),
                ..Query::new(HOST)
            };
            let page = inventory.store.list(&own).await?;
            let sized = page.records.into_iter().map(|record| (record.body.len(), record)).collect();
            let located = inventory.in_jobs(organization, sized, |record| {
                decode(&record).map(|Located { network_id }| (HostId::new(record.key.id), network_id))
            });
            for located in located.await? {
                networks.extend([located?]);
            }
            unread = page.unread.iter().map(|key| key.id).collect();
        }
        Ok(networks)
    }
}

/// Returns whether a line is a row without a network.
fn is_unplaced(line: &ParsedLine) -> bool {
    match &line.host {
        LineHost::Encoded(_) => false,
        LineHost::Incomplete(_, left_out) => {
            left_out.row_fields.as_ref().is_some_and(|fields| !fields.has(NETWORK))
        }
    }
}
