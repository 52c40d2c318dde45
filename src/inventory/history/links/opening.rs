//! The networks whose links were left behind when their last instance ended.

use std::collections::BTreeSet;

use serde::Deserialize;
use tokio::runtime::Handle;

use super::followers::FollowedKey;
use super::touched::Touched;
use crate::inventory::schema::{NETWORK, NETWORK_LINKS, decode};
use crate::inventory::{Error, Inventory};
use crate::model::{NetworkId, OrganizationId};
use crate::store::{Query, Record, Start};

/// The number of networks that are looked at together.
const READ_TOGETHER: usize = 500;

impl Inventory {
    /// Looks in the background for networks whose links are behind, unless it was done before.
    pub(in crate::inventory::history) fn follow_all_networks(&self) {
        if Handle::try_current().is_err() || !self.state.history.followers.begin_looking() {
            return;
        }
        let inventory = self.with_own_state();
        self.spawn_following(async move {
            if let Err(error) = inventory.find_unrecorded_layouts().await {
                tracing::warn!(
                    error = error.with_causes(),
                    "changes of layouts are recorded with the next ones"
                );
            }
            if let Err(error) = inventory.find_networks(None).await {
                let error = error.with_causes();
                tracing::warn!(error, "networks whose links are behind were not looked for");
                inventory.state.history.followers.end_looking();
            }
        });
    }

    /// Looks in the background for networks of a restored organization whose links are behind.
    pub(super) fn follow_networks_of(&self, organization: OrganizationId) {
        let inventory = self.with_own_state();
        self.spawn_following(async move {
            if let Err(error) = inventory.find_networks(Some(organization)).await {
                let error = error.with_causes();
                tracing::warn!(error, "links of restored networks are recorded with their next changes");
            }
        });
    }

    /// Looks for networks of one organization or of all.
    async fn find_networks(&self, organization: Option<OrganizationId>) -> Result<(), Error> {
        // The records of followed networks also name those that were deleted.
        for kind in [NETWORK, NETWORK_LINKS] {
            let organization = organization.map(OrganizationId::uuid);
            let mut query = Query { organization, limit: Some(READ_TOGETHER), ..Query::new(kind) };
            loop {
                let page = self.store.list(&query).await?;
                let mut keys = BTreeSet::new();
                for record in &page.records {
                    // One damaged record must not keep the links of all other networks from being recorded.
                    match key_of(record) {
                        Ok(key) => {
                            keys.insert(key);
                        }
                        Err(error) => {
                            let error = error.with_causes();
                            tracing::warn!(error, "the links of a network are not recorded");
                        }
                    }
                }
                self.follow_soon(keys.into_iter().map(|key| (key, Touched::at_opening())));
                tokio::task::yield_now().await;
                match page.next {
                    Some(next) => query.start = Start::After(next),
                    None => break,
                }
            }
        }
        Ok(())
    }
}

fn key_of(record: &Record) -> Result<FollowedKey, Error> {
    #[derive(Deserialize)]
    struct Owned {
        organization_id: OrganizationId,
    }
    let Owned { organization_id } = decode(record)?;
    Ok((organization_id, NetworkId::new(record.key.id)))
}
