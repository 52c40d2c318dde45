use std::collections::BTreeSet;

use super::schema::{SESSION, SESSION_LINK, decode, linked, user_key};
use super::sessions::SessionRecord;
use super::transaction::Turns;
use super::{Entity, Error, ErrorKind, Inventory, conflict};
use crate::model::User;
use crate::store::{Batch, Key, Link, Precondition, Query};

/// 32 MiB.
const HOST_BYTES: usize = 32 * 1024 * 1024;

/// Limits on how much an organization may store.
///
/// `None` means unlimited. Every limit is `None` by default, except [`host_bytes`](Self::host_bytes). Records stored
/// before a limit was set remain; further ones are refused with [`QuotaExceeded`](ErrorKind::QuotaExceeded).
///
/// Creations under a quota wait for each other, per owner, so a limit is exact among all clones of one [`Inventory`].
/// When several inventories or processes write to one store at the same time, each may exceed a limit by the number
/// of creations the others have in progress.
///
/// ```
/// use toposcope::inventory::{ErrorKind, Inventory, Quotas};
/// use toposcope::store::MemoryStore;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), toposcope::inventory::Error> {
/// let mut quotas = Quotas::default();
/// quotas.tags_per_organization = Some(1);
/// let inventory = Inventory::new(MemoryStore::new()).with_quotas(quotas);
/// let organization = inventory.create_organization("Example").await?;
/// inventory.create_tag(organization.id, "first").await?;
/// let refused = inventory.create_tag(organization.id, "second").await;
/// assert!(refused.is_err_and(|error| matches!(error.kind(), ErrorKind::QuotaExceeded { limit: 1, .. })));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quotas {
    /// Sessions of one user that have not expired.
    pub sessions_per_user: Option<u64>,
    /// API keys of one user, disabled and expired ones included.
    pub user_api_keys_per_user: Option<u64>,
    /// Daemon API keys of one network, disabled and expired ones included.
    pub daemon_api_keys_per_network: Option<u64>,
    /// Tags of one organization.
    pub tags_per_organization: Option<u64>,
    /// Hosts of one organization.
    pub hosts_per_organization: Option<u64>,
    /// Bytes of one host's JSON as the API serves it. Default: 32 MiB (33,554,432).
    pub host_bytes: Option<usize>,
}

impl Default for Quotas {
    fn default() -> Self {
        Self {
            sessions_per_user: None,
            user_api_keys_per_user: None,
            daemon_api_keys_per_network: None,
            tags_per_organization: None,
            hosts_per_organization: None,
            host_bytes: Some(HOST_BYTES),
        }
    }
}

impl Inventory {
    /// Waits until no other creation under a quota of this owner is in progress.
    ///
    /// Returns at once when there is no limit. Must be called before the turns of a
    /// [`Transaction`](super::transaction::Transaction) are taken, never while they are held; this makes deadlocks
    /// impossible. `entity` is reported in the `Conflict` error when too many creations wait.
    pub(super) async fn quota_turn(
        &self,
        limit: Option<u64>,
        owner: Key,
        entity: Entity,
    ) -> Result<Option<Turns>, Error> {
        if limit.is_none() {
            return Ok(None);
        }
        let turn = self.state.creations.enter(BTreeSet::from([owner])).await;
        turn.map(Some).map_err(|_| conflict(entity, owner.id))
    }

    /// Refuses to create `more` records when the query's matches plus these exceed the limit.
    ///
    /// Exact only while the caller holds the owner's [`quota_turn`](Self::quota_turn).
    pub(super) async fn check_quota(
        &self,
        limit: Option<u64>,
        entity: Entity,
        query: Query,
        more: u64,
    ) -> Result<(), Error> {
        let Some(limit) = limit else { return Ok(()) };
        if more > 0 && self.count(query).await?.saturating_add(more) > limit {
            return Err(ErrorKind::QuotaExceeded { entity, limit }.into());
        }
        Ok(())
    }

    /// Ensures that a user may begin one more session until the returned turn is dropped.
    ///
    /// At the limit, the batch deletes the user's expired sessions to make room.
    pub(super) async fn session_turn(&self, user: &User, batch: &mut Batch) -> Result<Option<Turns>, Error> {
        let limit = self.quotas.sessions_per_user;
        let turn = self.quota_turn(limit, user_key(user.id), Entity::User).await?;
        let Some(limit) = limit else { return Ok(turn) };
        let sessions = linked(SESSION, user.organization_id, Link::new(SESSION_LINK, user.id));
        if self.count(sessions.clone()).await? < limit {
            return Ok(turn);
        }
        let now = self.now();
        let mut live = 0;
        for record in self.store.list(&sessions).await?.records {
            if decode::<SessionRecord>(&record)?.expires_at > now {
                live += 1;
            } else {
                batch.delete(record.key, Precondition::Any);
            }
        }
        if live >= limit {
            return Err(ErrorKind::QuotaExceeded { entity: Entity::Session, limit }.into());
        }
        Ok(turn)
    }
}
