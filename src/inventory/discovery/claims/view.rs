//! Claims as callers see them.

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::access::Caller;
use crate::discovery::report::TableKind;
use crate::discovery::{Claim, ClaimRows, SeenPart};
use crate::inventory::Error;
use crate::inventory::discovery::Reconciliation;
use crate::inventory::discovery::known_host::KnownHost;
use crate::model::HostId;

impl Reconciliation<'_> {
    /// Returns the claims of a host that the caller can access. `kind` restricts them to one kind. Every level may
    /// read.
    ///
    /// # Errors
    /// `NotFound`, also for a host of another organization; `AccessDenied` when the caller cannot access its network.
    pub async fn claims(
        self,
        caller: &Caller,
        host: HostId,
        kind: Option<TableKind>,
    ) -> Result<Vec<Claim>, Error> {
        // The error of this check states why the caller has no access.
        let record = self.inventory.host_record_as(caller, host).await?;
        let kinds: BTreeSet<TableKind> = match kind {
            Some(kind) => BTreeSet::from([kind]),
            None => TableKind::ALL.iter().copied().collect(),
        };
        let organization = caller.organization_id();
        let Some(stored) = self.inventory.read_stored(record.key.id.into(), &kinds).await? else {
            return Ok(Vec::new());
        };
        let bytes =
            stored.record.body.len() + stored.claims.iter().map(|claim| claim.body.len()).sum::<usize>();
        let opened = self.inventory.state.offload.run(organization, bytes, move || stored.open()).await??;
        Ok(opened.into_claims())
    }
}

impl KnownHost {
    fn into_claims(self) -> Vec<Claim> {
        let Self { host, discovery, claims } = self;
        let Some(discovery) = discovery else { return Vec::new() };
        let seen = |ids: Vec<Uuid>| -> Vec<SeenPart> {
            let seen =
                ids.into_iter().filter_map(|id| Some(SeenPart::new(id, *discovery.state.seen.get(&id)?)));
            seen.collect()
        };
        let claims = claims.into_values().map(|claimed| {
            let parts = match &claimed.table {
                ClaimRows::Addresses(_) => host.interfaces.iter().map(|part| part.id.uuid()).collect(),
                ClaimRows::Ports(_) => host.ports.iter().map(|part| part.id.uuid()).collect(),
                ClaimRows::IfEntries(_) => host.if_entries.iter().map(|part| part.id.uuid()).collect(),
                ClaimRows::Lldp(_)
                | ClaimRows::Cdp(_)
                | ClaimRows::Fdb(_)
                | ClaimRows::Arp(_)
                | ClaimRows::Stp(_)
                | ClaimRows::Lag(_)
                | ClaimRows::Routes(_) => Vec::new(),
            };
            Claim {
                host_id: host.id,
                network_id: host.network_id,
                observed_at: claimed.observed_at,
                complete: claimed.complete,
                family: claimed.family(),
                reporter: claimed.reporter,
                rows: claimed.table,
                parts: seen(parts),
                missing: claimed.missing,
            }
        });
        claims.collect()
    }
}
