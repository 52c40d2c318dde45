//! Changes of claims that no entry of the history shows.
//!
//! A record notes them until a turn of their network has ended, in the commit that makes them. If the process ends before, the next one
//! finds the note and compares the links of the network.

use std::collections::BTreeSet;

use serde::Serialize;

use super::pass::NetworkTurn;
use super::touched::TouchedNetworks;
use crate::inventory::schema::{PENDING_CLAIMS, encode};
use crate::inventory::{Error, Inventory};
use crate::model::{NetworkId, OrganizationId};
use crate::store::{Batch, Facets, Key, Precondition};

/// The body of a note.
#[derive(Serialize)]
struct PendingClaims {
    organization_id: OrganizationId,
}

pub(super) const fn pending_claims_key(network: NetworkId) -> Key {
    Key::new(PENDING_CLAIMS, network.uuid())
}

impl TouchedNetworks {
    /// Notes changed claims in their commit, except on networks on which the commit has an entry that leads to links.
    pub(in crate::inventory::history) fn note_claims(
        &self,
        organization_id: OrganizationId,
        with_leads: &BTreeSet<NetworkId>,
        batch: &mut Batch,
    ) -> Result<(), Error> {
        let changed = self.networks.iter().filter(|(_, touched)| touched.claims);
        for (network, _) in changed.filter(|(network, _)| !with_leads.contains(network)) {
            let facets = Facets::default().with_organization(organization_id.uuid());
            let body = encode(&PendingClaims { organization_id })?;
            batch.put(pending_claims_key(*network), Precondition::Any, facets, body);
        }
        Ok(())
    }
}

impl Inventory {
    /// Deletes the note that a turn has found when it began, unless claims have changed since.
    pub(super) async fn forget_claims(&self, turn: &NetworkTurn) -> Result<(), Error> {
        let Some(note) = &turn.pending_claims else { return Ok(()) };
        let mut batch = Batch::new();
        batch.delete(note.key, Precondition::Version(note.version));
        self.commit_if_current(batch).await.map(drop)
    }
}
